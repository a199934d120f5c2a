package recent_test

import (
	"context"
	"testing"
	"time"

	"agentsocial/tables"
	"agentsocial/tables/embedded"
	"agentsocial/tables/recent"
)

// replicated is a table whose eventually consistent reads go to a replica.
type replicated struct {
	tables.Backend
	replica tables.Backend
}

func (r replicated) Get(ctx context.Context, c tables.Consistency, keys ...tables.Key) ([]tables.Item, error) {
	if c == tables.Strong {
		return r.Backend.Get(ctx, c, keys...)
	}
	return r.replica.Get(ctx, c, keys...)
}

func (r replicated) Query(ctx context.Context, q tables.Query) (tables.Page, error) {
	if q.Consistency == tables.Strong {
		return r.Backend.Query(ctx, q)
	}
	return r.replica.Query(ctx, q)
}

// openLagging opens a table whose replica gets only the writes passed to follow.
func openLagging(t testing.TB) (f *fixture, follow func(...tables.Write)) {
	t.Helper()
	f = open(t)
	replica, err := embedded.Open(embedded.Config{Path: embedded.Memory, Now: f.time})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { replica.Close() })
	f.Table = replicated{f.Table, replica}
	return f, func(writes ...tables.Write) {
		t.Helper()
		if err := replica.Commit(context.Background(), tables.Tx{Writes: writes}); err != nil {
			t.Fatal(err)
		}
	}
}

// TestLag_Change: for a second after its own change, a process does not return the older
// state of the replica.
func TestLag_Change(t *testing.T) {
	f, follow := openLagging(t)
	made, gone := tables.Put(post(1, "one").Item()), tables.Delete(tables.PostKey("den", "po_001"))
	f.elsewhere(t, made)
	follow(made)
	f.here(t, gone)
	for i, after := range []time.Duration{0, recent.Lag - 1, 1} {
		if f.now = f.now.Add(after); i == 2 {
			follow(gone)
		}
		if got, _ := f.reads(t, stranger); got != "" {
			t.Errorf("read %d: got %q after the deletion, want nothing", i, got)
		}
		ctx := recent.For(t.Context(), stranger, nil)
		if items, err := f.Get(ctx, tables.Eventual, tables.PostKey("den", "po_001")); err != nil || items[0] != nil {
			t.Errorf("read %d: got %v and %v after the deletion, want nothing", i, items, err)
		}
	}
}

// TestLag_Index: an index cannot be read strongly, so its answers within a second after a
// change are not remembered.
func TestLag_Index(t *testing.T) {
	f, _ := openLagging(t)
	f.here(t, tables.Change(tables.ChannelKey("den"), tables.SetAttr("about", "x")))
	for i, c := range []struct {
		wait       time.Duration
		remembered int
	}{{recent.Lag - 1, 0}, {1, 1}, {-time.Minute, 1}} {
		f.now = f.now.Add(c.wait)
		if _, err := f.Query(recent.For(t.Context(), stranger, nil), tables.Roots("den", "", 10)); err != nil {
			t.Fatal(err)
		}
		if got := f.Memory.Len(); got != c.remembered {
			t.Errorf("read %d: got %d answers remembered, want %d", i, got, c.remembered)
		}
	}
}

// TestLag_Author: a known writer reads strongly, except from indexes. Others get what
// the writer found.
func TestLag_Author(t *testing.T) {
	f, follow := openLagging(t)
	made := tables.Put(post(1, "one").Item())
	f.elsewhere(t, made)
	follow(made)
	key := tables.PostKey("den", "po_002")
	query := func(ctx context.Context) int {
		t.Helper()
		page, err := f.Query(ctx, tables.Posts("den", "", 10, tables.Eventual))
		if err != nil {
			t.Fatal(err)
		}
		return len(page.Items)
	}
	get := func(ctx context.Context) bool {
		t.Helper()
		items, err := f.Get(ctx, tables.Eventual, key)
		if err != nil {
			t.Fatal(err)
		}
		return items[0] != nil
	}
	writer := recent.ForWriter(t.Context())
	other := func() context.Context { return recent.For(t.Context(), stranger, nil) }
	if n := query(other()); n != 1 {
		t.Fatalf("a stranger: got %d posts, want 1", n)
	}
	f.elsewhere(t, tables.Put(post(2, "two").Item()))
	for what, ctx := range map[string]context.Context{"writer": writer, "author": recent.For(t.Context(), author, nil)} {
		if n := query(ctx); n != 2 {
			t.Errorf("%s: got %d posts, want 2", what, n)
		}
	}
	if n := query(other()); n != 2 {
		t.Errorf("a stranger: got %d posts, want 2, as the author found", n)
	}
	if get(other()) {
		t.Error("a stranger's read: got a post that is not in the replica, want none")
	}
	if !get(writer) || !get(other()) {
		t.Error("the post is missing for its author, or for others afterwards")
	}
	if page, err := f.Query(writer, tables.Roots("den", "", 10)); err != nil || len(page.Items) != 1 {
		t.Errorf("query of an index by a writer: got %v and %v, want the one post in the replica", page.Items, err)
	}
}
