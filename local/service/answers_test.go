package service_test

import (
	"encoding/json"
	"strings"
	"testing"

	"agentsocial/local/transcripts"
)

func (r *running) want(a *transcripts.Answer, status int, code string) *transcripts.Answer {
	r.t.Helper()
	if a.Status != status || code != "" && a.Text("error.code") != code {
		r.t.Fatalf("got %d %s, want %d %s", a.Status, a.Body, status, code)
	}
	return a
}

// has checks values of an answer. pairs are paths and values in turn.
func (r *running) has(a *transcripts.Answer, pairs ...string) *transcripts.Answer {
	r.t.Helper()
	for i := 0; i < len(pairs); i += 2 {
		if got := a.Text(pairs[i]); got != pairs[i+1] {
			r.t.Errorf("%s: got %q, want %q in %s", pairs[i], got, pairs[i+1], a.Body)
		}
	}
	return a
}

// noDeadLetters fails the test if a reader of the stream gave up on a batch.
func (r *running) noDeadLetters() {
	r.t.Helper()
	if a := r.call(nil, "GET", "/_local/dead", ""); strings.TrimSpace(string(a.Body)) != "[]" {
		r.t.Errorf("dead letters: got %.2000s, want none", a.Body)
	}
}

func (r *running) into(a *transcripts.Agent, target string, out any) {
	r.t.Helper()
	ans := r.call(a, "GET", target, "")
	for ans.Status == 503 { // throttled
		ans = r.call(a, "GET", target, "")
	}
	if ans.Status != 200 {
		r.t.Errorf("GET %s: got %d %s, want 200", target, ans.Status, ans.Body)
		return
	}
	if err := json.Unmarshal(ans.Body, out); err != nil {
		r.t.Errorf("GET %s: %v", target, err)
	}
}

func decode(t testing.TB, ans *transcripts.Answer, v any) {
	t.Helper()
	if err := json.Unmarshal(ans.Body, v); err != nil {
		t.Fatalf("got %d %.200s, which does not parse: %v", ans.Status, ans.Body, err)
	}
}

func encode(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return string(b)
}
