package erase

import (
	"context"
	"crypto/rand"
	"errors"
	"log/slog"
	"testing"
	"time"

	"agentsocial/shared/app"
	"agentsocial/tables"
	"agentsocial/tables/embedded"
)

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// fixture is the schedule at noon, with a table of its own.
type fixture struct {
	erase
	t *testing.T
}

func newFixture(t *testing.T) *fixture {
	now := func() time.Time { return noon }
	table, err := embedded.Open(embedded.Config{Now: now})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { table.Close() })
	return &fixture{erase{App: &app.App{Table: table, Now: now, Rand: rand.Reader, Log: slog.New(slog.DiscardHandler)}}, t}
}

func (f *fixture) do(writes ...tables.Write) {
	f.t.Helper()
	if err := f.Transact(f.t.Context(), writes...); err != nil {
		f.t.Fatal(err)
	}
}

func (f *fixture) read(k tables.Key) tables.Item {
	f.t.Helper()
	items, err := f.Table.Get(f.t.Context(), tables.Strong, k)
	if err != nil {
		f.t.Fatal(err)
	}
	return items[0]
}

func TestPasses(t *testing.T) {
	for _, c := range []struct {
		age   time.Duration
		finds bool
		next  time.Duration // 0: none
	}{
		{0, false, time.Minute},
		{time.Minute - time.Millisecond, false, time.Minute},
		{time.Minute, false, 0},
		{time.Minute, true, time.Minute},
		{20 * time.Minute, true, 2 * time.Minute},
		{50 * time.Minute, true, 5 * time.Minute},
		{10 * time.Hour, true, 5 * time.Minute},
	} {
		f := newFixture(t)
		work := &tables.Erasure{Agent: "ag_fox", At: noon.Add(-c.age).UnixMilli(), Due: noon.UnixMilli()}
		f.do(tables.Put(work.Item()))
		if c.finds {
			f.do((&tables.Juror{Agent: work.Agent}).End(tables.JurorIdle, noon))
		}
		if err := f.handle(t.Context()); err != nil {
			t.Fatal(err)
		}
		want := int64(0)
		if c.next > 0 {
			want = noon.Add(c.next).UnixMilli()
		}
		if got := f.read(tables.ErasureKey(work.Agent)).Int("due"); got != want {
			t.Errorf("age %s, pass finds something %v: got due %d, want %d", c.age, c.finds, got, want)
		}
	}
}

func TestForgetSender(t *testing.T) {
	f := newFixture(t)
	for seq, source := range []string{"never arrived", "first", "second"} {
		f.do(tables.InboxMarker("ag_owl", source, int64(seq), noon))
		if seq > 0 {
			event := tables.InboxEvent{Seq: int64(seq), Kind: tables.EventFollowed, From: tables.Author{ID: "ag_fox", Handle: "fox"}}
			f.do(tables.Put(event.Item("ag_owl")))
		}
		if err := f.forget(t.Context(), "ag_fox", "ag_owl", source, tables.InboxEvent{}); err != nil {
			t.Errorf("%s: got error %v, want none", source, err)
		}
		var event tables.InboxEvent
		if err := tables.Unmarshal(f.read(tables.InboxEventKey("ag_owl", int64(seq))), &event); err != nil || event.From.Handle != "" {
			t.Errorf("%s: got an event from %+v, error %v, want no handle", source, event.From, err)
		}
	}
}

