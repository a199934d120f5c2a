package probe_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"regexp"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"agentsocial/events/probe"
	"agentsocial/local/service"
	"agentsocial/shared/app"
	"agentsocial/shared/client"
)

// running starts the whole service in memory.
func running(t *testing.T) *service.Service {
	t.Helper()
	settings := app.DefaultSettings()
	settings.PowBits, settings.ByAddr, settings.Remember = 8, false, 0
	s, err := service.Start(t.Context(), service.Config{
		Data: service.Memory, Table: "embedded", Settings: settings, Noon: true,
		Log: slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelError})),
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Stop(context.Background()) })
	return s
}

type prober struct {
	app *app.App
	s   *service.Service
	log bytes.Buffer
}

func newProber(t *testing.T) *prober {
	p := &prober{s: running(t)}
	own := *p.s.App
	own.Log, own.Table = slog.New(slog.NewTextHandler(&p.log, nil)), nil // the probe needs no table
	p.app = &own
	return p
}

func (p *prober) handle(ctx context.Context) error { return probe.New(p.app).Handle(ctx) }

// tick runs the probe, and returns the ids of its posts that are not deleted.
func (p *prober) tick(t *testing.T) (posts []string) {
	t.Helper()
	if err := p.handle(t.Context()); err != nil {
		t.Fatal(err)
	}
	c, err := client.New(p.s.URL)
	if err != nil {
		t.Fatal(err)
	}
	all, err := c.Channels(t.Context(), "", client.Page{Limit: 100})
	if err != nil {
		t.Fatal(err)
	}
	for _, ch := range all.Work {
		if !strings.HasPrefix(ch.Name, "probe-") {
			continue
		}
		page, err := c.Channel(t.Context(), ch.Name, client.Page{})
		if err != nil {
			t.Fatal(err)
		}
		for _, post := range page.Items {
			if !post.Deleted {
				posts = append(posts, post.ID)
			}
		}
	}
	return posts
}

func TestProbe(t *testing.T) {
	p := newProber(t)
	if posts := p.tick(t); posts != nil || !strings.Contains(p.log.String(), "probe registered") {
		t.Errorf("first tick: got the posts %v and the log %s, want no posts, and a registration in the log", posts, &p.log)
	}
	p.log.Reset()
	if posts := p.tick(t); posts != nil || p.log.Len() > 0 {
		t.Errorf("second tick: got the posts %v and the log %s, want neither", posts, &p.log)
	}
	p.move(t, 25*time.Hour)
	first := p.tick(t)
	if len(first) != 2 || !strings.Contains(p.log.String(), "probe posted") || !strings.Contains(p.log.String(), "counted_ms=") {
		t.Errorf("after a day: got the posts %v and the log %s, want a post and a reply, and counted_ms in the log", first, &p.log)
	}
	p.move(t, time.Hour)
	if again := p.tick(t); strings.Join(again, " ") != strings.Join(first, " ") {
		t.Errorf("an hour later: got the posts %v, want still %v", again, first)
	}
	p.move(t, 24*time.Hour)
	next := p.tick(t)
	if len(next) != 2 || strings.Contains(strings.Join(next, " "), first[0]) || strings.Contains(strings.Join(next, " "), first[1]) {
		t.Errorf("the day after: got the posts %v, want two new posts instead of %v", next, first)
	}
}

func (p *prober) move(t *testing.T, d time.Duration) {
	t.Helper()
	c, err := client.New(p.s.URL)
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Do(t.Context(), "POST", "/_local/clock", map[string]int64{"advance_ms": d.Milliseconds()}, nil); err != nil {
		t.Fatal(err)
	}
}

func TestProbe_Fails(t *testing.T) {
	p := newProber(t)
	p.tick(t)
	address, err := url.Parse(p.s.URL)
	if err != nil {
		t.Fatal(err)
	}
	var broken atomic.Pointer[string] // paths with this prefix answer 503
	way := httputil.NewSingleHostReverseProxy(address)
	between := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if b := broken.Load(); b != nil && strings.HasPrefix(r.URL.Path, *b) {
			http.Error(w, "Service Unavailable", http.StatusServiceUnavailable)
			return
		}
		r.Host = address.Host
		way.ServeHTTP(w, r)
	}))
	defer between.Close()
	p.app.Settings.BaseURL = between.URL
	if err := p.handle(t.Context()); err != nil {
		t.Fatalf("through a proxy: got %v, want no error", err)
	}
	for _, path := range []string{"/health", "/v1/me/memory", "/"} {
		broken.Store(&path)
		var answer *client.Error
		if err := p.handle(t.Context()); !errors.As(err, &answer) || answer.Status != http.StatusServiceUnavailable {
			t.Errorf("probe while %s answers 503: got error %v, want one with that status", path, err)
		}
	}
	p.app.Settings.BaseURL = "http://127.0.0.1:1"
	if err := p.handle(t.Context()); err == nil || !strings.Contains(err.Error(), "127.0.0.1:1") {
		t.Errorf("nobody listens: got %v, want an error that names the address", err)
	}
}

func TestProbe_Uncounted(t *testing.T) {
	p := newProber(t)
	p.tick(t)
	p.move(t, 25*time.Hour)
	address, err := url.Parse(p.s.URL)
	if err != nil {
		t.Fatal(err)
	}
	var stuck atomic.Bool
	stuck.Store(true)
	way := httputil.NewSingleHostReverseProxy(address)
	way.ModifyResponse = func(res *http.Response) error {
		if !stuck.Load() || !strings.Contains(res.Request.URL.Path, "/posts/") || res.Request.Method != "GET" {
			return nil
		}
		p.move(t, 30*time.Second)
		b, err := io.ReadAll(res.Body)
		b = regexp.MustCompile(`"replies":\d+`).ReplaceAll(b, []byte(`"replies":0`))
		res.Body, res.ContentLength = io.NopCloser(bytes.NewReader(b)), int64(len(b))
		res.Header.Set("Content-Length", strconv.Itoa(len(b)))
		return err
	}
	between := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		r.Host = address.Host
		r.Header.Set("Accept-Encoding", "identity")
		way.ServeHTTP(w, r)
	}))
	defer between.Close()
	p.app.Settings.BaseURL = between.URL
	for n := range 2 {
		if err := p.handle(t.Context()); err == nil || !strings.Contains(err.Error(), "is not counted after") {
			t.Errorf("tick %d without a count: got %v, want an error that the reply is not counted", n+1, err)
		}
	}
	stuck.Store(false)
	if err := p.handle(t.Context()); err != nil {
		t.Errorf("with a count: got %v, want no error", err)
	}
}
