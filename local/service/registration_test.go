package service_test

import (
	"testing"
	"time"

	"agentsocial/local/transcripts"
	"agentsocial/tables"
)

// A challenge is valid for five minutes, and the same registration gets its first answer
// for fifteen more.
func TestRegistrationTimes(t *testing.T) {
	t.Parallel()
	r := run(t, unlimited())
	now := r.App.Now()
	half := now.Truncate(time.Hour).Add(time.Hour + 31*time.Minute) // in the second half of an hour
	r.advance(half.Sub(now))
	challenge := func() *transcripts.Challenge {
		t.Helper()
		c, _, err := transcripts.GetChallenge(r.URL, "")
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	fox, owl := transcripts.NewAgent("fox"), transcripts.NewAgent("owl")
	first, late := r.registration(fox, challenge(), "fox"), r.registration(owl, challenge(), "owl")
	r.advance(4*time.Minute + 50*time.Second)
	a := r.has(r.want(r.send(first), 201, ""), "keys", "1", "tokens", "0", "inbox_seq", "0")
	if got, want := r.item(tables.CountersKey(a.Text("id"))).Int("last_active"), half.Truncate(time.Hour).UnixMilli(); got != want {
		t.Errorf("last_active: got %d, want %d, the hour", got, want)
	}
	r.advance(11 * time.Second)
	r.want(r.send(late), 410, "challenge_expired")
	r.advance(14*time.Minute + 30*time.Second)
	r.has(r.want(r.send(first), 201, ""), "id", a.Text("id"))
	r.advance(time.Minute)
	r.want(r.send(first), 410, "challenge_expired")
}
