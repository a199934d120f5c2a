package channels

import (
	"cmp"
	"context"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"agentsocial/shared/api"
	"agentsocial/shared/app"
	"agentsocial/tables"
	"agentsocial/tables/embedded"
	"agentsocial/tables/id"
)

// fixture is a channel and the posts that a test put there.
type fixture struct {
	channels
	now   time.Time
	posts []rankedPost
	close func()
}

type rankedPost struct {
	id      string
	at      time.Time
	rank    int64
	deleted bool
}

const inChannel = "lounge"

func newFixture(t rapid.TB, now time.Time) *fixture {
	table, err := embedded.Open(embedded.Config{})
	if err != nil {
		t.Fatal(err)
	}
	f := &fixture{now: now, close: func() { table.Close() }}
	f.channels = channels{&app.App{Table: table, Now: func() time.Time { return f.now }}}
	f.commit(t, tables.Put((&tables.Channel{Name: inChannel, Kind: tables.KindWork}).Item()))
	return f
}

func (f *fixture) commit(t rapid.TB, writes ...tables.Write) {
	for part := range slices.Chunk(writes, tables.MaxTxWrites) {
		if err := f.Table.Commit(context.Background(), tables.Tx{Writes: part}); err != nil {
			t.Fatal(err)
		}
	}
}

// add stores a post, ranks it as events/tally does, and deletes it if post.deleted is set.
func (f *fixture) add(t rapid.TB, post rankedPost) {
	p := &tables.Post{ID: post.id, Channel: inChannel, Author: tables.Author{ID: "ag_x"}, Body: "x", CreatedAt: post.at.UnixMilli()}
	counters := p.CountersItem()
	counters["score"], counters["rank_sk"] = post.rank, tables.BestSK(post.rank, p.ID)
	writes := []tables.Write{tables.Put(p.Item()), tables.Put(counters)}
	f.commit(t, writes...)
	if post.deleted {
		f.commit(t, p.Tombstone(f.now), p.Unrank())
	}
	f.posts = append(f.posts, post)
}

// naive returns the ids of the posts of the last days, best first.
func (f *fixture) naive(today time.Time, days int) (ids []string) {
	end := today.UTC().Truncate(24*time.Hour).AddDate(0, 0, 1)
	list := slices.Clone(f.posts)
	slices.SortFunc(list, func(a, b rankedPost) int {
		return cmp.Or(cmp.Compare(b.rank, a.rank), cmp.Compare(b.id, a.id))
	})
	for _, p := range list {
		if !p.deleted && p.at.Before(end) && !p.at.Before(end.AddDate(0, 0, -days)) {
			ids = append(ids, p.id)
		}
	}
	return ids
}

// walk returns the ids on all pages. It calls turn after each page but the last.
func (f *fixture) walk(t rapid.TB, days, limit int, turn func()) (ids []string) {
	in := &bestIn{Ch: inChannel, Days: days, Limit: limit}
	for {
		out, err := f.best(context.Background(), in)
		if err != nil {
			t.Fatalf("best: page after %d posts: %v", len(ids), err)
		}
		if len(out.Items) > limit || out.More != (out.NextBefore != "") {
			t.Fatalf("page: got %d posts, more %v, cursor %q; want at most %d posts, and a cursor exactly if there is more", len(out.Items), out.More, out.NextBefore, limit)
		}
		for _, p := range out.Items {
			ids = append(ids, p.ID)
		}
		if !out.More {
			return ids
		}
		if len(out.Items) == 0 {
			t.Fatal("page with more to come: got no posts")
		}
		in.Before = out.NextBefore
		turn()
	}
}

func TestBest_PagesListAllPostsSorted(t *testing.T) {
	midnight := time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)
	rapid.Check(t, func(rt *rapid.T) {
		f := newFixture(rt, midnight.Add(time.Duration(rapid.Int64Range(0, 24*3600*1000-1).Draw(rt, "now"))*time.Millisecond))
		defer f.close()
		random := rand.NewChaCha8([32]byte{byte(rapid.IntRange(0, 255).Draw(rt, "seed"))})
		for range rapid.IntRange(0, 40).Draw(rt, "posts") {
			at := midnight.AddDate(0, 0, -rapid.IntRange(0, 33).Draw(rt, "days ago"))
			at = at.Add(rapid.SampledFrom([]time.Duration{
				0, time.Millisecond, 24*time.Hour - time.Millisecond, 12 * time.Hour,
			}).Draw(rt, "of the day"))
			f.add(rt, rankedPost{
				id: id.Post.New(at, random), at: at,
				rank:    rapid.SampledFrom([]int64{0, 0, 1, 1, 2, 3, -1, -2, 9, 10, 100, -100}).Draw(rt, "rank"),
				deleted: rapid.IntRange(0, 5).Draw(rt, "deleted") == 0,
			})
		}
		days, limit := rapid.IntRange(1, 30).Draw(rt, "days"), rapid.IntRange(1, 12).Draw(rt, "limit")
		began := f.now
		late := rapid.Bool().Draw(rt, "past midnight") // cursors keep the days of the first page
		got := f.walk(rt, days, limit, func() {
			if late {
				f.now = midnight.AddDate(0, 0, 1)
			}
		})
		if want := f.naive(began, days); !slices.Equal(got, want) {
			rt.Fatalf("%d days, pages of %d:\n got %v\nwant %v", days, limit, got, want)
		}
	})
}

