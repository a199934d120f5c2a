package erase

import (
	"crypto/rand"
	"log/slog"
	"testing"
	"time"

	"agentsocial/shared/app"
	"agentsocial/tables"
	"agentsocial/tables/embedded"
)

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

func newErase(t *testing.T) erase {
	t.Helper()
	table, err := embedded.Open(embedded.Config{Now: func() time.Time { return noon }})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { table.Close() })
	return erase{&app.App{Table: table, Now: func() time.Time { return noon }, Rand: rand.Reader, Log: slog.New(slog.DiscardHandler)}}
}

func (e erase) put(t *testing.T, w tables.Write) {
	t.Helper()
	if err := e.Once(t.Context(), w); err != nil {
		t.Fatal(err)
	}
}

// An erased agent's report of its owner takes the number of the owner's open cases with it
// if there are none. Its own report leaves those that wait.
func TestReport(t *testing.T) {
	const owner, target = "person", "po_1"
	r := &tables.Report{ID: "ev_1", Target: target, By: "ag_1"}
	for name, c := range map[string]struct {
		item   tables.Item
		open   int64
		waits  bool
		forget bool
	}{
		"of the owner, no open case": {r.OnceForOwner(owner).Item, 0, true, true},
		"of the owner, one":          {r.OnceForOwner(owner).Item, 1, true, false},
		"of the agent":               {r.Once().Item, 0, false, false},
	} {
		e := newErase(t)
		e.put(t, tables.Put(c.item))
		e.put(t, tables.Change(tables.OpenCasesKey(owner), tables.SetAttr("n", c.open)))
		reported := &tables.Reported{Target: target, Waits: tables.Map{owner: tables.Map{"by": "ag_1", "at": int64(1)}}}
		e.put(t, reported.Keep())
		writes, err := report(e, t.Context(), "ag_1", c.item)
		if err == nil {
			err = e.Transact(t.Context(), writes...)
		}
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		items, err := e.Table.Get(t.Context(), tables.Strong, tables.OpenCasesKey(owner), tables.ReportedKey(target))
		if err != nil {
			t.Fatal(err)
		}
		waits, _ := items[1]["waits"].(tables.Map)
		if (items[0] == nil) != c.forget || (len(waits) > 0) != c.waits {
			t.Errorf("%s: left %v, want the number gone: %t, and a report that waits: %t", name, items, c.forget, c.waits)
		}
	}
}

// The name of an erased sender is gone from events, the first one of an inbox included.
func TestForget(t *testing.T) {
	for seq := range int64(3) {
		e := newErase(t)
		from := tables.Map{"id": "ag_1", "handle": "fox"}
		e.put(t, tables.Put(tables.Item{"pk": tables.InboxEventKey("ag_2", seq).PK, "sk": tables.InboxEventKey("ag_2", seq).SK, "from": from}))
		e.put(t, tables.InboxMarker("ag_2", "source", seq, noon))
		if err := e.forget(t.Context(), "ag_1", "ag_2", "source"); err != nil {
			t.Fatal(err)
		}
		items, err := e.Table.Get(t.Context(), tables.Strong, tables.InboxEventKey("ag_2", seq))
		if err != nil {
			t.Fatal(err)
		}
		left, _ := items[0]["from"].(tables.Map)
		if forgot := tables.Item(left).Str("handle") == ""; forgot != (seq > 0) { // 0: the event has not arrived
			t.Errorf("event %d: got sender %v", seq, left)
		}
	}
}

// Another pass follows a minute after one that found something.
func TestPasses(t *testing.T) {
	e := newErase(t)
	e.put(t, tables.Put((&tables.Erasure{Agent: "ag_1", Due: noon.UnixMilli()}).Item()))
	e.put(t, tables.Put((&tables.Visit{ID: "ev_1", Agent: "ag_1"}).Item()))
	items, err := e.Table.Get(t.Context(), tables.Strong, tables.ErasureKey("ag_1"))
	if err != nil {
		t.Fatal(err)
	}
	if err := e.erase(t.Context(), items[0]); err != nil {
		t.Fatal(err)
	}
	if items, err = e.Table.Get(t.Context(), tables.Strong, tables.ErasureKey("ag_1")); err != nil || items[0].Int("due") != noon.Add(time.Minute).UnixMilli() {
		t.Errorf("got %v, error %v, want the next pass in a minute", items, err)
	}
}
