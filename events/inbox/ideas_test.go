package inbox

import (
	"slices"
	"strings"
	"testing"

	"agentsocial/tables"
)

func changedIdea(old, new tables.Idea) tables.StreamRecord {
	before, after := old.Items()[0], new.Items()[0]
	return tables.StreamRecord{Event: "MODIFY", Key: after.Key(), Old: before, New: after}
}

func TestIdeaStatus(t *testing.T) {
	f, table := open(t)
	open := tables.Idea{ID: "id_1", By: tables.Author{ID: "ag_fox"}, Status: tables.IdeaOpen}
	planned, noted, original, duplicate, own := open, open, open, open, open
	planned.Status, planned.StatusBy, planned.Changes = tables.IdeaPlanned, "ag_owl", 1
	noted = planned
	noted.Note, noted.Changes = "soon", 2
	original = noted
	original.Duplicates, original.Changes = tables.NewSet("id_2"), 3
	duplicate = noted
	duplicate.Status, duplicate.DuplicateOf, duplicate.Changes = tables.IdeaDuplicate, "id_3", 4
	own = open
	own.Status, own.StatusBy, own.Changes = tables.IdeaDone, "ag_fox", 5
	all := []tables.StreamRecord{
		changedIdea(open, planned), changedIdea(planned, noted), changedIdea(noted, original),
		changedIdea(original, duplicate), changedIdea(duplicate, own),
	}
	for _, batch := range [][]tables.StreamRecord{all[:2], all, all[1:]} {
		if err := f.handle(t.Context(), batch); err != nil {
			t.Fatal(err)
		}
	}
	if got, want := events(t, table, "fox"), []string{"1 idea_status", "2 idea_status", "3 idea_status"}; !slices.Equal(got, want) {
		t.Errorf("events of fox: got %q, want %q", got, want)
	}
	items, err := table.Get(t.Context(), tables.Strong, tables.InboxEventKey("ag_fox", 2), tables.InboxEventKey("ag_fox", 3))
	if err != nil {
		t.Fatal(err)
	}
	var note, same tables.InboxEvent
	for i, e := range []*tables.InboxEvent{&note, &same} {
		if err := tables.Unmarshal(items[i], e); err != nil {
			t.Fatal(err)
		}
	}
	if note.Text != "soon" || note.Subject["status"] != tables.IdeaPlanned || note.From.ID != "" || same.Subject["duplicate_of"] != "id_3" {
		t.Errorf("events 2 and 3: got %+v and %+v, want status planned and note %q from nobody, and duplicate_of id_3", note, same, "soon")
	}
}

func TestIdeaSupported(t *testing.T) {
	f, table := open(t)
	c := &tables.IdeaCounters{ID: "id_1", By: "ag_fox"}
	i := &tables.Idea{ID: "id_1", By: tables.Author{ID: "ag_fox"}, Title: "A tree"}
	var records []tables.StreamRecord
	for _, item := range i.Items() {
		commit(t, table, tables.Put(item))
	}
	writes := c.Add(100, f.Now())
	commit(t, table, writes[0])
	for _, w := range writes[1:] {
		records = append(records, insert(w.Item))
	}
	for range 2 {
		if err := f.handle(t.Context(), records); err != nil {
			t.Fatal(err)
		}
	}
	if got, want := events(t, table, "fox"), []string{"1 idea_supported", "2 idea_supported", "3 idea_supported"}; !slices.Equal(got, want) {
		t.Errorf("events of fox: got %q, want %q", got, want)
	}
	items, err := table.Get(t.Context(), tables.Strong, tables.InboxEventKey("ag_fox", 2))
	if err != nil || items[0].Str("text") != "A tree" || tables.Item(items[0]["subject"].(tables.Map)).Int("support") != 10 {
		t.Errorf("second event: got %v, error %v, want support 10 and the title", items, err)
	}
	deleted := *i
	deleted.Title, deleted.Deleted = "", true
	if err := f.handle(t.Context(), []tables.StreamRecord{changedIdea(*i, deleted)}); err != nil {
		t.Fatal(err)
	}
	for seq := range int64(3) {
		items, err := table.Get(t.Context(), tables.Strong, tables.InboxEventKey("ag_fox", seq+1))
		if err != nil || items[0] == nil || items[0].Str("text") != "" {
			t.Errorf("event %d of a deleted idea: got %v, error %v, want an event without text", seq+1, items, err)
		}
	}
}

func TestLongNotes(t *testing.T) {
	for n, whole := range map[int]bool{280: true, 281: false} {
		note := strings.Repeat("x", n)
		status, err := ofIdeaStatus(changedIdea(tables.Idea{ID: "id_1"}, tables.Idea{ID: "id_1", By: tables.Author{ID: "ag_fox"}, Status: tables.IdeaPlanned, Note: note}))
		if err != nil {
			t.Fatal(err)
		}
		for what, d := range map[string][]delivery{"status": status, "act": ofAct(&tables.Act{Agent: "ag_fox", Note: note})} {
			if got := d[0].event.Text; (got == note) != whole || len([]rune(got)) > 280 {
				t.Errorf("%s with a note of %d characters: got text %q, want 280 characters at most, and the whole note = %t", what, n, got, whole)
			}
		}
	}
}

func TestToldOfIdea(t *testing.T) {
	f, table := open(t)
	for told, want := range map[int64][]string{0: nil, 1: {"1"}, 9: {"1"}, 10: {"1", "10"}, 100: {"1", "10", "100"}, 999: {"1", "10", "100"}} {
		i := &tables.Idea{ID: "id_1", By: tables.Author{ID: "ag_fox"}}
		for _, item := range i.Items() {
			commit(t, table, tables.Put(item))
		}
		commit(t, table, tables.Change(tables.IdeaCountersKey(i.ID), tables.SetAttr("told", told)))
		deliveries, err := f.toldOf(t.Context(), i.Items()[0])
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, d := range deliveries {
			got = append(got, strings.TrimPrefix(d.source, "supported#id_1#"))
		}
		if !slices.Equal(got, want) {
			t.Errorf("idea told up to support %d: got events at support %v, want %v", told, got, want)
		}
	}
}
