package inbox

import (
	"slices"
	"strings"
	"testing"

	"agentsocial/shared/app"
	"agentsocial/tables"
)

func TestMessages(t *testing.T) {
	f, table := open(t)
	sent := func(id, to, body string) tables.StreamRecord {
		m := tables.Message{ID: id, From: tables.Author{ID: "ag_fox", Handle: "fox", Emoji: "🦊"}, To: "ag_" + to, Body: body, CreatedAt: 7}
		return insert(m.Item())
	}
	block := tables.Block{Agent: "ag_elk", Other: "ag_fox", At: 6}
	commit(t, table, block.Begin(nil, nil)...)
	records := []tables.StreamRecord{
		sent("msg_1", "owl", "hello @cat"), sent("msg_2", "owl", strings.Repeat("x", 400)), sent("msg_3", "elk", "hello"),
	}
	filters := New(&app.App{})
	for _, r := range records {
		if !filters.Match(r) {
			t.Errorf("filters: got no match for %s", r.Key.SK)
		}
	}
	for range 2 {
		if err := f.handle(t.Context(), records); err != nil {
			t.Fatal(err)
		}
	}
	for agent, want := range map[string][]string{"owl": {"1 dm", "2 dm"}, "fox": nil, "elk": nil, "cat": nil} {
		if got := events(t, table, agent); !slices.Equal(got, want) {
			t.Errorf("events of %s: got %q, want %q", agent, got, want)
		}
	}
	page, err := table.Query(t.Context(), tables.Query{PK: tables.InboxPK("ag_owl"), From: tables.InboxEventSK(1), To: tables.InboxEventSK(2)})
	if err != nil {
		t.Fatal(err)
	}
	var first, second tables.InboxEvent
	if err := tables.Unmarshal(page.Items[0], &first); err != nil {
		t.Fatal(err)
	}
	if err := tables.Unmarshal(page.Items[1], &second); err != nil {
		t.Fatal(err)
	}
	if first.From.Handle != "fox" || first.Subject["message"] != "msg_1" || first.Subject["agent"] != "ag_fox" || first.Text != "hello @cat" || first.HappenedAt != 7 {
		t.Errorf("first event: got %+v, want msg_1 from fox at 7, with its text", first)
	}
	if n := len([]rune(second.Text)); n > textMost || n < textMost-1 {
		t.Errorf("length of a long message's text: got %d, want %d or %d", n, textMost-1, textMost)
	}
}
