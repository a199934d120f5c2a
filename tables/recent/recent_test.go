package recent_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"pgregory.net/rapid"

	"agentsocial/tables"
	"agentsocial/tables/embedded"
	"agentsocial/tables/recent"
)

const keep = 2 * time.Second

// fixture is a process in front of a table that other processes also write.
type fixture struct {
	recent.Reader
	now time.Time
}

func open(t testing.TB) *fixture {
	f := &fixture{now: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)}
	table, err := embedded.Open(embedded.Config{Path: embedded.Memory, Now: f.time})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { table.Close() })
	f.Reader = recent.Reader{Memory: recent.New(f.time, keep), Table: table}
	return f
}

func (f *fixture) time() time.Time { return f.now }

func (f *fixture) elsewhere(t testing.TB, writes ...tables.Write) {
	t.Helper()
	if err := f.Table.Commit(context.Background(), tables.Tx{Writes: writes}); err != nil {
		t.Fatal(err)
	}
}

func (f *fixture) here(t testing.TB, writes ...tables.Write) {
	t.Helper()
	f.elsewhere(t, writes...)
	f.Memory.Committed(writes)
}

func post(n int, body string) *tables.Post {
	return &tables.Post{ID: fmt.Sprintf("po_%03d", n), Channel: "den", Body: body, Author: tables.Author{ID: "ag_fox"}}
}

func stranger(context.Context) bool { return false }
func author(context.Context) bool   { return true }

// reads returns the bodies of the channel's posts, and the read's units.
func (f *fixture) reads(t testing.TB, wrote func(context.Context) bool) (bodies string, units float64) {
	t.Helper()
	ctx, used := tables.WithUsage(context.Background())
	page, err := f.Query(recent.For(ctx, wrote, nil), tables.Posts("den", "", 10, tables.Eventual))
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, item := range page.Items {
		if item.Str(tables.AttrType) == tables.TypePost {
			all = append(all, item.Str("body"))
		}
	}
	return strings.Join(all, " "), used.ReadUnits()
}

// gets returns the body of a post, and the read's units.
func (f *fixture) gets(t testing.TB, wrote func(context.Context) bool, n int) (body string, units float64) {
	t.Helper()
	ctx, used := tables.WithUsage(context.Background())
	items, err := f.Get(recent.For(ctx, wrote, nil), tables.Strong, tables.PostKey("den", post(n, "").ID))
	if err != nil {
		t.Fatal(err)
	}
	return items[0].Str("body"), used.ReadUnits()
}

func TestPageIsReadOnceInTwoSeconds(t *testing.T) {
	f := open(t)
	f.elsewhere(t, tables.Put(post(1, "one").Item()))
	for i, step := range []struct {
		wait  time.Duration
		wrote func(context.Context) bool
		adds  string // the body of a post that another process adds before the read
		want  string
		free  bool
	}{
		{0, stranger, "", "one", false},
		{0, stranger, "", "one", true},
		{keep - 1, stranger, "two", "one", true},
		{1, stranger, "", "two one", false},
		{keep / 2, author, "three", "three two one", false},       // not from memory
		{keep / 2, stranger, "", "three two one", true},           // what the author found
		{keep / 2, stranger, "four", "four three two one", false}, // kept no longer than other pages
		{-time.Hour, stranger, "", "four three two one", false},   // the clock was set back
	} {
		f.now = f.now.Add(step.wait)
		if step.adds != "" {
			f.elsewhere(t, tables.Put(post(i+1, step.adds).Item()))
		}
		if got, units := f.reads(t, step.wrote); got != step.want || units == 0 != step.free {
			t.Errorf("step %d: got %q for %v units, want %q, free %v", i, got, units, step.want, step.free)
		}
	}
}

