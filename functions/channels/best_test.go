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

// stand is a channel for a test, and what is known of its posts.
type stand struct {
	channels
	now   time.Time
	posts []standing
	close func()
}

type standing struct {
	id      string
	at      time.Time
	rank    int64
	deleted bool
}

const standIn = "den"

func newStand(t rapid.TB, now time.Time) *stand {
	table, err := embedded.Open(embedded.Config{})
	if err != nil {
		t.Fatal(err)
	}
	s := &stand{now: now, close: func() { table.Close() }}
	s.channels = channels{&app.App{Table: table, Now: func() time.Time { return s.now }}}
	s.commit(t, tables.Put((&tables.Channel{Name: standIn, Kind: tables.KindWork}).Item()))
	return s
}

func (s *stand) commit(t rapid.TB, writes ...tables.Write) {
	for part := range slices.Chunk(writes, tables.MaxTxWrites) {
		if err := s.Table.Commit(context.Background(), tables.Tx{Writes: part}); err != nil {
			t.Fatal(err)
		}
	}
}

// add puts a post with a rank, as the stream would have ranked it.
func (s *stand) add(t rapid.TB, post standing) {
	p := &tables.Post{ID: post.id, Channel: standIn, Author: tables.Author{ID: "ag_x"}, Body: "x", CreatedAt: post.at.UnixMilli()}
	counters := p.CountersItem()
	counters["score"], counters["rank_sk"] = post.rank, tables.BestSK(post.rank, p.ID)
	writes := []tables.Write{tables.Put(p.Item()), tables.Put(counters)}
	s.commit(t, writes...)
	if post.deleted {
		s.commit(t, p.Tombstone(s.now), p.Unrank())
	}
	s.posts = append(s.posts, post)
}

// naive is what best ought to say: of the days that end with today, all posts,
// sorted.
func (s *stand) naive(today time.Time, days int) (ids []string) {
	end := today.UTC().Truncate(24*time.Hour).AddDate(0, 0, 1)
	list := slices.Clone(s.posts)
	slices.SortFunc(list, func(a, b standing) int {
		return cmp.Or(cmp.Compare(b.rank, a.rank), cmp.Compare(b.id, a.id))
	})
	for _, p := range list {
		if !p.deleted && p.at.Before(end) && !p.at.Before(end.AddDate(0, 0, -days)) {
			ids = append(ids, p.id)
		}
	}
	return ids
}

// walk reads page by page; between two pages, turn is called.
func (s *stand) walk(t rapid.TB, days, limit int, turn func()) (ids []string) {
	in := &bestIn{Ch: standIn, Days: days, Limit: limit}
	for {
		out, err := s.best(context.Background(), in)
		if err != nil {
			t.Fatalf("after %d posts: %v", len(ids), err)
		}
		if len(out.Items) > limit || out.More != (out.NextBefore != "") {
			t.Fatalf("%d posts of %d, more %v, cursor %q", len(out.Items), limit, out.More, out.NextBefore)
		}
		for _, p := range out.Items {
			ids = append(ids, p.ID)
		}
		if !out.More {
			return ids
		}
		if len(out.Items) == 0 {
			t.Fatalf("an empty page, and more behind it")
		}
		in.Before = out.NextBefore
		turn()
	}
}

// TestBestIsTheNaiveBest: whatever posts there are, some of them right at the
// boundaries of days, best page by page is all of them, sorted.
func TestBestIsTheNaiveBest(t *testing.T) {
	midnight := time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC) // the day after a February
	rapid.Check(t, func(rt *rapid.T) {
		s := newStand(rt, midnight.Add(time.Duration(rapid.Int64Range(0, 24*3600*1000-1).Draw(rt, "now"))*time.Millisecond))
		defer s.close()
		random := rand.NewChaCha8([32]byte{byte(rapid.IntRange(0, 255).Draw(rt, "seed"))})
		for range rapid.IntRange(0, 40).Draw(rt, "posts") {
			at := midnight.AddDate(0, 0, -rapid.IntRange(0, 33).Draw(rt, "days ago"))
			at = at.Add(rapid.SampledFrom([]time.Duration{
				0, time.Millisecond, 24*time.Hour - time.Millisecond, 12 * time.Hour,
			}).Draw(rt, "of the day"))
			s.add(rt, standing{
				id: id.Post.New(at, random), at: at,
				rank:    rapid.SampledFrom([]int64{0, 0, 1, 1, 2, 3, -1, -2, 9, 10, 100, -100}).Draw(rt, "rank"),
				deleted: rapid.IntRange(0, 5).Draw(rt, "deleted") == 0,
			})
		}
		days, limit := rapid.IntRange(1, 30).Draw(rt, "days"), rapid.IntRange(1, 12).Draw(rt, "limit")
		began := s.now
		late := rapid.Bool().Draw(rt, "past midnight") // a walk goes on as it began
		got := s.walk(rt, days, limit, func() {
			if late {
				s.now = midnight.AddDate(0, 0, 1)
			}
		})
		if want := s.naive(began, days); !slices.Equal(got, want) {
			rt.Fatalf("%d days by %d:\n got %v\nwant %v", days, limit, got, want)
		}
	})
}

