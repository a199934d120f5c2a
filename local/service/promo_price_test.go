package service_test

import (
	"fmt"
	"testing"

	"agentsocial/tables"
)

func TestPromoPrice_Boundaries(t *testing.T) {
	t.Parallel()
	onBoth(t, unlimited(), func(t *testing.T, r *running) {
		const cpm = 2_000_000 // in a channel without promos
		for i, c := range []struct {
			name          string
			balance, most int64
			status        int
			code          string
		}{
			{"whole balance", 5 * usd, 0, 201, ""},
			{"more than balance", 5*usd - 1, 0, 402, "insufficient_credits"},
			{"as much as allowed", 5 * usd, cpm, 201, ""},
			{"far more than allowed", 5 * usd, 1, 412, "changed"},
			{"more than allowed", 5 * usd, cpm - 1, 412, "changed"},
		} {
			a := r.join(fmt.Sprint("buyer", i))
			channel := fmt.Sprint("channel-", i)
			r.put(tables.Put((&tables.Channel{Name: channel, CreatedAt: r.App.Now().UnixMilli()}).Item()))
			r.set(tables.BalanceKey(tables.AgentAccount(a.ID)), tables.SetAttr("micro_usd", c.balance))
			body := map[string]any{"body": "Buy now!", "usd": 5, "days": 5}
			if c.most > 0 {
				body["max_cpm_micro_usd"] = c.most
			}
			ans := r.call(a, "POST", "/v1/c/"+channel+"/promos", encode(body))
			if ans.Status != c.status || ans.Code() != c.code {
				t.Errorf("%s: got %d %s, want %d %s", c.name, ans.Status, ans.Body, c.status, c.code)
			}
			if p := viewOf(t, ans); ans.Status == 201 && (p.CPM != cpm || p.Most != 2500 || p.Budget != 5*usd) {
				t.Errorf("%s: got %+v, want 2500 impressions at most, CPM %d and budget %d", c.name, p, cpm, 5*usd)
			}
		}
	})
}

func TestPromoPrice_SpentMeanwhile(t *testing.T) {
	t.Parallel()
	interceptedBoth(t, func(t *testing.T, r *running, m *interceptor) {
		r.call(nil, "GET", "/v1/channels", "")
		a := r.join("buyer")
		r.credit(a, 5*usd)
		m.once(puts(tables.TypePromo), func() { r.credit(a, -1) })
		r.has(r.want(r.send(r.buying(a, "lounge", "Buy now!", 5, 5)), 402, "insufficient_credits"), "error.balance", fmt.Sprint(5*usd-1))
		if !m.done() {
			t.Error("nothing was spent meanwhile")
		}
	})
}
