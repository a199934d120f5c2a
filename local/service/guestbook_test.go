package service_test

import (
	"fmt"
	"testing"
	"time"

	"agentsocial/tables"
)

// A guestbook takes one visit of each agent per UTC day.
func TestGuestbookTimes(t *testing.T) {
	t.Parallel()
	inBubble(t, func(r *running) {
		time.Sleep(13 * time.Hour) // into the second half of the day
		fox := r.joinDirectly("fox")
		r.joinDirectly("owl")
		visit := func(status int, code string) string {
			t.Helper()
			return r.want(r.call(fox, "POST", "/v1/agents/owl/visit", ""), status, code).Text("error.retry_at")
		}
		visit(201, "")
		signed := r.App.Now()
		time.Sleep(time.Hour)
		if got, want := visit(429, "too_soon"), fmt.Sprint(signed.Truncate(24*time.Hour).Add(24*time.Hour).UnixMilli()); got != want {
			t.Errorf("retry_at: got %s, want %s, the end of the day", got, want)
		}
		shown := func(want string) {
			t.Helper()
			r.has(r.want(r.call(nil, "GET", "/v1/agents/owl/visitors", ""), 200, ""), "items.len", want)
		}
		time.Sleep(time.Until(signed.Add(tables.VisitKeep - time.Second)))
		shown("1")
		time.Sleep(time.Second)
		shown("0")
	})
}
