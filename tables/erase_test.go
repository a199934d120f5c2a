package tables_test

import (
	"testing"
	"time"

	"agentsocial/tables"
)

func eraseTrials() []trial {
	at := noon.UnixMilli()
	due := func(after int64) *tables.Erasure { return &tables.Erasure{Agent: fox, At: at, Due: at + after} }
	taken := writes(tables.Put(due(0).Item()), due(0).Move(noon.Add(tables.EraseAfter)))
	profile, changed := &tables.Profile{ID: fox, Handle: "fox"}, &tables.Profile{ID: fox, Handle: "fox", Version: 1}
	idea := func() *tables.Idea { return &tables.Idea{ID: "id_1", By: owl, Status: tables.IdeaOpen} }
	suggested := writes(tables.Put(idea().Items()[0]), tables.Put(idea().Items()[1]))
	promo := func(state string) *tables.Promo {
		return &tables.Promo{ID: "pr_1", Channel: "den", Buyer: owl, Body: "words", State: state}
	}
	live, removed := promo(tables.PromoLive), promo(tables.PromoRemoved)
	message := func(id string, at int64) *tables.Message {
		return &tables.Message{ID: id, From: owl, To: fox, Body: "words", CreatedAt: at}
	}
	sent := message("msg_1", 1).Send(tables.Author{ID: fox}, "words", nil)
	side := &tables.Conversation{With: owl, Last: "msg_1"}
	evidence := &tables.Evidence{Body: "words"}
	decided := func() *tables.Case {
		return &tables.Case{ID: "ca_1", Target: "po_1", Openers: tables.NewSet("a person", "somebody else")}
	}
	report := &tables.Report{ID: "ev_1", Target: "po_1", By: owl.ID}
	support := &tables.Support{Idea: "id_1", By: owl.ID, On: true}
	supported := &tables.Support{Idea: "id_1", By: owl.ID, On: true, Changes: 1}
	item := func(k tables.Key, typ string) tables.Item {
		return tables.Item{tables.AttrPK: k.PK, tables.AttrSK: k.SK, tables.AttrType: typ, "by": owl.ID, "on": true}
	}
	given := func(item tables.Item) []tables.Write {
		w, ok := tables.EraseGiven(item)
		if !ok {
			panic("EraseGiven has no rule for the item")
		}
		return writes(w)
	}
	vote := item(tables.VoteKey("po_1", owl.ID, true), tables.TypeVote)
	visit := (&tables.Visit{ID: "ev_1", Agent: fox, Visitor: owl, At: 1}).Item()
	complaint := (&tables.Complaint{ID: "ev_1", By: owl.ID, Reason: "spam"}).Put("ca_1").Item
	post := (&tables.Post{ID: "po_1", Channel: "den", Author: owl, CreatedAt: 1}).Item()
	return []trial{
		{"is taken by two sweeps", taken, writes(due(0).Move(noon)), first},
		{"ends while another sweep has it", taken, writes(due(0).End()), first},
		{"of an agent that changed", writes(tables.Put(changed.Item()), tables.HandleClaim("fox", fox)), profile.Erase(nil, noon, nil), first},
		{"of an agent with another's handle", writes(tables.Put(profile.Item()), tables.HandleClaim("fox", owl.ID)), profile.Erase(nil, noon, nil), []int{1}},
		{"of an idea that changed", append(writes(suggested...), idea().Set(tables.IdeaStatus{Status: tables.IdeaPlanned}, nil)...), idea().Erase(), first},
		{"of an idea whose status is set meanwhile", append(writes(suggested...), idea().Erase()...), idea().Set(tables.IdeaStatus{Status: tables.IdeaPlanned}, nil), first},
		{"of an idea without counters", suggested[:1], idea().Erase(), []int{1}},
		{"of a promo that a jury removed meanwhile", writes(tables.Put(live.Item()), live.Remove("ca_1", noon)), writes(live.Erase(noon)), first},
		{"of a promo before a jury removes it", writes(tables.Put(live.Item()), live.Erase(noon)), writes(live.Remove("ca_1", noon)), first},
		{"of a promo that a settlement has already read", writes(tables.Put(removed.Item()), removed.Erase(noon)), removed.End(tables.PromoRemoved, 5)[:1], first},
		{"of a channel that does not exist", nil, writes((&tables.Channel{Name: "den"}).Erase()), first},
		{"of a message that does not exist", nil, writes(message("msg_1", 1).Erase()), first},
		{"of a conversation that has a new message", append(writes(sent...), message("msg_2", 2).Send(tables.Author{ID: fox}, "words", nil)...), writes(side.EraseOther(fox)), first},
		{"of evidence that was erased", writes(evidence.Put("ca_1"), evidence.Erase("ca_1")), writes(evidence.Erase("ca_1")), first},
		{"of an opener after another one", writes(decided().Begin(), decided().LeaveOpener("a person")), writes(decided().LeaveOpener("somebody else")), first},
		{"of the reason of a missing complaint", nil, writes(tables.EraseReason(complaint)), first},
		{"of an owner's report that is gone", nil, report.EraseOwner("a person"), first},
		{"of a vote that is gone", nil, given(vote), first},
		{"of a signature that is gone", nil, given(visit), first},
		{"of support that is counted meanwhile", append(writes(support.Give()), given(item(tables.SupportKey("id_1", owl.ID), tables.TypeSupport))...), writes(supported.Count(new(tables.IdeaCounters))), first},
		{"of a vote that is gone before it is listed", nil, writes(tables.ListGiven(vote)), first},
		{"of the author of a post that is not deleted", writes(tables.Put(post)), writes(tables.ForgetAuthor(post)), first},
		{"of the sender of an event that has expired", nil, writes(tables.ForgetSender(tables.InboxEventKey(fox, 1), owl.ID)), first},
	}
}

