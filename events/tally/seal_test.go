package tally

import (
	"context"
	"crypto/rand"
	"errors"
	"log/slog"
	"testing"
	"time"

	"agentsocial/shared/app"
	"agentsocial/shared/search"
	"agentsocial/shared/search/index"
	"agentsocial/tables"
	"agentsocial/tables/embedded"
)

// unsearchable is a table that fails to list a search index, or to reach it at all.
type unsearchable struct {
	tables.Backend
	list, reach bool
}

var errAway = errors.New("away")

func (u *unsearchable) Query(ctx context.Context, q tables.Query) (tables.Page, error) {
	if q.PK == tables.SearchPK("den") && (u.list || u.reach) {
		return tables.Page{}, errAway
	}
	return u.Backend.Query(ctx, q)
}

func (u *unsearchable) Commit(ctx context.Context, tx tables.Tx) error {
	if tx.Writes[0].Key.PK == tables.SearchPK("den") && u.reach {
		return errAway
	}
	return u.Backend.Commit(ctx, tx)
}

func (u *unsearchable) Get(ctx context.Context, c tables.Consistency, keys ...tables.Key) ([]tables.Item, error) {
	if keys[0].PK == tables.SearchPK("den") && u.reach {
		return nil, errAway
	}
	return u.Backend.Get(ctx, c, keys...)
}

// posting is a reader with a channel whose posts it indexes.
type posting struct {
	reader
	table *unsearchable
	now   time.Time
}

func newPosting(t *testing.T) *posting {
	t.Helper()
	f := &posting{now: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)}
	table, err := embedded.Open(embedded.Config{Now: func() time.Time { return f.now }})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { table.Close() })
	f.table = &unsearchable{Backend: table}
	f.reader = newReader(&app.App{
		Table: f.table, Now: func() time.Time { return f.now }, Rand: rand.Reader, Log: slog.New(slog.DiscardHandler),
	})
	f.commit(t, tables.Put((&tables.Channel{Name: "den", Kind: tables.KindWork}).Item()))
	return f
}

func (f *posting) commit(t *testing.T, w ...tables.Write) {
	t.Helper()
	if err := f.table.Commit(t.Context(), tables.Tx{Writes: w}); err != nil {
		t.Fatal(err)
	}
}

// post makes a post and returns its record. If turn is true, the post's id has the turn
// ([search.IsTurn]).
func (f *posting) post(t *testing.T, turn bool) tables.StreamRecord {
	t.Helper()
	f.now = f.now.Add(time.Second)
	id := search.From(f.now)
	id[15] = 1
	if turn {
		id[15] = 0
	}
	p := &tables.Post{ID: index.PostID(id), Channel: "den", Author: tables.Author{ID: "ag_fox"}, Body: "fox", CreatedAt: f.now.UnixMilli()}
	f.commit(t, tables.Put(p.Item()), tables.Put(p.CountersItem()))
	return tables.StreamRecord{Event: "INSERT", Key: p.Item().Key(), New: p.Item(), At: f.now}
}

func (f *posting) item(t *testing.T, k tables.Key) tables.Item {
	t.Helper()
	items, err := f.table.Backend.Get(t.Context(), tables.Strong, k)
	if err != nil {
		t.Fatal(err)
	}
	return items[0]
}

func (f *posting) heads(t *testing.T) int {
	t.Helper()
	heads, err := index.Of(f.App, "den").Heads(t.Context(), search.Newest, 100, true)
	if err != nil {
		t.Fatal(err)
	}
	return len(heads)
}

// TestTurns checks that a post that has the turn seals the posts that are old enough, and
// schedules the tending for the others.
func TestTurns(t *testing.T) {
	f := newPosting(t)
	for i := range 17 {
		if err := f.handle(t.Context(), []tables.StreamRecord{f.post(t, i == 9)}); err != nil {
			t.Fatal(err)
		}
	}
	if due := f.item(t, tables.SealDueKey("den")); due != nil {
		t.Errorf("due before there is anything to seal: got %v, want none", due)
	}
	last := f.now
	if err := f.handle(t.Context(), []tables.StreamRecord{f.post(t, true)}); err != nil {
		t.Fatal(err)
	}
	// The 16th post is sealed when it is search.SealAge old.
	want := last.Add(search.SealAge - time.Second).UnixMilli()
	if due := f.item(t, tables.SealDueKey("den")); due.Int("at") != want || f.heads(t) != 0 {
		t.Errorf("index with new posts: got %d heads, due at %d; want 0 heads, due at %d", f.heads(t), due.Int("at"), want)
	}
	f.now = f.now.Add(time.Minute)
	if err := f.handle(t.Context(), []tables.StreamRecord{f.post(t, true)}); err != nil {
		t.Fatal(err)
	}
	if f.heads(t) != 1 {
		t.Errorf("heads after a turn: got %d, want 1", f.heads(t))
	}
}

