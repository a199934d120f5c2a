package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"agentsocial/local/service"
	"agentsocial/local/service/runner"
	"agentsocial/shared/app"
	"agentsocial/shared/client"
)

// ran runs the command with these variables.
func ran(t *testing.T, env map[string]string) (string, error) {
	t.Helper()
	var out bytes.Buffer
	err := run(t.Context(), func(name string) string { return env[name] }, &out)
	return out.String(), err
}

func TestLoad(t *testing.T) {
	binary := filepath.Join(t.TempDir(), "local")
	if out, err := exec.CommandContext(t.Context(), "go", "build", "-o", binary, "agentsocial/local").CombinedOutput(); err != nil {
		t.Fatalf("building the service: %v\n%s", err, out)
	}
	temporary := t.TempDir()
	t.Setenv("TMPDIR", temporary)
	t.Setenv("LIMITS", `{"posts_per_minute":1}`) // of the developer's shell; the started service must ignore it
	t.Setenv("THROTTLE", "on")
	out, err := ran(t, map[string]string{"SERVICE": binary, "RATE": "100", "SECONDS": "2", "AGENTS": "3"})
	if err != nil {
		t.Fatalf("run: got error %v, want none; output\n%s", err, out)
	}
	for _, want := range []string{
		`: 3 agents make 100 requests a second for 2 s\n`,
		`\nendpoint +requests +p50 ms +p90 ms +p99 ms +errors *\n`,
		`\nGET /v1/me/catchup +\d+ +\d+\.\d +\d+\.\d +\d+\.\d *\n`,
		`\nPOST /v1/c/\{ch\}/posts +\d+ +\d+\.\d +\d+\.\d +\d+\.\d *\n`,
		`\nall +200 +\d+\.\d +\d+\.\d +\d+\.\d *\n`,
		`\n\d+\.\d requests a second in \d+\.\d s\n`,
		`\nprocessor time  [1-9]\d+ µs a request`,
		`\nmemory          [1-9]\d*\.\d MB at the beginning, [1-9]\d*\.\d at the end\n`,
		`\ndata            \d+\.\d MB at the beginning, \d+\.\d at the end\n`,
		`\nstream's lag    at most \d+ ms until the last request; the readers caught up \d+ ms after it\n`,
	} {
		if !regexp.MustCompile(want).MatchString(out) {
			t.Errorf("report: got\n%s\nwant %s", out, want)
		}
	}
	if left, err := os.ReadDir(temporary); err != nil || len(left) > 0 {
		t.Errorf("files left: got %v, %v; want none", left, err)
	}
}

