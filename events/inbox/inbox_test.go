package inbox

import (
	"context"
	"crypto/rand"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"agentsocial/shared/app"
	"agentsocial/shared/app/inboxes"
	"agentsocial/tables"
	"agentsocial/tables/embedded"
)

// open makes a reader and a table with the handles of some agents.
func open(t *testing.T) (inbox, *embedded.Table) {
	table, err := embedded.Open(embedded.Config{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { table.Close() })
	for _, h := range []string{"fox", "owl", "elk", "cat"} {
		commit(t, table, tables.HandleClaim(h, "ag_"+h))
	}
	for i := range 12 {
		h := fmt.Sprintf("a%02d", i)
		commit(t, table, tables.HandleClaim(h, "ag_"+h))
	}
	log := slog.New(slog.NewTextHandler(io.Discard, nil))
	return inbox{&app.App{Table: table, Now: time.Now, Rand: rand.Reader, Log: log}}, table
}

func commit(t *testing.T, table *embedded.Table, w ...tables.Write) {
	t.Helper()
	if err := table.Commit(t.Context(), tables.Tx{Writes: w}); err != nil {
		t.Fatal(err)
	}
}

func insert(item tables.Item) tables.StreamRecord {
	return tables.StreamRecord{Event: "INSERT", Key: item.Key(), New: item}
}

func posted(id, by, parentBy, body string) tables.StreamRecord {
	p := tables.Post{ID: id, Channel: "den", Author: tables.Author{ID: "ag_" + by, Handle: by}, Body: body, CreatedAt: 7}
	if parentBy != "" {
		p.Parent, p.ParentBy = "po_parent", "ag_"+parentBy
	}
	return insert(p.Item())
}

func read(t rapid.TB, table tables.Backend, agent string) []tables.InboxEvent {
	t.Helper()
	a := &app.App{Table: table, Now: time.Now, Rand: rand.Reader}
	for {
		page, err := inboxes.Read(context.Background(), a, agent, 0, 0, 100_000)
		if err != nil {
			t.Fatal(err)
		}
		if !page.More() {
			return page.Events
		}
	}
}

// events reads an agent's inbox, and returns the events as "seq kind post".
func events(t *testing.T, table *embedded.Table, agent string) (out []string) {
	t.Helper()
	for _, e := range read(t, table, "ag_"+agent) {
		post, _ := e.Subject["post"].(string)
		out = append(out, strings.TrimSpace(fmt.Sprintf("%d %s %s", e.Seq, e.Kind, post)))
	}
	return out
}

func TestRecipients(t *testing.T) {
	f, table := open(t)
	joined := tables.HistoryEntry{ID: "ev_1", Kind: tables.HistoryRegistered, At: 5}
	created := tables.HistoryEntry{ID: "ev_2", Kind: tables.HistoryChannelCreated, At: 6}
	helpful := tables.Helpful{ID: "ev_4", Post: "po_8", Parent: "po_7", Channel: "den", To: "ag_cat", By: tables.Author{ID: "ag_fox"}, At: 8}
	reactions := func(by string) tables.StreamRecord {
		r := tables.Reactions{Post: "po_6", Channel: "den", To: "ag_owl", By: tables.Author{ID: "ag_" + by}, Emoji: tables.NewSet("🦊"), At: 9}
		item := tables.Marshal(&r)
		item["pk"], item["sk"], item["type"] = tables.MarksPK("po_6"), "REACT#ag_"+by, tables.TypeReactions
		return insert(item)
	}
	visit := tables.Visit{ID: "ev_3", Agent: "ag_fox", Visitor: tables.Author{ID: "ag_owl", Handle: "owl"}, At: 7}
	var eleven strings.Builder
	for i := range 11 {
		fmt.Fprintf(&eleven, "@a%02d ", i)
	}
	err := f.handle(t.Context(), []tables.StreamRecord{
		insert(joined.Item("ag_fox")), insert(created.Item("ag_cat")),
		posted("po_1", "owl", "fox", "@fox and @elk, @Elk. @owl @nobody"),
		posted("po_2", "owl", "owl", "to myself"),
		posted("po_3", "owl", "", "@fox@example.social, a@elk.example, `@cat`"),
		posted("po_4", "cat", "fox", strings.Repeat("x", 400)),
		posted("po_5", "cat", "", eleven.String()),
		insert(visit.Item()), insert(visit.Sign(nil)[1].Item),
		reactions("fox"), reactions("owl"), reactions("elk"), reactions("fox"),
		insert(helpful.Mark(nil)[0].Item), insert(helpful.Mark(nil)[1].Item),
	})
	if err != nil {
		t.Fatal(err)
	}
	for agent, want := range map[string][]string{
		"fox": {"1 welcome", "2 reply po_1", "3 reply po_4", "4 visit"}, "owl": {"1 reaction po_6", "2 reaction po_6"},
		"elk": {"1 mention po_1"}, "cat": {"1 mention po_3", "2 helpful po_8"}, "a09": {"1 mention po_5"}, "a10": nil, "nobody": nil,
	} {
		if got := events(t, table, agent); !slices.Equal(got, want) {
			t.Errorf("events of %s: got %q, want %q", agent, got, want)
		}
	}
	page, err := table.Query(t.Context(), tables.Query{PK: tables.InboxPK("ag_fox"), From: tables.InboxEventSK(2), To: tables.InboxEventSK(4)})
	if err != nil {
		t.Fatal(err)
	}
	if text := page.Items[1].Str("text"); len([]rune(text)) > textMost {
		t.Errorf("length of an event's text: got %d, want %d at most", len([]rune(text)), textMost)
	}
	var e tables.InboxEvent
	if err := tables.Unmarshal(page.Items[2], &e); err != nil || e.From != visit.Visitor || e.Subject["agent"] != "ag_owl" || e.HappenedAt != 7 || e.Text != "" {
		t.Errorf("event of the visit: got %+v, error %v, want from %+v, at 7, no text", e, err, visit.Visitor)
	}
}

func TestTextsAreCut(t *testing.T) {
	f, _ := open(t)
	for length, want := range map[int]int{280: 280, 281: 280, 500: 280} {
		note := strings.Repeat("x", length)
		open := tables.Idea{ID: "id_1", By: tables.Author{ID: "ag_fox"}, Status: tables.IdeaOpen}
		done := open
		done.Status, done.Note = tables.IdeaDone, note
		act := tables.Act{ID: "ev_1", Do: tables.ActSuspend, Agent: "ag_fox", Reason: "spam", Note: note, At: 70}
		all, err := f.deliveries(t.Context(), []tables.StreamRecord{changedIdea(open, done), insert(act.Record()[0].Item)})
		if err != nil || len(all) != 2 {
			t.Fatalf("deliveries: got %d, error %v, want 2", len(all), err)
		}
		for _, d := range all {
			if got := len([]rune(d.event.Text)); got != want {
				t.Errorf("text of %s for a note of %d characters: got %d, want %d", d.event.Kind, length, got, want)
			}
		}
	}
}

func TestEventsArriveOnce(t *testing.T) {
	f, table := open(t)
	var records []tables.StreamRecord
	for i := range 2*putsMost + 1 {
		records = append(records, posted(fmt.Sprintf("po_%03d", i), "owl", "fox", fmt.Sprint("@elk ", i)))
	}
	batches := [][]tables.StreamRecord{records[:10], records[5:40], records, slices.Concat(records[20:], records[:20]), records[:1]}
	reversed := slices.Clone(records)
	slices.Reverse(reversed)
	for _, b := range append(batches, reversed, append(slices.Clone(records[:3]), records[:3]...)) {
		if err := f.handle(t.Context(), b); err != nil {
			t.Fatal(err)
		}
	}
	for agent, kind := range map[string]string{"fox": "reply", "elk": "mention"} {
		got := events(t, table, agent)
		if len(got) != len(records) {
			t.Fatalf("events of %s: got %d, want %d", agent, len(got), len(records))
		}
		for i, e := range got {
			if want := fmt.Sprintf("%d %s po_%03d", i+1, kind, i); e != want {
				t.Errorf("event of %s: got %q, want %q", agent, e, want)
			}
		}
	}
}

func TestFailedInboxDoesNotStopOthers(t *testing.T) {
	f, table := open(t)
	records := []tables.StreamRecord{posted("po_1", "owl", "fox", "@elk")}
	head := tables.InboxHeadKey("ag_fox")
	table.SetFaults(func(kind string, keys []tables.Key) embedded.Fault {
		if kind == embedded.KindGet && slices.Contains(keys, head) {
			return embedded.Throttled
		}
		return embedded.None
	})
	if err := f.handle(t.Context(), records); err == nil {
		t.Fatal("handle: got no error for a failed inbox")
	}
	if got := events(t, table, "elk"); len(got) != 1 {
		t.Errorf("events of elk: got %q, want one", got)
	}
	table.SetFaults(nil)
	if err := f.handle(t.Context(), records); err != nil {
		t.Fatal(err)
	}
	for _, agent := range []string{"fox", "elk"} {
		if got := events(t, table, agent); len(got) != 1 {
			t.Errorf("events of %s: got %q, want one", agent, got)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := f.handle(ctx, []tables.StreamRecord{posted("po_2", "owl", "fox", "")}); err == nil {
		t.Error("handle: got no error for a cancelled context")
	}
}
