package index_test

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	mathrand "math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"agentsocial/shared/app"
	"agentsocial/shared/search"
	"agentsocial/shared/search/index"
	"agentsocial/tables"
	"agentsocial/tables/embedded"
	"agentsocial/tables/recent"
	"agentsocial/tables/retry"
)

// fixture is a channel in a table.
type fixture struct {
	index.Channel
	app   *app.App
	table *embedded.Table
	now   time.Time
	rng   *mathrand.Rand
	posts []*tables.Post // sorted by ID
}

func newFixture(t *testing.T, seed uint64) *fixture {
	t.Helper()
	d := &fixture{now: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC), rng: mathrand.New(mathrand.NewPCG(seed, 0))}
	clock := func() time.Time { return d.now }
	var err error
	if d.table, err = embedded.Open(embedded.Config{Now: clock}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { d.table.Close() })
	d.app = &app.App{Now: clock, Rand: rand.Reader}
	d.app.Table = retry.Over(d.table, d.app.Intn)
	d.Channel = index.Of(d.app, "den")
	return d
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// post puts a post from some time ago.
func (d *fixture) post(t *testing.T, ago time.Duration, body string) search.ID {
	t.Helper()
	id := search.From(d.now.Add(-ago))
	binary.BigEndian.PutUint64(id[8:], d.rng.Uint64())
	p := &tables.Post{ID: index.PostID(id), Channel: "den", Body: body, CreatedAt: id.Time().UnixMilli()}
	i, _ := slices.BinarySearchFunc(d.posts, p, func(a, b *tables.Post) int { return strings.Compare(a.ID, b.ID) })
	d.posts = slices.Insert(d.posts, i, p)
	must(t, d.table.Commit(t.Context(), tables.Tx{Writes: []tables.Write{tables.Put(p.Item()), tables.Put(p.CountersItem())}}))
	if search.IsLate(id, d.now) {
		must(t, d.AddLate(retry.Patiently(t.Context()), id)) // as the stream's reader does
	}
	return id
}

func (d *fixture) remove(t *testing.T, i int) {
	t.Helper()
	must(t, d.table.Commit(t.Context(), tables.Tx{Writes: []tables.Write{d.posts[i].Tombstone(d.now)}}))
	d.posts[i].Deleted, d.posts[i].Body = true, ""
}

var words = []string{"fox", "foxes", "owl", "o", "elk", "élan", "東京", "7"}

func (d *fixture) body() string {
	var b []string
	for range 1 + d.rng.IntN(5) {
		b = append(b, words[d.rng.IntN(len(words))])
	}
	return strings.Join(b, " ")
}

// write makes n posts some seconds apart, some of them late, and deletes some posts.
func (d *fixture) write(t *testing.T, n int) {
	t.Helper()
	for range n {
		d.now = d.now.Add(time.Duration(d.rng.IntN(8000)) * time.Millisecond)
		ago := time.Duration(0)
		if d.rng.IntN(20) == 0 {
			ago = time.Duration(d.rng.IntN(300)) * time.Second
		}
		d.post(t, ago, d.body())
		if i := d.rng.IntN(len(d.posts)); d.rng.IntN(10) == 0 && !d.posts[i].Deleted {
			d.remove(t, i)
		}
	}
}

// check compares searches with reading all posts.
func (d *fixture) check(t *testing.T) {
	t.Helper()
	for _, q := range []string{"fox", "f", "o e", "elk owl", "東", "7 foxes", "nothing"} {
		terms, err := search.Query(q)
		must(t, err)
		var want, got []string
		for _, p := range slices.Backward(d.posts) {
			has := func(t search.Term) bool {
				return slices.ContainsFunc(search.Words(p.Body), func(w string) bool { return strings.HasPrefix(w, string(t)) })
			}
			if !p.Deleted && !slices.ContainsFunc(terms, func(t search.Term) bool { return !has(t) }) {
				want = append(want, p.ID)
			}
		}
		r := search.Request{Terms: terms, Limit: 7}
		for pages := 0; ; pages++ {
			found, err := search.Search(t.Context(), d.Channel, r)
			must(t, err)
			for _, p := range found.Posts {
				if p.Text != p.Value.Post.Body || index.PostID(p.ID) != p.Value.Post.ID {
					t.Fatalf("search for %q: got %+v, want the ID and text of its Value", q, p)
				}
				got = append(got, p.Value.Post.ID)
			}
			if r.Before = found.Next; found.Next == (search.ID{}) {
				break
			}
			if pages > len(d.posts) {
				t.Fatalf("search for %q: got more than %d pages, want no more", q, len(d.posts))
			}
		}
		if !slices.Equal(got, want) {
			t.Fatalf("search for %q: got %d posts, want %d:\n%v\n%v", q, len(got), len(want), got, want)
		}
	}
}

