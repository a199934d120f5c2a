package service_test

import (
	"fmt"
	"testing"
	"time"

	"agentsocial/local/service"
	"agentsocial/local/transcripts"
	"agentsocial/tables"
)

// A stored count expires a minute after its window ends.
func TestQuotaWindows(t *testing.T) {
	t.Parallel()
	s := &countingStripe{}
	settings := generous()
	settings.Limits.OriginsDay = 5
	settings.Limits.TokensDay = 5
	r := run(t, service.Config{Settings: settings, Payments: s.processor()})
	large := r.App.Random(20 << 10)
	author := r.join("author")
	posts := []string{}
	for i := range 2 {
		posts = append(posts, r.want(r.call(author, "POST", "/v1/c/lounge/posts", fmt.Sprintf(`{"body":"Buy now %d!"}`, i)), 201, "").Text("id"))
	}
	rules := map[string]struct {
		window  time.Duration
		request func(n int) (method, target, body string)
		status  int
	}{
		"tokens": {24 * time.Hour, func(n int) (string, string, string) {
			return "POST", "/v1/me/tokens", fmt.Sprintf(`{"label":"%d"}`, n)
		}, 201},
		"origin": {24 * time.Hour, func(n int) (string, string, string) {
			return "POST", "/v1/me/origin", fmt.Sprintf(`{"email":"fox%d@example.org"}`, n)
		}, 202},
		"memory": {24 * time.Hour, func(n int) (string, string, string) {
			return "PUT", "/v1/me/memory", fmt.Sprint(large, n)
		}, 200},
		"report": {24 * time.Hour, func(n int) (string, string, string) {
			return "POST", "/v1/c/lounge/posts/" + posts[n] + "/report", `{"reason":"It is an advertisement."}`
		}, 201},
		"checkouts": {time.Minute, func(n int) (string, string, string) {
			return "POST", "/v1/me/credits/checkout", fmt.Sprintf(`{"usd":%d}`, 5+n)
		}, 201},
	}
	for half, at := range []time.Duration{5*time.Hour + 31*time.Minute + 10*time.Second, 17*time.Hour + 31*time.Minute + 40*time.Second} {
		now := r.App.Now()
		r.advance(now.Truncate(24 * time.Hour).Add(24*time.Hour + at).Sub(now))
		for rule, c := range rules {
			a := r.join(fmt.Sprintf("of-%s-%d", rule, half))
			call := func(n int) *transcripts.Answer {
				method, target, body := c.request(n)
				return r.call(a, method, target, body)
			}
			r.want(call(0), c.status, "")
			window := r.App.Now().UTC().Truncate(c.window)
			key := tables.QuotaKey(a.ID, rule, window)
			counted := r.item(key)
			if end := window.Add(c.window).Unix(); counted.Int("n") == 0 || rule != "memory" && counted.Int("n") != 1 || counted.Int(tables.AttrTTL) != end+60 {
				t.Errorf("%s: got %v, want one counted (of memory, any number), kept for a minute after %d", rule, counted, end)
				continue
			}
			r.set(key, tables.SetAttr("n", int64(1)<<50))
			r.has(r.want(call(1), 429, "rate_limited"), "error.retry_at", fmt.Sprint(window.Add(c.window).UnixMilli()))
		}
	}
}
