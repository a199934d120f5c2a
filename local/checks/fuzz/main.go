// Command fuzz lets schemathesis call every endpoint of a service in memory with valid
// and invalid input, and checks each answer against the OpenAPI document: `make
// contract`. Its calls are the same every time. FUZZ_SECONDS=600 makes it run for ten
// minutes, with calls that depend on FUZZ_SEED.
package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"

	"agentsocial/local/service"
	"agentsocial/local/service/runner"
	"agentsocial/shared/app"
	"agentsocial/shared/client"
	"agentsocial/shared/identity/auth"
	"agentsocial/shared/wire"
	"agentsocial/tables"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, os.Getenv); err != nil {
		fmt.Fprintln(os.Stderr, "fuzz:", err)
		os.Exit(1)
	}
}

// within bounds the time of a run without FUZZ_SECONDS.
const within = 15 * time.Minute

// folder holds the hooks and settings of schemathesis.
const folder = "local/checks/fuzz"

func run(ctx context.Context, getenv func(string) string) (err error) {
	tool, err := exec.LookPath(cmp.Or(getenv("SCHEMATHESIS"), "schemathesis"))
	if err != nil {
		return err
	}
	if tool, err = filepath.Abs(tool); err != nil {
		return err
	}
	s, err := service.Start(ctx, service.Config{
		Data: service.Memory, Table: "embedded", Settings: limitless(),
		Log: slog.New(slog.NewJSONHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelError})),
	})
	if err != nil {
		return err
	}
	defer func() {
		stopping, cancel := context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second)
		defer cancel()
		err = errors.Join(err, s.Stop(stopping))
	}()
	dir, err := os.MkdirTemp("", "fuzz")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	env, err := furnish(ctx, s, filepath.Join(dir, "key.pem"))
	if err != nil {
		return err
	}
	here, err := filepath.Abs(folder)
	if err != nil {
		return err
	}
	args := []string{"--config-file", filepath.Join(here, "schemathesis.toml"), "run", s.URL + "/openapi.json", "--url", s.URL}
	if seconds := getenv("FUZZ_SECONDS"); seconds != "" {
		args = append(args, "--max-time", seconds, "--seed", cmp.Or(getenv("FUZZ_SEED"), "1"))
	} else {
		args = append(args, "--generation-deterministic")
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, within)
		defer cancel()
	}
	cmd := exec.CommandContext(ctx, tool, args...)
	cmd.Dir = dir // for the files that it writes
	cmd.Env = append(os.Environ(), append(env, "SCHEMATHESIS_HOOKS=hooks", "PYTHONPATH="+here, "PYTHONDONTWRITEBYTECODE=1")...)
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	return cmd.Run()
}

// limitless returns settings with high limits, because a refusal for a rate limit would
// hide the answer to be checked.
func limitless() app.Settings {
	s := app.DefaultSettings()
	s.PowBits, s.ByAddr, s.MaxReads = 0, false, 1<<40
	l := &s.Limits
	for _, most := range []*int64{
		&l.WritesPerMinute, &l.PostsPerMinute, &l.PostsPerHour, &l.PostsPerHourNew, &l.TokensDay, &l.MemoriesPerMinute,
		&l.CheckoutsPerMinute, &l.MessagesPerMinute, &l.FollowsPerHour, &l.ReportsDay, &l.SignupsHour,
	} {
		*most = 1 << 40
	}
	return s
}

// furnish creates a caller with all permissions, and items to act on. env gives hooks.py
// the caller's credentials and the items' names.
func furnish(ctx context.Context, s *service.Service, keyFile string) (env []string, err error) {
	c, err := client.New(s.URL)
	if err != nil {
		return nil, err
	}
	join := func(handle string) (*client.Agent, []byte, error) {
		key, err := client.GenerateKey()
		if err != nil {
			return nil, nil, err
		}
		a, _, err := c.Register(ctx, key, client.Registration{Handle: handle, Emoji: "🦊"}, runner.Solve(ctx, c))
		return a, key, err
	}
	caller, key, err := join("caller")
	if err != nil {
		return nil, err
	}
	other, _, err := join("other")
	if err != nil {
		return nil, err
	}
	if err := client.SaveKey(keyFile, key); err != nil {
		return nil, err
	}
	if err := s.App.Table.Commit(ctx, tables.Tx{Writes: []tables.Write{tables.Operate(caller.ID(), true)}}); err != nil {
		return nil, err
	}
	checkout, err := caller.Checkout(ctx, 1000)
	if err != nil {
		return nil, err
	}
	token, err := caller.MintToken(ctx, wire.NewToken{Label: "fuzz", Scopes: auth.Scopes})
	if err != nil {
		return nil, err
	}
	post, err := other.Post(ctx, "lounge", "What shall we talk about?")
	if err != nil {
		return nil, err
	}
	idea, err := other.PostIdea(ctx, wire.NewIdea{Title: "Longer days", Body: "There is too little time."})
	if err != nil {
		return nil, err
	}
	if err := errors.Join(runner.Pay(ctx, c, checkout.URL), runner.Drain(ctx, c)); err != nil {
		return nil, err
	}
	there, err := json.Marshal(map[string]string{ // values of path parameters, by route or else by the parameter's name
		"ch": "lounge", "ref": "other", "tag": "go", "topic": "errors", "id": post.ID, "/v1/ideas/{id}": idea.ID,
		"/v1/ideas/{id}/support": idea.ID, "/v1/ideas/{id}/status": idea.ID,
	})
	return []string{"KEY=" + keyFile, "TOKEN=" + token.Value, "THERE=" + string(there)}, err
}
