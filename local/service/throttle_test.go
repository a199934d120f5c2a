package service_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"agentsocial/local/service"
	"agentsocial/shared/api"
	recoveries "agentsocial/shared/identity/recovery"
)

// The gateway refuses requests itself, as API Gateway does. Each route has its own bucket.
func TestThrottles(t *testing.T) {
	t.Parallel()
	const slow = "/v1/recover/confirm"
	flood := func(r *running, path string, n int) (through, refused int) {
		start := time.Now()
		for range n {
			a, err := unsigned("POST", path, "{").Send(r.URL)
			if err != nil {
				t.Fatal(err)
			}
			switch a.Status {
			case http.StatusBadRequest:
				through++
			case http.StatusTooManyRequests:
				if refused++; string(a.Body) != "{\"message\":\"Too Many Requests\"}\n" || a.Header.Get("Content-Type") != "application/json" {
					t.Errorf("throttled: got %q %s, want the gateway's own answer", a.Header.Get("Content-Type"), a.Body)
				}
			default:
				t.Errorf("%s: got %d %s, want 400 or 429", path, a.Status, a.Body)
			}
		}
		t.Logf("%s: %d of %d in %v", path, through, n, time.Since(start))
		return through, refused
	}
	start := time.Now()
	r := run(t, service.Config{Settings: generous(), Throttle: api.DefaultThrottle})
	const n, burst = 6 * recoveries.Rate, 2 * recoveries.Rate
	through, refused := flood(r, slow, n)
	took := time.Since(start)
	most := burst + recoveries.Rate*int(took/time.Second+1)
	if through < burst || through > most || refused == 0 && took < (n-burst)/recoveries.Rate*time.Second {
		t.Errorf("confirmations of recoveries: got %d passed and %d throttled in %s, want %d to %d to pass, and some throttled unless it took long", through, refused, took, burst, most)
	}
	if _, refused := flood(r, "/v1/challenge", 100); refused > 0 {
		t.Errorf("another route: got %d of 100 requests throttled, want none", refused)
	}
	r.advance(2 * time.Second)
	if through, _ := flood(r, slow, 10); through < 10 {
		t.Errorf("two seconds later: got %d of 10 requests passed, want all", through)
	}
	if _, refused := flood(run(t, service.Config{Settings: generous()}), slow, n); refused > 0 {
		t.Errorf("a gateway without throttles: got %d of %d requests throttled, want none", refused, n)
	}
	// A stage's throttle may be lower than a route's own.
	tight := run(t, service.Config{Settings: generous(), Throttle: api.Throttle{Rate: 1, Burst: 1}})
	for _, path := range []string{slow, "/v1/challenge", "/nonesuch/" + strings.Repeat("x", 3)} {
		a, err := unsigned("POST", path, "{").Send(tight.URL)
		if err != nil || a.Status == http.StatusTooManyRequests && path == slow {
			t.Errorf("%s: got %v %v, want an answer, and the first request not throttled", path, a, err)
		}
	}
}
