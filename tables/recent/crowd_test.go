package recent_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"agentsocial/tables"
	"agentsocial/tables/recent"
)

const (
	crowdFor   = time.Second
	crowdLeast = 20
)

// guarded is a table whose Get can be refused or held up.
type guarded struct {
	tables.Backend
	gets   int
	refuse []tables.Key
	during func() // called while the answer is on its way
}

func (g *guarded) Get(ctx context.Context, c tables.Consistency, keys ...tables.Key) ([]tables.Item, error) {
	g.gets++
	for _, k := range keys {
		for _, r := range g.refuse {
			if k == r {
				return nil, &tables.Throttled{Keys: g.refuse}
			}
		}
	}
	items, err := g.Backend.Get(ctx, c, keys...)
	if during := g.during; during != nil {
		g.during = nil
		during()
	}
	return items, err
}

// crowded is a fixture with a post that many requests need.
type crowded struct {
	*fixture
	table *guarded
	key   tables.Key
}

func openCrowded(t testing.TB) crowded {
	f := open(t)
	c := crowded{f, &guarded{Backend: f.Table}, tables.PostKey("den", "po_001")}
	f.elsewhere(t, tables.Put(post(1, "one").Item()))
	f.Table = c.table
	return c
}

// need makes requests for the post. It returns the number of reads of the table, and the
// text in the last answer.
func (c crowded) need(t testing.TB, requests int) (reads int, body string) {
	t.Helper()
	before := c.table.gets
	for range requests {
		items, err := c.GetCrowded(t.Context(), []tables.Key{c.key}, c.key)
		if err != nil {
			t.Fatal(err)
		}
		body = items[0].Str("body")
	}
	return c.table.gets - before, body
}

// TestCrowd: few requests each read the item. A crowd reads it once a second.
func TestCrowd(t *testing.T) {
	c := openCrowded(t)
	edit := func(to string) tables.Write { return tables.Change(c.key, tables.SetAttr("body", to)) }
	for _, s := range []struct {
		what     string
		wait     time.Duration
		requests int
		reads    int
		write    func()
		want     string
	}{
		{"the first", 0, crowdLeast, crowdLeast, nil, "one"},
		{"more in the same second", crowdFor - 1, 100, 0, func() { c.elsewhere(t, edit("two")) }, "one"},
		{"a second after the first", 1, 100, 1, nil, "two"},
		{"the next second", crowdFor, 100, 1, func() { c.elsewhere(t, edit("three")) }, "three"},
		{"after a change by the process", 0, 100, crowdLeast, func() { c.here(t, edit("four")) }, "four"},
		{"after a quiet second", 2 * crowdFor, crowdLeast, crowdLeast, nil, "four"},
		{"the clock was set back", -time.Hour, crowdLeast, crowdLeast, nil, "four"},
	} {
		c.now = c.now.Add(s.wait)
		if s.write != nil {
			s.write()
		}
		if n, body := c.need(t, s.requests); n != s.reads || body != s.want {
			t.Errorf("%s: %d requests: got %d reads and %q, want %d and %q", s.what, s.requests, n, body, s.reads, s.want)
		}
	}
}

// TestCrowd_Strong: only a strongly read, crowded, public item comes from memory.
func TestCrowd_Strong(t *testing.T) {
	c := openCrowded(t)
	c.need(t, 100)
	if n, _ := c.need(t, 1); n != 0 {
		t.Errorf("in a crowd: got %d reads, want none", n)
	}
	if _, err := c.Get(t.Context(), tables.Eventual, c.key); err != nil {
		t.Fatal(err)
	}
	if n, _ := c.need(t, 1); n != 1 {
		t.Errorf("after a read that may lag: got %d reads, want 1", n)
	}
	secret := tables.AgentKeyKey("ag_fox", "pub")
	c.elsewhere(t, tables.Put(tables.Item{tables.AttrPK: secret.PK, tables.AttrSK: secret.SK, tables.AttrType: "key"}))
	for _, key := range []tables.Key{c.key, secret} {
		before := c.table.gets
		for range 100 {
			if _, err := c.GetCrowded(t.Context(), []tables.Key{secret}, key); err != nil {
				t.Fatal(err)
			}
		}
		if got := c.table.gets - before; got != 100 {
			t.Errorf("100 requests for %v: got %d reads, want 100", key, got)
		}
	}
}

