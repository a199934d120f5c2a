package deadlines

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"agentsocial/shared/rules/jury"
	"agentsocial/tables"
)

// pool puts n volunteers into the pool and returns them in the pool's order.
func pool(t *testing.T, d deadlines, n int) (order []tables.Juror) {
	t.Helper()
	for i := range n {
		j := tables.Juror{Agent: fmt.Sprintf("ag_%03d", i), Owner: fmt.Sprint(i), Place: d.Random(8), Since: noon.UnixMilli()}
		if err := d.Once(t.Context(), tables.Put(j.Item())); err != nil {
			t.Fatal(err)
		}
		order = append(order, j)
	}
	slices.SortFunc(order, func(a, b tables.Juror) int { return strings.Compare(a.Place, b.Place) })
	return order
}

func TestWindow(t *testing.T) {
	for _, n := range []int{0, 1, 30, jury.Window, 130, 250} {
		d, _, _ := newSweep(t)
		order := pool(t, d, n)
		for i := range 20 {
			c := &tables.Case{ID: "ca_1", Seed: binary.BigEndian.AppendUint64(nil, uint64(i)), Windows: int64(i % 2)}
			start := jury.Start(c.Seed, c.ID, c.Windows)
			from, _ := slices.BinarySearchFunc(order, start, func(j tables.Juror, place string) int { return strings.Compare(j.Place, place) })
			var want []string
			for k := range min(n, jury.Window) {
				want = append(want, order[(from+k)%n].Agent)
			}
			got, err := d.window(t.Context(), c)
			if err != nil || !slices.Equal(got, want) {
				t.Fatalf("window in a pool of %d, from position %d: got %v, want %v; error %v", n, from, got, want, err)
			}
		}
	}
}

// putCase adds an open case with this name and due time.
func putCase(t *testing.T, d deadlines, name string, due time.Time) {
	t.Helper()
	c := &tables.Case{
		ID: name, Kind: tables.CasePost, Target: "po_" + name, Author: tables.Author{ID: "ag_author"}, State: tables.CaseSeating, Open: true,
		Due: due.UnixMilli(), Deadline: due.Add(jury.SeatingFor).UnixMilli(), Seed: []byte(name),
	}
	if err := d.Transact(t.Context(), c.Begin()); err != nil {
		t.Fatal(err)
	}
}

func (d deadlines) dueOf(t *testing.T, name string) int64 {
	t.Helper()
	c, err := d.readCase(t.Context(), name)
	if err != nil {
		t.Fatal(err)
	}
	return c.Due
}

// A case that fails does not stop the others.
func TestCasesOfManyPages(t *testing.T) {
	d, table, _ := newSweep(t)
	const n = pageMost + 20
	name := func(i int) string { return fmt.Sprintf("ca_%03d", i) }
	for i := range n {
		putCase(t, d, name(i), noon.Add(-time.Duration(n-i)*time.Second))
	}
	putCase(t, d, "ca_later", noon.Add(time.Second))
	// This case cannot be settled, because its seat is malformed.
	broken := tables.Change(tables.CaseKey(name(7)), tables.RemoveAttr("open"), tables.SetAttr("jurors", tables.NewSet("ag_x")), tables.SetAttr("state", tables.CaseUpheld))
	wrong := tables.Put(tables.Item{tables.AttrPK: tables.CasePK(name(7)), tables.AttrSK: "SEAT#ag_x", tables.AttrType: tables.TypeSeat, "state": int64(7)})
	if err := table.Commit(t.Context(), tables.Tx{Writes: []tables.Write{broken, wrong}}); err != nil {
		t.Fatal(err)
	}
	if err := d.handle(t.Context()); err == nil || !strings.Contains(err.Error(), name(7)) {
		t.Errorf("sweep with a broken case: got error %v, want one that names %s", err, name(7))
	}
	for i := range n {
		want := noon.Add(jury.RetryFirst)
		if i == 7 {
			want = noon.Add(takeFor)
		}
		if due := d.dueOf(t, name(i)); due != want.UnixMilli() {
			t.Errorf("%s is due: got %s, want %s", name(i), time.UnixMilli(due).UTC(), want)
		}
	}
	if due := d.dueOf(t, "ca_later"); due != noon.Add(time.Second).UnixMilli() {
		t.Errorf("ca_later, which is not due: got due %d, want %d", due, noon.Add(time.Second).UnixMilli())
	}
}

func TestSweepEndsInTime(t *testing.T) {
	d, _, _ := newSweep(t)
	putCase(t, d, "ca_1", noon.Add(-time.Second))
	ctx, cancel := context.WithTimeout(t.Context(), -time.Second)
	defer cancel()
	if err := d.judge(ctx); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("sweep without time: got error %v, want %v", err, context.DeadlineExceeded)
	}
	if d.dueOf(t, "ca_1") != noon.Add(-time.Second).UnixMilli() {
		t.Error("sweep without time: got the case processed, want it left alone")
	}
	if err := d.handle(t.Context()); err != nil || d.dueOf(t, "ca_1") != noon.Add(jury.RetryFirst).UnixMilli() {
		t.Errorf("next sweep: got error %v and the case due at %d, want no error and %d", err, d.dueOf(t, "ca_1"), noon.Add(jury.RetryFirst).UnixMilli())
	}
}
