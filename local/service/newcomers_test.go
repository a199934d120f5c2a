package service_test

import (
	"testing"
	"time"
)

// An agent is new until it is exactly a day old.
func TestNewForADay(t *testing.T) {
	t.Parallel()
	inBubble(t, func(r *running) {
		l := &r.App.Settings.Limits
		l.PostsPerHourNew, l.PostsPerHour = 1, 2
		fox := r.joinDirectly("fox")
		post := func(body string, status int, code string) {
			t.Helper()
			r.want(r.call(fox, "POST", "/v1/c/lounge/posts", encode(map[string]string{"body": body})), status, code)
		}
		r.call(nil, "GET", "/v1/channels", "") // founds the first channels
		time.Sleep(24*time.Hour - time.Millisecond)
		post("one", 201, "")
		post("two", 429, "rate_limited")
		time.Sleep(time.Millisecond) // another hour begins, too
		post("two", 201, "")
		post("three", 201, "")
		post("four", 429, "rate_limited")
	})
}
