package index_test

import (
	"encoding/binary"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"agentsocial/shared/search"
	"agentsocial/shared/search/index"
	"agentsocial/tables"
	"agentsocial/tables/embedded"
)

// busy makes perSecond posts a second, each of at least size bytes, for the given
// duration. It tends the index once a second. Every hundredth post has the word "rare".
func (d *fixture) busy(t *testing.T, perSecond, size int, duration time.Duration) {
	t.Helper()
	for end := d.now.Add(duration); d.now.Before(end); {
		var writes []tables.Write
		for i := range perSecond {
			id := search.From(d.now.Add(time.Duration(i) * time.Second / time.Duration(perSecond)))
			binary.BigEndian.PutUint64(id[8:], d.rng.Uint64())
			body := fmt.Sprintf("fox number%d %s", len(d.posts), words[len(d.posts)%3])
			if len(d.posts)%100 == 0 {
				body += " rare"
			}
			for n := 0; len(body) < size; n++ {
				body += fmt.Sprintf(" w%d", (len(d.posts)*7919+n*n*31)%4000)
			}
			p := &tables.Post{
				ID: index.PostID(id), Channel: "den", Body: body, CreatedAt: id.Time().UnixMilli(),
				Author: tables.Author{ID: "ag_01k6xxxxxxxxxxxxxxxxxxxxxx", Handle: "somebody", Emoji: "🦊"},
			}
			d.posts = append(d.posts, p)
			writes = append(writes, tables.Put(p.Item()), tables.Put(p.CountersItem()))
		}
		for chunk := range slices.Chunk(writes, tables.MaxTxWrites) {
			must(t, d.table.Commit(t.Context(), tables.Tx{Writes: chunk}))
		}
		d.now = d.now.Add(time.Second)
		_, err := d.Tend(t.Context(), search.SealMost)
		must(t, err)
	}
}

// walk pages through a search until it has enough posts, or all. first is the read units
// of the first page.
func (d *fixture) walk(t *testing.T, r search.Request, enough int) (ids []string, pages int, first float64) {
	t.Helper()
	for {
		ctx, used := tables.WithUsage(t.Context())
		found, err := search.Search(ctx, d.Channel, r)
		must(t, err)
		if found.Trips > 6 {
			t.Errorf("%q: got %d trips, want at most 6", r.Terms, found.Trips)
		}
		if pages++; pages == 1 {
			first = used.ReadUnits()
		}
		for _, p := range found.Posts {
			ids = append(ids, index.PostID(p.ID))
		}
		if r.Before = found.Next; found.Next == (search.ID{}) || len(ids) >= enough {
			return ids, pages, first
		}
	}
}

func TestBusy(t *testing.T) {
	for _, c := range []struct {
		perSecond, size int
		long            time.Duration
	}{{20, 200, time.Minute}, {30, 200, 3 * time.Minute}, {30, 50, time.Minute}, {30, 4000, 30 * time.Second}, {100, 200, time.Minute}} {
		t.Run(fmt.Sprintf("%d posts a second, %d bytes each", c.perSecond, c.size), func(t *testing.T) {
			d := newFixture(t, 7)
			d.busy(t, c.perSecond, c.size, c.long)
			for _, q := range []string{"fox", "rare", "nothing", "owl rare", "fox number w1 w2 w3 w4 w5 w6"} {
				terms, err := search.Query(q)
				must(t, err)
				var want []string
				for _, p := range slices.Backward(d.posts) {
					if !slices.ContainsFunc(terms, func(x search.Term) bool { return !strings.Contains(" "+p.Body, " "+string(x)) }) {
						want = append(want, p.ID)
					}
				}
				const enough = 500
				got, pages, units := d.walk(t, search.Request{Terms: terms, Limit: 20}, enough)
				t.Logf("%q: %.1f read units for the first of %d pages with %d posts", q, units, pages, len(got))
				if units > 30 {
					t.Errorf("first page of %q: got %.1f read units, want at most 30", q, units)
				}
				if len(got) < min(enough, len(want)) || !slices.Equal(got, want[:len(got)]) {
					t.Errorf("%q: got %d posts, want at least %d, the newest of %d in order", q, len(got), min(enough, len(want)), len(want))
				}
			}
		})
	}
}

