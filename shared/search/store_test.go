package search

import (
	"bytes"
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"maps"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"
)

var start = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// channel is a [Store] and a [Shelf] in memory. It counts what a table would bill.
type channel struct {
	now   time.Time
	posts []Entry // sorted by ID
	heads map[Name]stored
	parts map[Part][]byte
	late  map[ID]bool
	words map[ID][]string // cache of [channel.has]
	quick bool            // a tail takes one trip, as the tail of ideas does

	mu     sync.Mutex
	reads  float64    // read units of the index
	found  float64    // read units of posts
	writes float64    // write units of puts
	taken  float64    // write units of deletes
	level  [3]float64 // write units of puts, by level of the segment
	most   int        // bytes of the largest item
	fail   int        // writes that succeed before all later ones fail; negative for no failure
	after  bool       // whether a write that fails is made all the same
	wrote  int        // writes so far

	replica []Listed // what an eventually consistent listing shows, if not nil
}

type stored struct {
	*Head
	bytes []byte
	live  bool
	at    time.Time
}

func newChannel() *channel {
	return &channel{now: start, heads: map[Name]stored{}, parts: map[Part][]byte{}, late: map[ID]bool{}, words: map[ID][]string{}, fail: -1}
}

func (c *channel) clock() time.Time { return c.now }

func idAt(at time.Time, random uint64) ID {
	id := From(at)
	binary.BigEndian.PutUint64(id[8:], random)
	return id
}

func (c *channel) at(id ID) (int, bool) {
	return slices.BinarySearchFunc(c.posts, id, func(e Entry, id ID) int { return e.ID.Compare(id) })
}

func (c *channel) post(id ID, text string) {
	i, there := c.at(id)
	if there {
		return
	}
	c.posts = slices.Insert(c.posts, i, Entry{Doc: Doc{id, text}})
	if IsLate(id, c.now) {
		c.late[id] = true
	}
}

func (c *channel) delete(i int) { c.posts[i].Deleted, c.posts[i].Text = true, "" }

const (
	kb   = 1 << 10
	keys = 130 // bytes of an item's keys, names and numbers
)

func units(size, of int) float64 { return float64(max(1, (size+of-1)/of)) }

func (c *channel) count(at *float64, n float64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	*at += n
}

func (c *channel) Heads(_ context.Context, before ID, most int, fresh bool) ([]Listed, error) {
	all := c.replica
	if all == nil || fresh {
		all = c.listed()
	}
	all = slices.DeleteFunc(slices.Clone(all), func(h Listed) bool { return !h.After.Less(before) })
	all = all[:min(most, len(all))]
	size := 0
	for _, h := range all {
		size += len(c.heads[h.Name].bytes) + keys
	}
	c.count(&c.reads, units(size, 4*kb)/2)
	return all, nil
}

func (c *channel) listed() []Listed {
	var all []Listed
	for _, s := range c.heads {
		all = append(all, Listed{s.Head, s.live, s.at})
	}
	slices.SortFunc(all, func(a, b Listed) int {
		return cmp.Or(b.After.Compare(a.After), cmp.Compare(b.Level, a.Level), bytes.Compare(b.Digest[:], a.Digest[:]))
	})
	return all
}

func (c *channel) Late(context.Context) ([]ID, error) {
	c.count(&c.reads, 1)
	return slices.Collect(maps.Keys(c.late)), nil
}

const pageMost = 2 * TailFirst

func (c *channel) Tail(_ context.Context, after, before ID) (t Tail[int], err error) {
	from, _ := c.at(after.next())
	to, _ := c.at(before)
	size := 0
	for i := to - 1; i >= from; i-- {
		if to-i > pageMost {
			t.Down = c.posts[i+1].ID
			break
		}
		size += len(c.posts[i].Text) + 2*keys
		if e := c.posts[i]; !e.Deleted {
			t.Posts = append(t.Posts, Post[int]{e.Doc, i})
		}
	}
	t.Trips = 1
	if to-from > TailFirst && !c.quick {
		t.Trips = 2
	}
	c.count(&c.found, units(size, 4*kb))
	return t, nil
}

func (c *channel) Parts(_ context.Context, parts []Part) ([][]byte, error) {
	var got [][]byte
	for _, p := range parts {
		got = append(got, c.parts[p])
		c.count(&c.reads, units(len(c.parts[p])+keys, 4*kb)/2)
	}
	return got, nil
}

func (c *channel) Posts(_ context.Context, ids []ID) (posts []Post[int], err error) {
	for _, id := range ids {
		i, there := c.at(id)
		if there && !c.posts[i].Deleted {
			posts = append(posts, Post[int]{c.posts[i].Doc, i})
		}
		c.count(&c.found, units(len(c.posts[i].Text)+2*keys, 4*kb)+.5) // .5 for its counters
	}
	return posts, nil
}

