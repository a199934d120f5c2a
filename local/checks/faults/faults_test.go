package faults_test

import (
	"context"
	"crypto/rand"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"agentsocial/local/checks/faults"
	"agentsocial/shared/app"
	"agentsocial/shared/app/seed"
	"agentsocial/tables"
	"agentsocial/tables/embedded"
	"agentsocial/tables/retry"
)

func TestPlaces(t *testing.T) {
	places, err := faults.Places()
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, p := range places {
		names = append(names, p.Name())
		if p.Line == 0 || strings.HasPrefix(p.File, "local/") || strings.HasSuffix(p.File, "_test.go") {
			t.Errorf("got place %+v, want a line of deployed code", p)
		}
	}
	for _, name := range []string{"functions/dm/send.go post", "events/settle/settle.go forget", "shared/app/seed/seed.go Channels", "shared/api/readlimit.go charge"} {
		if !slices.Contains(names, name) {
			t.Errorf("got places %v, want also %s", names, name)
		}
	}
	for _, name := range []string{"shared/app/app.go Transact", "shared/app/app.go commit", "shared/api/call.go Commit"} {
		if slices.Contains(names, name) {
			t.Errorf("got place %s, want none for code that commits for others", name)
		}
	}
}

func TestFaultHitsOneCommit(t *testing.T) {
	places, err := faults.Places()
	if err != nil {
		t.Fatal(err)
	}
	i := slices.IndexFunc(places, func(p faults.Place) bool { return p.Name() == "shared/app/seed/seed.go Channels" })
	here := places[i]
	killed := errors.New("killed")
	for _, c := range []struct {
		kind faults.Kind
		made int // channels that exist after seeding
		want error
	}{
		{faults.Failed, 1, faults.ErrFailed},
		{faults.Throttled, 1, tables.ErrThrottled},
		{faults.Conflict, 10, nil},
		{faults.Lost, 10, nil},
		{faults.Unknown, 2, tables.ErrUnknownOutcome},
		{faults.Killed, 2, killed},
	} {
		t.Run(c.kind.String(), func(t *testing.T) {
			t.Parallel()
			below, err := embedded.Open(embedded.Config{Path: embedded.Memory, Now: time.Now})
			if err != nil {
				t.Fatal(err)
			}
			defer below.Close()
			table := faults.New(places, &faults.Fault{Place: here, N: 2, Kind: c.kind}, func(context.Context) { panic(killed) })
			a := &app.App{Now: time.Now, Rand: rand.Reader}
			a.Table = retry.Over(table.Around(below), a.Intn)
			var got error
			func() {
				defer func() {
					if p, ok := recover().(error); ok {
						got = p
					}
				}()
				got = seed.Channels(a)(t.Context())
			}()
			if !errors.Is(got, c.want) || !table.Met() {
				t.Errorf("got error %v, met %v; want error %v, met true", got, table.Met(), c.want)
			}
			made := 0
			if err := below.Scan(t.Context(), func(i tables.Item) error {
				if i.Str(tables.AttrType) == tables.TypeChannel {
					made++
				}
				return nil
			}); err != nil || made != c.made {
				t.Errorf("got %d channels and error %v, want %d channels and no error", made, err, c.made)
			}
			if n := table.Counts()[here]; n < 2 || len(table.Strange()) > 0 {
				t.Errorf("got %d commits of the place, want at least 2; commits outside all places: got %v, want none", n, table.Strange())
			}
			if err := seed.Channels(&app.App{Table: table, Now: time.Now, Rand: rand.Reader})(t.Context()); err != nil {
				t.Errorf("a later commit: got error %v, want none", err)
			}
		})
	}
}

func TestCommitByATestHasNoPlace(t *testing.T) {
	below, err := embedded.Open(embedded.Config{Path: embedded.Memory, Now: time.Now})
	if err != nil {
		t.Fatal(err)
	}
	defer below.Close()
	table := faults.New(nil, nil, nil)
	table.Around(below)
	item := tables.Item{tables.AttrPK: "a", tables.AttrSK: "b"}
	if err := table.Commit(t.Context(), tables.Tx{Writes: []tables.Write{tables.Put(item)}}); err != nil {
		t.Fatal(err)
	}
	if len(table.Counts()) > 0 || len(table.Strange()) > 0 {
		t.Errorf("got commits %v, outside all places %v; want none", table.Counts(), table.Strange())
	}
}
