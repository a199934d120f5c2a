package service

import (
	"context"
	"log/slog"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"agentsocial/local/transcripts"
	"agentsocial/shared/app"
)

func TestRefuses(t *testing.T) {
	for _, c := range []struct {
		lag    time.Duration
		random float64
		want   bool
	}{
		{0, 0, false}, {5 * time.Second, 0, false}, {5700 * time.Millisecond, .09, true}, {8500 * time.Millisecond, .49, true},
		{8500 * time.Millisecond, .51, false}, {11900 * time.Millisecond, .99, false}, {12 * time.Second, .999999, true}, {time.Hour, .999999, true},
	} {
		if got := refuses(c.lag, c.random); got != c.want {
			t.Errorf("refuses(%s, %v) = %v, want %v", c.lag, c.random, got, c.want)
		}
	}
}

func TestSlowed(t *testing.T) {
	t.Parallel()
	settings := app.DefaultSettings()
	settings.PowBits = 0
	s, err := Start(t.Context(), Config{Data: Memory, Table: "embedded", Settings: settings, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Stop(context.Background())
	fox := transcripts.NewAgent("fox")
	if ans, err := fox.Register(s.URL, "🦊"); err != nil || ans.Status != 201 {
		t.Fatalf("registering: got %v %v, want 201", ans, err)
	}
	at := time.Now()
	ask := func(method, target, body string) *transcripts.Answer {
		t.Helper()
		at = at.Add(time.Millisecond)
		ans, err := fox.Signed(method, target, []byte(body), at).Send(s.URL)
		if err != nil {
			t.Fatal(err)
		}
		return ans
	}
	token := ask("POST", "/v1/me/tokens", `{"label":"x","scopes":["post"]}`).Text("token")
	tool := func() string {
		t.Helper()
		q := &transcripts.Request{Method: "POST", Target: "/mcp", Header: http.Header{}}
		q.Body = []byte(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"post","arguments":{"ch":"lounge","body":"from a tool"}}}`)
		for name, value := range map[string]string{
			"Authorization": "Bearer " + token, "Content-Type": "application/json", "Accept": "application/json, text/event-stream", "MCP-Protocol-Version": "2025-06-18",
		} {
			q.Header.Set(name, value)
		}
		ans, err := q.Send(s.URL)
		if err != nil || ans.Status != 200 {
			t.Fatalf("a tool: got %v %v, want 200", ans, err)
		}
		return string(ans.Body)
	}
	behind := func(by time.Duration) {
		s.pump.mu.Lock()
		defer s.pump.mu.Unlock()
		s.pump.since = s.App.Now().Add(-time.Hour)
		if s.pump.unfinished["stuck"] = s.App.Now().Add(-by); by == 0 {
			delete(s.pump.unfinished, "stuck")
		}
	}
	behind(time.Minute)
	waits := map[int]bool{}
	begun := time.Now()
	for i := range 15 {
		ans := ask("POST", "/v1/c/lounge/posts", `{"body":"hello `+strconv.Itoa(i)+`"}`)
		after, err := strconv.Atoi(ans.Header.Get("Retry-After"))
		if ans.Status != 503 || ans.Text("error.code") != "unavailable" || err != nil || after < 1 {
			t.Fatalf("a write while a reader lags: got %d %s, Retry-After %q; want 503 unavailable with a wait", ans.Status, ans.Body, ans.Header.Get("Retry-After"))
		}
		waits[after] = true
	}
	if len(waits) < 3 {
		t.Errorf("waits in Retry-After: got %v, want at least three values", waits)
	}
	if took := time.Since(begun); took < 15*refusedFor {
		t.Errorf("15 refusals took %s, want %s or more", took, 15*refusedFor)
	}
	if body := tool(); !strings.Contains(body, `"unavailable"`) && !strings.Contains(body, `\"unavailable\"`) {
		t.Errorf("a tool that writes: got %s, want unavailable", body)
	}
	if ans := ask("GET", "/v1/me", ""); ans.Status != 200 {
		t.Errorf("a read: got %d %s, want 200", ans.Status, ans.Body)
	}
	behind(0)
	if ans := ask("POST", "/v1/c/lounge/posts", `{"body":"hello"}`); ans.Status != 201 {
		t.Errorf("after the readers caught up: got %d %s, want 201", ans.Status, ans.Body)
	}
	if body := tool(); !strings.Contains(body, "po_") {
		t.Errorf("a tool after the readers caught up: got %s, want a post", body)
	}
}

// The machine sleeps after a change, and before a reader gets it.
func TestSlowed_NotAfterSleep(t *testing.T) {
	t.Parallel()
	settings := app.DefaultSettings()
	settings.PowBits = 0
	settings.Limits.PostsPerMinute, settings.Limits.PostsPerHourNew = 1000, 1000
	s, err := Start(t.Context(), Config{Data: t.TempDir(), Table: "embedded", Settings: settings, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Stop(context.Background())
	fox := transcripts.NewAgent("fox")
	if ans, err := fox.Register(s.URL, "🦊"); err != nil || ans.Status != 201 {
		t.Fatalf("registering fox: got %v, %v; want 201", ans, err)
	}
	for i := range 60 {
		ans, err := fox.Signed("POST", "/v1/c/lounge/posts", []byte(`{"body":"hello `+strconv.Itoa(i)+`"}`), s.App.Now()).Send(s.URL)
		if err != nil || ans.Status != 201 {
			t.Fatalf("post %d: got %v %v, want 201", i, ans, err)
		}
		if i%3 == 0 { // as the clock of a machine that slept
			if err := s.clock.advance(20 * time.Minute); err != nil {
				t.Fatal(err)
			}
		}
	}
}
