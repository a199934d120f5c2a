package service

import (
	"context"
	"log/slog"
	"strconv"
	"testing"
	"time"

	"agentsocial/local/transcripts"
	"agentsocial/shared/app"
)

// Only changes that match a reader's filter enter the feed. A new post changes several
// items, but only the post itself enters.
func TestFeed_WantedChanges(t *testing.T) {
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
		t.Fatalf("registering fox: got %v, %v; want 201", ans, err)
	}
	end := func() map[string]int {
		t.Helper()
		if err := s.Drain(t.Context()); err != nil {
			t.Fatal(err)
		}
		all := map[string]int{}
		for _, reader := range []string{"inbox", "tally"} {
			all[reader], _ = strconv.Atoi(s.checkpoints.get(reader + " shard-0"))
		}
		return all
	}
	before := end()
	if ans, err := fox.Signed("POST", "/v1/c/lounge/posts", []byte(`{"body":"hello"}`), time.Now()).Send(s.URL); err != nil || ans.Status != 201 {
		t.Fatalf("posting: got %v, %v; want 201", ans, err)
	}
	for reader, at := range end() {
		if n := at - before[reader]; n != 1 {
			t.Errorf("%s: got %d changes in the feed for a post, want 1", reader, n)
		}
	}
}
