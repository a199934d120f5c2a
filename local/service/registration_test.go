package service_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"agentsocial/functions/agents"
	"agentsocial/local/transcripts"
	"agentsocial/tables"
)

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
		t.Errorf("last_active: got %d, want %d, the start of the hour", got, want)
	}
	r.advance(11 * time.Second)
	r.want(r.send(late), 410, "challenge_expired")
	r.advance(14*time.Minute + 30*time.Second)
	r.has(r.want(r.send(first), 201, ""), "id", a.Text("id"))
	r.advance(time.Minute)
	r.want(r.send(first), 410, "challenge_expired")
}

// challenged returns the request that answers a new challenge. It does not call the local service's
// own endpoints.
func (r *running) challenged(name string) *transcripts.Request {
	r.t.Helper()
	a, got := transcripts.NewAgent(name), r.want(r.call(nil, "GET", "/v1/challenge", ""), 200, "")
	c := &transcripts.Challenge{Nonce: got.Text("nonce"), Token: got.Text("token")}
	answer, err := agents.Solve(r.t.Context(), r.App, c.Token)
	if err != nil {
		r.t.Fatal(err)
	}
	return r.request(nil, "POST", "/v1/agents", encode(map[string]any{
		"pubkey": a.Pub(), "handle": name, "emoji": "🦊", "token": c.Token, "pow": c.Pow(true), "answer": answer,
		"sig": a.Sign("register:" + c.Nonce + ":" + name),
	}))
}

// A challenge can be used in its last millisecond. A repeated registration gets the first answer
// for 15 minutes.
func TestRegistrationBoundaries(t *testing.T) {
	t.Parallel()
	const again = 15 * time.Minute
	inBubble(t, func(r *running) {
		for wait, codes := range map[time.Duration][3]string{
			5*time.Minute - time.Second:      {"", "", "challenge_used"},
			5 * time.Minute:                  {"", "", "challenge_expired"},
			5*time.Minute + time.Millisecond: {"challenge_expired", "challenge_expired", "challenge_expired"},
		} {
			q := r.challenged(fmt.Sprint("fox", wait.Milliseconds()))
			time.Sleep(wait)
			at := time.Now()
			for i, after := range []time.Duration{0, again, again + time.Millisecond} {
				time.Sleep(time.Until(at.Add(after)))
				a := r.send(q)
				if a.Code() != codes[i] || (a.Header.Get("Idempotent-Replayed") != "") != (a.Code() == "" && i > 0) {
					t.Errorf("a challenge answered after %s, and again after %s: got %d %s, headers %v; want error %q, or without one a replay from the second time on", wait, after, a.Status, a.Body, a.Header, codes[i])
				}
			}
		}
	})
}

// A signup's puzzle can be answered in its last millisecond.
func TestSignupBoundaries(t *testing.T) {
	t.Parallel()
	inBubble(t, func(r *running) {
		for wait, code := range map[time.Duration]string{5 * time.Minute: "", 5*time.Minute + time.Millisecond: "challenge_expired"} {
			time.Sleep(time.Until(time.Now().Truncate(time.Hour).Add(time.Hour + 50*time.Minute))) // in the second half of an hour
			agent, token := r.connected()
			q := r.signup(token, fmt.Sprint("owl", wait.Milliseconds()), true)
			time.Sleep(wait)
			a := r.send(q)
			if a.Code() != code {
				t.Errorf("a puzzle answered after %s: got %d %s, want error %q", wait, a.Status, a.Body, code)
			}
			if code != "" {
				continue
			}
			hour := time.Now().Truncate(time.Hour).UnixMilli()
			r.has(a, "last_active_at", fmt.Sprint(hour))
			if got := r.item(tables.CountersKey(agent)).Int("last_active"); got != hour {
				t.Errorf("last_active: got %d, want %d, the start of the hour", got, hour)
			}
		}
	})
}

// A count is kept until a minute after its hour ends.
func TestRegistrationWindows(t *testing.T) {
	t.Parallel()
	inBubble(t, func(r *running) {
		r.App.Settings.ByAddr = true
		l := &r.App.Settings.Limits
		l.RegistrationsHour, l.SignupsHour = 1, 1
		for half, late := range []time.Duration{10 * time.Minute, 40 * time.Minute} {
			hour := time.Now().Truncate(time.Hour).Add(time.Hour)
			time.Sleep(time.Until(hour.Add(late)))
			_, token := r.connected()
			answers := map[string][2]*transcripts.Request{
				"register": {r.challenged(fmt.Sprint("fox", half)), r.challenged(fmt.Sprint("elk", half))},
				"signup":   {r.signup(token, fmt.Sprint("owl", half), false), r.signup(token, fmt.Sprint("owl", half), true)},
			}
			for rule, q := range answers {
				r.send(q[0])
				var counted []tables.Item
				for _, item := range r.scan() {
					if strings.HasPrefix(item.Str("sk"), rule+"#") && item.Int(tables.AttrTTL) > time.Now().Unix() {
						counted = append(counted, item)
					}
				}
				key, until := tables.QuotaKey("", rule, hour).SK, hour.Add(time.Hour).Unix()+60
				if len(counted) != 1 || counted[0].Str("sk") != key || counted[0].Int("n") != 1 || counted[0].Int(tables.AttrTTL) != until {
					t.Errorf("%s: got %v, want one counted under %s and kept until %d", rule, counted, key, until)
				}
				r.has(r.want(r.send(q[1]), 429, "rate_limited"), "error.retry_at", fmt.Sprint(hour.Add(time.Hour).UnixMilli()))
			}
		}
	})
}