// TestBestAtMidnight: a day's first and last millisecond are of that day, and
// since is the first of them.
func TestBestAtMidnight(t *testing.T) {
	midnight := time.Date(2026, 11, 21, 0, 0, 0, 0, time.UTC)
	s := newStand(t, midnight)
	defer s.close()
	for i, at := range []time.Time{midnight.Add(-24*time.Hour - time.Millisecond), midnight.Add(-24 * time.Hour), midnight.Add(-time.Millisecond), midnight} {
		s.add(t, standing{id: id.Post.New(at, rand.NewChaCha8([32]byte{byte(i)})), at: at, rank: int64(-i)})
	}
	for days, want := range map[int]int{1: 1, 2: 3, 3: 4, 30: 4} {
		out, err := s.best(t.Context(), &bestIn{Ch: standIn, Days: days, Limit: 20})
		if err != nil {
			t.Fatal(err)
		}
		if len(out.Items) != want || out.Since != midnight.AddDate(0, 0, 1-days).UnixMilli() {
			t.Errorf("%d days: %d posts since %d", days, len(out.Items), out.Since)
		}
	}
}

// TestBestDropsWhatTheIndexStillHas: an index hears of a deletion later; the
// page is short then, and the next one goes on where it ended.
func TestBestDropsWhatTheIndexStillHas(t *testing.T) {
	s := newStand(t, time.Date(2026, 11, 21, 13, 0, 0, 0, time.UTC))
	defer s.close()
	random := rand.NewChaCha8([32]byte{})
	for i := range 7 {
		s.add(t, standing{id: id.Post.New(s.now, random), at: s.now, rank: int64(10 - i)})
	}
	for _, i := range []int{1, 3} {
		p := &tables.Post{ID: s.posts[i].id, Channel: standIn}
		s.commit(t, p.Tombstone(s.now))
		s.posts[i].deleted = true
	}
	if got, want := s.walk(t, 1, 2, func() {}), s.naive(s.now, 1); !slices.Equal(got, want) {
		t.Errorf("got %v\nwant %v", got, want)
	}
}

// TestBestCursor: a cursor of another day than today and yesterday, or of
// nothing that was ever given out, is refused.
func TestBestCursor(t *testing.T) {
	now := time.Date(2026, 11, 21, 13, 0, 0, 0, time.UTC)
	post := id.Post.New(now, rand.NewChaCha8([32]byte{}))
	sk := tables.BestSK(-3, post)
	for day, good := range map[string]bool{
		"2026-11-21": true, "2026-11-20": true, "2026-11-19": false, "2026-11-22": false, "2026-11-1": false, "": false,
	} {
		_, _, err := bestCursor(api.EncodeCursor(day, sk), now)
		if (err == nil) != good {
			t.Errorf("%q: %v", day, err)
		}
	}
	for _, place := range []string{"", "#", post, "1#" + post, "+999999997#" + post, sk + "+", "0999999997#", "0999999997#po_1", " " + sk} {
		if _, _, err := bestCursor(api.EncodeCursor("2026-11-21", place), now); err == nil {
			t.Errorf("%q passes", place)
		}
	}
	if _, _, err := bestCursor("nonsense!", now); err == nil {
		t.Error("nonsense passes")
	}
}

// thin is a table whose pages end early, as those do that are full of bytes.
type thin struct{ tables.Backend }

func (b thin) Query(ctx context.Context, q tables.Query) (tables.Page, error) {
	q.Limit = min(q.Limit, 2)
	return b.Backend.Query(ctx, q)
}

// TestBestOfFullPages: a day's page may end before its limit.
func TestBestOfFullPages(t *testing.T) {
	s := newStand(t, time.Date(2026, 11, 21, 13, 0, 0, 0, time.UTC))
	defer s.close()
	random := rand.NewChaCha8([32]byte{})
	for i := range 25 {
		at := s.now.Add(-time.Duration(i) * 3 * time.Hour)
		s.add(t, standing{id: id.Post.New(at, random), at: at, rank: int64(i % 4)})
	}
	s.Table = thin{s.Table}
	if got, want := s.walk(t, 3, 9, func() {}), s.naive(s.now, 3); !slices.Equal(got, want) {
		t.Errorf("got %v\nwant %v", got, want)
	}
}
