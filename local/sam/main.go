// Command sam has AWS SAM's local gateway run the synthesised template, its
// functions in Docker, on DynamoDB Local: `make sam`. SAM plays the HTTP API
// alone; a service beside it, on the same table, plays the stream, the clock, the
// mailbox and whatever else functions ask.
package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/url"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"time"

	"agentsocial/local/child"
	"agentsocial/local/service"
	"agentsocial/shared/app"
	"agentsocial/shared/host"
)

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: sam TEMPLATE FOLDER (of the functions' binaries, for Linux); make sam knows both")
		os.Exit(2)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, os.Args[1], os.Args[2]); err != nil {
		fmt.Fprintln(os.Stderr, "sam:", err)
		os.Exit(1)
	}
}

// port of SAM's gateway: its own default.
const port = "3000"

// stopWithin is how long SAM may take to remove its containers.
const stopWithin = 30 * time.Second

func run(ctx context.Context, synthesised, folder string) error {
	if err := available(ctx); err != nil {
		return err
	}
	gateway, err := bridge(ctx)
	if err != nil {
		return err
	}
	c := service.Config{
		Data: service.Memory, Table: "dynamodb-local", Settings: app.DefaultSettings(),
		Log: slog.New(slog.NewJSONHandler(os.Stderr, nil)), Mailed: os.Stdout,
	}
	c.Settings.ByAddr = false
	s, err := service.Start(ctx, c)
	if err != nil {
		return err
	}
	defer func() { _ = s.Stop(context.Background()) }() // all it has is in memory
	base := "http://127.0.0.1:" + port
	cloud, err := s.Cloud(net.JoinHostPort(gateway, "0"), base)
	if err != nil {
		return err
	}
	defer cloud.Close()

	template, err := os.ReadFile(synthesised)
	if err != nil {
		return fmt.Errorf("%w (`make synth` writes it)", err)
	}
	if template, err = localised(template, folder, reached(cloud.Env).Variables()); err != nil {
		return err
	}
	file := filepath.Join(folder, "template.json")
	if err := os.WriteFile(file, template, 0o600); err != nil {
		return err
	}
	fmt.Printf("\n  the functions in Docker  %s   (each starts when it is first called)\n  beside them              %s   (mail, clock, puzzles: /_local/…)\n\n", base, s.URL)
	cmd := exec.CommandContext(ctx, "sam", "local", "start-api", "--template", file, "--port", port,
		"--warm-containers", "LAZY", "--no-watch", "--add-host", inside+":"+hostOf(gateway))
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	// Whatever credentials there are, they are none of DynamoDB Local's business.
	cmd.Env = append(os.Environ(), "AWS_ACCESS_KEY_ID="+cloud.Env.AccessKey, "AWS_SECRET_ACCESS_KEY="+cloud.Env.SecretKey,
		"AWS_SESSION_TOKEN=", "AWS_DEFAULT_REGION=us-east-1", "SAM_CLI_TELEMETRY=0")
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = stopWithin
	if err := child.Run(cmd); err != nil && ctx.Err() == nil {
		return fmt.Errorf("sam local start-api: %w", err)
	}
	return nil
}

// available says what is missing.
func available(ctx context.Context) error {
	if _, err := exec.LookPath("sam"); err != nil {
		return errors.New("there is no sam; `pip install aws-sam-cli==1.170.0` brings it, and `make lambdas` does without")
	}
	out, err := exec.CommandContext(ctx, "docker", "info").CombinedOutput()
	if err != nil {
		return fmt.Errorf("SAM runs functions in Docker, which does not answer; `make lambdas` does without: %w\n%s", err, strings.TrimSpace(string(out)))
	}
	return nil
}

// inside is this machine's name within a container.
const inside = "host.docker.internal"

// bridge is an address of this machine's that containers reach and no other
// machine does. Where Docker has a machine of its own, it leads them to loopback.
func bridge(ctx context.Context) (string, error) {
	if runtime.GOOS != "linux" {
		return "127.0.0.1", nil
	}
	out, err := exec.CommandContext(ctx, "docker", "network", "inspect", "bridge", "--format", "{{(index .IPAM.Config 0).Gateway}}").Output()
	if err != nil {
		return "", fmt.Errorf("docker network inspect bridge: %w", err)
	}
	return strings.TrimSpace(string(out)), nil
}

// hostOf is what the name leads to within a container.
func hostOf(gateway string) string {
	if runtime.GOOS != "linux" {
		return "host-gateway"
	}
	return gateway
}

// reached is an environment whose addresses of this machine are those that
// containers know.
func reached(e host.Env) host.Env {
	local := *e.Local
	e.Local = &local
	for _, at := range []*string{&e.DynamoDBURL, &e.SecretsManagerURL, &e.SESURL, &local.StripeURL} {
		u, err := url.Parse(*at)
		if err != nil {
			panic(err) // it was made of parts
		}
		u.Host = net.JoinHostPort(inside, u.Port())
		*at = u.String()
	}
	return e
}
