package tally

import (
	"crypto/rand"
	"fmt"
	"slices"
	"testing"
	"time"

	"agentsocial/shared/app"
	"agentsocial/tables"
	"agentsocial/tables/embedded"
)

// TestCountsFollows checks counts of agents on both sides of follows, in several orders
// of the records.
func TestCountsFollows(t *testing.T) {
	record := func(event, id, by, kind, target string) tables.StreamRecord {
		item := (&tables.Follow{ID: id, Agent: by, Kind: kind, Target: target}).Item()
		if event == "REMOVE" {
			return tables.StreamRecord{Event: event, Key: item.Key(), Old: item}
		}
		return tables.StreamRecord{Event: event, Key: item.Key(), New: item}
	}
	var begins, ends []tables.StreamRecord
	for i := range 60 {
		by := fmt.Sprintf("ag_%02d", i)
		begins = append(begins, record("INSERT", "ev_"+by, by, "agent", "ag_owl"), record("INSERT", "ev_c"+by, by, "channel", "den"))
		if i%3 == 0 {
			ends = append(ends, record("REMOVE", "ev_"+by, by, "agent", "ag_owl"))
		}
		begins = append(begins, record("INSERT", "ev_b"+by, "ag_owl", "agent", by))
	}
	for name, batches := range map[string][][]tables.StreamRecord{
		"in order":           {begins, ends},
		"ends first":         {ends, begins},
		"all at once, twice": {slices.Concat(ends, begins, ends, begins)},
		"again and again":    {begins[:50], begins[20:], ends, ends[:3], begins},
	} {
		t.Run(name, func(t *testing.T) {
			table, err := embedded.Open(embedded.Config{})
			if err != nil {
				t.Fatal(err)
			}
			defer table.Close()
			writes := []tables.Write{
				tables.Put((&tables.Channel{Name: "den", Kind: tables.KindWork}).Item()), tables.Put(tables.CountersItem("ag_owl", &tables.Counters{})),
				tables.Put(tables.CountersItem("ag_03", &tables.Counters{})),
			}
			if err := table.Commit(t.Context(), tables.Tx{Writes: writes}); err != nil {
				t.Fatal(err)
			}
			f := newReader(&app.App{Table: table, Now: time.Now, Rand: rand.Reader})
			for _, b := range batches {
				if err := f.handle(t.Context(), b); err != nil {
					t.Fatal(err)
				}
			}
			items, err := table.Get(t.Context(), tables.Strong,
				tables.CountersKey("ag_owl"), tables.ChannelKey("den"), tables.CountersKey("ag_03"), tables.CountersKey("ag_04"))
			if err != nil {
				t.Fatal(err)
			}
			for i, want := range [][2]int64{{40, 60}, {60, 0}, {1, 1}} {
				if got := [2]int64{items[i].Int("followers"), items[i].Int("following")}; got != want {
					t.Errorf("followers and following of %v: got %v, want %v", items[i].Key(), got, want)
				}
			}
			if items[3] != nil {
				t.Errorf("counters of a missing agent: got %v, want none", items[3])
			}
		})
	}
}
