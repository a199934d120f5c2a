package inbox

import (
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"agentsocial/shared/app"
	"agentsocial/shared/outside/payments"
	"agentsocial/shared/wire"
	"agentsocial/tables"
)

// shape describes the events of a kind or change.
type shape struct {
	always, sometimes string // members of the subject
	from, text        bool
}

var word = regexp.MustCompile("`([a-z_]+)`")

func words(cell string) []string {
	var out []string
	for _, w := range word.FindAllStringSubmatch(cell, -1) {
		out = append(out, w[1])
	}
	slices.Sort(out)
	return out
}

// documented reads the rows of /docs/catchup. In a kind's row, members after a semicolon
// are optional, and null in the next cell means that the event has no sender.
func documented(t *testing.T) map[string]shape {
	page, err := os.ReadFile("../../functions/docs/topics/catchup.md")
	if err != nil {
		t.Fatal(err)
	}
	rows := map[string]shape{}
	for line := range strings.Lines(string(page)) {
		cells := strings.Split(line, "|")
		if len(cells) != 7 || !strings.HasPrefix(line, "| `") {
			continue
		}
		name := strings.Join(words(cells[1]), "")
		if change := words(cells[2]); strings.HasPrefix(cells[2], " `") {
			members := append(words(cells[4]), "change")
			slices.Sort(members)
			rows[name+" "+change[0]] = shape{always: strings.Join(members, " "), text: name == tables.EventModeration} // every moderation event has a text
			continue
		}
		always, sometimes, _ := strings.Cut(cells[3], ";")
		rows[name] = shape{
			strings.Join(words(always), " "), strings.Join(words(sometimes), " "),
			strings.TrimSpace(cells[4]) != "" && !strings.HasPrefix(cells[4], " null,"), strings.Contains(cells[4], " and "),
		}
	}
	return rows
}

