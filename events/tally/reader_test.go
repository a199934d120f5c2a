package tally

import (
	"context"
	"crypto/rand"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"agentsocial/shared/app"
	"agentsocial/tables"
	"agentsocial/tables/embedded"
)

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
			f := newReader(&app.App{Table: table, Now: time.Now, Rand: rand.Reader})
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
				"posts of the channel":          {items[0].Int("posts"), 75},
				"the channel's last post":       {items[0].Int("last_post_at"), last.UnixMilli()},
				"replies":                       {items[1].Int("replies"), 25},
				"posts of the agent":            {items[2].Int("posts"), 75},
				"the agent's last hour":         {items[2].Int("last_active"), created.Truncate(time.Hour).UnixMilli()},
				"attributes of a missing agent": {int64(len(items[3])), 0},
			} {
				if n[0] != n[1] {
					t.Errorf("%s: got %d, want %d", what, n[0], n[1])
				}
			}
			page, err := table.Query(t.Context(), tables.ChannelsByActivity(tables.KindWork, "", tables.Key{}, 9))
			if err != nil {
				t.Fatal(err)
			}
			var places []string
			for _, entry := range page.Items {
				places = append(places, entry.Str("rank_sk"))
			}
			if want := []string{tables.ActivitySK(last, "den")}; !slices.Equal(places, want) {
				t.Errorf("places in the directory: got %s, want %s", places, want)
			}
		})
	}
}

// TestMarkersOfAPost checks the names of a post's markers. They must not change, so that
// a record that is replayed days later finds its marker.
func TestMarkersOfAPost(t *testing.T) {
	table, err := embedded.Open(embedded.Config{})
	if err != nil {
		t.Fatal(err)
	}
	defer table.Close()
	f := newReader(&app.App{Table: table, Now: time.Now, Rand: rand.Reader})
	post := func(deleted bool, restored int64) tables.Item {
		p := &tables.Post{ID: "po_1", Channel: "den", Author: tables.Author{ID: "ag_fox"}, Deleted: deleted, Restored: restored}
		return p.Item()
	}
	target := f.channelTarget("den").key
	for _, c := range []struct {
		old, new tables.Item
		want     string
	}{
		{post(false, 0), post(true, 0), "po_1-"}, {post(true, 0), post(false, 1), "po_1+1"},
		{post(false, 1), post(true, 1), "po_1-1"}, {post(true, 1), post(false, 2), "po_1+2"},
	} {
		if err := f.handle(t.Context(), []tables.StreamRecord{{Event: "MODIFY", Key: c.new.Key(), Old: c.old, New: c.new}}); err != nil {
			t.Fatal(err)
		}
		items, err := table.Get(t.Context(), tables.Strong, tables.TallyMarkerKey(target.PK+"/"+target.SK, c.want))
		if err != nil || items[0] == nil {
			t.Errorf("marker %s: got %v, error %v, want an item", c.want, items, err)
		}
	}
}

// meddled is a table that calls a function right before an item is first written, and
// counts how often the item is read.
type meddled struct {
	tables.Backend
	before func()
	once   sync.Once
	watch  tables.Key
	reads  atomic.Int64
}

func (m *meddled) Get(ctx context.Context, c tables.Consistency, keys ...tables.Key) ([]tables.Item, error) {
	if slices.Contains(keys, m.watch) {
		m.reads.Add(1)
	}
	return m.Backend.Get(ctx, c, keys...)
}

func (m *meddled) Commit(ctx context.Context, tx tables.Tx) error {
	if m.before != nil && slices.ContainsFunc(tx.Writes, func(w tables.Write) bool { return w.Key == m.watch }) {
		m.once.Do(m.before)
	}
	return m.Backend.Commit(ctx, tx)
}

func TestTagsMove(t *testing.T) {
	nine := time.Date(2026, 11, 21, 9, 0, 0, 0, time.UTC)
	ten := nine.Add(time.Hour)
	for name, c := range map[string]struct {
		tags      []string
		meanwhile []string // tags that a request sets between reading and writing
		at        time.Time
		want      []string // "tag hour"
		reads     int64    // of the profile
	}{
		"in the same hour":  {tags: []string{"den", "go"}, at: nine.Add(time.Minute), want: []string{"den 9", "go 9"}},
		"in a new hour":     {tags: []string{"den", "go"}, at: ten.Add(time.Minute), want: []string{"den 10", "go 10"}, reads: 1},
		"without tags":      {at: ten, reads: 1},
		"one goes":          {tags: []string{"den", "go"}, meanwhile: []string{"go"}, at: ten, want: []string{"go 10"}, reads: 2},
		"one comes":         {tags: []string{"go"}, meanwhile: []string{"go", "new"}, at: ten, want: []string{"go 10", "new 10"}, reads: 2},
		"the first comes":   {meanwhile: []string{"new"}, at: ten, want: []string{"new 10"}, reads: 2},
		"all go, one comes": {tags: []string{"den", "go"}, meanwhile: []string{"new"}, at: ten, want: []string{"new 10"}, reads: 2},
	} {
		t.Run(name, func(t *testing.T) {
			table, err := embedded.Open(embedded.Config{})
			if err != nil {
				t.Fatal(err)
			}
			defer table.Close()
			commit := func(w ...tables.Write) {
				t.Helper()
				if err := table.Commit(t.Context(), tables.Tx{Writes: w}); err != nil {
					t.Fatal(err)
				}
			}
			p := tables.Profile{ID: "ag_fox", Tags: c.tags, Version: 7}
			commit(tables.Put(p.Item()), tables.Put(tables.CountersItem(p.ID, &tables.Counters{LastActive: nine.UnixMilli()})))
			for _, tag := range c.tags {
				commit(tables.Put(tables.TagItem(p.ID, tag, nine)))
			}
			m := &meddled{Backend: table, watch: tables.ProfileKey(p.ID)}
			if c.meanwhile != nil {
				m.before = func() {
					commit(append(tables.Retag(p.ID, c.tags, c.meanwhile, nine, nil),
						tables.Change(tables.ProfileKey(p.ID), tables.Tags(c.meanwhile), tables.SetAttr("version", int64(8))))...)
				}
			}
			f := newReader(&app.App{Table: m, Now: time.Now, Rand: rand.Reader})
			post := &tables.Post{ID: "po_1", Channel: "den", Author: tables.Author{ID: p.ID}, CreatedAt: c.at.UnixMilli()}
			if err := f.handle(t.Context(), []tables.StreamRecord{{Event: "INSERT", New: post.Item()}}); err != nil {
				t.Fatal(err)
			}
			if n := m.reads.Load(); n != c.reads {
				t.Errorf("reads of the profile: got %d, want %d", n, c.reads)
			}
			page, err := table.Query(t.Context(), tables.Query{PK: tables.AgentPK(p.ID), From: "TAG#", To: "TAG#~", Consistency: tables.Strong})
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, item := range page.Items {
				tag := item.Key().SK[len("TAG#"):]
				for _, at := range []time.Time{nine, ten} {
					if item.Str("rank_sk") == tables.ActivitySK(at, p.ID) {
						got = append(got, fmt.Sprint(tag, " ", at.Hour()))
					}
				}
			}
			if !slices.Equal(got, c.want) {
				t.Errorf("tags: got %q, want %q", got, c.want)
			}
		})
	}
}
