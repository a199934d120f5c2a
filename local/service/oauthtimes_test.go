package service_test

import (
	"fmt"
	"net/url"
	"strconv"
	"strings"
	"testing"
	"time"

	"agentsocial/local/transcripts"
	flow "agentsocial/shared/identity/oauth"
	"agentsocial/tables"
)

func TestOAuthTimes(t *testing.T) {
	t.Parallel()
	inBubble(t, func(r *running) {
		c := r.connection()
		for wait, want := range map[time.Duration]int{30 * time.Minute: 200, 30*time.Minute + time.Millisecond: 400} {
			page := r.consent(c)
			time.Sleep(wait)
			if a := r.send(transcripts.Submit(page.Form("connect", nil))); a.Status != want {
				t.Errorf("a consent page submitted after %s: got %d, want %d", wait, a.Status, want)
			}
		}
		for wait, want := range map[time.Duration]int{time.Minute - time.Millisecond: 200, time.Minute: 400} {
			first := r.want(r.send(r.visit().redemption()), 200, "")
			r.want(r.send(r.refreshing(first.Text("refresh_token"))), 200, "")
			time.Sleep(wait)
			if a := r.send(r.refreshing(first.Text("refresh_token"))); a.Status != want {
				t.Errorf("a refresh repeated after %s: got %d, want %d", wait, a.Status, want)
			}
		}
		fox := r.joinDirectly("fox")
		for early, want := range map[time.Duration]int{time.Millisecond: 200, 0: 422} {
			link := r.want(r.call(fox, "POST", "/v1/me/link-codes", ""), 201, "")
			var expires int64
			fmt.Sscan(link.Text("expires_at"), &expires)
			time.Sleep(time.Until(time.UnixMilli(expires)) - early)
			if a := r.send(transcripts.Submit(r.consent(c).Form("connect", filled("link_code", link.Text("code"))))); a.Status != want {
				t.Errorf("a link code %s before it expires: got %d, want %d", early, a.Status, want)
			}
		}
		late := r.visit(func(c *flow.Code) { c.At -= time.Hour.Milliseconds() })
		if a := r.refused(r.send(late.redemption()), "invalid_grant"); !strings.Contains(a.Text("error_description"), "valid for 60 s") {
			t.Errorf("a late code: got %s, want 'valid for 60 s' in error_description", a.Body)
		}
	})
}

// A count is kept until a minute after its window ends.
func TestOAuthWindows(t *testing.T) {
	t.Parallel()
	inBubble(t, func(r *running) {
		r.App.Settings.ByAddr = true
		l := &r.App.Settings.Limits
		l.ConsentsHour = 50
		fox, c := r.joinDirectly("fox"), r.connection()
		time.Sleep(31*time.Minute + 40*time.Second) // into the second half of each window
		counted := func(prefix string) (items []tables.Item) {
			for _, item := range r.scan() {
				if strings.HasPrefix(item.Str("sk"), prefix) {
					items = append(items, item)
				}
			}
			return items
		}
		kept := func(rule string, length time.Duration, want int64) {
			t.Helper()
			window := r.App.Now().Truncate(length)
			items, key, until := counted(rule+"#"), tables.QuotaKey("", rule, window).SK, window.Add(length).Unix()+60
			if len(items) != 1 || items[0].Str("sk") != key || items[0].Int("n") != want || items[0].Int(tables.AttrTTL) != until {
				t.Errorf("%s: got %v, want %d counted under %s and kept until %d", rule, items, want, key, until)
			}
		}
		refused := func(a *transcripts.Answer, length time.Duration) {
			t.Helper()
			now := r.App.Now()
			want := int(now.Truncate(length).Add(length).Sub(now) / time.Second)
			if after, err := strconv.Atoi(a.Header.Get("Retry-After")); a.Status != 429 || err != nil || after < want || after > want+30 {
				t.Errorf("a request above the limit: got %d and Retry-After %s, want 429 and %d to %d", a.Status, a.Header.Get("Retry-After"), want, want+30)
			}
		}
		submit := func(do string, fields url.Values) *transcripts.Answer {
			return r.send(transcripts.Submit(r.consent(c).Form(do, fields)))
		}

		r.want(r.send(r.assertion(fox, nil)), 200, "")
		r.want(r.send(r.visit().redemption()), 200, "")
		tokens := counted("TOKEN#")
		for _, item := range tokens {
			if got, want := item.Int(tables.AttrTTL), item.Int("expires_at")/1000+1; got != want || want != r.App.Now().Add(time.Hour).Unix()+1 {
				t.Errorf("ttl of a token: got %d, want %d, a second after it expires, which must be an hour from now", got, want)
			}
		}
		if len(tokens) != 2 {
			t.Errorf("stored tokens: got %d, want 2", len(tokens))
		}
		if n := r.item(tables.GuardKey(fox.ID, r.App.Now().Truncate(time.Minute))).Int("n"); n != 1 {
			t.Errorf("writes of this minute: got %d, want 1", n)
		}

		// Only a form that asks to reconnect an agent by mail counts as a reconnection.
		r.want(submit("connect", nil), 200, "")
		if got := counted("reconnect#"); len(got) > 0 {
			t.Errorf("reconnections counted for a new agent: got %v, want none", got)
		}
		for i, s := range []struct {
			do     string
			fields url.Values
		}{{"mail", nil}, {"connect", filled("code", "0000-0000")}, {"connect", filled("handle", "fox")}, {"connect", filled("email", "fox@den.example")}} {
			if a := submit(s.do, s.fields); a.Status != 422 {
				t.Errorf("%s %v: got %d %s, want 422", s.do, s.fields, a.Status, a.Body)
			}
			kept("reconnect", time.Minute, int64(i+1))
		}
		kept("consent", time.Hour, 5)

		time.Sleep(r.App.Now().Truncate(time.Hour).Add(time.Hour + 10*time.Second).Sub(r.App.Now())) // into the first half of each window
		l.WritesPerMinute, l.ReconnectsMinute = 1, 1
		r.want(r.send(r.assertion(fox, nil)), 200, "")
		refused(r.send(r.assertion(fox, nil)), time.Minute)
		submit("mail", nil)
		refused(submit("mail", nil), time.Minute)
		l.ConsentsHour = 1
		refused(submit("connect", nil), time.Hour)
	})
}