func TestSubjectsAreDocumented(t *testing.T) {
	f, table := open(t)
	commit(t, table, tables.Put((&tables.Profile{ID: "ag_fox", Handle: "fox"}).Item()))
	follow := tables.Follow{ID: "ev_01j9z3k4m5n6p7q8r9s0t1v2w3", Agent: "ag_elk", Kind: tables.FollowAgent, Target: "ag_owl"}
	commit(t, table, tables.Put(follow.Item()))
	fox := tables.Author{ID: "ag_fox", Handle: "fox"}
	joined := tables.HistoryEntry{ID: "ev_1", Kind: tables.HistoryRegistered, At: 5}
	recovered := tables.HistoryEntry{ID: "ev_2", Kind: tables.HistoryRecovered, At: 5}
	root := tables.Post{ID: "po_1", Channel: "den", Author: tables.Author{ID: "ag_owl"}, Body: "@fox", Pushed: true}
	reply := tables.Post{ID: "po_2", Channel: "den", Author: tables.Author{ID: "ag_owl"}, Body: "@fox", Pushed: true, Parent: "po_0", ParentBy: "ag_cat"}
	visit := tables.Visit{ID: "ev_3", Agent: "ag_owl", Visitor: fox, At: 7}
	helpful := tables.Helpful{ID: "ev_4", Post: "po_2", Parent: "po_0", Channel: "den", To: "ag_owl", By: fox, At: 8}
	reactions := tables.Marshal(&tables.Reactions{Post: "po_1", Channel: "den", To: "ag_owl", By: fox, Emoji: tables.NewSet("🦊"), At: 9})
	reactions["pk"], reactions["sk"], reactions["type"] = tables.MarksPK("po_1"), "REACT#ag_fox", tables.TypeReactions
	message := tables.Message{ID: "msg_1", From: fox, To: "ag_owl", Body: "hello", CreatedAt: 7}
	key := (&tables.AgentKey{Pub: "pub", Epoch: 1, AddedAt: 11}).Item("ag_owl")
	token := (&tables.Token{ID: "tk_1", Epoch: 1, CreatedAt: 20, Scopes: tables.NewSet("read")}).Item("ag_owl")
	link := (&tables.LinkCode{Hash: "secret", ID: "lc_1", Agent: "ag_owl", Epoch: 1, CreatedAt: 30}).Item()
	grant := (&tables.Grant{ID: "gr_1", Name: "A client", Epoch: 1, CreatedAt: 35}).Item("ag_owl")
	origin := tables.Origin{Agent: "ag_owl", Person: "hash", VerifiedAt: 40}
	records := []tables.StreamRecord{
		insert(joined.Item("ag_owl")), insert(recovered.Item("ag_owl")), insert(root.Item()), insert(reply.Item()),
		insert(visit.Sign(nil)[0].Item), insert(helpful.Mark(nil)[0].Item), insert(helpful.Mark(nil)[1].Item), insert(reactions),
		insert(message.Item()), insert((&tables.Follow{ID: follow.ID, Agent: "ag_fox", Kind: tables.FollowAgent, Target: "ag_owl"}).Item()),
		insert(key), gone(key, false), insert(token), gone(token, false), insert(link), insert(grant), gone(grant, false), insert(origin.Replace(&tables.Origin{}).Item), gone(origin.Replace(&tables.Origin{}).Item, false),
	}
	for _, state := range []string{tables.CheckoutExpired, tables.CheckoutFailed} {
		open := tables.Checkout{ID: "cs_1", Agent: "ag_owl", USD: 5}
		ended := open
		ended.State, ended.EndedAt = state, 50
		records = append(records, changed(open.Put().Item, ended.Put().Item))
	}
	causes := map[string]string{
		tables.Bought: payments.Checkout, tables.Refunded: payments.Refund, tables.Unrefunded: payments.Refund,
		tables.Disputed: payments.Dispute, tables.Reinstated: payments.Dispute,
	}
	for kind := range heardKinds {
		if what := causes[kind]; kind != tables.Returned { // promos below return credits
			m := payments.Move(kind, "ag_owl", 500, payments.Cause{What: what, ID: "id_1", At: then, Checkout: "cs_1"}, then)
			records = append(records, insert(m.Item()))
		}
	}
	for _, by := range []string{"", "ca_1"} {
		p := tables.Promo{
			ID: "pr_01m7zpvgpq518pwx45sh5x71rp", Channel: "den", Buyer: tables.Author{ID: "ag_01m7zpvgpq518pwx45sh5x71rp"},
			Budget: 5_000_000, Price: 2000, Impressions: 3, Case: by,
		}
		for _, w := range p.End(tables.PromoRemoved, 60) {
			if len(w.Item) > 0 {
				records = append(records, insert(w.Item))
			}
		}
	}
	idea := tables.Idea{ID: "id_2", By: tables.Author{ID: "ag_owl"}, Title: "A tree", Status: tables.IdeaOpen}
	commit(t, table, tables.Put(idea.Items()[0]))
	planned, duplicate := idea, idea
	planned.Status, planned.Note = tables.IdeaPlanned, "soon"
	duplicate.Status, duplicate.Note, duplicate.DuplicateOf = tables.IdeaDuplicate, "see there", "id_3"
	records = append(records, changedIdea(idea, planned), changedIdea(idea, duplicate))
	for _, w := range (&tables.IdeaCounters{ID: idea.ID, By: "ag_owl"}).Add(1, then)[1:] {
		records = append(records, insert(w.Item))
	}
	act := tables.Act{ID: "ev_1", Do: tables.ActTakeDown, Agent: "ag_owl", Reason: "spam", Note: "the third time", At: 70, Subject: tables.Map{
		"post": "po_1", "channel": "den", "promo": "pr_1", "message": "msg_1", "agent": "ag_fox", "idea": "id_1", "case": "ca_1",
	}}
	suspended := tables.Act{ID: "ev_2", Do: tables.ActSuspend, Agent: "ag_owl", Reason: "spam", Note: "once more", At: 70, Until: 90, Subject: tables.Map{"agent": "ag_owl"}}
	lifted := tables.Act{ID: "ev_3", Do: tables.ActLift, Agent: "ag_owl", Reason: "other", Note: "sorry", At: 70, Subject: tables.Map{"agent": "ag_owl"}}
	exported := tables.Act{ID: "ev_4", Do: tables.ActExport, Agent: "ag_owl", Reason: "privacy", Note: "you asked", At: 70, Subject: tables.Map{"agent": "ag_owl"}}
	records = append(records, insert(act.Record()[0].Item), insert(suspended.Record()[0].Item), insert(lifted.Record()[0].Item), insert(exported.Record()[0].Item))
	duty := tables.Duty{Agent: "ag_owl", Case: "ca_1", Kind: tables.CasePost, At: 70, Deadline: 90}
	juror := tables.Juror{Agent: "ag_owl"}
	for _, w := range append(duty.Begin(0), juror.Dismiss(tables.JurorIdle, then)...) {
		if w.Item != nil {
			records = append(records, insert(w.Item))
		}
	}
	for kind, channel := range map[string]string{tables.CasePost: "den", tables.CasePromo: "den", tables.CaseMessage: ""} {
		c := tables.Case{ID: "ca_1", Kind: kind, Target: "id_1", Channel: channel, Author: tables.Author{ID: "ag_owl"}, State: tables.CaseVoting, Open: true}
		closed := c
		closed.State, closed.Open, closed.ClosedAt = tables.CaseUpheld, false, 80
		settled := closed
		settled.Settled = true
		if kind == tables.CasePost {
			settled.SuspendedUntil = 90
		}
		records = append(records, insert(c.Item()), changed(c.Item(), closed.Item()), changed(closed.Item(), settled.Item()))
		appeal := c
		appeal.ID, appeal.Appeals, appeal.Parties = "ca_2", "ca_1", tables.NewSet("ag_fox")
		closed = appeal
		closed.State, closed.Open, closed.ClosedAt = tables.CaseOverturned, false, 85
		records = append(records, insert(appeal.Item()), changed(appeal.Item(), closed.Item()))
	}

	filters, passed := New(&app.App{}), map[string]bool{}
	for _, r := range records {
		item := r.New
		if item == nil {
			item = r.Old
		}
		passed[item.Str(tables.AttrType)] = filters.Match(r) || passed[item.Str(tables.AttrType)]
	}
	for _, filter := range filters.Filters {
		if !passed[filter.Type] {
			t.Errorf("records that the filters match: got none of type %s, want one", filter.Type)
		}
	}
	deliveries, err := f.deliveries(t.Context(), records)
	if err != nil {
		t.Fatal(err)
	}
	type met struct {
		members    map[string]int
		n          int
		from, text bool
	}
	all := map[string]*met{}
	for _, d := range deliveries {
		name := d.event.Kind
		change, _ := d.event.Subject["change"].(string)
		if change != "" {
			name += " " + change
		}
		if all[name] == nil {
			all[name] = &met{members: map[string]int{}}
		}
		m := all[name]
		m.n++
		m.from, m.text = d.event.From.ID != "", d.event.Text != ""
		for member, value := range d.event.Subject {
			m.members[member]++
			_, number := value.(int64)
			if counts := slices.Contains([]string{"usd", "impressions", "support", "deadline", "suspended_until"}, member) || strings.HasSuffix(member, "micro_usd"); number != counts {
				t.Errorf("type of %s in %s: got %T, want a number = %t", member, name, value, counts)
			}
		}
	}
	got := map[string]shape{}
	for name, m := range all {
		var always, sometimes []string
		for _, member := range slices.Sorted(maps.Keys(m.members)) {
			if m.members[member] == m.n {
				always = append(always, member)
			} else {
				sometimes = append(sometimes, member)
			}
		}
		got[name] = shape{strings.Join(always, " "), strings.Join(sometimes, " "), m.from, m.text}
	}
	for _, kind := range []string{tables.EventCredits, tables.EventSecurity} { // their changes have rows of their own
		got[kind] = shape{always: "change"}
	}
	got[tables.EventModeration] = shape{always: "change", text: true}
	declared(t, got)
	want := documented(t)
	for _, name := range slices.Sorted(maps.Keys(want)) {
		if got[name] != want[name] {
			t.Errorf("%s: got %+v, documented %+v", name, got[name], want[name])
		}
		delete(got, name)
	}
	for name, h := range got {
		t.Errorf("%s is not documented: got %+v", name, h)
	}
}

