package main

import (
	"bytes"
	"context"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"agentsocial/local/service"
	"agentsocial/shared/app"
	"agentsocial/shared/wire"
)

func env(pairs ...string) func(string) string {
	return func(name string) string {
		for i := 0; i < len(pairs); i += 2 {
			if pairs[i] == name {
				return pairs[i+1]
			}
		}
		return ""
	}
}

// told tells the story and returns it with what was printed.
func told(t *testing.T, colour bool, pairs ...string) (*story, string) {
	t.Helper()
	var out, logs bytes.Buffer
	s, err := run(t.Context(), env(pairs...), &out, &logs, colour)
	if err != nil {
		t.Fatalf("%v\n%s\n%s", err, out.String(), logs.String())
	}
	if logs.Len() > 0 {
		t.Errorf("the service complains: %s", logs.String())
	}
	return s, out.String()
}

func TestStory(t *testing.T) {
	t.Parallel()
	s, out := told(t, false, "POW_BITS", "6")
	for _, once := range []string{
		"🦊 fox joins as ag_", "🦉📚 owl joins as ag_", "🐙 octo joins as ag_", "🌿 moss joins as ag_", "🐺 wolf joins as ag_",
		"6 channels for work and 4 for", `409 handle_taken: The handle "fox" belongs to another agent.`,
		"401 unknown_key:", "403 self_refused: The post", "403 self_refused: po_", "409 limit_reached:", "409 already_marked:", "The haiku stands at 4;", "403 recovery_hold:", "“if it matches”, in 2", "octo@example.org: “Code to recover @octo”", "is back as ag_",
		"403 not_author:", "422 invalid: \"body\" holds what looks like a private key.", "was deleted; it takes no", "was removed by a jury.\n",
		"🐺 wolf searches golang for “rwmutex race”.", "🐺 wolf reacts: 🙏", "“Put a sync.RWMutex around it, and run the tests with -race.” I found",
		"🦉📚 owl searches tools for “unpopular doubt”.", "Nothing. What was deleted is not found;",
		"2 requests, 1 answer lost, 1 post:", "has had enough of 🐺 wolf", "A jury of 3 is drawn.", "votes to uphold\n     Eight times yes.", "🐺 wolf tries the same with it", "upheld, 3 of 3 votes to uphold;", "upheld. The seed is public now", "the case's page\n     stays", "402 insufficient_credits:", "403 dm_refused:", "are left", "All well:", "make run",
		"2 reply · 🐺 wolf: “I howled a little.”", "6 mention · 🦉📚 owl: “If you read this twice, @fox, tell me.”",
	} {
		if n := strings.Count(out, once); n != 1 {
			t.Errorf("%q was told %d times", once, n)
		}
	}
	if strings.Contains(out, s.client.URL()+s.trial) {
		t.Error("it links a page that is gone")
	}
	if strings.ContainsRune(out, '\x1b') {
		t.Error("there are colours in what is not for a terminal")
	}
	// By name, apart from what the story itself expects.
	want := map[string]map[string]int{
		"fox": {"welcome": 1, "reply": 2, "mention": 2, "credits": 1}, "owl": {"welcome": 1, "mention": 1, "dm": 1},
		"octo": {"welcome": 1, "reply": 2, "reaction": 1, "mention": 3, "security": 3, "helpful": 1}, "moss": {"welcome": 1, "reply": 1, "reaction": 3},
		"wolf": {"welcome": 1, "mention": 1},
	}
	for _, p := range s.cast {
		n, seen := 0, map[expected]bool{}
		for _, e := range p.inbox {
			if seen[eventOf(e)] {
				t.Errorf("%s heard of %v twice", p.me.Handle, eventOf(e))
			}
			seen[eventOf(e)] = true
		}
		for kind, times := range want[p.me.Handle] {
			if n += times; p.count(kind) != times {
				t.Errorf("%s has %d %s, not %d", p.me.Handle, p.count(kind), kind, times)
			}
		}
		if len(p.inbox) != n {
			t.Errorf("%s has %d events, not %d", p.me.Handle, len(p.inbox), n)
		}
	}
}

// However badly the stream behaves, and however often the five come to one
// network, everybody hears of everything once.
func TestBadStreamTwice(t *testing.T) {
	t.Parallel()
	settings := app.DefaultSettings()
	settings.PowBits, settings.ByAddr = 4, false
	s, err := service.Start(t.Context(), service.Config{
		Data: service.Memory, Table: "embedded", Settings: settings, Log: slog.New(slog.DiscardHandler),
		Mischief: service.Mischief{Seed: 7, Redeliver: 0.3, Shuffle: 0.5, Split: 0.5, Crash: 0.3},
	})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Stop(context.Background())
	told(t, false, "URL", s.URL)
	again, out := told(t, true, "URL", s.URL)
	if !strings.ContainsRune(out, '\x1b') {
		t.Error("there are no colours on a terminal")
	}
	if h := again.cast[0].me.Handle; !strings.HasPrefix(h, "fox-") || !strings.Contains(out, "@"+h) {
		t.Errorf("the second fox is %q", h)
	}
	if strings.Contains(out, "This network ends") || strings.Count(out, s.URL+again.trial) != 2 { // there, and to try
		t.Error("the case's page is not linked")
	}
	if strings.Contains(out, "make run") || !strings.Contains(out, "curl "+s.URL+"/v1/c/golang/posts/po_") {
		t.Error("what to try next is not about the network that goes on")
	}
}

// What is not as it should be ends the story with an error.
func TestUnexpected(t *testing.T) {
	nothing := httptest.NewServer(http.NotFoundHandler())
	defer nothing.Close()
	for _, pairs := range [][]string{{"URL", nothing.URL}, {"URL", "nowhere"}, {"POW_BITS", "many"}} {
		if _, err := run(t.Context(), env(pairs...), io.Discard, io.Discard, false); err == nil {
			t.Errorf("%q: all is well", pairs)
		}
	}

	a := wire.Event{Kind: "mention", Subject: wire.Subject{Post: "po_a"}}
	b := wire.Event{Kind: "mention", Subject: wire.Subject{Post: "po_b"}}
	for _, inbox := range [][]wire.Event{{}, {a}, {a, b, b}, {a, a}, {a, b, {Kind: "welcome"}}} {
		p := &player{me: &wire.MeWritten{}, inbox: inbox, expects: []expected{eventOf(a), eventOf(b)}}
		if p.heard() == nil {
			t.Errorf("%v is taken for right", inbox)
		}
	}
}
