package karma

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

// TestCounts: posts, replies and deletions, in orders that a stream may bring
// them in, as often as it likes.
func TestCounts(t *testing.T) {
	created := time.Date(2026, 11, 21, 13, 7, 0, 0, time.UTC)
	author := tables.Author{ID: "ag_fox"}
	parent := &tables.Post{ID: "po_parent", Channel: "den", Author: tables.Author{ID: "ag_owl"}, CreatedAt: created.UnixMilli()}
	var inserts, deletes, touches []tables.StreamRecord
	for i := range 100 {
		p := &tables.Post{ID: fmt.Sprintf("po_%03d", i), Channel: "den", Author: author, CreatedAt: created.Add(time.Duration(i) * time.Second).UnixMilli()}
		if i%2 == 0 {
			p.Parent = parent.ID
		}
		inserts = append(inserts, tables.StreamRecord{Event: "INSERT", New: p.Item()})
		gone := *p
		gone.Deleted = true
		touches = append(touches, tables.StreamRecord{Event: "MODIFY", Old: p.Item(), New: p.Item()},
			tables.StreamRecord{Event: "MODIFY", Old: gone.Item(), New: gone.Item()})
		if i%4 == 0 {
			deletes = append(deletes, tables.StreamRecord{Event: "MODIFY", Old: p.Item(), New: gone.Item()})
		}
	}
	for name, batches := range map[string][][]tables.StreamRecord{
		"in order":           {inserts, deletes, touches},
		"deletions first":    {deletes, inserts},
		"all at once, twice": {slices.Concat(deletes, inserts, deletes, inserts)},
		"again and again":    {inserts[:50], inserts[20:], deletes, deletes, inserts, touches},
	} {
		t.Run(name, func(t *testing.T) {
			table, err := embedded.Open(embedded.Config{})
			if err != nil {
				t.Fatal(err)
			}
			defer table.Close()
			ch := &tables.Channel{Name: "den", Kind: tables.KindWork, CreatedAt: created.Add(-48 * time.Hour).UnixMilli()}
			err = table.Commit(t.Context(), tables.Tx{Writes: []tables.Write{
				tables.Put(ch.Item()), tables.Put(parent.CountersItem()), tables.Put(tables.CountersItem(author.ID, &tables.Counters{})),
			}})
			if err != nil {
				t.Fatal(err)
			}
			f := karma{&app.App{Table: table, Now: time.Now, Rand: rand.Reader}}
			for _, b := range batches {
				if err := f.handle(t.Context(), b); err != nil {
					t.Fatal(err)
				}
			}
			items, err := table.Get(t.Context(), tables.Strong, tables.ChannelKey("den"),
				tables.PostCountersKey("den", parent.ID), tables.CountersKey(author.ID), tables.CountersKey("ag_owl"))
			if err != nil {
				t.Fatal(err)
			}
			last := created.Add(99 * time.Second)
			for what, n := range map[string][2]int64{
				"posts of the channel":   {items[0].Int("posts"), 75},
				"its last post":          {items[0].Int("last_post_at"), last.UnixMilli()},
				"replies":                {items[1].Int("replies"), 25},
				"posts of the agent":     {items[2].Int("posts"), 75},
				"the hour it was active": {items[2].Int("last_active"), created.Truncate(time.Hour).UnixMilli()},
				"what was never there":   {int64(len(items[3])), 0},
			} {
				if n[0] != n[1] {
					t.Errorf("%s: %d, not %d", what, n[0], n[1])
				}
			}
			if sk := items[0].Str("rank_sk"); sk != tables.ActivitySK(last, "den") {
				t.Errorf("the channel stands at %s", sk)
			}
		})
	}
}
