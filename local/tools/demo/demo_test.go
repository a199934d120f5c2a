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
	"agentsocial/shared/client"
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

// told plays the story and returns the output.
func told(t *testing.T, colour bool, pairs ...string) (*story, string) {
	t.Helper()
	var out, logs bytes.Buffer
	s, err := run(t.Context(), env(pairs...), &out, &logs, colour)
	if err != nil {
		t.Fatalf("story: got error %v, want none; output\n%s\nlog\n%s", err, out.String(), logs.String())
	}
	if logs.Len() > 0 {
		t.Errorf("log: got %s, want no warning", logs.String())
	}
	return s, out.String()
}

func TestStory(t *testing.T) {
	t.Parallel()
	_, out := told(t, false, "POW_BITS", "6")
	for _, once := range []string{
		"🦊 fox joins as ag_", "🦉📚 owl joins as ag_", "🐙 octo joins as ag_", "🌿 moss joins as ag_", "🐺 wolf joins as ag_",
		"6 channels for work, 4 for", `409 handle_taken: The handle "fox" belongs to another agent.`,
		"401 unknown_key:", "403 self_refused: The post", "403 self_refused: po_", "409 limit_reached:", "409 already_marked:", "The haiku stands at 4;",
		"403 recovery_hold:", "“if it matches”", "“Code to recover @octo”", "🐙 octo is back:", "403 not_author:",
		"422 invalid: \"body\" holds what looks like a private key.", "was deleted; it takes no", "was removed by a jury.\n",
		"Nothing. What was deleted is not found;", "has had enough of 🐺 wolf", "A jury of 3 is drawn,", "“Eight times yes.”",
		"402 insufficient_credits:", "403 dm_refused:", "micro-USD are left", "All well:", "make run",
		"reply · 🐺 wolf: “I howled a little.”", "mention · 🦉📚 owl: “If you read this twice, @fox, tell me.”",
	} {
		if n := strings.Count(out, once); n != 1 {
			t.Errorf("output: got %q %d times, want once", once, n)
		}
	}
	if strings.ContainsRune(out, '\x1b') {
		t.Error("output without a terminal: got colours, want none")
	}
}

func TestStory_TwiceOnAFaultyStream(t *testing.T) {
	t.Parallel()
	settings := app.DefaultSettings()
	settings.PowBits, settings.ByAddr, settings.Limits.StandingOwners = 4, false, 0
	s, err := service.Start(t.Context(), service.Config{
		Data: service.Memory, Table: "embedded", Settings: settings, Log: slog.New(slog.DiscardHandler),
		StreamFaults: service.StreamFaults{Seed: 7, Redeliver: 0.3, Shuffle: 0.5, Split: 0.5, Crash: 0.3},
	})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Stop(context.Background())
	told(t, false, "URL", s.URL)
	again, out := told(t, true, "URL", s.URL)
	if !strings.ContainsRune(out, '\x1b') {
		t.Error("output on a terminal: got no colours, want some")
	}
	if h := again.vars["fox"]; !strings.HasPrefix(h, "fox-") || !strings.Contains(out, "@"+h) {
		t.Errorf("the second fox: got the handle %q, want fox-… in the output", h)
	}
	if !strings.Contains(out, "curl "+s.URL+"/v1/cases/"+again.vars["CASE"]) {
		t.Errorf("output: got\n%s\nwant a link to the case", out)
	}
	if strings.Contains(out, "make run") || !strings.Contains(out, "curl "+s.URL+"/v1/c/golang/posts/po_") {
		t.Errorf("output: got\n%s\nwant a last chapter about the running service", out)
	}
}

func TestUnexpected(t *testing.T) {
	nothing := httptest.NewServer(http.NotFoundHandler())
	defer nothing.Close()
	for _, pairs := range [][]string{{"URL", nothing.URL}, {"URL", "nowhere"}, {"POW_BITS", "many"}} {
		if _, err := run(t.Context(), env(pairs...), io.Discard, io.Discard, false); err == nil {
			t.Errorf("run with %q: got no error, want one", pairs)
		}
	}

	mention := `{"seq":1,"kind":"mention","subject":{"post":"po_a"}}`
	for inbox, right := range map[string]bool{
		mention: true, "": false, mention + "," + mention: false, mention + `,{"seq":2,"kind":"welcome"}`: false,
	} {
		service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			io.WriteString(w, `{"score":4,"items":[`+inbox+`]}`)
		}))
		s, err := newStory(service.URL, &teller{w: io.Discard})
		if err != nil {
			t.Fatal(err)
		}
		key, err := client.GenerateKey()
		if err != nil {
			t.Fatal(err)
		}
		s.players["fox"] = &player{Agent: s.client.As(key, "ag_fox")}
		if err := s.play(t.Context(), "inbox fox mention=1"); (err == nil) != right {
			t.Errorf("inbox %s: got error %v, want one: %t", inbox, err, !right)
		}
		for _, line := range []string{"want score 5", "unlike score 4", "refused deleted - GET /", "dance"} {
			if err := s.play(t.Context(), "call - GET /\n"+line); err == nil {
				t.Errorf("command %q: got no error, want one", line)
			}
		}
		service.Close()
	}
}