// TestGet: items are remembered one by one.
func TestGet(t *testing.T) {
	f := open(t)
	f.elsewhere(t, tables.Put(post(1, "one").Item()), tables.Put(post(2, "two").Item()))
	if _, units := f.gets(t, stranger, 1); units != 1 {
		t.Errorf("the first read took %v units, want 1", units)
	}
	if got, units := f.gets(t, stranger, 1); got != "one" || units != 0 {
		t.Errorf("the second read: got %q for %v units, want \"one\" for none", got, units)
	}
	secret := tables.AgentKeyKey("ag_fox", "pub")
	f.elsewhere(t, tables.Put(tables.Item{tables.AttrPK: secret.PK, tables.AttrSK: secret.SK, tables.AttrType: "key"}))
	ctx, used := tables.WithUsage(t.Context())
	ctx = recent.For(ctx, stranger, nil)
	keys := []tables.Key{tables.PostKey("den", "po_002"), tables.PostKey("den", "po_001"), tables.PostKey("den", "po_009"), secret}
	for range 2 {
		if _, err := f.Get(ctx, tables.Strong, keys...); err != nil {
			t.Fatal(err)
		}
	}
	if got := used.ReadUnits(); got != 3+2 { // first without po_001, then without po_002 either
		t.Errorf("the reads took %v units, want 5", got)
	}
	f.elsewhere(t, tables.Put(post(9, "nine").Item()))
	if got, _ := f.gets(t, stranger, 9); got != "nine" {
		t.Errorf("post that was missing before: got %q, want \"nine\"", got)
	}
}

func TestReadsPastTheMemory(t *testing.T) {
	f := open(t)
	f.elsewhere(t, tables.Put(post(1, "one").Item()))
	f.reads(t, stranger)
	f.gets(t, stranger, 1)
	none := recent.Reader{Table: f.Table}
	for i, read := range []func(context.Context) error{
		func(ctx context.Context) error {
			_, err := f.Query(ctx, tables.Posts("den", "", 10, tables.Eventual))
			return err
		},
		func(ctx context.Context) error {
			_, err := f.Get(ctx, tables.Eventual, tables.PostKey("den", "po_001"))
			return err
		},
		func(ctx context.Context) error {
			q := tables.LivePromos("den", tables.Eventual)
			_, err := f.Query(recent.For(context.Background(), stranger, nil), q)
			if err == nil {
				_, err = f.Query(recent.For(ctx, stranger, nil), q)
			}
			return err
		},
		func(ctx context.Context) error {
			_, err := none.Query(recent.For(ctx, stranger, nil), tables.Posts("den", "", 10, tables.Eventual))
			return err
		},
		func(ctx context.Context) error {
			_, err := none.Get(recent.For(ctx, stranger, nil), tables.Eventual, tables.PostKey("den", "po_001"))
			return err
		},
	} {
		ctx, used := tables.WithUsage(t.Context())
		if err := read(ctx); err != nil || used.ReadUnits() == 0 {
			t.Errorf("read %d: got %v units and %v, want a read of the table", i, used.ReadUnits(), err)
		}
	}
}

// TestWroteOnce: the first read finds nothing in memory, so it does not ask whether the
// caller wrote.
func TestWroteOnce(t *testing.T) {
	f := open(t)
	f.elsewhere(t, tables.Put(post(1, "one").Item()))
	asked := 0
	ctx := recent.For(t.Context(), func(context.Context) bool { asked++; return false }, nil)
	for i, want := range []int{0, 1, 1} {
		if _, err := f.Query(ctx, tables.Posts("den", "", 10, tables.Eventual)); err != nil {
			t.Fatal(err)
		}
		if asked != want {
			t.Errorf("read %d: asked %d times, want %d", i, asked, want)
		}
	}
}

func TestForgets(t *testing.T) {
	gone := post(1, "")
	for what, c := range map[string]struct {
		write  tables.Write
		forget bool
	}{
		"tombstone": {gone.Tombstone(time.UnixMilli(1)), true},
		"delete":    {tables.Delete(tables.PostKey("den", gone.ID)), true},
		"channel":   {tables.Change(tables.ChannelKey("den"), tables.SetAttr("about", "x")), true},
		"put":       {tables.Put((&tables.Channel{Name: "den"}).Item()), true},
		"profile":   {tables.Change(tables.ProfileKey("ag_fox"), tables.SetAttr("bio", "x")), true},
		"new post":  {tables.Put(post(2, "two").Item()), false},
		"counters":  {tables.Put(post(2, "two").CountersItem()), false},
		"check":     {tables.Check(tables.PostKey("den", gone.ID), tables.ItemExists()), false},
		"view":      {tables.CountView("den", 1, 1, false, time.UnixMilli(1)), false},
		"newest":    {tables.Change(tables.LatestKey("ag_fox"), tables.SetAttr("x", "y")), false},
	} {
		f := open(t)
		f.elsewhere(t, tables.Put(post(1, "one").Item()))
		f.reads(t, stranger)
		f.here(t, c.write)
		if _, units := f.reads(t, stranger); (units > 0) != c.forget {
			t.Errorf("%s: got a read of %v units, forgot %t; want forgot %t", what, units, units > 0, c.forget)
		}
	}
}