// started starts a service behind a proxy. came returns the arrival times of the requests,
// without those for /_local/.
func started(t *testing.T, settings app.Settings) (proxy string, came func() []time.Time) {
	t.Helper()
	settings.PowBits = 0
	s, err := service.Start(t.Context(), service.Config{
		Data: service.Memory, Table: "embedded", Settings: settings, Log: slog.New(slog.NewTextHandler(io.Discard, nil)),
	})
	if err != nil {
		t.Fatal(err)
	}
	base, err := url.Parse(s.URL)
	if err != nil {
		t.Fatal(err)
	}
	var mu sync.Mutex
	var at []time.Time
	forward := httputil.NewSingleHostReverseProxy(base)
	front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !strings.HasPrefix(r.URL.Path, "/_local/") {
			mu.Lock()
			at = append(at, time.Now())
			mu.Unlock()
		}
		forward.ServeHTTP(w, r)
	}))
	t.Cleanup(func() {
		front.Close()
		http.DefaultTransport.(*http.Transport).CloseIdleConnections()
		if err := s.Stop(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return front.URL, func() []time.Time {
		mu.Lock()
		defer mu.Unlock()
		return slices.Clone(at)
	}
}

// RATE holds during the setup, too. This test is not parallel: beside the 400 requests a second of
// TestLoadWithLimits, a slow machine does not answer all in time.
func TestLoadOfARunningService(t *testing.T) {
	base, came := started(t, app.DefaultSettings().Lifted())
	api, err := client.New(base)
	if err != nil {
		t.Fatal(err)
	}
	keys := t.TempDir()
	for _, name := range []string{"fox", "owl"} {
		key, err := client.GenerateKey()
		if err == nil {
			_, _, err = api.Register(t.Context(), key, client.Registration{Handle: name, Emoji: "🦊"}, runner.Solve(t.Context(), api))
		}
		if err == nil {
			err = client.SaveKey(filepath.Join(keys, name+".pem"), key)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	const rate = 20
	before := len(came())
	out, err := ran(t, map[string]string{"URL": base, "RATE": strconv.Itoa(rate), "SECONDS": "1", "KEYS": keys})
	if err != nil || !strings.Contains(out, ": 2 agents make 20 requests a second for 1 s\n") || !strings.Contains(out, "processor time") {
		t.Errorf("run: got error %v, output\n%s\nwant 2 agents at 20 requests a second, and the processor time", err, out)
	}
	at := came()[before:]
	if len(at) < 3*rate {
		t.Fatalf("requests, setup included: got %d, want at least %d", len(at), 3*rate)
	}
	// Requests may arrive late, so 0.7 s stand for a second.
	for i := rate; i < len(at); i++ {
		if d := at[i].Sub(at[i-rate]); d < 700*time.Millisecond {
			t.Errorf("rate: got %d requests within %s, want at most %d in a second", rate+1, d, rate)
		}
	}
	if _, err := ran(t, map[string]string{"URL": base, "KEYS": t.TempDir()}); err == nil || !strings.Contains(err.Error(), "holds the keys (*.pem) of 0 agents") {
		t.Errorf("without keys: got error %v, want one that counts 0 agents", err)
	}
}

func TestLoadWithLimits(t *testing.T) {
	t.Parallel()
	settings := app.DefaultSettings().Lifted()
	settings.Limits.MemoriesPerMinute = 1
	base, _ := started(t, settings)
	out, err := ran(t, map[string]string{"URL": base, "RATE": "400", "SECONDS": "1", "AGENTS": "3"})
	if err == nil || !regexp.MustCompile(`^\d+ of 400 requests failed \(.*\), and at most 1 % may; LIMITS=off lifts`).MatchString(err.Error()) {
		t.Errorf("run: got error %v, output\n%s\nwant too many failures of 400 requests, and the remedy", err, out)
	}
	if !regexp.MustCompile(`\nPUT /v1/me/memory .* \d+ rate_limited\b`).MatchString(out) {
		t.Errorf("report: got\n%s\nwant a count of rate_limited", out)
	}
}

func TestVariables(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ pairs, want string }{
		{"", "use make load"},
		{"URL=http://127.0.0.1:8080", ""}, {"URL=http://localhost:8080", ""}, {"URL=http://[::1]:8080", ""},
		{"URL=https://agents.example", "is not on this machine; set REMOTE=yes"},
		{"URL=http://10.0.0.1", "is not on this machine"},
		{"URL=http://127.0.0.1.agents.example", "is not on this machine"},
		{"URL=http://localhost@agents.example", "is not on this machine"},
		{"URL=https://agents.example REMOTE=no", "is not on this machine"},
		{"URL=https://agents.example REMOTE=yes", ""},
		{"URL=https://agents.example REMOTE=1", "REMOTE=\"1\" must be yes or no"},
		{"SERVICE=x RATE=0", "RATE=\"0\" must be a number from 1 to 5000"}, {"SERVICE=x RATE=5001", "RATE="}, {"SERVICE=x RATE=5000", ""},
		{"SERVICE=x SECONDS=1.5", "SECONDS=\"1.5\" must be"}, {"SERVICE=x AGENTS=1", "AGENTS=\"1\" must be"},
	} {
		env := map[string]string{}
		for _, pair := range strings.Fields(c.pairs) {
			name, value, _ := strings.Cut(pair, "=")
			env[name] = value
		}
		_, err := configOf(func(name string) string { return env[name] })
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s: got error %v, want %q", c.pairs, err, c.want)
		}
	}
}

func TestHabits(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../../infra/COST.md")
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(page), "\n## What an agent does in a day\n")
	section, _, _ = strings.Cut(section, "\n## ")
	want := map[string]float64{}
	for _, row := range regexp.MustCompile("(?m)^\\| `([^`]+)`[^|]*\\| ([0-9.]+) \\|").FindAllStringSubmatch(section, -1) {
		times, err := strconv.ParseFloat(row[2], 64)
		if err != nil {
			t.Fatal(err)
		}
		want[row[1]] += times
	}
	for _, left := range []string{
		"GET /v1/dm/{ref}", "POST /v1/dm/{ref}", // messages cost credits
		"POST /mcp",                            // needs a token and another client
		"GET /v1/challenge", "POST /v1/agents", // part of the setup
	} {
		if want[left] == 0 {
			t.Errorf("infra/COST.md: got no row for %s, want one", left)
		}
		delete(want, left)
	}
	got := map[string]float64{}
	for _, h := range habits {
		got[h.route] += h.times
	}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("habits: got\n%v\nwant\n%v", got, want)
	}
}

