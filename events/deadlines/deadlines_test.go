package deadlines

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"agentsocial/shared/app"
	"agentsocial/shared/search"
	"agentsocial/shared/search/index"
	"agentsocial/tables"
	"agentsocial/tables/embedded"
)

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

func newSweep(t *testing.T) (deadlines, *embedded.Table, *atomic.Int64) {
	t.Helper()
	clock := new(atomic.Int64)
	clock.Store(noon.UnixMilli())
	now := func() time.Time { return time.UnixMilli(clock.Load()).UTC() }
	table, err := embedded.Open(embedded.Config{Now: now})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { table.Close() })
	return deadlines{&app.App{Table: table, Now: now, Rand: rand.Reader, Log: slog.New(slog.DiscardHandler)}}, table, clock
}

// burst puts n posts into a channel, a millisecond apart.
func burst(t *testing.T, table tables.Backend, channel string, at time.Time, n int) {
	t.Helper()
	for i := range n {
		p := &tables.Post{ID: index.PostID(search.From(at.Add(time.Duration(i) * time.Millisecond))), Channel: channel, Body: "fox"}
		if err := table.Commit(t.Context(), tables.Tx{Writes: []tables.Write{tables.Put(p.Item())}}); err != nil {
			t.Fatal(err)
		}
	}
}

func dueAt(t *testing.T, table tables.Backend, channel string) int64 {
	t.Helper()
	items, err := table.Get(t.Context(), tables.Strong, tables.SealDueKey(channel))
	if err != nil {
		t.Fatal(err)
	}
	return items[0].Int("at")
}

func sealed(t *testing.T, d deadlines, channel string) (posts int) {
	t.Helper()
	heads, err := index.Of(d.App, channel).Heads(t.Context(), search.Newest, 1000, true)
	if err != nil {
		t.Fatal(err)
	}
	for _, h := range heads {
		if h.Live {
			posts += h.Posts
		}
	}
	return posts
}

// TestSweep: with more channels than a page has, all due ones are sealed and no
// longer due. One that fails stops no other, and is due again later.
func TestSweep(t *testing.T) {
	d, table, clock := newSweep(t)
	const n = pageMost + 30
	name := func(i int) string { return fmt.Sprintf("den-%03d", i) }
	for i := range n {
		burst(t, table, name(i), noon, 16)
		if err := index.Of(d.App, name(i)).TendBy(t.Context(), noon.Add(time.Minute+time.Duration(i)*time.Second)); err != nil {
			t.Fatal(err)
		}
	}
	broken := &tables.SearchHead{Head: []byte("no head"), Live: true}
	name7 := search.Name{}.String()
	if err := table.Commit(t.Context(), tables.Tx{Writes: []tables.Write{broken.Put(name(7), name7)}}); err != nil {
		t.Fatal(err)
	}
	if err := d.handle(t.Context()); err != nil || sealed(t, d, name(0)) != 0 {
		t.Errorf("%v; sealed before it was due", err)
	}
	clock.Store(noon.Add(time.Minute + (n-2)*time.Second).UnixMilli())
	if err := d.handle(t.Context()); !errors.Is(err, search.ErrCorrupt) || !strings.Contains(err.Error(), name(7)) {
		t.Errorf("%v", err)
	}
	for i := range n {
		due, want := dueAt(t, table, name(i)), int64(0)
		if i == 7 { // broken
			want = d.Now().Add(takeFor).UnixMilli()
		} else if i == n-1 { // not due yet
			want = noon.Add(time.Minute + time.Duration(i)*time.Second).UnixMilli()
		} else if got := sealed(t, d, name(i)); got != 16 {
			t.Errorf("%s: %d posts are sealed", name(i), got)
		}
		if due != want {
			t.Errorf("%s is due at %d, not at %d", name(i), due, want)
		}
	}
}

// TestDueAgain: remaining work is due when it can be done, and is not done
// before.
func TestDueAgain(t *testing.T) {
	d, table, clock := newSweep(t)
	burst(t, table, "den", noon, 16)
	burst(t, table, "den", noon.Add(30*time.Second), 16)
	if err := index.Of(d.App, "den").TendBy(t.Context(), noon.Add(time.Minute)); err != nil {
		t.Fatal(err)
	}
	clock.Store(noon.Add(70 * time.Second).UnixMilli())
	if err := d.handle(t.Context()); err != nil {
		t.Fatal(err)
	}
	want := noon.Add(90*time.Second + 15*time.Millisecond).UnixMilli()
	if due := dueAt(t, table, "den"); due != want || sealed(t, d, "den") != 16 {
		t.Errorf("due at %d, not %d; %d are sealed", due, want, sealed(t, d, "den"))
	}
	clock.Store(want)
	if err := d.handle(t.Context()); err != nil || dueAt(t, table, "den") != 0 || sealed(t, d, "den") != 32 {
		t.Errorf("%v; due at %d, %d are sealed", err, dueAt(t, table, "den"), sealed(t, d, "den"))
	}
}

// TestBrokenOff: work that a sweep did not reach is still due.
func TestBrokenOff(t *testing.T) {
	d, table, clock := newSweep(t)
	burst(t, table, "den", noon, 16)
	if err := index.Of(d.App, "den").TendBy(t.Context(), noon); err != nil {
		t.Fatal(err)
	}
	clock.Store(noon.Add(time.Hour).UnixMilli())
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := d.handle(ctx); err == nil {
		t.Error("a sweep that was broken off says that all is well")
	}
	if dueAt(t, table, "den") != noon.UnixMilli() {
		t.Error("what was not done is due no more")
	}
	if err := d.handle(t.Context()); err != nil || sealed(t, d, "den") != 16 {
		t.Errorf("%v, %d are sealed", err, sealed(t, d, "den"))
	}
}