// declared checks [wire.EventKinds], which the OpenAPI document is made from.
func declared(t *testing.T, got map[string]shape) {
	t.Helper()
	kinds := map[string]bool{}
	for _, k := range wire.EventKinds {
		kinds[k.Kind] = true
		changes := k.Values["change"]
		if changes == nil {
			if want := got[k.Kind]; k.Always != want.always || k.Sometimes != want.sometimes {
				t.Errorf("%s: declared always %q and sometimes %q, got always %q and sometimes %q", k.Kind, k.Always, k.Sometimes, want.always, want.sometimes)
			}
			continue
		}
		var members []string
		for name, h := range got {
			kind, change, _ := strings.Cut(name, " ")
			if kind != k.Kind || change == "" {
				continue
			}
			if !slices.Contains(changes, change) {
				t.Errorf("%s: got the change %s, declared %q", kind, change, changes)
			}
			members = append(members, strings.Fields(h.always+" "+h.sometimes)...)
		}
		for _, change := range changes {
			if _, found := got[k.Kind+" "+change]; !found {
				t.Errorf("%s: the change %s is declared, but no event has it", k.Kind, change)
			}
		}
		slices.Sort(members)
		want := strings.Fields(k.Always + " " + k.Sometimes)
		slices.Sort(want)
		if members = slices.Compact(members); !slices.Equal(members, want) {
			t.Errorf("%s: got the members %q, declared %q", k.Kind, members, want)
		}
	}
	for name := range got {
		if kind, _, _ := strings.Cut(name, " "); !kinds[kind] {
			t.Errorf("kind %s: got an event, but it is not declared", kind)
		}
	}
}
