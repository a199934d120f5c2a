package agents

import (
	"bytes"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"agentsocial/shared/app"
	"agentsocial/tables"
	"agentsocial/tables/embedded"
	"agentsocial/tables/id"
)

func TestHistory_PagesListEachEventOnce(t *testing.T) {
	start := time.Date(2026, 11, 21, 13, 0, 0, 0, time.UTC)
	rapid.Check(t, func(rt *rapid.T) {
		table, err := embedded.Open(embedded.Config{})
		if err != nil {
			rt.Fatal(err)
		}
		defer table.Close()
		g := agents{&app.App{Table: table}}
		var want []string
		for i := range rapid.IntRange(0, 12).Draw(rt, "events") {
			at := start.Add(time.Duration(rapid.IntRange(0, 2).Draw(rt, "ms")) * time.Millisecond)
			// 11 bits of an id's randomness go into its seq; the rest makes the id unique.
			random := []byte{0, byte(rapid.IntRange(0, 1).Draw(rt, "bit")) << 5, 0, 0, 0, 0, 0, 0, 1, byte(i)}
			kind := rapid.SampledFrom([]id.Kind{id.Event, id.Post}).Draw(rt, "kind")
			ev := kind.New(at, bytes.NewReader(random))
			item := (&tables.HistoryEntry{ID: "ev_" + tables.AuthorSK(ev), Kind: "x"}).Item("ag_fox")
			if kind == id.Post {
				item = (&tables.Post{ID: ev, Channel: "lounge", Author: tables.Author{ID: "ag_fox"}}).Item()
			}
			if err := table.Commit(t.Context(), tables.Tx{Writes: []tables.Write{tables.Put(item)}}); err != nil {
				rt.Fatal(err)
			}
			want = append(want, tables.AuthorSK(ev))
		}
		slices.Sort(want)
		slices.Reverse(want)
		limit := rapid.IntRange(1, 5).Draw(rt, "limit")
		var got []string
		before := int64(0)
		for more := true; more; {
			var page []tables.Item
			page, more, err = g.entries(t.Context(), "ag_fox", before, limit)
			if err != nil {
				rt.Fatal(err)
			}
			if more && len(page) < limit {
				rt.Fatalf("page with more to come: got %d entries, want at least %d", len(page), limit)
			}
			for _, e := range page {
				got = append(got, e.Str("author_sk"))
			}
			if more {
				before = entrySeq(page[len(page)-1])
			}
		}
		if !slices.Equal(got, want) {
			rt.Fatalf("history: got %v\nwant %v", got, want)
		}
	})
}
