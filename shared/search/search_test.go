package search

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

var vocabulary = strings.Fields("fox foxes fog far f hen hens hedgehog hare one two three 東京タワー 京都 東 Straße weiß é ελλάδα x1 x12")

func TestSearchFindsWhatReadingFinds(t *testing.T) {
	small(t)
	usual := form
	rapid.Check(t, func(t *rapid.T) {
		form = usual
		// At most one bound is lowered: with both, Tend might not list what a crash left.
		form.recent, form.merged = 128, 4<<20
		switch rapid.IntRange(0, 2).Draw(t, "bounds") {
		case 1:
			form.recent = 12
		case 2:
			form.merged = 200
		}
		form.units = rapid.SampledFrom([]int{40, 3}).Draw(t, "units")
		c := newChannel()
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))
		pass := func(most time.Duration) { c.now = c.now.Add(time.Duration(rng.Int64N(int64(most)))) }
		words := vocabulary[:rapid.IntRange(2, len(vocabulary)).Draw(t, "words")]
		t.Repeat(map[string]func(*rapid.T){
			"post":  func(*rapid.T) { c.random(rng, 1+rng.IntN(20), words...) },
			"pause": func(*rapid.T) { pass(5 * time.Minute) },
			"late": func(*rapid.T) {
				for range 1 + rng.IntN(4) {
					back := lateAge + time.Duration(rng.Int64N(int64(10*time.Minute)))
					c.post(idAt(c.now.Add(-back), rng.Uint64()), words[rng.IntN(len(words))])
				}
			},
			"delete": func(*rapid.T) {
				for range min(len(c.posts), rng.IntN(10)) {
					c.delete(rng.IntN(len(c.posts)))
				}
			},
			"tend": func(t *rapid.T) { c.tend(t) },
			"tend small ones": func(t *rapid.T) {
				_, err := Tend(context.Background(), c, SealMost, c.clock)
				must(t, err)
			},
			"crash": func(t *rapid.T) {
				c.fail, c.after = rng.IntN(30), rng.IntN(2) == 0
				if _, err := Tend(context.Background(), c, Top, c.clock); err != nil && err != errCrash {
					t.Fatal(err)
				}
				c.fail = -1
			},
			"stale": func(t *rapid.T) {
				c.replica = c.listed()
				c.random(rng, 3, words...)
				pass(2 * time.Second)
				save := c.replica
				c.replica = nil
				c.tend(t)
				c.replica = save
				c.look(t, rng, words)
				c.tend(t)
				c.replica = nil
			},
			"": func(t *rapid.T) { c.look(t, rng, words) },
		})
		c.settle(t)
		c.look(t, rng, words)
		c.tidy(t)
	})
}

// look compares searches for beginnings of random words with reading all posts.
func (c *channel) look(t *rapid.T, rng *rand.Rand, words []string) {
	for range 3 {
		q := ""
		for range 1 + rng.IntN(3) {
			w := []rune(words[rng.IntN(len(words))])
			q += string(w[:1+rng.IntN(len(w))]) + " "
		}
		terms, err := Query(q)
		must(t, err)
		r := Request{Terms: terms, Limit: 1 + rng.IntN(7)}
		if len(c.posts) > 0 && rng.IntN(2) == 0 {
			r.Before = c.posts[rng.IntN(len(c.posts))].ID
			if rng.IntN(2) == 0 {
				r.Before = r.Before.next()
			}
		}
		c.compare(t, r)
	}
}

func (c *channel) compare(t interface{ Fatalf(string, ...any) }, r Request) (trips int) {
	want := c.naive(r.Terms, r.Before)
	tripsMost := tripsMost
	if c.replica != nil || form.recent < 128 {
		tripsMost *= 2 // the search may have to start again, or to list more heads
	}
	var got []int
	for pages := 0; ; pages++ {
		found, err := Search(context.Background(), c, r)
		if err != nil || found.Trips > tripsMost || len(found.Posts) > r.Limit || pages > len(c.posts)+2 {
			t.Fatalf("%v: page %d has %d posts after %d trips, error %v; want at most page %d, %d posts and %d trips, no error", r, pages, len(found.Posts), found.Trips, err, len(c.posts)+2, r.Limit, tripsMost)
		}
		for _, p := range found.Posts {
			got = append(got, p.Value)
		}
		trips = max(trips, found.Trips)
		if found.Next == (ID{}) {
			break
		}
		if !found.Next.Less(r.Before) && r.Before != (ID{}) {
			t.Fatalf("%v: Next = %s, want less than Before", r, found.Next)
		}
		r.Before = found.Next
	}
	if !slices.Equal(got, want) {
		t.Fatalf("search for %v: got posts %v, want %v", r, got, want)
	}
	return trips
}