func (d *fixture) settle(t *testing.T) {
	t.Helper()
	for range 300 {
		due, err := d.Tend(t.Context(), search.Top)
		must(t, err)
		if due.IsZero() {
			return
		}
		if due.After(d.now) {
			d.now = due
		}
	}
	t.Fatal("Tend still has something to do after 300 calls")
}

// whole checks that all heads are live, and that the table has their parts and no others.
func (d *fixture) whole(t *testing.T) (heads, parts int) {
	t.Helper()
	all, err := d.Heads(t.Context(), search.Newest, 1000, true)
	must(t, err)
	want := map[string]bool{}
	for _, h := range all {
		if !h.Live {
			t.Errorf("the head %s is not live, want it removed", h.Name)
		}
		for _, p := range h.Parts() {
			want[tables.SearchPartKey("den", p.String()).SK] = true
		}
	}
	page, err := d.table.Query(t.Context(), tables.Query{PK: tables.SearchPK("den")})
	must(t, err)
	for _, item := range page.Items {
		if item.Str(tables.AttrType) == tables.TypeSearchPart {
			if sk := item.Key().SK; !want[sk] {
				t.Errorf("the part %s is of no head, want it removed", sk)
			} else {
				delete(want, sk)
				parts++
			}
		}
	}
	if len(want) > 0 {
		t.Errorf("%d parts are missing: %v", len(want), want)
	}
	return len(all), parts
}

func TestIndex(t *testing.T) {
	t.Cleanup(search.Small())
	for seed := range uint64(4) {
		d := newFixture(t, seed)
		faults := embedded.Random(seed, embedded.Probabilities{Stale: .5, Conflict: .05, LostAnswer: .05, LostRequest: .05})
		d.table.SetFaults(func(kind string, keys []tables.Key) embedded.Fault {
			if kind == embedded.KindCommit && keys[0].PK != tables.SearchPK("den") {
				return embedded.None // a post
			}
			return faults(kind, keys)
		})
		for range 40 {
			d.write(t, 6)
			_, err := d.Tend(retry.Patiently(t.Context()), search.Top)
			must(t, err)
			d.check(t)
		}
		d.table.SetFaults(nil)
		d.settle(t)
		d.check(t)
		if heads, parts := d.whole(t); heads < 5 || parts < 50 {
			t.Errorf("index: got %d heads and %d parts, want at least 5 and 50", heads, parts)
		}
	}
}

// Tending stops before or after each of its writes.
func TestCrash(t *testing.T) {
	t.Cleanup(search.Small())
	crashes := 0
	for _, fault := range []embedded.Fault{embedded.LostRequest, embedded.LostAnswer} {
		d := newFixture(t, uint64(fault))
		for at := range 100 {
			d.write(t, 4)
			ctx, cancel := context.WithCancel(t.Context())
			left := at % 25
			d.table.SetFaults(crash(&left, cancel, fault))
			_, err := d.Tend(ctx, search.Top)
			cancel()
			d.table.SetFaults(nil)
			if err != nil {
				if !errors.Is(err, tables.ErrUnknownOutcome) && !errors.Is(err, context.Canceled) {
					t.Fatal(err)
				}
				crashes++
			}
			d.check(t)
			if at%10 == 9 { // the leftovers of up to ten crashes
				d.settle(t)
				d.check(t)
				d.now = d.now.Add(2 * time.Hour) // removes what was abandoned
				d.settle(t)
				d.check(t)
				d.whole(t)
			} else if at%2 == 1 {
				_, err := d.Tend(t.Context(), search.Top)
				must(t, err)
				d.check(t)
			}
		}
	}
	if crashes < 20 {
		t.Errorf("got %d crashes, want at least 20", crashes)
	}
}

