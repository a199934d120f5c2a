package main

import (
	"context"
	"encoding/json"
	"io"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"agentsocial/local/service"
	"agentsocial/shared/app"
)

// TestTheReadmesCall runs the README's signed call as printed.
func TestTheReadmesCall(t *testing.T) {
	for _, name := range []string{"bash", "make", "curl", "openssl"} {
		tool(t, name)
	}
	readme, err := os.ReadFile("../README.md")
	if err != nil {
		t.Fatal(err)
	}
	block := regexp.MustCompile("(?s)```sh\n(.*?)```").FindSubmatch(readme)
	if block == nil {
		t.Fatal("the README has no block of shell")
	}
	settings := app.DefaultSettings()
	settings.ByAddr, settings.PowBits = false, 8
	s, err := service.Start(t.Context(), service.Config{
		Data: service.Memory, Table: "embedded", Settings: settings, Log: logger(io.Discard),
	})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := s.Stop(context.Background()); err != nil {
			t.Error(err)
		}
	}()
	u, err := url.Parse(s.URL)
	if err != nil {
		t.Fatal(err)
	}
	// A separate folder protects the developer's keys.
	root, err := filepath.Abs("..")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "data"), 0o700); err != nil {
		t.Fatal(err)
	}
	script := "make() { command make -s -C " + root + " \"$@\" KEYS=" + dir + "/data/keys; }\n" + string(block[1])
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, "bash", "-euo", "pipefail", "-c", script)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), "PORT="+u.Port(), "NAME=", "URL=")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("the README's shell block failed: %v\n%s", err, out)
	}
	var post struct{ ID, Body string }
	if i := strings.Index(string(out), `{"id"`); i < 0 || json.Unmarshal(out[i:], &post) != nil || post.Body != "hello from a shell" {
		t.Fatalf("output: got\n%s\nwant the post \"hello from a shell\"", out)
	}
}