// A page reads a bounded number of posts of the greatest length, even if short posts come
// first.
func TestLong(t *testing.T) {
	const units = 125
	long := "fox " + strings.Repeat("\U0001d41a", 3996)
	longs, shorts := slices.Repeat([]string{long}, 90), slices.Repeat([]string{"fox"}, 24)
	reactions := tables.Map{}
	for i := range tables.EmojiMost {
		reactions["👩🏽‍❤️‍💋‍👨"+string(rune('🐀'+i))] = int64(100_001)
	}
	for name, bodies := range map[string][]string{
		"long":                         longs,
		"long behind short":            slices.Concat(longs, shorts),
		"long behind 24 of 1244 bytes": slices.Concat(longs, slices.Repeat([]string{"fox " + strings.Repeat("a", 1240)}, 24)),
		"long behind one short":        slices.Concat(longs, shorts[:1]),
		"long behind 23 short":         slices.Concat(longs, shorts[:23]),
		"short behind long":            slices.Concat(shorts, shorts, shorts, longs[:24]),
		"long between short":           slices.Concat(shorts, longs[:30], shorts, shorts[:6]),
	} {
		t.Run(name, func(t *testing.T) {
			d := newFixture(t, 7)
			for _, body := range bodies {
				d.now = d.now.Add(50 * time.Millisecond)
				post := index.PostID(d.post(t, 0, body))
				if body == long {
					must(t, d.table.Commit(t.Context(), tables.Tx{Writes: []tables.Write{
						tables.Change(tables.PostCountersKey("den", post), tables.SetAttr("reactions", reactions)),
					}}))
				}
			}
			for q, want := range map[string]int{"fox": len(bodies), "nothing": 0} {
				terms, err := search.Query(q)
				must(t, err)
				got, pages, first := d.walk(t, search.Request{Terms: terms, Limit: 50}, len(bodies))
				t.Logf("%q: %.1f read units for the first of %d pages", q, first, pages)
				if first > units || len(got) != want || !slices.IsSortedFunc(got, func(a, b string) int { return strings.Compare(b, a) }) {
					t.Errorf("%q: got %d posts, first page %.1f read units; want %d posts, newest first, at most %d units", q, len(got), first, want, units)
				}
			}
		})
	}
}

// The index of a busy channel is not tended after the first minute.
func TestBehind(t *testing.T) {
	d := newFixture(t, 7)
	d.busy(t, 30, 200, time.Minute)
	d.table.SetFaults(func(kind string, keys []tables.Key) embedded.Fault {
		if kind == embedded.KindCommit && keys[0].PK == tables.SearchPK("den") {
			return embedded.Throttled
		}
		return embedded.None
	})
	was := len(d.posts)
	for range 60 {
		for i := range 30 {
			d.now = d.now.Add(time.Second / 30)
			d.post(t, 0, fmt.Sprintf("fox rare%d", i))
		}
	}
	d.table.SetFaults(nil)
	for _, c := range []struct {
		q    string
		want int
	}{{"rare7", 60}, {"rare", len(d.posts) - was + (was+99)/100}} {
		terms, err := search.Query(c.q)
		must(t, err)
		got, pages, units := d.walk(t, search.Request{Terms: terms, Limit: 50}, len(d.posts))
		t.Logf("%q: %.1f read units for the first of %d pages", c.q, units, pages)
		if units > 30 || len(got) != c.want || !slices.IsSortedFunc(got, func(a, b string) int { return strings.Compare(b, a) }) {
			t.Errorf("%q: got %d posts, first page %.1f read units; want %d posts, newest first, at most 30 units", c.q, len(got), units, c.want)
		}
	}
}

func TestManyLate(t *testing.T) {
	d := newFixture(t, 7)
	for range 40 {
		d.now = d.now.Add(time.Second)
		d.post(t, 0, "fox")
	}
	d.now = d.now.Add(time.Minute)
	_, err := d.Tend(t.Context(), search.Top)
	must(t, err)
	for i := range 40 {
		d.post(t, time.Duration(60+i)*time.Second, "elk late")
	}
	terms, err := search.Query("late")
	must(t, err)
	got, pages, units := d.walk(t, search.Request{Terms: terms, Limit: 50}, 41)
	t.Logf("%.1f read units for the first of %d pages", units, pages)
	if units > 30 || len(got) != 40 || !slices.IsSortedFunc(got, func(a, b string) int { return strings.Compare(b, a) }) {
		t.Errorf("late posts: got %d, first page %.1f read units; want 40, newest first, at most 30 units", len(got), units)
	}
}
