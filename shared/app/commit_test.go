package app_test

import (
	"crypto/rand"
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"agentsocial/shared/app"
	"agentsocial/tables"
	"agentsocial/tables/embedded"
	"agentsocial/tables/retry"
)

var counter = tables.Key{PK: "P", SK: "S"}

// Once repeats a write whose answer was lost; the write's condition makes this harmless.
func TestCommitsSurviveLostAnswers(t *testing.T) {
	for name, c := range map[string]struct {
		commit func(*app.App, tables.Write) error
		write  tables.Write
	}{
		"Transact": {func(a *app.App, w tables.Write) error { return a.Transact(t.Context(), w) }, tables.Change(counter, tables.Add("n", 1))},
		"Once": {func(a *app.App, w tables.Write) error { return a.Once(t.Context(), w) }, tables.Change(counter, tables.SetAttr("n", int64(1))).
			When(tables.NoItem()).Else(func(tables.Item) error { return nil })},
	} {
		var commits atomic.Int64
		table, err := embedded.Open(embedded.Config{Faults: func(kind string, _ []tables.Key) embedded.Fault {
			if kind == embedded.KindCommit && commits.Add(1) == 1 {
				return embedded.LostAnswer
			}
			return embedded.None
		}})
		if err != nil {
			t.Fatal(err)
		}
		defer table.Close()
		a := &app.App{Now: time.Now, Rand: rand.Reader}
		a.Table = retry.Over(table, a.Intn)
		err = c.commit(a, c.write)
		var cancelled *tables.Cancelled
		if err != nil && !errors.As(err, &cancelled) || commits.Load() != 2 {
			t.Errorf("%s = %v after %d commits, want nil or a *tables.Cancelled after 2", name, err, commits.Load())
		}
		items, err := table.Get(t.Context(), tables.Strong, counter)
		if err != nil || items[0].Int("n") != 1 {
			t.Errorf("%s: got item %v, %v; want n 1", name, items, err)
		}
	}
}

// The item may be gone, so the process must not remember it.
func TestLostAnswerForgets(t *testing.T) {
	var lost atomic.Bool
	table, err := embedded.Open(embedded.Config{Faults: func(kind string, _ []tables.Key) embedded.Fault {
		if kind == embedded.KindCommit && lost.Load() {
			return embedded.LostAnswer
		}
		return embedded.None
	}})
	if err != nil {
		t.Fatal(err)
	}
	defer table.Close()
	a := (&app.App{Table: table, Now: time.Now, Rand: rand.Reader, Settings: app.Settings{Remember: time.Hour}}).Remembering()
	hot := tables.ChannelKey("den")
	if err := a.Transact(t.Context(), tables.Change(hot, tables.SetAttr("n", int64(1)))); err != nil {
		t.Fatal(err)
	}
	read := func() (there bool) {
		for range 100 {
			items, err := a.Recent().GetCrowded(t.Context(), []tables.Key{hot}, hot)
			if err != nil {
				t.Fatal(err)
			}
			there = items[0] != nil
		}
		return there
	}
	if !read() {
		t.Fatal("got no item before its deletion, want it")
	}
	lost.Store(true)
	if err := a.Transact(t.Context(), tables.Delete(hot)); !errors.Is(err, tables.ErrUnknownOutcome) {
		t.Fatalf("Transact = %v, want %v", err, tables.ErrUnknownOutcome)
	}
	if read() {
		t.Error("got the item after its deletion, want it forgotten")
	}
}

func TestTransactResolves(t *testing.T) {
	table, err := embedded.Open(embedded.Config{})
	if err != nil {
		t.Fatal(err)
	}
	defer table.Close()
	a, gone := &app.App{Table: table, Now: time.Now, Rand: rand.Reader}, errors.New("gone")
	err = a.Transact(t.Context(), tables.Check(counter, tables.ItemExists()).Else(tables.Means(gone)))
	if !errors.Is(err, gone) {
		t.Errorf("Transact = %v, want %v", err, gone)
	}
}
