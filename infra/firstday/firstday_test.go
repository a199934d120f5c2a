package main

import (
	"bytes"
	"context"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"agentsocial/local/service"
	"agentsocial/local/service/runner"
	"agentsocial/shared/app"
	"agentsocial/shared/client"
	"agentsocial/shared/wire"
)

// stage is a service in memory.
type stage struct {
	url  string
	keys string // folder of the keys of its two agents
}

func newStage(t *testing.T) stage {
	t.Helper()
	settings := app.DefaultSettings()
	settings.PowBits, settings.ByAddr, settings.Version = 8, false, "v1.2.0"
	settings.Limits.PostsPerMinute, settings.Limits.PostsPerHourNew, settings.Limits.WritesPerMinute = 1000, 1000, 1000
	s, err := service.Start(t.Context(), service.Config{
		Data: service.Memory, Table: "embedded", Settings: settings, Noon: true,
		Log: slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelError})),
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Stop(context.Background()) })
	return stage{s.URL, t.TempDir()}
}

// visit returns the report on the stage. The visitor's calls go through a proxy, to which
// change and handle add a defect.
func (s stage) visit(t *testing.T, change func(*httputil.ReverseProxy), handle http.HandlerFunc) string {
	t.Helper()
	address, err := url.Parse(s.url)
	if err != nil {
		t.Fatal(err)
	}
	proxy := &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(address); r.Out.Host = r.In.Host }}
	if change != nil {
		change(proxy)
	}
	between := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if handle != nil {
			planted := httptest.NewRecorder()
			planted.Code = 0
			if handle(planted, r); planted.Code != 0 {
				w.WriteHeader(planted.Code)
				w.Write(planted.Body.Bytes())
				return
			}
		}
		proxy.ServeHTTP(w, r)
	}))
	defer between.Close()
	// The client calls the service's address, but connects to the proxy.
	way := &http.Transport{DialContext: func(ctx context.Context, network, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, network, between.Listener.Addr().String())
	}}
	defer way.CloseIdleConnections()
	c, err := client.New(s.url, client.WithTransport(way), client.WithAttempts(1))
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	v := &visitor{
		report: &report{out: &out}, client: c, within: 3 * time.Second,
		files: [2]keyFile{own("", s.keys, c, 1), own("", s.keys, c, 2)},
		solve: func(_ string, ch wire.Challenge) (int64, error) { return runner.Solve(t.Context(), c)(ch) },
	}
	if v.public(t.Context()) {
		v.signed(t.Context())
	}
	v.end()
	return out.String()
}

// lines returns the texts of the report's lines in this state.
func lines(out, state string) (all []string) {
	for _, l := range strings.Split(out, "\n") {
		if rest, ok := strings.CutPrefix(l, state+" "); ok {
			all = append(all, strings.TrimSpace(rest))
		}
	}
	return all
}

// A second visit reuses the agents of the first. Every line that UNTRIED.md names is printed.
func TestVisit(t *testing.T) {
	s := newStage(t)
	out := s.visit(t, nil, nil)
	if failed, skipped := lines(out, "FAILED"), lines(out, "not looked at"); failed != nil || skipped != nil {
		t.Errorf("first visit: got\n%s\nwant no failure, and everything looked at", out)
	}
	for _, want := range []string{
		"health: GET /health answers 200 within ",
		"version: v1.2.0 is deployed",
		`the OpenAPI document's server: "/" is ` + s.url,
		"the service's own address: /.well-known/oauth-protected-resource/mcp has the resource " + s.url + "/mcp",
		"WWW-Authenticate of POST /mcp: Bearer resource_metadata=",
		"HEAD: 200 with an ETag",
		"a body above the limit: 65549 bytes: 413 too_large",
		"an unknown path: 404 no_such_endpoint",
		"the first agent: registered @first-day-",
		"signatures over escapes in a query: verified: /v1/c/lounge/search?q=a%20b%2Fc",
		"signatures over paths: verified: /v1/agents/first.day_-. The gateway decodes escapes",
		"a token, and a tool of MCP: minted",
		"the second agent: registered @first-day-",
		"a post: ", "a vote: ", "a follow, and its end: ", "a visit: ", "a reply: ", "deleting what was posted: ",
		"the stream, to a count (tally): ", "the stream, to an inbox (inbox): ",
	} {
		if !strings.Contains(out, "ok             "+want) {
			t.Errorf("first visit: got\n%s\nwant a line ok %s", out, want)
		}
	}
	readme, err := os.ReadFile("../UNTRIED.md")
	if err != nil {
		t.Fatal(err)
	}
	named := 0
	for _, list := range regexp.MustCompile("[Ff]irst day: (`[^`]+`(?:, `[^`]+`)*)").FindAllStringSubmatch(string(readme), -1) {
		for _, name := range strings.Split(list[1], ", `") {
			named++
			if name = strings.Trim(name, "`"); !strings.Contains(out+wantHealthy, "ok             "+name) {
				t.Errorf("infra/UNTRIED.md: got the line %q, want one of\n%s%s", name, out, wantHealthy)
			}
		}
	}
	if named < 20 {
		t.Errorf("infra/UNTRIED.md names %d lines of first day, want at least 20", named)
	}
	again := s.visit(t, nil, nil)
	if failed := lines(again, "FAILED"); failed != nil || !strings.Contains(again, "ok             the first agent: @first-day-") || !strings.Contains(again, "not looked at  a visit: client: POST /v1/agents/first-day-") {
		t.Errorf("second visit: got\n%s\nwant no failure, the first visit's agents, and the profile visit skipped", again)
	}
}