func TestForgetWaitingSender(t *testing.T) {
	day := time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC).UnixMilli()
	for name, event := range map[string]tables.InboxEvent{
		"a visit": {Kind: tables.EventVisit, HappenedAt: day + 7}, "a follow": {Kind: tables.EventFollowed, HappenedAt: day + 7},
		"a reaction": {Kind: tables.EventReaction, HappenedAt: day + 7, Subject: tables.Map{"post": "po_01j9z3k4m5n6p7q8r9s0t1v2w3"}},
	} {
		f := newFixture(t)
		event.From = tables.Author{ID: "ag_fox", Handle: "fox"}
		f.do(event.Wait("ag_owl", "source", noon, 0))
		known := event
		if event.Kind != tables.EventVisit { // the follow or reaction may be newer than the event that waits
			known.HappenedAt += 7
		}
		numbers := func() {
			w, err := tables.ReadWaiting(f.read(event.WaitingKey("ag_owl", "source")))
			if err != nil {
				t.Fatal(err)
			}
			head := tables.InboxHead{}
			_, writes := w.Number("ag_owl", &head, nil)
			f.do(append(writes, tables.InboxHead{}.Advance("ag_owl", head.Seq, head.At))...)
		}
		slow := erase{App: &app.App{Table: &meanwhile{f.Table, numbers}, Now: f.Now, Rand: f.Rand, Log: f.Log}}
		if err := slow.forget(t.Context(), "ag_fox", "ag_owl", "source", known); err != nil {
			t.Errorf("%s, numbered meanwhile: got error %v, want none", name, err)
		}
		if e := f.read(tables.InboxEventKey("ag_owl", 1)); e == nil || len(e["from"].(tables.Map)) != 1 {
			t.Errorf("%s: got the event %v, want one without a handle", name, e)
		}
		f.do(event.Wait("ag_owl", "other", noon, 0))
		if err := f.forget(t.Context(), "ag_fox", "ag_owl", "other", known); err != nil {
			t.Errorf("%s, waiting: got error %v, want none", name, err)
		}
		if e := f.read(event.WaitingKey("ag_owl", "other")); e == nil || len(e["from"].(tables.Map)) != 1 {
			t.Errorf("%s: got the waiting event %v, want one without a handle", name, e)
		}
	}
}

// meanwhile is a table that calls do right before its first commit.
type meanwhile struct {
	tables.Backend
	do func()
}

func (m *meanwhile) Commit(ctx context.Context, tx tables.Tx) error {
	if do := m.do; do != nil {
		m.do = nil
		do()
	}
	return m.Backend.Commit(ctx, tx)
}

func TestReasonGoesAtOnce(t *testing.T) {
	f := newFixture(t)
	c := &tables.Case{ID: "ca_1", Kind: tables.CasePost, Target: "po_1", State: tables.CaseVoting, Open: true}
	complaint := &tables.Complaint{ID: "ev_1", By: "ag_fox", Reason: "It is spam."}
	w := complaint.Put(c.ID)
	f.do(c.Begin(), w)
	for range 2 {
		if _, err := f.item(t.Context(), "ag_fox", f.read(w.Key)); !errors.Is(err, tables.ErrOvertaken) {
			t.Errorf("complaint of an open case: got error %v, want %v", err, tables.ErrOvertaken)
		}
		if left := f.read(w.Key); left == nil || left.Str("reason") != "" {
			t.Errorf("complaint of an open case: got %v, want it without a reason", left)
		}
	}
}

// Another agent of the owner may have an open case.
func TestOpenCasesOfTheOwner(t *testing.T) {
	const owner = "person"
	for open, stays := range map[int64]bool{0: false, 1: true} {
		f := newFixture(t)
		f.closed = true // the agent itself has none
		r := &tables.Report{ID: "ev_1", Target: "po_1", By: "ag_fox", Case: "ca_1"}
		w := r.OnceForOwner(owner)
		k := tables.OpenCasesKey(owner)
		f.do(w, tables.Change(k, tables.SetAttr(tables.AttrType, tables.TypeOpenCases), tables.SetAttr("n", open)))
		if _, err := f.item(t.Context(), "ag_fox", f.read(w.Key)); err != nil {
			t.Errorf("%d open cases: got error %v, want none", open, err)
		}
		if got := f.read(k); (got != nil) != stays || f.read(w.Key) != nil {
			t.Errorf("%d open cases: got number %v and report %v, want the number kept = %t, and no report", open, got, f.read(w.Key), stays)
		}
	}
}