func TestCrowd_Refused(t *testing.T) {
	for _, s := range []struct {
		age time.Duration
		ok  bool
	}{{0, true}, {keep - 1, true}, {keep, false}, {-1, false}} {
		c := openCrowded(t)
		other := tables.PostKey("den", "po_002")
		c.elsewhere(t, tables.Put(post(2, "two").Item()))
		c.need(t, 1)
		c.now = c.now.Add(s.age)
		c.table.refuse = []tables.Key{c.key}
		items, err := c.GetCrowded(t.Context(), []tables.Key{c.key, other}, other, c.key)
		if ok := err == nil; ok != s.ok {
			t.Errorf("%s after the item was read: got %v, %v, success %t; want success %t", s.age, items, err, ok, s.ok)
		} else if ok && (items[0].Str("body") != "two" || items[1].Str("body") != "one") {
			t.Errorf("%s after the item was read: got %v, want both posts", s.age, items)
		}
		if items, err := c.GetCrowded(t.Context(), nil, c.key); !errors.Is(err, tables.ErrThrottled) || items != nil {
			t.Errorf("an item that is not crowded: got %v and %v, want no items and %v", items, err, tables.ErrThrottled)
		}
		c.table.refuse = nil
		c.now = c.now.Add(crowdFor)
		if n, _ := c.need(t, 100); s.age == 0 && n != 1 {
			t.Errorf("100 requests a second after the refusal: got %d reads, want 1", n)
		}
	}
}

// TestCrowd_RefusedFirst: refusals alone tell a process that there is a crowd.
func TestCrowd_RefusedFirst(t *testing.T) {
	c := openCrowded(t)
	c.table.refuse = []tables.Key{c.key}
	for range 3 {
		if items, err := c.GetCrowded(t.Context(), []tables.Key{c.key}, c.key); err == nil || items != nil {
			t.Errorf("GetCrowded: got %v and %v, want no items and an error", items, err)
		}
		if items, err := c.Get(recent.For(t.Context(), stranger, nil), tables.Strong, c.key); err == nil || items != nil {
			t.Errorf("Get: got %v and %v, want no items and an error", items, err)
		}
	}
	c.table.refuse = nil
	if n, body := c.need(t, 100); n != 1 || body != "one" {
		t.Errorf("100 requests after the refusals: got %d reads and %q, want 1 and \"one\"", n, body)
	}
}

// TestCrowd_Race: an answer that was read before the process deletes the item, but arrives
// later, is not remembered.
func TestCrowd_Race(t *testing.T) {
	c := openCrowded(t)
	c.need(t, 100)
	c.now = c.now.Add(crowdFor)
	c.table.during = func() {
		c.here(t, tables.Delete(c.key))
		c.need(t, 1)
	}
	if _, body := c.need(t, 1); body != "one" {
		t.Fatalf("read during the deletion: got %q, want \"one\"", body)
	}
	for i := range 2 * crowdLeast {
		if _, body := c.need(t, 1); body != "" {
			t.Fatalf("request %d after the deletion: got %q, want nothing", i, body)
		}
	}
}

func TestCrowd_Bounds(t *testing.T) {
	c := openCrowded(t)
	need := func(n int) {
		t.Helper()
		key := tables.PostKey("den", post(n, "").ID)
		if _, err := c.GetCrowded(t.Context(), []tables.Key{key}, key); err != nil {
			t.Fatal(err)
		}
	}
	for n := range 5000 {
		need(n + 1000)
	}
	if got := c.Memory.Len(); got != 0 {
		t.Errorf("posts that do not exist: got %d answers remembered, want none", got)
	}
	if n, _ := c.need(t, 100); n != crowdLeast {
		t.Errorf("100 requests after the missing posts: got %d reads, want %d", n, crowdLeast)
	}
	const size, most = 17 << 10, 4 << 20
	for n := range 300 {
		c.elsewhere(t, tables.Put(post(n+10, strings.Repeat("x", size)).Item()))
		need(n + 10)
		if got := c.Memory.Bytes(); got > most {
			t.Fatalf("after post %d: got %d bytes remembered, want at most %d", n, got, most)
		}
	}
	if got := c.Memory.Bytes(); got < most-2*size {
		t.Errorf("after all posts: got %d bytes remembered, want at least %d", got, most-2*size)
	}
	c.now = c.now.Add(keep)
	need(1000)
	if n, held := c.Memory.Len(), c.Memory.Held(); n != 0 || held != 0 {
		t.Errorf("%s later: got Len %d and Held %d, want 0 and 0", keep, n, held)
	}
}
