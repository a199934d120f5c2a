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

// A channel that fails does not stop the others.
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
		t.Errorf("before the indexes are due: got error %v and %d posts sealed, want no error and 0", err, sealed(t, d, name(0)))
	}
	clock.Store(noon.Add(time.Minute + (n-2)*time.Second).UnixMilli())
	if err := d.handle(t.Context()); !errors.Is(err, search.ErrCorrupt) || !strings.Contains(err.Error(), name(7)) {
		t.Errorf("sweep with a broken index: got error %v, want %v that names %s", err, search.ErrCorrupt, name(7))
	}
	for i := range n {
		due, want := dueAt(t, table, name(i)), int64(0)
		if i == 7 { // broken
			want = d.Now().Add(takeFor).UnixMilli()
		} else if i == n-1 { // not due yet
			want = noon.Add(time.Minute + time.Duration(i)*time.Second).UnixMilli()
		} else if got := sealed(t, d, name(i)); got != 16 {
			t.Errorf("sealed posts of %s: got %d, want 16", name(i), got)
		}
		if due != want {
			t.Errorf("%s is due: got %d, want %d", name(i), due, want)
		}
	}
}

func TestSweep_RemainingWorkIsDue(t *testing.T) {
	d, table, clock := newSweep(t)
	burst(t, table, "den", noon, 16)
	burst(t, table, "den", noon.Add(65*time.Second), 16)
	if err := index.Of(d.App, "den").TendBy(t.Context(), noon.Add(time.Minute)); err != nil {
		t.Fatal(err)
	}
	clock.Store(noon.Add(70 * time.Second).UnixMilli())
	if err := d.handle(t.Context()); err != nil {
		t.Fatal(err)
	}
	want := noon.Add(75*time.Second + 15*time.Millisecond).UnixMilli()
	if due := dueAt(t, table, "den"); due != want || sealed(t, d, "den") != 16 {
		t.Errorf("first sweep: got due %d and %d sealed, want %d and 16", due, sealed(t, d, "den"), want)
	}
	clock.Store(want)
	if err := d.handle(t.Context()); err != nil || dueAt(t, table, "den") != 0 || sealed(t, d, "den") != 32 {
		t.Errorf("second sweep: got due %d and %d sealed, want 0 and 32; error %v", dueAt(t, table, "den"), sealed(t, d, "den"), err)
	}
}

func TestSweep_CancelledLeavesWorkDue(t *testing.T) {
	d, table, clock := newSweep(t)
	burst(t, table, "den", noon, 16)
	if err := index.Of(d.App, "den").TendBy(t.Context(), noon); err != nil {
		t.Fatal(err)
	}
	clock.Store(noon.Add(time.Hour).UnixMilli())
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := d.handle(ctx); err == nil {
		t.Error("handle with a cancelled context: got no error, want one")
	}
	if got := dueAt(t, table, "den"); got != noon.UnixMilli() {
		t.Errorf("due after a cancelled sweep: got %d, want %d", got, noon.UnixMilli())
	}
	if err := d.handle(t.Context()); err != nil || sealed(t, d, "den") != 16 {
		t.Errorf("sweep after the cancelled one: got %d sealed, want 16; error %v", sealed(t, d, "den"), err)
	}
}

func TestSweep_SkipsTakenIndex(t *testing.T) {
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
			t.Errorf("taking an index twice: got error %v, want a failed condition", err)
		}
		return taken
	}
	taken := take()
	for _, passed := range []time.Duration{0, takeFor - time.Millisecond} {
		clock.Store(noon.Add(time.Hour + passed).UnixMilli())
		if err := d.handle(t.Context()); err != nil || sealed(t, d, "den") != 0 {
			t.Errorf("after %s, while another sweep has the index: got %d sealed, want 0; error %v", passed, sealed(t, d, "den"), err)
		}
	}
	clock.Store(taken.At)
	if err := d.handle(t.Context()); err != nil || sealed(t, d, "den") != 16 || dueAt(t, table, "den") != 0 {
		t.Errorf("when the taken index is due: got %d sealed and due %d, want 16 and 0; error %v", sealed(t, d, "den"), dueAt(t, table, "den"), err)
	}
	taken = take()
	soon := d.Now().Add(time.Minute)
	if err := den.TendBy(t.Context(), soon); err != nil {
		t.Fatal(err)
	}
	if overtaken, err := d.once(t.Context(), taken.Move(time.Time{})); !overtaken || err != nil {
		t.Errorf("clearing the due time after work was requested: got overtaken %t, error %v, want true and no error", overtaken, err)
	}
	if got := dueAt(t, table, "den"); got != soon.UnixMilli() {
		t.Errorf("due time after that: got %d, want %d", got, soon.UnixMilli())
	}
}

func TestSweep_SkipsIndexTakenAfterRead(t *testing.T) {
	d, table, clock := newSweep(t)
	burst(t, table, "den", noon, 16)
	if err := index.Of(d.App, "den").TendBy(t.Context(), noon); err != nil {
		t.Fatal(err)
	}
	clock.Store(noon.Add(time.Hour).UnixMilli())
	page, err := table.Query(t.Context(), tables.SealsDue(d.Now(), 1))
	if err != nil || len(page.Items) != 1 {
		t.Fatalf("due indexes: got %d, want 1; error %v", len(page.Items), err)
	}
	_, take := tables.SealDue{Channel: "den", At: noon.UnixMilli()}.Take(d.Now().Add(takeFor))
	if err := d.Once(t.Context(), take); err != nil {
		t.Fatal(err)
	}
	clock.Add(1000) // otherwise both sweeps would take it until the same time
	if err := d.sealOne(t.Context(), page.Items[0]); err != nil || sealed(t, d, "den") != 0 {
		t.Errorf("while another sweep has the index: got %d sealed, want 0; error %v", sealed(t, d, "den"), err)
	}
	if due, want := dueAt(t, table, "den"), noon.Add(time.Hour+takeFor).UnixMilli(); due != want {
		t.Errorf("due: got %d, want %d", due, want)
	}
}

// meddled is a table that calls its func, m.meanwhile, before the first query of den's index.
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

// The index is due at the requested time or that of the remaining work, whichever is
// earlier.
func TestSweep_TendingRequestedMeanwhile(t *testing.T) {
	left := noon.Add(75*time.Second + 15*time.Millisecond)
	for name, c := range map[string]struct{ asked, want time.Time }{
		"later":  {left.Add(time.Minute), left},
		"sooner": {left.Add(-time.Second), left.Add(-time.Second)},
	} {
		t.Run(name, func(t *testing.T) {
			d, table, clock := newSweep(t)
			den := index.Of(d.App, "den")
			burst(t, table, "den", noon, 16)
			burst(t, table, "den", noon.Add(65*time.Second), 16)
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
					t.Errorf("due right after the request: got %d, want %d", due, c.asked.UnixMilli())
				}
			}}
			if err := d.handle(t.Context()); err != nil || !asked || sealed(t, d, "den") != 16 {
				t.Errorf("sweep: got %d sealed and work requested during it = %t, want 16 and true; error %v", sealed(t, d, "den"), asked, err)
			}
			if due := dueAt(t, table, "den"); due != c.want.UnixMilli() {
				t.Errorf("due: got %d, want %d", due, c.want.UnixMilli())
			}
		})
	}
}
