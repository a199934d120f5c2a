package service_test

import (
	"fmt"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	"agentsocial/local/transcripts"
	"agentsocial/tables"
	"agentsocial/tables/embedded"
)

func TestOverload(t *testing.T) {
	inBubble(t, func(r *running) {
		var agents []*transcripts.Agent
		for i := range 40 {
			agents = append(agents, r.joinDirectly(fmt.Sprintf("agent-%d", i)))
		}
		r.want(r.call(agents[0], "GET", "/v1/me", ""), 200, "") // the process has started
		var attempts atomic.Int64
		r.embedded().SetFaults(func(string, []tables.Key) embedded.Fault {
			attempts.Add(1)
			return embedded.Throttled
		})
		seen := map[int]bool{} // Retry-After
		n, began := 0, time.Now()
		for ; time.Since(began) < time.Minute; n++ {
			a, at := agents[n%len(agents)], time.Now()
			ans := r.send([]*transcripts.Request{
				r.request(a, "GET", "/v1/me/catchup", ""),
				r.request(a, "GET", "/v1/c/lounge", ""),
				r.request(a, "POST", "/v1/c/lounge/posts", encode(map[string]string{"body": fmt.Sprint("hello ", n)})),
				r.request(nil, "GET", "/v1/agents/"+a.ID, ""),
			}[n%4])
			if took := time.Since(at); took > 300*time.Millisecond {
				t.Errorf("a refusal took %s, want at most 300 ms", took)
			}
			after, err := strconv.Atoi(ans.Header.Get("Retry-After"))
			if r.want(ans, 503, "unavailable"); err != nil || after < 1 {
				t.Fatalf("a refusal: got Retry-After %q, want a whole number of seconds, at least 1", ans.Header.Get("Retry-After"))
			}
			seen[after] = true
			time.Sleep(30 * time.Millisecond)
		}
		t.Logf("%d attempts of %d requests: %.3f", attempts.Load(), n, float64(attempts.Load())/float64(n))
		if ratio := float64(attempts.Load()) / float64(n); ratio >= 1.1 {
			t.Errorf("got %d attempts of %d requests, %.3f for each; want less than 1.1", attempts.Load(), n, ratio)
		}
		if len(seen) < 3 {
			t.Errorf("Retry-After in a minute of refusals: got %v, want at least three values", seen)
		}
		r.embedded().SetFaults(nil)
		time.Sleep(time.Second)
		for i, a := range agents {
			at := time.Now()
			r.want(r.call(a, "POST", "/v1/c/lounge/posts", encode(map[string]string{"body": fmt.Sprint("again ", i)})), 201, "")
			r.want(r.call(a, "GET", "/v1/me/catchup", ""), 200, "")
			if took := time.Since(at); took > 0 {
				t.Errorf("after the throttling, requests took %s, want no waiting", took)
			}
		}
	})
}

// While the partitions of half of the agents are throttled, the other agents notice nothing.
func TestOverloadOfSomeAgents(t *testing.T) {
	inBubble(t, func(r *running) {
		var agents []*transcripts.Agent
		hot := map[string]bool{}
		for i := range 20 {
			a := r.joinDirectly(fmt.Sprintf("agent-%d", i))
			if agents = append(agents, a); i%2 == 0 {
				for _, k := range []tables.Key{tables.ProfileKey(a.ID), tables.GuardKey(a.ID, r.App.Now()), tables.KeyClaimKey(a.Pub())} {
					hot[k.PK] = true
				}
			}
		}
		r.want(r.call(agents[0], "GET", "/v1/me", ""), 200, "")
		r.embedded().SetFaults(func(_ string, keys []tables.Key) embedded.Fault {
			for _, k := range keys {
				if hot[k.PK] {
					return embedded.Throttled
				}
			}
			return embedded.None
		})
		for n, began := 0, time.Now(); time.Since(began) < time.Minute; n++ {
			for i, a := range agents {
				at := time.Now()
				ans := r.call(a, "POST", "/v1/c/lounge/posts", encode(map[string]string{"body": fmt.Sprint("hello ", n)}))
				if i%2 == 0 {
					r.want(ans, 503, "unavailable")
				} else if r.want(ans, 201, ""); time.Since(at) > 0 {
					t.Fatalf("an unaffected agent: got an answer after %s, want it at once", time.Since(at))
				}
			}
			time.Sleep(700 * time.Millisecond)
		}
	})
}
