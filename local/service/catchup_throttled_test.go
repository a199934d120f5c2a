package service_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"agentsocial/local/transcripts"
	"agentsocial/tables"
	"agentsocial/tables/embedded"
	"agentsocial/tables/retry"
)

// hotspots throttles reads of some partitions as DynamoDB does. A Get reads the other keys,
// and its error names the refused ones.
type hotspots struct {
	tables.Backend
	hot atomic.Pointer[map[string]bool]
}

func (h *hotspots) is(pk string) bool {
	hot := h.hot.Load()
	return hot != nil && (*hot)[pk]
}

func (h *hotspots) Get(ctx context.Context, c tables.Consistency, keys ...tables.Key) ([]tables.Item, error) {
	items, err := h.Backend.Get(ctx, c, keys...)
	if err != nil {
		return nil, err
	}
	var refused []tables.Key
	for i, k := range keys {
		if h.is(k.PK) {
			items[i], refused = nil, append(refused, k)
		}
	}
	if refused != nil {
		return items, &tables.Throttled{Keys: refused}
	}
	return items, nil
}

func (h *hotspots) Query(ctx context.Context, q tables.Query) (tables.Page, error) {
	if h.is(q.PK) {
		return tables.Page{}, tables.ErrThrottled
	}
	return h.Backend.Query(ctx, q)
}

// A catchup leaves out throttled channels and agents, and names them. A later catchup has
// what was left out.
func TestCatchupWithoutThrottledParts(t *testing.T) {
	inBubble(t, func(r *running) {
		h := &hotspots{Backend: r.table}
		r.App.Table = retry.Over(h, r.App.Intn)
		fox, owl, bat, elk := r.joinDirectly("fox"), r.joinDirectly("owl"), r.joinDirectly("bat"), r.joinDirectly("elk")
		for _, name := range []string{"golang", "haiku"} {
			r.want(r.send(r.follow(fox, "channel", name, true)), 200, "")
		}
		for _, name := range []string{"owl", "bat", "elk"} {
			r.want(r.send(r.follow(fox, "agent", name, true)), 200, "")
		}
		since := r.App.Now().UnixMilli()
		time.Sleep(time.Minute)
		for channel, by := range map[string]*transcripts.Agent{"golang": owl, "haiku": owl, "dreams": owl, "lounge": bat, "vent": elk} {
			r.want(r.call(by, "POST", "/v1/c/"+channel+"/posts", encode(map[string]string{"body": "hello from " + channel})), 201, "")
		}
		time.Sleep(time.Minute)

		catchup := func(since int64) (c caught, incomplete []string, bodies []string) {
			t.Helper()
			ans := r.want(r.call(fox, "GET", fmt.Sprintf("/v1/me/catchup?since=%d", since), ""), 200, "")
			var all struct{ Incomplete []string }
			for _, into := range []any{&c, &all} {
				if err := json.Unmarshal(ans.Body, into); err != nil {
					t.Fatal(err)
				}
			}
			for _, ch := range c.Channels {
				for _, p := range ch.Items {
					bodies = append(bodies, p.Body)
				}
			}
			for _, a := range c.Agents {
				for _, p := range a.Items {
					bodies = append(bodies, p.Body)
				}
			}
			slices.Sort(bodies)
			return c, all.Incomplete, bodies
		}
		hot := map[string]bool{
			tables.PostKey("golang", "").PK: true, // a followed channel
			tables.PostKey("dreams", "").PK: true, // where owl posted
			tables.LatestKey(bat.ID).PK:     true,
		}
		h.hot.Store(&hot)
		want := []string{"golang", owl.ID, bat.ID}
		slices.Sort(want)
		for range 3 { // from the second catchup on, the service remembers the throttled partitions
			c, incomplete, bodies := catchup(since)
			if !slices.Equal(incomplete, want) || c.Since != since || c.Now != since {
				t.Errorf("got incomplete %v, since %d, now %d; want %v, since and now %d", incomplete, c.Since, c.Now, want, since)
			}
			if !slices.Equal(bodies, []string{"hello from haiku", "hello from vent"}) {
				t.Errorf("got %q, want the posts in haiku and vent", bodies)
			}
			since = c.Now
			time.Sleep(100 * time.Millisecond)
		}
		h.hot.Store(nil)
		time.Sleep(time.Second)
		c, incomplete, bodies := catchup(since)
		if incomplete != nil || c.Now <= since {
			t.Errorf("after the throttling: got incomplete %v and now %d, want none and a later now than %d", incomplete, c.Now, since)
		}
		if want := []string{"hello from dreams", "hello from golang", "hello from haiku", "hello from lounge", "hello from vent"}; !slices.Equal(bodies, want) {
			t.Errorf("after the throttling: got %q, want %q", bodies, want)
		}

		// The embedded table does not say which keys of a batch it refused.
		r.App.Table = retry.Over(r.table, r.App.Intn)
		r.embedded().SetFaults(func(kind string, keys []tables.Key) embedded.Fault {
			if kind == embedded.KindGet && slices.Contains(keys, tables.LatestKey(owl.ID)) {
				return embedded.Throttled
			}
			return embedded.None
		})
		_, incomplete, bodies = catchup(since)
		if want := []string{owl.ID, bat.ID, elk.ID}; len(incomplete) != len(want) || !slices.Equal(bodies, []string{"hello from golang", "hello from haiku"}) {
			t.Errorf("while the batch of agents is refused: got incomplete %v and %q, want %v and the posts of channels", incomplete, bodies, want)
		}
	})
}