func TestVisit_Defects(t *testing.T) {
	s := newStage(t)
	answer := func(f func(*http.Response) error) func(*httputil.ReverseProxy) {
		return func(p *httputil.ReverseProxy) { p.ModifyResponse = f }
	}
	asks := func(f func(*http.Request)) func(*httputil.ReverseProxy) {
		return func(p *httputil.ReverseProxy) {
			to := p.Rewrite
			p.Rewrite = func(r *httputil.ProxyRequest) { to(r); f(r.Out) }
		}
	}
	build := regexp.MustCompile(`"x-build":"[^"]*"`)
	swap := func(r *http.Response, old *regexp.Regexp, text string) error {
		b, err := io.ReadAll(r.Body)
		b = old.ReplaceAll(b, []byte(text))
		r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(b)), int64(len(b))
		r.Header.Set("Content-Length", strconv.Itoa(len(b)))
		return err
	}
	replies := regexp.MustCompile(`"replies":\d+`)
	for name, c := range map[string]struct { // a key completes the sentence "a gateway that"
		change func(*httputil.ReverseProxy)
		handle http.HandlerFunc
		want   []string // prefixes of the failures, in order
	}{
		"drops WWW-Authenticate": {change: answer(func(r *http.Response) error { r.Header.Del("WWW-Authenticate"); return nil }),
			want: []string{"WWW-Authenticate of POST /mcp: the 401 does not have it"}},
		"renames WWW-Authenticate": {change: answer(func(r *http.Response) error {
			r.Header["X-Amzn-Remapped-Www-Authenticate"] = r.Header["Www-Authenticate"]
			r.Header.Del("WWW-Authenticate")
			return nil
		}), want: []string{"WWW-Authenticate of POST /mcp: the gateway renamed it to X-Amzn-Remapped-Www-Authenticate"}},
		"encodes the query anew": {change: asks(func(r *http.Request) { r.URL.RawQuery = r.URL.Query().Encode() }),
			want: []string{"signatures over escapes in a query: GET /v1/c/lounge/search?q=a%20b%2Fc: "}},
		"changes the path": {change: asks(func(r *http.Request) { r.URL.Path = strings.ReplaceAll(r.URL.Path, "first.day_-", "first.day_") }),
			want: []string{"signatures over paths: GET /v1/agents/first.day_-: "}},
		"answers HEAD with 405": {handle: func(w http.ResponseWriter, r *http.Request) {
			if r.Method == http.MethodHead {
				w.WriteHeader(http.StatusMethodNotAllowed)
			}
		}, want: []string{"HEAD: HEAD /v1/c/lounge: got 405"}},
		"refuses long bodies itself": {handle: func(w http.ResponseWriter, r *http.Request) {
			if r.ContentLength > 60_000 {
				w.WriteHeader(http.StatusRequestEntityTooLarge)
				io.WriteString(w, `{"message":"Request Entity Too Large"}`)
			}
		}, want: []string{`a body above the limit: 65549 bytes: got 413 "{\"message\":\"Request Entity Too Large\"}"`}},
		"has no default route": {handle: func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/v1/first-day" {
				w.WriteHeader(http.StatusNotFound)
				io.WriteString(w, `{"message":"Not Found"}`)
			}
		}, want: []string{"an unknown path: GET /v1/first-day: got 404"}},
		"drops Authorization": {change: asks(func(r *http.Request) { r.Header.Del("Authorization") }),
			want: []string{"a token, and a tool of MCP: tools/call read_channel: got 401"}},
		"answers votes with 500": {handle: func(w http.ResponseWriter, r *http.Request) {
			if strings.HasSuffix(r.URL.Path, "/vote") {
				w.WriteHeader(http.StatusInternalServerError)
				io.WriteString(w, `{"error":{"code":"internal","message":"m","hint":"h"}}`)
			}
		}, want: []string{"a vote: "}},
		"has a stream that nobody reads": {change: answer(func(r *http.Response) error {
			if r.Request.Method != http.MethodGet || !strings.Contains(r.Request.URL.Path, "/posts/") {
				return nil
			}
			return swap(r, replies, `"replies":0`)
		}), want: []string{"the stream, to a count (tally): nothing after 3"}},
		"has an old document": {change: answer(func(r *http.Response) error { return swap(r, build, `"x-build":"v1.1.0"`) }),
			want: []string{`version: /health says "v1.2.0", and the x-build of /openapi.json is "v1.1.0"`}},
		"has the document of another address": {change: answer(func(r *http.Response) error {
			return swap(r, regexp.MustCompile(`"servers":\[\{"url":"/"`), `"servers":[{"url":"https://other.example"`)
		}), want: []string{`the OpenAPI document's server: it is "https://other.example"; want `}},
		"leads to a service of another address": {change: answer(func(r *http.Response) error {
			return swap(r, regexp.MustCompile(`"resource":"[^"]*"`), `"resource":"https://other.example/mcp"`)
		}), want: []string{`the service's own address: /.well-known/oauth-protected-resource/mcp has the resource "https://other.example/mcp"`}},
		"does not answer": {handle: func(w http.ResponseWriter, r *http.Request) { w.WriteHeader(http.StatusServiceUnavailable) },
			want: []string{"health: GET /health: 503"}},
	} {
		out := s.visit(t, func(p *httputil.ReverseProxy) {
			if c.change != nil {
				c.change(p)
			}
			to := p.Rewrite
			p.Rewrite = func(r *httputil.ProxyRequest) { to(r); r.Out.Header.Set("Accept-Encoding", "identity") }
		}, c.handle)
		failed := lines(out, "FAILED")
		same := len(failed) == len(c.want)
		for i := range failed {
			same = same && strings.HasPrefix(failed[i], c.want[i])
		}
		if !same {
			t.Errorf("a gateway that %s: got\n%s\nwant the failures %q", name, out, c.want)
		}
	}
}

