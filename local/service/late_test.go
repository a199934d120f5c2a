package service_test

import (
	"context"
	"slices"
	"sync"
	"testing"
	"time"

	"agentsocial/local/service"
	"agentsocial/tables"
)

// attempt is the longest time between sending a commit and its effect (tables/dynamo).
const attempt = 1500 * time.Millisecond

// far is a slow table. It sends a post's commit after the delay that sent returns, and
// then makes it even if the caller has gone.
type far struct {
	tables.Backend
	read    time.Duration                              // the delay of reads before a post's commit
	sent    func(patience time.Duration) time.Duration // patience is how long the caller still waits
	carried chan struct{}                              // closed after the commit
}

// Get is slow only for the reads before a post's commit: no other request reads a channel and
// an agent's latest posts together.
func (f *far) Get(ctx context.Context, c tables.Consistency, keys ...tables.Key) ([]tables.Item, error) {
	latest := func(k tables.Key) bool { return k.SK == tables.LatestKey("").SK }
	if slices.Contains(keys, tables.ChannelKey("lounge")) && slices.ContainsFunc(keys, latest) {
		time.Sleep(f.read)
	}
	return f.Backend.Get(ctx, c, keys...)
}

func (f *far) Commit(ctx context.Context, tx tables.Tx) error {
	if !slices.ContainsFunc(tx.Writes, func(w tables.Write) bool { return w.Item.Str(tables.AttrType) == tables.TypePost }) {
		return f.Backend.Commit(ctx, tx)
	}
	patience := tables.CatchupOverlap
	if end, ok := ctx.Deadline(); ok {
		patience = min(patience, time.Until(end))
	}
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(f.sent(patience)):
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	done := make(chan error, 1)
	go func() {
		defer close(f.carried)
		time.Sleep(attempt)
		done <- f.Backend.Commit(context.WithoutCancel(ctx), tx)
	}()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case err := <-done:
		return err
	}
}

// A post is visible before catchups move past it, or never.
func TestLatePosts(t *testing.T) {
	atOnce := func(time.Duration) time.Duration { return 0 }
	atLast := func(patience time.Duration) time.Duration { return patience - 150*time.Millisecond }
	never := func(patience time.Duration) time.Duration { return patience + 50*time.Millisecond }
	for name, c := range map[string]struct {
		read   time.Duration
		sent   func(time.Duration) time.Duration
		status int
		there  bool
	}{
		"in time":                       {0, atOnce, 201, true},
		"sent at the last moment":       {0, atLast, 503, true},
		"after slow reads":              {attempt, atLast, 503, true},
		"not sent in time":              {0, never, 503, false},
		"after reads that are too slow": {tables.CommitWithin + attempt/2, atOnce, 503, false},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(r *running) {
				f := &far{Backend: r.table, read: c.read, sent: c.sent, carried: make(chan struct{})}
				r.App.Table = f
				fox, owl := &reader{running: r, agent: r.joinDirectly("fox"), posts: map[string]bool{}}, r.joinDirectly("owl")
				r.want(r.send(r.follow(fox.agent, "agent", owl.ID, true)), 200, "")
				fox.since = r.App.Now().UnixMilli() - 1
				q := r.request(owl, "POST", "/v1/c/lounge/posts", `{"body":"late"}`)
				began := time.Now()
				var work sync.WaitGroup
				work.Go(func() {
					if ans := r.send(q); ans.Status != c.status || time.Since(began) > tables.CatchupOverlap {
						t.Errorf("posting: got %d after %s, want %d within %s; the answer is %s", ans.Status, time.Since(began), c.status, tables.CatchupOverlap, ans.Body)
					}
				})
				end := time.After(tables.CatchupOverlap + attempt) // the latest time of a commit
				for going := true; going; fox.catchup() {
					select {
					case <-f.carried:
						going = false
					case <-end:
						going = false
					case <-time.After(50 * time.Millisecond):
					}
				}
				work.Wait()
				items := r.query(tables.ChannelPK("lounge"), tables.PostPrefix, tables.PostPrefix+"~")
				if (len(items) > 0) != c.there || (len(fox.posts) > 0) != c.there {
					t.Errorf("got %d items and %d posts in catchups, want the post in both: %t", len(items), len(fox.posts), c.there)
				}
			})
		})
	}
}

// asked is a slow table that notes the time of its first query.
type asked struct {
	tables.Backend
	now func() time.Time
	at  time.Time
	one sync.Once
}

func (a *asked) Query(ctx context.Context, q tables.Query) (tables.Page, error) {
	if a.now != nil {
		a.one.Do(func() { a.at = a.now() })
		time.Sleep(100 * time.Millisecond)
	}
	return a.Backend.Query(ctx, q)
}

// A catchup's now is from before its first read, so that the next catchup sees what is
// posted meanwhile.
func TestNowOfASlowCatchup(t *testing.T) {
	a := &asked{}
	r := run(t, service.Config{Settings: generous(), Wrap: func(b tables.Backend) tables.Backend { a.Backend = b; return a }})
	fox := r.join("fox")
	r.drain()
	a.now = r.App.Now
	var c caught
	r.into(fox, "/v1/me/catchup", &c)
	if past := c.Now - a.at.Add(-tables.CatchupOverlap).UnixMilli(); past > 0 {
		t.Errorf("got a now that is %d ms too late, want it at least %s before the first query", past, tables.CatchupOverlap)
	}
}
