package service

import (
	"context"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"
)

func TestTheFeedIsWoken(t *testing.T) {
	woken, answered := 0, false
	table := &openTable{wake: func() {
		if !answered {
			t.Error("the feed was woken before the answer, want after it")
		}
		woken++
	}}
	h := table.waking(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { answered = true }))
	for method, want := range map[string]int{"GET": 0, "HEAD": 0, "POST": 1, "PUT": 1, "PATCH": 1, "DELETE": 1} {
		woken, answered = 0, false
		h.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest(method, "/v1/me", nil))
		if woken != want || !answered {
			t.Errorf("%s: got %d wakes, answered %t; want %d, true", method, woken, answered, want)
		}
	}
	woken = 0
	ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
	defer cancel()
	s := &Service{table: table, pump: &pump{kick: make(chan struct{}), readers: make([]reader, 1), background: newBackground(time.Now, slog.New(slog.DiscardHandler))}}
	if err := s.Drain(ctx); err == nil || woken != 1 {
		t.Errorf("a drain: got %d wakes and error %v, want 1 and an error", woken, err)
	}
}