type slow struct {
	tables.Backend
	read func()
}

func (s slow) Query(ctx context.Context, q tables.Query) (tables.Page, error) {
	page, err := s.Backend.Query(ctx, q)
	s.read()
	return page, err
}

func TestRace(t *testing.T) {
	f := open(t)
	f.elsewhere(t, tables.Put(post(1, "one").Item()))
	table := f.Table
	f.Table = slow{table, func() {
		f.Table = table
		f.here(t, tables.Delete(tables.PostKey("den", "po_001")))
	}}
	if got, _ := f.reads(t, stranger); got != "one" {
		t.Fatalf("read during the deletion: got %q, want \"one\"", got)
	}
	if got, _ := f.reads(t, stranger); got != "" {
		t.Errorf("read after the deletion: got %q, want nothing", got)
	}
}

// TestShared: each reader gets a list of its own, which it may clear.
func TestShared(t *testing.T) {
	f := open(t)
	f.elsewhere(t, tables.Put(post(1, "one").Item()), tables.Put(post(2, "two").Item()))
	keys := []tables.Key{tables.PostKey("den", "po_001"), tables.PostKey("den", "po_002")}
	for i := range 3 { // from the table, then from memory
		ctx := recent.For(t.Context(), stranger, nil)
		items, err := f.Get(ctx, tables.Strong, keys...)
		if err != nil || items[0].Str("body") != "one" || items[1].Str("body") != "two" {
			t.Fatalf("read %d: got %v and %v, want both posts", i, items, err)
		}
		page, err := f.Query(ctx, tables.Posts("den", "", 10, tables.Eventual))
		if err != nil || len(page.Items) != 2 || page.Items[0].Str("body") != "two" || page.Items[1].Str("body") != "one" {
			t.Fatalf("read %d: got %v and %v, want both posts, newest first", i, page.Items, err)
		}
		clear(items)
		clear(page.Items)
	}
}

func TestBounds(t *testing.T) {
	f := open(t)
	const big, all = 200 << 10, 40 // 8 MB
	for n := range all {
		f.elsewhere(t, tables.Put(post(n, strings.Repeat("x", big)).Item()))
	}
	for n := range all {
		f.gets(t, stranger, n)
	}
	remembered := 0
	for n := range all {
		ctx, used := tables.WithUsage(t.Context())
		ctx = recent.For(ctx, stranger, nil)
		if _, err := (recent.Reader{Memory: f.Memory, Table: none{f.Table}}).Get(ctx, tables.Strong, tables.PostKey("den", post(n, "").ID)); err == nil && used.ReadUnits() == 0 {
			if remembered++; n < all/2 {
				t.Errorf("post %d is remembered, want only the newest ones", n)
			}
		}
	}
	if want := 20; remembered != want {
		t.Errorf("got %d posts of 200 KB remembered, want %d (4 MB)", remembered, want)
	}
	was := f.Memory.Len()
	if f.reads(t, stranger); f.Memory.Len() != was {
		t.Errorf("after a page of more than 1 MB: got %d answers remembered, want %d", f.Memory.Len(), was)
	}
	for n := range 9000 {
		_, _ = f.Query(recent.For(t.Context(), stranger, nil), tables.Posts("empty", fmt.Sprintf("po_%06d", n), 1, tables.Eventual))
	}
	if got := f.Memory.Len(); got != 8192 {
		t.Errorf("after 9000 queries: got %d answers remembered, want 8192", got)
	}
	f.now = f.now.Add(keep)
	f.gets(t, stranger, 1)
	if got := f.Memory.Len(); got != 1 {
		t.Errorf("got %d answers remembered after %s, want the last one", got, keep)
	}
}

// none is a table whose Get fails.
type none struct{ tables.Backend }

func (none) Get(context.Context, tables.Consistency, ...tables.Key) ([]tables.Item, error) {
	return nil, tables.ErrUnreachable
}