func TestNoTurn(t *testing.T) {
	f := newPosting(t)
	var records []tables.StreamRecord
	for range 40 {
		records = append(records, f.post(t, false))
	}
	for range 2 {
		if err := f.handle(t.Context(), records); err != nil {
			t.Fatal(err)
		}
	}
	if due := f.item(t, tables.SealDueKey("den")); due.Int("at") != f.now.Add(search.SealAge).UnixMilli() {
		t.Errorf("index without a turn: got due %v, want %d", due, f.now.Add(search.SealAge).UnixMilli())
	}
}

// TestLatePostIsFound checks that search finds a post that was committed after the posts
// of its time were sealed.
func TestLatePostIsFound(t *testing.T) {
	f := newPosting(t)
	late := f.post(t, false)
	f.commit(t, tables.Delete(late.Key))
	var records []tables.StreamRecord
	for range 20 {
		records = append(records, f.post(t, false))
	}
	f.now = f.now.Add(2 * time.Minute)
	if err := f.handle(t.Context(), append(records, f.post(t, true))); err != nil || f.heads(t) != 1 {
		t.Fatalf("heads after a turn: got %d, want 1; error %v", f.heads(t), err)
	}
	f.commit(t, tables.Put(late.New))
	late.At = f.now
	if err := f.handle(t.Context(), []tables.StreamRecord{late}); err != nil {
		t.Fatal(err)
	}
	found, err := search.Search(t.Context(), index.Of(f.App, "den"), search.Request{Terms: []search.Term{"fox"}, Limit: 50})
	if err != nil || len(found.Posts) != 22 || found.Posts[21].Value.Post.ID != late.New.Str("id") {
		t.Errorf("search: got %d posts, want 22 with the late post last; error %v", len(found.Posts), err)
	}
}

// TestRestoredPostIsFound checks that search finds a restored post, although the posts of
// its time were sealed while it was deleted.
func TestRestoredPostIsFound(t *testing.T) {
	f := newPosting(t)
	removed := f.post(t, false)
	whole, gone := removed.New, tables.Item{}
	for attr, v := range whole {
		if gone[attr] = v; attr == "body" {
			delete(gone, attr)
		}
	}
	gone["deleted"] = true
	f.commit(t, tables.Put(gone))
	records := []tables.StreamRecord{removed}
	for range 20 {
		records = append(records, f.post(t, false))
	}
	f.now = f.now.Add(2 * time.Minute)
	if err := f.handle(t.Context(), append(records, f.post(t, true))); err != nil || f.heads(t) != 1 {
		t.Fatalf("heads after a turn: got %d, want 1; error %v", f.heads(t), err)
	}
	f.commit(t, tables.Put(whole))
	back := tables.StreamRecord{Key: removed.Key, Event: "MODIFY", Old: gone, New: whole, Seq: "9", At: f.now}
	if err := f.handle(t.Context(), []tables.StreamRecord{back}); err != nil {
		t.Fatal(err)
	}
	found, err := search.Search(t.Context(), index.Of(f.App, "den"), search.Request{Terms: []search.Term{"fox"}, Limit: 50})
	if err != nil || len(found.Posts) != 22 || found.Posts[21].Value.Post.ID != whole.Str("id") {
		t.Errorf("search: got %d posts, want 22 with the restored post last; error %v", len(found.Posts), err)
	}
}

// TestFailingIndex checks that an index that cannot be tended does not stop counting.
// Only a late post that cannot be listed fails the batch, because search would not find
// it.
func TestFailingIndex(t *testing.T) {
	f := newPosting(t)
	posts := func() int64 { return f.item(t, tables.ChannelKey("den")).Int("posts") }
	f.table.list = true
	if err := f.handle(t.Context(), []tables.StreamRecord{f.post(t, true)}); err != nil {
		t.Errorf("index that cannot be listed: got error %v, want none", err)
	}
	if due := f.item(t, tables.SealDueKey("den")); due.Int("at") != f.now.Add(search.SealAge).UnixMilli() || posts() != 1 {
		t.Errorf("index that cannot be listed: got due %v and %d posts, want due at %d and 1 post", due, posts(), f.now.Add(search.SealAge).UnixMilli())
	}
	f.commit(t, tables.Delete(tables.SealDueKey("den")))
	f.table.reach = true
	if err := f.handle(t.Context(), []tables.StreamRecord{f.post(t, true)}); err != nil || posts() != 2 {
		t.Errorf("index that cannot be reached: got %d posts, want 2; error %v", posts(), err)
	}
	late := f.post(t, false)
	late.At = late.At.Add(time.Minute)
	if err := f.handle(t.Context(), []tables.StreamRecord{late}); !errors.Is(err, errAway) || posts() != 3 {
		t.Errorf("late post that cannot be listed: got error %v and %d posts, want %v and 3", err, posts(), errAway)
	}
	f.table.list, f.table.reach = false, false
	if err := f.handle(t.Context(), []tables.StreamRecord{late}); err != nil || posts() != 3 {
		t.Errorf("posts after the retry: got %d, want 3; error %v", posts(), err)
	}
	listed, err := index.Of(f.App, "den").Late(t.Context())
	if err != nil || len(listed) != 1 {
		t.Errorf("late posts: got %d, want 1; error %v", len(listed), err)
	}
}

