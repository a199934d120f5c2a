package tally

import (
	"context"
	"crypto/rand"
	"fmt"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"agentsocial/shared/app"
	"agentsocial/tables"
	"agentsocial/tables/embedded"
)

// TestSupport checks an idea's support, its rank and its milestones. Records come in any
// order, some of them repeatedly, and handle may fail.
func TestSupport(t *testing.T) {
	const wanted, other = "id_wanted", "id_other"
	rapid.Check(t, func(t *rapid.T) {
		now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
		table, err := embedded.Open(embedded.Config{Now: func() time.Time { return now }})
		if err != nil {
			t.Fatal(err)
		}
		defer table.Close()
		f := newReader(&app.App{Table: table, Now: func() time.Time { return now }, Rand: rand.Reader})
		commit := func(w ...tables.Write) {
			if err := table.Commit(t.Context(), tables.Tx{Writes: w}); err != nil {
				t.Fatal(err)
			}
		}
		for _, id := range []string{wanted, other} {
			i := &tables.Idea{ID: id, By: tables.Author{ID: "ag_author"}, Status: tables.IdeaOpen}
			for _, item := range i.Items() {
				commit(tables.Put(item))
			}
		}
		supports := map[string]bool{} // by agent id + idea id
		told := map[string]int64{}
		var place string
		var waiting []tables.StreamRecord
		hear := func() {
			for {
				records, _, err := table.Changes(t.Context(), "shard-0", place, 1000, 0)
				if err != nil {
					t.Fatal(err)
				}
				if len(records) == 0 {
					return
				}
				place = records[len(records)-1].Seq
				for _, r := range records {
					if r.New.Str(tables.AttrType) == tables.TypeSupport {
						waiting = append(waiting, r)
					}
				}
			}
		}
		say := func(t *rapid.T) {
			for range rapid.IntRange(1, 20).Draw(t, "how many") {
				s := &tables.Support{
					Idea: rapid.SampledFrom([]string{wanted, wanted, wanted, other}).Draw(t, "idea"),
					By:   fmt.Sprintf("ag_%02d", rapid.IntRange(0, 12).Draw(t, "by")),
					On:   rapid.IntRange(0, 3).Draw(t, "on") > 0,
				}
				commit(s.Give())
				supports[s.By+s.Idea] = s.On
			}
		}
		numbers := func(id string) (c tables.IdeaCounters, sk string) {
			items, err := table.Get(t.Context(), tables.Strong, tables.IdeaCountersKey(id))
			if err == nil {
				err = tables.Unmarshal(items[0], &c)
			}
			if err != nil {
				t.Fatal(err)
			}
			return c, items[0].Str("rank_sk")
		}
		t.Repeat(map[string]func(*rapid.T){
			"say": say,
			"deliver": func(t *rapid.T) {
				hear()
				if len(waiting) == 0 {
					return
				}
				batch := rapid.SliceOfN(rapid.SampledFrom(waiting), 1, 2*len(waiting)).Draw(t, "batch")
				table.SetFaults(embedded.Random(rapid.Uint64().Draw(t, "faults"), embedded.Probabilities{
					Conflict: .05, LostRequest: .05, LostAnswer: .1,
				}))
				defer table.SetFaults(nil)
				brief, cancel := context.WithTimeout(t.Context(), 5*time.Millisecond)
				defer cancel()
				_ = f.handle(brief, batch) // failed records come again
			},
			"": func(t *rapid.T) {
				for _, id := range []string{wanted, other} {
					c, sk := numbers(id)
					if want := tables.IdeaSK(c.Support, id); sk != want {
						t.Fatalf("%s: got rank %s, want %s", id, sk, want)
					}
					if c.Support < 0 || c.Told < told[id] {
						t.Fatalf("%s: got support %d and last milestone %d, want at least 0 and %d", id, c.Support, c.Told, told[id])
					}
					told[id] = c.Told
					for n := int64(1); n <= 100; n *= 10 {
						items, err := table.Get(t.Context(), tables.Strong, tables.IdeaReachedKey(id, n))
						if err != nil || (items[0] != nil) != (n <= c.Told) {
							t.Fatalf("%s, milestone %d, told up to %d: got item %v, error %v, want an item = %t", id, n, c.Told, items, err, n <= c.Told)
						}
					}
				}
			},
		})
		hear()
		for batch := range slices.Chunk(waiting, 7) {
			if err := f.handle(t.Context(), batch); err != nil {
				t.Fatal(err)
			}
		}
		for _, id := range []string{wanted, other} {
			var want int64
			for key, on := range supports {
				if on && key[len("ag_00"):] == id {
					want++
				}
			}
			c, _ := numbers(id)
			if c.Support != want {
				t.Fatalf("%s: got support %d, want %d", id, c.Support, want)
			}
			if want >= 10 && c.Told < 10 || want >= 1 && c.Told < 1 {
				t.Fatalf("%s: got last milestone %d at support %d, want at least the highest milestone up to it", id, c.Told, want)
			}
		}
	})
}