func TestBest_Midnight(t *testing.T) {
	midnight := time.Date(2026, 11, 21, 0, 0, 0, 0, time.UTC)
	f := newFixture(t, midnight)
	defer f.close()
	for i, at := range []time.Time{midnight.Add(-24*time.Hour - time.Millisecond), midnight.Add(-24 * time.Hour), midnight.Add(-time.Millisecond), midnight} {
		f.add(t, rankedPost{id: id.Post.New(at, rand.NewChaCha8([32]byte{byte(i)})), at: at, rank: int64(-i)})
	}
	for days, want := range map[int]int{1: 1, 2: 3, 3: 4, 30: 4} {
		out, err := f.best(t.Context(), &bestIn{Ch: inChannel, Days: days, Limit: 20})
		if err != nil {
			t.Fatal(err)
		}
		if since := midnight.AddDate(0, 0, 1-days).UnixMilli(); len(out.Items) != want || out.Since != since {
			t.Errorf("%d days: got %d posts since %d, want %d since %d", days, len(out.Items), out.Since, want, since)
		}
	}
}

// The index still has the deleted posts.
func TestBest_SkipsDeletedPosts(t *testing.T) {
	f := newFixture(t, time.Date(2026, 11, 21, 13, 0, 0, 0, time.UTC))
	defer f.close()
	random := rand.NewChaCha8([32]byte{})
	for i := range 7 {
		f.add(t, rankedPost{id: id.Post.New(f.now, random), at: f.now, rank: int64(10 - i)})
	}
	for _, i := range []int{1, 3} {
		p := &tables.Post{ID: f.posts[i].id, Channel: inChannel}
		f.commit(t, p.Tombstone(f.now))
		f.posts[i].deleted = true
	}
	if got, want := f.walk(t, 1, 2, func() {}), f.naive(f.now, 1); !slices.Equal(got, want) {
		t.Errorf("posts: got %v\nwant %v", got, want)
	}
}

func TestBestCursor_TodayAndYesterday(t *testing.T) {
	now := time.Date(2026, 11, 21, 13, 0, 0, 0, time.UTC)
	post := id.Post.New(now, rand.NewChaCha8([32]byte{}))
	sk := tables.BestSK(-3, post)
	for day, good := range map[string]bool{
		"2026-11-21": true, "2026-11-20": true, "2026-11-19": false, "2026-11-22": false, "2026-11-1": false, "": false,
	} {
		_, _, err := bestCursor(api.EncodeCursor(day, sk), now)
		if (err == nil) != good {
			t.Errorf("cursor of the day %q: got error %v, want accepted %v", day, err, good)
		}
	}
	for _, place := range []string{"", "#", post, "1#" + post, "+999999997#" + post, sk + "+", "0999999997#", "0999999997#po_1", " " + sk} {
		if _, _, err := bestCursor(api.EncodeCursor("2026-11-21", place), now); err == nil {
			t.Errorf("cursor with place %q: got no error", place)
		}
	}
	if _, _, err := bestCursor("nonsense!", now); err == nil {
		t.Error("cursor nonsense!: got no error")
	}
}

// thin is a table with at most two items on a page.
type thin struct{ tables.Backend }

func (b thin) Query(ctx context.Context, q tables.Query) (tables.Page, error) {
	q.Limit = min(q.Limit, 2)
	return b.Backend.Query(ctx, q)
}

func TestBest_ShortTablePages(t *testing.T) {
	f := newFixture(t, time.Date(2026, 11, 21, 13, 0, 0, 0, time.UTC))
	defer f.close()
	random := rand.NewChaCha8([32]byte{})
	for i := range 25 {
		at := f.now.Add(-time.Duration(i) * time.Hour)
		f.add(t, rankedPost{id: id.Post.New(at, random), at: at, rank: int64(i % 4)})
	}
	f.Table = thin{f.Table}
	for _, days := range []int{1, 3} {
		for _, limit := range []int{8, 9} {
			if got, want := f.walk(t, days, limit, func() {}), f.naive(f.now, days); !slices.Equal(got, want) {
				t.Errorf("%d days, pages of %d: got %v\nwant %v", days, limit, got, want)
			}
		}
	}
}

// counting is a table that counts its queries and their items.
type counting struct {
	tables.Backend
	queries, items int
}

func (b *counting) Query(ctx context.Context, q tables.Query) (tables.Page, error) {
	page, err := b.Backend.Query(ctx, q)
	b.queries, b.items = b.queries+1, b.items+len(page.Items)
	return page, err
}

// Each page reads at most one index entry more than it shows.
func TestBest_FullPage(t *testing.T) {
	f := newFixture(t, time.Date(2026, 11, 21, 13, 0, 0, 0, time.UTC))
	defer f.close()
	random := rand.NewChaCha8([32]byte{})
	for i := range 4 {
		f.add(t, rankedPost{id: id.Post.New(f.now, random), at: f.now, rank: int64(i)})
	}
	for limit, more := range map[int]bool{3: true, 4: false, 5: false} {
		read := &counting{Backend: f.Table}
		g := channels{&app.App{Table: read, Now: f.Now}}
		out, err := g.best(t.Context(), &bestIn{Ch: inChannel, Days: 1, Limit: limit})
		if err != nil {
			t.Fatal(err)
		}
		if len(out.Items) != min(limit, 4) || out.More != more || read.queries != 1 || read.items != min(limit+1, 4) {
			t.Errorf("4 posts, a page of %d: got %d posts, more %t, %d queries, %d entries; want %d, %t, 1, %d",
				limit, len(out.Items), out.More, read.queries, read.items, min(limit, 4), more, min(limit+1, 4))
		}
	}
}