func TestNoTimeToTend(t *testing.T) {
	f := newPosting(t)
	var records []tables.StreamRecord
	for range 16 {
		records = append(records, f.post(t, false))
	}
	f.now = f.now.Add(time.Hour)
	turn := f.post(t, true)
	ctx, cancel := context.WithTimeout(t.Context(), countFor-time.Second)
	defer cancel()
	if err := f.handle(ctx, append(records, turn)); err != nil || f.heads(t) != 0 {
		t.Errorf("heads without time to tend: got %d, want 0; error %v", f.heads(t), err)
	}
	due, posts := f.item(t, tables.SealDueKey("den")), f.item(t, tables.ChannelKey("den")).Int("posts")
	if due.Int("at") != f.now.Add(search.SealAge).UnixMilli() || posts != 17 {
		t.Errorf("without time to tend: got due %v and %d posts, want due at %d and 17 posts", due, posts, f.now.Add(search.SealAge).UnixMilli())
	}
	ctx, cancel = context.WithTimeout(t.Context(), countFor+time.Minute)
	defer cancel()
	if err := f.handle(ctx, []tables.StreamRecord{turn}); err != nil || f.heads(t) != 1 {
		t.Errorf("heads with time to tend: got %d, want 1; error %v", f.heads(t), err)
	}
}

// TestLargestSegments checks that the stream's reader leaves the largest segments to the
// schedule, which has the memory and the time.
func TestLargestSegments(t *testing.T) {
	t.Cleanup(search.Small())
	f := newPosting(t)
	for range 40 {
		if err := f.handle(t.Context(), []tables.StreamRecord{f.post(t, false)}); err != nil {
			t.Fatal(err)
		}
	}
	f.now = f.now.Add(time.Hour)
	if err := f.handle(t.Context(), []tables.StreamRecord{f.post(t, true)}); err != nil {
		t.Fatal(err)
	}
	levels := func() map[search.Level]int {
		heads, err := index.Of(f.App, "den").Heads(t.Context(), search.Newest, 100, true)
		if err != nil {
			t.Fatal(err)
		}
		count := map[search.Level]int{}
		for _, h := range heads {
			count[h.Level]++
		}
		return count
	}
	if got := levels(); got[search.Top] != 0 || got[search.SealMost] < 3 {
		t.Errorf("segments by level: got %v, want none of level %v and at least 3 of level %v", got, search.Top, search.SealMost)
	}
	if due := f.item(t, tables.SealDueKey("den")); due == nil || due.Int("at") > f.now.UnixMilli() {
		t.Errorf("due of the largest segment: got %v, want a time that has come", due)
	}
	if _, err := index.Of(f.App, "den").Tend(t.Context(), search.Top); err != nil || levels()[search.Top] == 0 {
		t.Errorf("after the schedule: got segments by level %v, error %v, want some of level %v", levels(), err, search.Top)
	}
}

// TestBackground checks that work in the background ([app.App.Background]) builds even
// the largest segments. The schedule knows when the work will continue, in case the
// process ends.
func TestBackground(t *testing.T) {
	t.Cleanup(search.Small())
	f := newPosting(t)
	work := map[string]func(context.Context) time.Time{}
	f.Background = func(name string, do func(context.Context) time.Time) { work[name] = do }
	for range 40 {
		if err := f.handle(t.Context(), []tables.StreamRecord{f.post(t, false)}); err != nil {
			t.Fatal(err)
		}
	}
	if len(work) > 0 {
		t.Errorf("background jobs without a turn: got %d, want none", len(work))
	}
	if err := f.handle(t.Context(), []tables.StreamRecord{f.post(t, true)}); err != nil || len(work) != 1 || f.heads(t) != 0 {
		t.Fatalf("after a turn: got %d background jobs and %d heads, want 1 and 0; error %v", len(work), f.heads(t), err)
	}
	do := work["tend den"]
	due := do(t.Context())
	if again := f.item(t, tables.SealDueKey("den")).Int("at"); !due.After(f.now) || again > due.UnixMilli() {
		t.Errorf("due: got %s, and %d in the schedule; want a time after %s, and in the schedule the same or an earlier time", due, again, f.now)
	}
	for ; !due.IsZero(); due = do(t.Context()) {
		f.now = due
	}
	heads, err := index.Of(f.App, "den").Heads(t.Context(), search.Newest, 100, true)
	if err != nil || heads[len(heads)-1].Level != search.Top {
		t.Errorf("heads after background work: got %+v, error %v, want the last one to be of level %d", heads, err, search.Top)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	f.now = f.now.Add(time.Hour)
	if again := do(ended); !again.IsZero() {
		t.Errorf("due in a stopped process: got %s, want none", again)
	}
}