func TestFailedGet(t *testing.T) {
	f := open(t)
	f.elsewhere(t, tables.Put(post(1, "one").Item()))
	table := f.Table
	f.Table = none{table}
	if items, err := f.Get(recent.For(t.Context(), stranger, nil), tables.Strong, tables.PostKey("den", "po_001")); err == nil || items != nil {
		t.Errorf("a Get that fails: got %v and %v, want no items and an error", items, err)
	}
	f.Table = table
	if got, _ := f.gets(t, stranger, 1); got != "one" {
		t.Errorf("a Get afterwards: got %q, want \"one\"", got)
	}
}

func TestSideBySide(t *testing.T) {
	f := open(t)
	f.elsewhere(t, tables.Put(post(1, "one").Item()))
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for n := range 200 {
				if got, _ := f.reads(t, stranger); !strings.HasSuffix(got, "one") {
					t.Errorf("read beside other reads: got %q, want it to end in \"one\"", got)
				}
				if n%20 == 0 {
					f.here(t, tables.Change(tables.ChannelKey("den"), tables.SetAttr("about", "x")))
				}
			}
		})
	}
	all.Wait()
}

// TestAnswersAreTwoSecondsOldAtMost: a stranger also sees no state from before a deletion
// by this process, and a caller that wrote sees the current state.
func TestAnswersAreTwoSecondsOldAtMost(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		f := open(t)
		type state struct {
			bodies string
			until  time.Time // when the next state replaced it
		}
		past, bodies := []state{}, []string{}
		text := func() string { b := slices.Clone(bodies); slices.Reverse(b); return strings.Join(b, " ") }
		n := 0
		change := func(commit func(testing.TB, ...tables.Write), w tables.Write, next []string) {
			past = append(past, state{text(), f.now})
			commit(t, w)
			bodies = next
		}
		add := func(commit func(testing.TB, ...tables.Write)) {
			n++
			body := fmt.Sprint("p", n)
			change(commit, tables.Put(post(n, body).Item()), append(slices.Clone(bodies), body))
		}
		remove := func(commit func(testing.TB, ...tables.Write)) {
			if len(bodies) == 0 {
				return
			}
			i := rapid.IntRange(0, len(bodies)-1).Draw(r, "which")
			var number int
			fmt.Sscanf(bodies[i], "p%d", &number)
			change(commit, tables.Delete(tables.PostKey("den", post(number, "").ID)), slices.Delete(slices.Clone(bodies), i, i+1))
		}
		check := func(wrote func(context.Context) bool) {
			got, _ := f.reads(t, wrote)
			if got == text() {
				return
			}
			if wrote(context.Background()) || !slices.ContainsFunc(past, func(s state) bool { return s.bodies == got && f.now.Sub(s.until) < keep }) {
				r.Fatalf("read by a caller that wrote = %t: got %q, want %q or, if it did not write, a state of the last two seconds, among %v", wrote(context.Background()), got, text(), past)
			}
		}
		r.Repeat(map[string]func(*rapid.T){
			"pass": func(r *rapid.T) {
				f.now = f.now.Add(time.Duration(rapid.IntRange(1, 2500).Draw(r, "ms")) * time.Millisecond)
			},
			"post here":      func(*rapid.T) { add(f.here) },
			"post elsewhere": func(*rapid.T) { add(f.elsewhere) },
			"delete here": func(*rapid.T) {
				if len(bodies) > 0 {
					remove(f.here)
					past = nil
				}
			},
			"delete elsewhere": func(*rapid.T) { remove(f.elsewhere) },
			"stranger":         func(*rapid.T) { check(stranger) },
			"author":           func(*rapid.T) { check(author) },
		})
	})
}

func TestReadAgainReplacesPage(t *testing.T) {
	f := open(t)
	for i := range 3 {
		f.elsewhere(t, tables.Put(post(i, fmt.Sprint("body ", i)).Item()))
	}
	for i := range 10 {
		for _, limit := range []int{1, 3} {
			if i > 0 && limit == 1 { // the page of one item stays the oldest
				continue
			}
			if _, err := f.Query(recent.For(t.Context(), author, nil), tables.Posts("den", "", limit, tables.Eventual)); err != nil {
				t.Fatal(err)
			}
		}
	}
	if n, held := f.Memory.Len(), f.Memory.Held(); n != 2 || held != 2 {
		t.Errorf("after reading pages again: got Len %d and Held %d, want 2 and 2", n, held)
	}
}