// tidy checks that a channel that has settled has no leftovers.
func (c *channel) tidy(t *rapid.T) {
	heads := c.listed()
	for _, h := range heads {
		if !h.Live && !h.At.Add(abandoned).After(c.now) {
			t.Fatalf("head %s: not live since %s, now %s, want it removed", h, h.At, c.now)
		}
	}
	spans, down := covering(heads)
	if len(spans) != len(heads) || down != (ID{}) {
		for _, h := range heads {
			t.Logf("%s-%s live %v at %s", h, h.To, h.Live, h.At)
		}
		due, err := Tend(context.Background(), c, Top, c.clock)
		t.Fatalf("a search uses %d of %d segments, back to %s; want all, back to zero; Tend due %s, now %s, error %v", len(spans), len(heads), down, due, c.now, err)
	}
	want := 0
	for _, h := range heads {
		parts := h.Parts()
		want += len(parts)
		for _, p := range parts {
			if c.parts[p] == nil {
				t.Fatalf("the part %s is missing", p)
			}
		}
	}
	if len(c.parts) != want {
		t.Fatalf("stored parts: got %d, want %d", len(c.parts), want)
	}
	if step, ok := merge(spans); ok {
		t.Fatalf("segments of level %d are not merged", step.Level-1)
	}
}

// Tend crashes before or after each of its writes.
func TestCrashAnywhere(t *testing.T) {
	small(t)
	run := func(fail int, after bool) (*channel, bool) {
		c := newChannel()
		rng := rand.New(rand.NewPCG(1, 2))
		c.fail, c.after = fail, after
		crashed := false
		for range 26 {
			c.random(rng, 4, vocabulary...)
			if i := rng.IntN(len(c.posts)); rng.IntN(3) == 0 {
				c.delete(i)
			}
			back := c.now.Add(-2 * time.Minute)
			if id, r := idAt(back, rng.Uint64()), rng.IntN(4); r == 0 {
				c.post(id, "late hen")
			}
			if _, err := Tend(context.Background(), c, Top, c.clock); err != nil {
				if err != errCrash {
					t.Fatal(err)
				}
				crashed = true
				c.fail = -1
				c.compare(t, Request{Terms: []Term{"h"}, Limit: 5})
			}
		}
		c.fail = -1
		c.now = c.now.Add(2 * abandoned)
		c.settle(t)
		c.compare(t, Request{Terms: []Term{"f"}, Limit: 5})
		return c, crashed
	}
	want, _ := run(-1, false)
	levels := map[Level]int{}
	for n := range want.heads {
		levels[n.Level]++
	}
	if len(levels) != 3 || len(want.parts) < 20 {
		t.Fatalf("the channel has segments by level %v and %d parts, want 3 levels and at least 20 parts", levels, len(want.parts))
	}
	for k := 0; ; k++ {
		for _, after := range []bool{false, true} {
			c, crashed := run(k, after)
			if !crashed {
				if k < 100 {
					t.Errorf("writes of Tend: got %d, want at least 100", k)
				}
				return
			}
			if !slices.Equal(c.posts, want.posts) {
				t.Fatalf("crash at write %d: the posts differ from those without a crash", k)
			}
			ids := func(c *channel) (all []ID) {
				spans, _ := covering(c.listed())
				for _, sp := range spans {
					for n := range sp.chunks {
						got, err := sp.chunk(n, c.parts[Part{sp.Name, Chunk, n}])
						must(t, err)
						all = append(all, got...)
					}
					all = append(all, sp.ids...)
				}
				slices.SortFunc(all, ID.Compare)
				return all
			}
			got := ids(c)
			if len(slices.Compact(slices.Clone(got))) != len(got) {
				t.Errorf("crash at write %d: two segments have the same post", k)
			}
			for n, h := range c.heads {
				if !h.live {
					t.Errorf("crash at write %d: the head %s is not live, want it removed", k, n)
				}
			}
			whole := 0
			for n := range c.heads {
				whole += len(c.heads[n].Parts())
			}
			if whole != len(c.parts) {
				t.Errorf("crash at write %d: got %d parts, want %d", k, len(c.parts), whole)
			}
		}
	}
}

