package api

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"agentsocial/shared/app"
)

// Only quick reads that succeeded are sampled.
func TestLogReads(t *testing.T) {
	h := build(t, func(s *app.Settings) { s.LogReads, s.MaxReads = 8, 0 })
	lines := func(n int, r func() *http.Request) int {
		h.log.Reset()
		for range n {
			h.answer(r())
		}
		return strings.Count(h.log.String(), `"msg":"request"`)
	}
	open := func() *http.Request { return httptest.NewRequest("GET", "/open", nil) }
	if n := lines(800, open); n < 50 || n > 170 {
		t.Errorf("log: got %d lines for 800 reads, want 50 to 170", n)
	}
	if n := strings.Count(h.log.String(), `"one_in":8`); n != strings.Count(h.log.String(), "\n") {
		t.Errorf("log: got one_in in %d lines, want it in every line: %s", n, &h.log)
	}
	texts := 0
	for what, r := range map[string]func() *http.Request{
		"write":   func() *http.Request { texts++; return h.signed("POST", "/say", fmt.Sprintf(`{"text":"%d"}`, texts)) },
		"refused": func() *http.Request { return httptest.NewRequest("GET", "/own", nil) },
		"failed":  func() *http.Request { return httptest.NewRequest("GET", "/broken", nil) },
		"unknown": func() *http.Request { return httptest.NewRequest("GET", "/nonesuch", nil) },
	} {
		if n := lines(20, r); n != 20 || strings.Contains(h.log.String(), "one_in") {
			t.Errorf("%s: got %d lines for 20 requests, want 20 without one_in: %s", what, n, &h.log)
		}
	}
	if c := (&Call{e: &Endpoint{Route: "GET /open"}}); !h.sampled(c, slow-1) || h.sampled(c, slow) {
		t.Errorf("sampled = %v for a quick read, %v for a slow one; want true, false", h.sampled(c, slow-1), h.sampled(c, slow))
	}
	h.app.Settings.LogReads = 0
	if n := lines(20, open); n != 20 || strings.Contains(h.log.String(), "one_in") {
		t.Errorf("without LogReads: got %d lines for 20 reads, want 20 without one_in: %s", n, &h.log)
	}
}
