package sam

import (
	"context"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"time"

	"agentsocial/local/engines/dynamodb/dynamodbtest"
	"agentsocial/local/service"
	"agentsocial/shared/app"
)

// beside starts the service with a gateway on the fakes.
func beside(t *testing.T) (*service.Service, *Gateway) {
	t.Helper()
	c := dynamodbtest.Config(t)
	g, _ := gateway(t)
	s, err := service.Start(t.Context(), service.Config{
		Data: service.Memory, Table: "dynamodb-local", Endpoint: c.Endpoint, Settings: app.DefaultSettings(), Gateway: g,
		Log: slog.New(slog.NewTextHandler(io.Discard, nil)),
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		if err := s.Stop(ctx); err != nil {
			t.Error(err)
		}
	})
	return s, g
}

func moveClock(ctx context.Context, s *service.Service) (*http.Response, error) {
	q, err := http.NewRequestWithContext(ctx, http.MethodPost, s.URL+"/_local/clock", strings.NewReader(`{"advance_ms": 3600000}`))
	if err != nil {
		return nil, err
	}
	res, err := http.DefaultClient.Do(q)
	if err == nil {
		res.Body.Close()
	}
	return res, err
}

// The functions restart even if the caller that moved the clock has given up.
func TestClock_CallerGone(t *testing.T) {
	fakes(t)
	s, g := beside(t)
	t.Setenv("FAKE_SAM", "slow")
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	if _, err := moveClock(ctx, s); err == nil {
		t.Fatal("moving the clock: got an answer within 200 ms, want the caller to give up")
	}
	if got := ask(t, g, "/dm")["LOCAL"]; !strings.Contains(got, `"ahead":3600000000000`) {
		t.Errorf("after the restart: got LOCAL %s, want the clock an hour ahead", got)
	}
	select {
	case err := <-s.Failed():
		t.Error(err)
	default:
	}
}

func TestClock_FunctionsDoNotStart(t *testing.T) {
	fakes(t)
	s, _ := beside(t)
	t.Setenv("FAKE_SAM", "broken")
	if res, err := moveClock(t.Context(), s); err != nil || res.StatusCode != http.StatusInternalServerError {
		t.Errorf("moving the clock: got %v, %v; want 500", res, err)
	}
	select {
	case err := <-s.Failed():
		if !strings.Contains(err.Error(), "no such template") {
			t.Errorf("failure of the service: got %v, want one with SAM's message", err)
		}
	case <-time.After(10 * time.Second):
		t.Error("service without its functions: got no failure within 10 s, want one")
	}
}