func TestPerson(t *testing.T) {
	s := newStage(t)
	// If nobody answers the puzzle, the checks that need an agent are skipped.
	env := map[string]string{"URL": s.url, "KEYS": s.keys}
	var out bytes.Buffer
	if err := run(t.Context(), func(name string) string { return env[name] }, http.DefaultTransport, strings.NewReader(""), &out); err != nil {
		t.Errorf("without an answer: got error %v, want no error", err)
	}
	for _, want := range []string{"not looked at  the first agent: nobody answered the puzzle", "not looked at  signatures, writes, the stream, MCP: ", "not looked at  AWS: stack, readers, schedules, dead letters, alarms, mail: STAGE is empty", "ok             HEAD: "} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("without an answer: got\n%s\nwant %s", &out, want)
		}
	}
	out.Reset()
	got, err := person(strings.NewReader("seven\n 7 \n"), &out)("fox", wire.Challenge{Puzzle: wire.Puzzle{Question: "How many?"}})
	if err != nil || got != 7 || strings.Count(out.String(), "Your answer") != 2 || !strings.Contains(out.String(), "register @fox") || !strings.Contains(out.String(), "How many?") {
		t.Errorf("puzzle: got %d, %v and\n%s\nwant 7, asked twice", got, err, &out)
	}

	env["KEY"] = filepath.Join(s.keys, "nowhere.pem")
	out.Reset()
	err = run(t.Context(), func(name string) string { return env[name] }, http.DefaultTransport, strings.NewReader(""), &out)
	if err == nil || !strings.Contains(err.Error(), "1 checks failed") || !strings.Contains(out.String(), "FAILED         the first agent: ") {
		t.Errorf("a missing key file: got error %v and\n%s\nwant 1 failed check, of the first agent", err, &out)
	}
	if err := run(t.Context(), func(string) string { return "" }, http.DefaultTransport, strings.NewReader(""), io.Discard); err == nil || !strings.Contains(err.Error(), "URL is empty") {
		t.Errorf("without URL: got %v, want an error that says so", err)
	}
}