func (c *channel) Range(_ context.Context, after, to ID, most int) ([]Entry, error) {
	from, _ := c.at(after.next())
	end, there := c.at(to)
	if there {
		end++
	}
	if most > 0 {
		end = min(end, from+most)
	}
	size := 0
	for _, e := range c.posts[from:end] {
		size += len(e.Text) + 2*keys
	}
	c.count(&c.reads, units(size, 4*kb))
	return slices.Clone(c.posts[from:end]), nil
}

var errCrash = errors.New("crash")

// write makes one write. If the write is to fail, write returns errCrash.
func (c *channel) write(make func()) error {
	c.wrote++
	if c.fail == 0 {
		if c.after {
			make()
		}
		return errCrash
	}
	c.fail--
	make()
	return nil
}

func (c *channel) put(level Level, size int) {
	n := units(size+keys, kb)
	c.writes += n
	c.level[level] += n
	c.most = max(c.most, size+keys)
}

func (c *channel) putHead(h *Head, live bool, now time.Time) {
	b := h.Encode()
	read, err := DecodeHead(b)
	if err != nil || read.Name != h.Name {
		panic(err)
	}
	c.put(h.Level, len(b))
	c.heads[h.Name] = stored{read, b, live, now}
}

func (c *channel) Announce(_ context.Context, h *Head, now time.Time) error {
	return c.write(func() {
		if !c.heads[h.Name].live {
			c.putHead(h, false, now)
		}
	})
}

func (c *channel) PutParts(_ context.Context, parts map[Part][]byte) error {
	for p, b := range parts {
		err := c.write(func() {
			c.put(p.Segment.Level, len(b))
			c.parts[p] = b
		})
		if err != nil {
			return err
		}
	}
	return nil
}

func (c *channel) Publish(_ context.Context, h *Head, now time.Time) error {
	s, there := c.heads[h.Name]
	if !there && len(h.Parts()) > 0 {
		return errors.New("the head was not announced")
	}
	return c.write(func() {
		if !s.live {
			c.putHead(h, true, now)
		}
	})
}

func (c *channel) Retire(_ context.Context, n Name) error {
	return c.write(func() {
		if s, there := c.heads[n]; there {
			c.put(n.Level, len(s.bytes))
			s.live = false
			c.heads[n] = s
		}
	})
}

func (c *channel) RemoveParts(_ context.Context, parts []Part) error {
	for _, p := range parts {
		err := c.write(func() {
			c.taken += units(len(c.parts[p])+keys, kb)
			delete(c.parts, p)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

func (c *channel) RemoveHead(_ context.Context, n Name) error {
	return c.write(func() {
		c.taken += units(len(c.heads[n].bytes)+keys, kb)
		delete(c.heads, n)
	})
}

func (c *channel) RemoveLate(_ context.Context, ids []ID) error {
	return c.write(func() {
		for _, id := range ids {
			delete(c.late, id)
		}
	})
}

// naive finds the matching posts by reading all. It returns their indexes in c.posts,
// newest first.
func (c *channel) naive(terms []Term, before ID) []int {
	var found []int
	for i := len(c.posts) - 1; i >= 0; i-- {
		e := c.posts[i]
		if !e.Deleted && (before == ID{} || e.ID.Less(before)) && c.has(e, terms) {
			found = append(found, i)
		}
	}
	return found
}

// has reports the same as [contains], but from all words of the text.
func (c *channel) has(e Entry, terms []Term) bool {
	words, known := c.words[e.ID]
	if !known {
		words = Words(e.Text)
		c.words[e.ID] = words
	}
	return !slices.ContainsFunc(terms, func(t Term) bool { return !slices.ContainsFunc(words, t.begins) })
}

func small(t testing.TB) { t.Cleanup(Small()) }

func must(t interface{ Fatal(...any) }, err error) {
	if err != nil {
		t.Fatal(err)
	}
}

// tend tends the channel until nothing is left to do now.
func (c *channel) tend(t interface{ Fatal(...any) }) time.Time {
	for range 50 {
		due, err := Tend(context.Background(), c, Top, c.clock)
		must(t, err)
		if !due.Equal(c.now) {
			return due
		}
	}
	t.Fatal("Tend still has something to do at once after 50 calls")
	return time.Time{}
}

// settle advances the clock until nothing is left to do.
func (c *channel) settle(t interface{ Fatal(...any) }) {
	rounds := 0
	for due := c.tend(t); !due.IsZero(); due = c.tend(t) {
		if rounds++; rounds > 200 {
			t.Fatal("after 200 rounds: Tend is still due again, want nothing left to do")
		}
		if !due.After(c.now) {
			t.Fatal("Tend is due at ", due, ", want a time after ", c.now)
		}
		c.now = due
	}
}

// random adds n posts made of the given words, some seconds apart.
func (c *channel) random(rng *rand.Rand, n int, words ...string) {
	for range n {
		text := ""
		for range 1 + rng.IntN(6) {
			text += words[rng.IntN(len(words))] + " "
		}
		c.now = c.now.Add(time.Duration(rng.IntN(8000)) * time.Millisecond)
		c.post(idAt(c.now, rng.Uint64()), text)
	}
}