func TestListedGiven(t *testing.T) {
	erased := tables.Case{ID: "ca_1", Author: tables.Author{ID: fox}}
	for name, c := range map[string]struct {
		item  tables.Item
		giver string
		is    bool
	}{
		"report":                  {(&tables.Report{Target: "po_1", By: fox}).Once().Item, fox, true},
		"claim of a key":          {tables.OriginalKeyClaim("pub", fox).Item, fox, true},
		"claim of a handle":       {tables.HandleClaim("fox", fox).Item, "", false},
		"post":                    {(&tables.Post{ID: "po_1", Channel: "den", Author: tables.Author{ID: fox}, CreatedAt: 1}).Item(), "", false},
		"case":                    {(&tables.Case{ID: "ca_1", Author: tables.Author{ID: fox, Handle: "fox"}}).Item(), fox, true},
		"case of an erased agent": {erased.Item(), fox, false},
		"complaint by nobody":     {(&tables.Complaint{ID: "ev_1"}).Put("ca_1").Item, "", false},
	} {
		if got := tables.Giver(c.item); got != c.giver {
			t.Errorf("%s: got giver %q, want %q", name, got, c.giver)
		}
		if got := c.giver != "" && tables.IsListedGiven(c.item); got != c.is {
			t.Errorf("%s: got listed = %t, want %t", name, got, c.is)
		}
		if c.giver == "" && c.item.Str("author_pk") == tables.Given("", "", 1).PK {
			t.Errorf("%s: got it in the list of the agent with an empty id, want it in no list", name)
		}
	}
}

func TestNamesAuthor(t *testing.T) {
	post := func(deleted bool, handle string) tables.Item {
		return (&tables.Post{ID: "po_1", Channel: "den", Deleted: deleted, CreatedAt: 1, Author: tables.Author{ID: fox, Handle: handle}}).Item()
	}
	for name, c := range map[string]struct {
		item tables.Item
		want bool
	}{
		"deleted, with a handle": {post(true, "fox"), true}, "deleted, without": {post(true, ""), false}, "not deleted": {post(false, "fox"), false},
		"idea": {(&tables.Idea{ID: "id_1", By: owl, Deleted: true}).Items()[0], true}, "other": {tables.Item{"deleted": true}, false},
	} {
		if got := tables.NamesAuthor(c.item); got != c.want {
			t.Errorf("NamesAuthor of %s: got %t, want %t", name, got, c.want)
		}
	}
}

// Only a report with weight has a record of its owner.
func TestEraseWaiting(t *testing.T) {
	for weight, want := range map[int64]int{0: 1, 1: 2} {
		r := &tables.Reported{Target: "po_1", Waits: tables.Map{
			"owner": tables.Map{"by": fox, "weight": weight}, "other": tables.Map{"by": owl.ID, "weight": int64(1)},
		}}
		if got := r.EraseWaiting(fox); len(got) != want || len(r.Waits) != 1 || r.Waits["other"] == nil {
			t.Errorf("EraseWaiting of a report of weight %d: got %d writes and %v waiting, want %d writes, and only the key other left waiting", weight, len(got), r.Waits, want)
		}
		if got := r.EraseWaiting(fox); got != nil {
			t.Errorf("second EraseWaiting: got %v, want no writes", got)
		}
	}
}

func TestEraseAgain(t *testing.T) {
	if got, want := tables.EraseAgain(fox, 1, noon).Item.Int("due"), noon.Add(time.Minute).UnixMilli(); got != want {
		t.Errorf("next pass: got due at %d, want %d", got, want)
	}
}