// No search reads a segment that lost parts, even if it lists too few heads to find the
// replacement.
func TestCrashWhileRemoving(t *testing.T) {
	small(t)
	usual := form.recent
	for k := 0; ; k++ {
		for _, after := range []bool{false, true} {
			c := newChannel()
			rng := rand.New(rand.NewPCG(14, 15))
			var due time.Time
			for range 3 { // segments to merge
				c.random(rng, 3, vocabulary...)
				c.now = c.now.Add(sealAge)
				due = c.tend(t)
			}
			c.now = due
			c.fail, c.after = k, after
			if _, err := Tend(context.Background(), c, Top, c.clock); err == nil {
				if k < 12 || len(c.heads) != 1 {
					t.Errorf("Tend without a crash: got %d writes and %d segments, want 12 or more, and 1", k, len(c.heads))
				}
				return
			} else if err != errCrash {
				t.Fatal(err)
			}
			c.fail = -1
			for _, form.recent = range []int{1, 2, 3, usual} {
				for _, p := range c.posts {
					c.compare(t, Request{Terms: []Term{"f"}, Before: p.ID.next(), Limit: 2})
				}
			}
			c.settle(t)
			c.compare(t, Request{Terms: []Term{"f"}, Limit: 2})
			if len(c.heads) != 1 {
				t.Errorf("crash at write %d: got %d segments, want 1", k, len(c.heads))
			}
		}
	}
}

// The stored index does not depend on when or how often it was built.
func TestBuildingIsRepeatable(t *testing.T) {
	small(t)
	build := func(stop int) *channel {
		c := newChannel()
		c.fail = stop
		rng := rand.New(rand.NewPCG(3, 4))
		for range 12 {
			c.random(rng, 10, vocabulary...)
			switch _, err := Tend(context.Background(), c, Top, c.clock); err {
			case nil:
			case errCrash:
				c.fail = -1
			default:
				t.Fatal(err)
			}
		}
		c.fail = -1
		c.settle(t)
		return c
	}
	want := build(-1)
	for stop := range want.wrote {
		c := build(stop)
		if !maps.EqualFunc(c.heads, want.heads, func(a, b stored) bool { return slices.Equal(a.bytes, b.bytes) && a.live == b.live }) {
			t.Fatalf("crash at write %d: the segments differ from those without a crash", stop)
		}
		if !maps.EqualFunc(c.parts, want.parts, slices.Equal) {
			t.Fatalf("crash at write %d: the parts differ from those without a crash", stop)
		}
	}
}

func TestTwoTendersAtOnce(t *testing.T) {
	small(t)
	c := newChannel()
	rng := rand.New(rand.NewPCG(5, 6))
	for range 60 {
		c.random(rng, 5, vocabulary...)
		c.replica = c.listed() // the second run still sees this list
		c.tend(t)
		if rng.IntN(2) == 0 {
			c.delete(rng.IntN(len(c.posts)))
		}
		if _, err := Tend(context.Background(), c, Top, c.clock); err != nil {
			t.Fatal(err)
		}
		c.replica = nil
		c.compare(t, Request{Terms: []Term{"f"}, Limit: 9})
	}
	c.settle(t)
	c.compare(t, Request{Terms: []Term{"fo", "h"}, Limit: 9})
	if spans, down := covering(c.listed()); len(spans) != len(c.heads) || down != (ID{}) {
		t.Errorf("a search uses %d of %d segments, back to %s; want all, back to zero", len(spans), len(c.heads), down)
	}
}

