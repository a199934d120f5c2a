package service

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"runtime"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/aws/aws-lambda-go/events"

	"agentsocial/shared/app"
	"agentsocial/tables"
)

// stuckWriter is a caller that reads no answer until free is closed.
type stuckWriter struct {
	*httptest.ResponseRecorder
	free chan struct{}
}

func (w *stuckWriter) Write(b []byte) (int, error) { <-w.free; return w.ResponseRecorder.Write(b) }

// A caller that is slow to read its answer does not hold up other requests.
func TestGateway_Turns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := &gateway{app: &app.App{Log: slog.New(slog.DiscardHandler)}, turns: make(chan struct{}, 2)}
		var under atomic.Int64
		work, answered := make(chan error), make(chan struct{})
		h := func(context.Context, events.APIGatewayV2HTTPRequest) (events.APIGatewayV2HTTPResponse, error) {
			under.Add(1)
			defer under.Add(-1)
			return events.APIGatewayV2HTTPResponse{StatusCode: 200, Body: "answer"}, <-work
		}
		var all []*httptest.ResponseRecorder
		for range 4 {
			w := &stuckWriter{httptest.NewRecorder(), answered}
			all = append(all, w.ResponseRecorder)
			go func() { g.send(t.Context(), w, h, events.APIGatewayV2HTTPRequest{}) }()
			synctest.Wait()
		}
		check := func(when string, want int64) {
			t.Helper()
			synctest.Wait()
			if n := under.Load(); n != want {
				t.Errorf("requests in work %s: got %d, want %d", when, n, want)
			}
		}
		check("at first", 2)
		work <- nil
		check("while a caller does not read", 2)
		work <- errors.New("failed")
		check("after a failure", 2)
		late := httptest.NewRecorder()
		g.send(t.Context(), late, h, events.APIGatewayV2HTTPRequest{}) // until the functions' timeout
		if late.Code != http.StatusServiceUnavailable {
			t.Errorf("a request without a turn: got %d, want 503", late.Code)
		}
		work <- nil
		work <- nil
		close(answered)
		check("in the end", 0)
		for i, w := range all {
			if want := map[bool]int{true: 500, false: 200}[i == 1]; w.Code != want {
				t.Errorf("request %d: got %d, want %d", i+1, w.Code, want)
			}
		}
	})
}

// A wrapped table may hold requests up, so their number is not bounded.
func TestGateway_BoundsTurns(t *testing.T) {
	s, err := Start(t.Context(), Config{Data: Memory, Table: "embedded", Settings: app.DefaultSettings(), Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Stop(context.Background())
	wrap := func(b tables.Backend) tables.Backend { return b }
	for want, c := range map[int]Config{turnsEach * runtime.GOMAXPROCS(0): {}, 0: {Wrap: wrap}} {
		h, err := s.gateway(t.Context(), c, inProcess{app: s.App})
		if err != nil {
			t.Fatal(err)
		}
		if got := cap(h.(*gateway).turns); got != want {
			t.Errorf("requests in work at once: got %d, want %d", got, want)
		}
	}
}