// TestTaken: a sweep leaves alone what another has taken, until that one must
// have ended. Work that is requested meanwhile is done afterwards.
func TestTaken(t *testing.T) {
	d, table, clock := newSweep(t)
	den := index.Of(d.App, "den")
	burst(t, table, "den", noon, 16)
	clock.Store(noon.Add(time.Hour).UnixMilli())
	take := func() tables.SealDue {
		if err := den.TendBy(t.Context(), d.Now()); err != nil {
			t.Fatal(err)
		}
		items, err := table.Get(t.Context(), tables.Strong, tables.SealDueKey("den"))
		if err != nil {
			t.Fatal(err)
		}
		var due tables.SealDue
		if err := tables.Unmarshal(items[0], &due); err != nil {
			t.Fatal(err)
		}
		taken, w := due.Take(d.Now().Add(takeFor))
		if err := d.Once(t.Context(), w); err != nil {
			t.Fatal(err)
		}
		var cancelled *tables.Cancelled
		if err := d.Once(t.Context(), w); !errors.As(err, &cancelled) {
			t.Errorf("taken twice: %v", err)
		}
		return taken
	}
	taken := take()
	for _, passed := range []time.Duration{0, takeFor - time.Millisecond} {
		clock.Store(noon.Add(time.Hour + passed).UnixMilli())
		if err := d.handle(t.Context()); err != nil || sealed(t, d, "den") != 0 {
			t.Errorf("%v; sealed after %s, while another sweep has it", err, passed)
		}
	}
	clock.Store(taken.At)
	if err := d.handle(t.Context()); err != nil || sealed(t, d, "den") != 16 || dueAt(t, table, "den") != 0 {
		t.Errorf("%v; %d are sealed, due at %d", err, sealed(t, d, "den"), dueAt(t, table, "den"))
	}
	taken = take()
	soon := d.Now().Add(time.Minute)
	if err := den.TendBy(t.Context(), soon); err != nil {
		t.Fatal(err)
	}
	if overtaken, err := d.once(t.Context(), taken.Move(time.Time{})); !overtaken || err != nil {
		t.Errorf("%v, %v: what was asked for meanwhile is forgotten", overtaken, err)
	}
	if dueAt(t, table, "den") != soon.UnixMilli() {
		t.Errorf("due at %d", dueAt(t, table, "den"))
	}
}

// TestTakenBefore: a sweep leaves alone what another took after it was read.
func TestTakenBefore(t *testing.T) {
	d, table, clock := newSweep(t)
	burst(t, table, "den", noon, 16)
	if err := index.Of(d.App, "den").TendBy(t.Context(), noon); err != nil {
		t.Fatal(err)
	}
	clock.Store(noon.Add(time.Hour).UnixMilli())
	page, err := table.Query(t.Context(), tables.SealsDue(d.Now(), 1))
	if err != nil || len(page.Items) != 1 {
		t.Fatalf("%v, %d are due", err, len(page.Items))
	}
	_, take := tables.SealDue{Channel: "den", At: noon.UnixMilli()}.Take(d.Now().Add(takeFor))
	if err := d.Once(t.Context(), take); err != nil {
		t.Fatal(err)
	}
	clock.Add(1000) // else both take it until the same time
	if err := d.sealOne(t.Context(), page.Items[0]); err != nil || sealed(t, d, "den") != 0 {
		t.Errorf("%v; sealed %d, while another sweep has it", err, sealed(t, d, "den"))
	}
	if due := dueAt(t, table, "den"); due != noon.Add(time.Hour+takeFor).UnixMilli() {
		t.Errorf("due at %d", due)
	}
}

// meddled is a table that calls a function before the first read of an index.
type meddled struct {
	tables.Backend
	meanwhile func()
	once      sync.Once
}

func (m *meddled) Query(ctx context.Context, q tables.Query) (tables.Page, error) {
	if q.PK == tables.SearchPK("den") {
		m.once.Do(m.meanwhile)
	}
	return m.Backend.Query(ctx, q)
}

// TestAskedMeanwhile: between the time that a sweep finds for the remaining
// work and one that is requested meanwhile, the earlier applies.
func TestAskedMeanwhile(t *testing.T) {
	left := noon.Add(90*time.Second + 15*time.Millisecond)
	for name, c := range map[string]struct{ asked, want time.Time }{
		"later":  {left.Add(time.Minute), left},
		"sooner": {left.Add(-time.Second), left.Add(-time.Second)},
	} {
		t.Run(name, func(t *testing.T) {
			d, table, clock := newSweep(t)
			den := index.Of(d.App, "den")
			burst(t, table, "den", noon, 16)
			burst(t, table, "den", noon.Add(30*time.Second), 16)
			if err := den.TendBy(t.Context(), noon.Add(time.Minute)); err != nil {
				t.Fatal(err)
			}
			clock.Store(noon.Add(70 * time.Second).UnixMilli())
			asked := false
			d.Table = &meddled{Backend: table, meanwhile: func() {
				asked = true
				if err := den.TendBy(t.Context(), c.asked); err != nil {
					t.Error(err)
				}
				if due := dueAt(t, table, "den"); due != c.asked.UnixMilli() {
					t.Errorf("meanwhile due at %d, not %d", due, c.asked.UnixMilli())
				}
			}}
			if err := d.handle(t.Context()); err != nil || !asked || sealed(t, d, "den") != 16 {
				t.Errorf("%v; asked meanwhile: %v; %d are sealed", err, asked, sealed(t, d, "den"))
			}
			if due := dueAt(t, table, "den"); due != c.want.UnixMilli() {
				t.Errorf("due at %d, not %d", due, c.want.UnixMilli())
			}
		})
	}
}