// A segment is built again once it has missed enough posts. Until then, searches find them
// in the list of late posts.
func TestLatePosts(t *testing.T) {
	small(t)
	c := newChannel()
	rng := rand.New(rand.NewPCG(7, 8))
	c.random(rng, 27, "fox")
	c.now = c.now.Add(time.Hour)
	c.settle(t)
	if len(c.heads) != 1 {
		t.Fatalf("before the late posts: got %d segments, want 1", len(c.heads))
	}
	at := c.posts[10].ID
	for n := range form.sizes[0] {
		c.post(idAt(at.Time().Add(time.Duration(n+1)), rng.Uint64()), fmt.Sprintf("late hen%d", n))
		c.compare(t, Request{Terms: []Term{"hen"}, Limit: 9})
		if len(c.late) != n+1 {
			t.Fatalf("got %d late posts, want %d", len(c.late), n+1)
		}
		if n+1 < form.sizes[0] {
			c.settle(t)
		}
	}
	c.settle(t)
	if len(c.late) != 0 || len(c.heads) != 1 {
		t.Errorf("after the rebuild: got %d late posts and %d segments, want 0 and 1", len(c.late), len(c.heads))
	}
	c.compare(t, Request{Terms: []Term{"hen"}, Limit: 9})
}

// A deleted post leaves the index when its segment is merged.
func TestDeletedPostsLeave(t *testing.T) {
	small(t)
	c := newChannel()
	rng := rand.New(rand.NewPCG(9, 9))
	c.random(rng, 9, "fox")
	c.now = c.now.Add(time.Hour)
	c.settle(t)
	for i := range c.posts {
		c.delete(i)
	}
	c.compare(t, Request{Terms: []Term{"fox"}, Limit: 3})
	c.random(rng, 18, "hen")
	c.now = c.now.Add(time.Hour)
	c.settle(t)
	heads := c.listed()
	if len(heads) != 1 || heads[0].Posts != 18 {
		t.Fatalf("got %d segments, the newest of %d posts; want 1 of 18", len(heads), heads[0].Posts)
	}
	if from, to := heads[0].ShardsFor("fox"); to-from != 1 {
		t.Errorf("ShardsFor(fox) = %d to %d, want one shard", from, to)
	}
	c.compare(t, Request{Terms: []Term{"fox"}, Limit: 3})
	for i := range c.posts {
		c.delete(i)
	}
	c.random(rng, 54, "fog")
	c.now = c.now.Add(time.Hour)
	c.settle(t)
	c.compare(t, Request{Terms: []Term{"fo"}, Limit: 60})
}

func TestRemovedWhileReading(t *testing.T) {
	small(t)
	c := newChannel()
	c.random(rand.New(rand.NewPCG(10, 11)), 26, vocabulary...)
	c.now = c.now.Add(time.Hour)
	c.settle(t)
	if len(c.parts) == 0 {
		t.Fatal("the index has no parts, want some that can be removed")
	}
	old := &oldList{channel: c, list: c.listed()}
	c.random(rand.New(rand.NewPCG(12, 13)), 1, vocabulary...)
	c.now = c.now.Add(time.Hour)
	c.settle(t)
	found, err := Search(context.Background(), old, Request{Terms: []Term{"f"}, Limit: 100})
	if want := c.naive([]Term{"f"}, ID{}); err != nil || len(found.Posts) != len(want) || old.listed != 2 {
		t.Errorf("search for f: found %d posts, listed heads %d times, error %v; want %d posts, 2 times", len(found.Posts), old.listed, err, len(want))
	}
	old.forever = true
	if found, err := Search(context.Background(), old, Request{Terms: []Term{"f"}, Limit: 100}); err == nil {
		t.Errorf("search of removed segments: found %d posts, want an error", len(found.Posts))
	}
}

// oldList lists outdated heads if not asked for fresh ones, or if forever.
type oldList struct {
	*channel
	list    []Listed
	listed  int
	forever bool
}

func (o *oldList) Heads(ctx context.Context, before ID, most int, fresh bool) ([]Listed, error) {
	if o.listed++; !fresh || o.forever {
		return o.list, nil
	}
	return o.channel.Heads(ctx, before, most, fresh)
}

func TestTendInFewSteps(t *testing.T) {
	c := newChannel()
	for i := range 12 * SealMost.Size() {
		c.now = c.now.Add(10 * time.Millisecond)
		c.post(idAt(c.now, uint64(i)), "fox")
	}
	c.now = c.now.Add(time.Hour)
	for calls := 1; calls <= 2; calls++ {
		due, err := Tend(context.Background(), c, SealMost, c.clock)
		must(t, err)
		if want := min(12, calls*stepsFew); len(c.heads) != want || due.Equal(c.now) != (want < 12) {
			t.Errorf("after %d calls: got %d segments, due %s; want %d, due now until there are 12", calls, len(c.heads), due, want)
		}
	}
}