func TestReport(t *testing.T) {
	t.Parallel()
	r := newReport()
	r.took = 10 * time.Second
	for i := range 100 { // 1 to 100 ms, shuffled
		r.add("GET /v1/c/{ch}", time.Duration(1+i*37%100)*time.Millisecond, nil)
	}
	if err := r.check(); err != nil {
		t.Errorf("without failures: got error %v, want none", err)
	}
	r.add("PATCH /v1/me", time.Second, fmt.Errorf("client: %w", &client.Error{Status: 503, Code: "busy"}))
	if err := r.check(); err != nil {
		t.Errorf("with 1 of 101 failed: got error %v, want none", err)
	}
	r.add("PATCH /v1/me", 2*time.Second, &client.Error{Status: 502})
	r.add("PATCH /v1/me", 10*time.Second, &url.Error{Op: "Get", Err: context.DeadlineExceeded})
	r.add("PATCH /v1/me", time.Second, io.ErrUnexpectedEOF)
	r.left = 7
	if err := r.check(); err == nil || !strings.Contains(err.Error(), "11 of 111 requests failed (9.9 %), and at most 1 % may") {
		t.Errorf("with 11 of 111 failed: got error %v, want 11 of 111 requests failed", err)
	}
	var out bytes.Buffer
	r.print(&out)
	for _, want := range []string{
		`\nGET /v1/c/\{ch\} +100 +50\.0 +90\.0 +99\.0 *\n`,
		`\nPATCH /v1/me +4 +1000\.0 +10000\.0 +10000\.0 +1 502, 1 busy, 1 no answer, 1 timeout\n`,
		`\nall +104 +52\.0 +94\.0 +2000\.0 +1 502, 1 busy, 1 no answer, 7 not sent, 1 timeout\n`,
		`\n10\.4 requests a second in 10\.0 s\nthe service does not tell`,
	} {
		if !regexp.MustCompile(want).MatchString(out.String()) {
			t.Errorf("report: got\n%s\nwant %s", out.String(), want)
		}
	}
	if err := newReport().check(); err == nil {
		t.Error("a run without requests: got no error, want one")
	}
}

func TestServiceThatDoesNotStart(t *testing.T) {
	t.Parallel()
	binary := filepath.Join(t.TempDir(), "local")
	if err := os.WriteFile(binary, []byte("#!/bin/sh\necho no table; exit 3\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	if _, err := ran(t, map[string]string{"SERVICE": binary}); err == nil || !strings.Contains(err.Error(), "the service did not start: exit status 3\nno table") {
		t.Errorf("failed start: got error %v, want its exit status and its output", err)
	}
}
