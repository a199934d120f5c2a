// Command clients runs third-party MCP and OAuth clients against a service in memory, and
// prints what each could do: `make test-clients`. Most clients connect with a token, or by
// OAuth with only the service's address.
//
// It also generates clients from the OpenAPI document. Each must be generated without a
// warning, and compile. A program that uses the client must post, read, and get an error's code.
//
// It installs the clients from lock files into build/clients, with their own Node. It
// needs npm, Python, and Chromium for the consent page.
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"time"

	"agentsocial/local/service"
	"agentsocial/local/transcripts"
	"agentsocial/shared/app"
)

// Paths, relative to the root of the project.
const (
	source = "local/checks/clients"
	build  = "build/clients"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "clients:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, out io.Writer) error {
	if err := install(ctx); err != nil {
		return err
	}
	s, err := start(ctx)
	if err != nil {
		return err
	}
	defer s.stop()
	made := generated(ctx, s)
	var t table
	for _, c := range append(clients(s), made...) {
		t.add(c.name, c.run(ctx, s))
	}
	t.print(out)
	if t.failed > 0 {
		return fmt.Errorf("%d steps failed", t.failed)
	}
	return nil
}

func install(ctx context.Context) error {
	if err := os.MkdirAll(build, 0o755); err != nil {
		return err
	}
	for _, step := range []struct {
		locks []string
		run   [][]string
	}{
		{[]string{"package.json", "package-lock.json"}, [][]string{{"npm", "ci", "--no-audit", "--no-fund", "--loglevel=error", "--prefix", build}}},
		{[]string{"requirements.txt"}, [][]string{
			{"python3", "-m", "venv", build + "/venv"},
			{build + "/venv/bin/pip", "install", "-q", "--disable-pip-version-check", "-r", build + "/requirements.txt"},
		}},
	} {
		changed := false
		for _, name := range step.locks {
			want, err := os.ReadFile(filepath.Join(source, name))
			if err != nil {
				return err
			}
			got, err := os.ReadFile(filepath.Join(build, name))
			changed = changed || err != nil || !bytes.Equal(got, want)
			if err := os.WriteFile(filepath.Join(build, name), want, 0o644); err != nil {
				return err
			}
		}
		for _, command := range step.run {
			if !changed {
				break
			}
			cmd := exec.CommandContext(ctx, command[0], command[1:]...)
			cmd.Stdout, cmd.Stderr = os.Stderr, os.Stderr
			if err := cmd.Run(); err != nil {
				// The next run installs again, because the lock file is missing.
				return errors.Join(fmt.Errorf("%s: %w", strings.Join(command, " "), err), os.Remove(filepath.Join(build, step.locks[0])))
			}
		}
	}
	return copyPrograms()
}

// copyPrograms copies our programs next to the packages that they import.
func copyPrograms() error {
	for _, pattern := range []string{"*.mjs", "*.py"} {
		names, err := filepath.Glob(filepath.Join(source, pattern))
		if err != nil {
			return err
		}
		for _, name := range names {
			b, err := os.ReadFile(name)
			if err != nil {
				return err
			}
			if err := os.WriteFile(filepath.Join(build, filepath.Base(name)), b, 0o644); err != nil {
				return err
			}
		}
	}
	return nil
}

// running is a service with an agent, its tokens, and a person with a browser.
type running struct {
	*service.Service
	agent         *transcripts.Agent
	token, reader string
	person        *person
	proxy         *http.Server
	behind        string // the address of a proxy that adds the token
}

func start(ctx context.Context) (_ *running, err error) {
	settings := app.DefaultSettings()
	settings.PowBits, settings.ByAddr, settings.MaxReads = 0, false, 0
	s := new(running)
	if s.Service, err = service.Start(ctx, service.Config{
		Data: service.Memory, Table: "embedded", Settings: settings, Log: slog.New(slog.NewTextHandler(io.Discard, nil)),
	}); err != nil {
		return nil, err
	}
	a := transcripts.NewAgent("client")
	if _, err := a.Register(s.URL, "🔌"); err != nil {
		return nil, err
	}
	s.agent = a
	mint := func(scopes ...string) (string, error) {
		body, err := json.Marshal(map[string]any{"label": "test", "scopes": scopes})
		if err != nil {
			return "", err
		}
		ans, err := a.Signed("POST", "/v1/me/tokens", body, s.App.Now()).Send(s.URL)
		if err != nil {
			return "", err
		}
		return ans.Text("token"), nil
	}
	if s.token, err = mint("read", "post", "memory", "jury", "promo", "dm"); err != nil {
		return nil, err
	}
	if s.reader, err = mint("read"); err != nil {
		return nil, err
	}
	if s.person, err = newPerson(ctx, s, a); err != nil {
		return nil, err
	}
	return s, s.serveProxy()
}

// serveProxy starts a proxy that adds the token, for clients that cannot send one.
func (s *running) serveProxy() error {
	to, err := url.Parse(s.URL)
	if err != nil {
		return err
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	s.behind = "http://" + listener.Addr().String()
	proxy := &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) {
		r.SetURL(to)
		r.Out.Host = to.Host
		r.Out.Header.Set("Authorization", "Bearer "+s.token)
	}}
	s.proxy = &http.Server{ReadHeaderTimeout: 10 * time.Second, Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		// Read the whole body first: when the service answers early, the proxy closes the body.
		body, err := io.ReadAll(r.Body)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		proxy.ServeHTTP(w, r)
	})}
	go func() { _ = s.proxy.Serve(listener) }()
	return nil
}

func (s *running) stop() {
	s.proxy.Close()
	s.person.leave()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	if err := s.Stop(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "clients:", err)
	}
}