func TestTendBy(t *testing.T) {
	d := newFixture(t, 1)
	writes := 0
	d.table.SetFaults(func(kind string, _ []tables.Key) embedded.Fault {
		if kind == embedded.KindCommit {
			writes++
		}
		return embedded.None
	})
	due := func() tables.Item {
		items, err := d.table.Get(t.Context(), tables.Strong, tables.SealDueKey("den"))
		must(t, err)
		return items[0]
	}
	for i, step := range []struct {
		pass   time.Duration // before the step
		take   bool          // a sweep takes the index for ten minutes
		in     time.Duration // from now to the time that TendBy asks for
		stands time.Duration // from the start to the due time afterwards
		writes int
	}{
		{0, false, time.Minute, time.Minute, 1},
		{20 * time.Second, false, time.Minute, time.Minute, 0}, // already due sooner
		{0, false, 30 * time.Second, 50 * time.Second, 1},
		{time.Second, false, time.Hour, 50 * time.Second, 0},       // already due sooner
		{2 * time.Minute, false, time.Minute, 50 * time.Second, 0}, // overdue
		{0, true, time.Minute, 201 * time.Second, 2},
		{0, true, time.Hour, 741 * time.Second, 2},  // the lease ends sooner
		{0, false, time.Hour, 741 * time.Second, 0}, // already due sooner
		{0, false, time.Minute, 201 * time.Second, 1},
	} {
		d.now = d.now.Add(step.pass)
		before := writes
		var was tables.SealDue
		if step.take {
			must(t, tables.Unmarshal(due(), &was))
			_, take := was.Take(d.now.Add(10 * time.Minute))
			must(t, d.table.Commit(t.Context(), tables.Tx{Writes: []tables.Write{take}}))
		}
		must(t, d.TendBy(t.Context(), d.now.Add(step.in)))
		start := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
		if got := time.UnixMilli(due().Int("at")).Sub(start); got != step.stands || writes-before != step.writes {
			t.Errorf("step %d: due after %s with %d writes, want %s and %d", i, got, writes-before, step.stands, step.writes)
		}
	}
}

// The item of a full part fits one read unit.
func TestSizes(t *testing.T) {
	d := newFixture(t, 1)
	for i := range 300 {
		d.now = d.now.Add(time.Second)
		d.post(t, 0, fmt.Sprintf("%d %x %o fox", i*7919, i*104729, i*1299709))
	}
	d.now = d.now.Add(time.Hour)
	d.settle(t)
	page, err := d.table.Query(t.Context(), tables.Query{PK: tables.SearchPK("den")})
	must(t, err)
	most := 0
	for _, item := range page.Items {
		most = max(most, item.Size())
	}
	if most > 4096-len("a-channel-with-a-name-of-forty-characters") || most < 3500 {
		t.Errorf("largest item: got %d bytes, want 3500 to 4055, to leave room for a long channel name", most)
	}
}

// A process remembers segments that have been removed.
func TestRememberedHeads(t *testing.T) {
	t.Cleanup(search.Small())
	d := newFixture(t, 1)
	d.write(t, 60)
	d.settle(t)
	process := *d.app
	process.Memory = recent.New(process.Now, time.Hour)
	searches := func(q string) int {
		terms, err := search.Query(q)
		must(t, err)
		ctx := recent.For(t.Context(), func(context.Context) bool { return false }, nil)
		found, err := search.Search(ctx, index.Of(&process, "den"), search.Request{Terms: terms, Limit: 100})
		must(t, err)
		return len(found.Posts)
	}
	searches("nothing")
	d.write(t, 60)
	d.now = d.now.Add(time.Minute)
	d.settle(t)
	if got := searches("fox"); got == 0 {
		t.Error("search for fox: found no posts, want some")
	}
}
