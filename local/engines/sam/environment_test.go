package sam

import (
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"os"
	"regexp"
	"strings"
	"testing"

	"agentsocial/functions"
	"agentsocial/local/service"
	"agentsocial/shared/app"
	"agentsocial/shared/lambda/host"
)

// recorded is a gateway that keeps the environment given to Start.
type recorded struct {
	*Gateway
	env host.Env
}

func (r *recorded) Start(ctx context.Context, e host.Env) error {
	r.env = e
	return r.Gateway.Start(ctx, e)
}

// TestContainers_Environment reads the environment of each container from the engine. The
// test's own environment must not reach the containers. `make sam-test` runs the test.
func TestContainers_Environment(t *testing.T) {
	folder, template := os.Getenv("TRANSCRIPTS_SAM"), os.Getenv("TRANSCRIPTS_SAM_TEMPLATE")
	if folder == "" {
		t.Skip("SKIPPED, NOT TESTED: make sam-test runs this in a container engine")
	}
	for _, name := range []string{"TABLE", "BASE_URL", "SECRET_ARN", "PEPPER_ARN", "PAYMENTS_ARN", "MAIL_FROM", "POW_BITS", "LOCAL", "AWS_ENDPOINT_URL_DYNAMODB"} {
		t.Setenv(name, "")
	}
	t.Setenv("STAGE", "dev")
	t.Setenv("AWS_ACCESS_KEY_ID", "a developer's own")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "a developer's own")
	t.Setenv("LIMITS", `{"posts_per_minute": 1}`)
	engine, err := FindEngine(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	g := &recorded{Gateway: New(Config{Engine: engine, Template: template, Functions: folder, Logs: io.Discard})}
	settings := app.DefaultSettings()
	settings.Limits.PostsPerMinute = 7
	s, err := service.Start(t.Context(), service.Config{
		Data: service.Memory, Table: "dynamodb-local", Settings: settings, Gateway: g,
		Log: slog.New(slog.NewTextHandler(io.Discard, nil)),
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(g.Close) // if the test ends early
	parameter := regexp.MustCompile(`\{[^}]*\}`)
	for _, group := range functions.Groups(&app.App{}) { // starts every function
		method, path, _ := strings.Cut(group.Endpoints[0].Route, " ")
		q, err := http.NewRequestWithContext(t.Context(), method, s.URL+parameter.ReplaceAllString(path, "x"), nil)
		if err != nil {
			t.Fatal(err)
		}
		res, err := http.DefaultClient.Do(q)
		if err != nil {
			t.Fatal(err)
		}
		res.Body.Close()
		if res.StatusCode >= 500 {
			t.Errorf("%s %s: got %d, want a status below 500", method, path, res.StatusCode)
		}
	}

	ids := g.Containers()
	deployed := reachable(g.env)
	for _, group := range functions.Groups(&app.App{}) {
		var got map[string]string
		for _, id := range ids {
			if name, vars := inspect(t, id); strings.HasPrefix(name, group.Name+"Function") {
				got = vars
			}
		}
		if got == nil {
			t.Errorf("%s: got no container, want one", group.Name)
			continue
		}
		want := deployed.Variables(group.Capabilities())
		want["AWS_ACCESS_KEY_ID"], want["AWS_SECRET_ACCESS_KEY"] = "defaultkey", "defaultsecret"
		for name, value := range want {
			if got[name] != value {
				t.Errorf("%s: %s is %q, want %q", group.Name, name, got[name], value)
			}
		}
		for name := range deployed.Variables(everything) {
			if want[name] == "" && got[name] != "" {
				t.Errorf("%s: %s is %q, want it unset, since the function does not need it", group.Name, name, got[name])
			}
		}
	}

	http.DefaultClient.CloseIdleConnections()
	if err := s.Stop(t.Context()); err != nil {
		t.Error(err)
	}
	for _, id := range ids {
		if _, err := docker(t.Context(), "container", "inspect", id); err == nil {
			t.Errorf("container %s: got it left behind, want it removed", id)
		}
	}
}

// inspect returns the name of a container's function, and its environment.
func inspect(t *testing.T, id string) (name string, vars map[string]string) {
	t.Helper()
	b, err := docker(t.Context(), "container", "inspect", id)
	if err != nil {
		t.Fatal(err)
	}
	var c []struct {
		Config struct {
			Env    []string
			Labels map[string]string
		}
	}
	if err := json.Unmarshal(b, &c); err != nil || len(c) != 1 {
		t.Fatalf("docker container inspect: %v: %s", err, b)
	}
	vars = map[string]string{}
	for _, v := range c[0].Config.Env {
		name, value, _ := strings.Cut(v, "=")
		vars[name] = value
	}
	return c[0].Config.Labels["sam.cli.function.name"], vars
}
