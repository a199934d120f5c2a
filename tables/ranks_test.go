package tables_test

import (
	"testing"

	"agentsocial/tables"
)

// updated returns what a write does to an attribute; nil if nothing.
func updated(w tables.Write, attr string) *tables.Update {
	for i, u := range w.Updates {
		if u.Attr == attr {
			return &w.Updates[i]
		}
	}
	return nil
}

// A helpful mark is worth three votes: a score of -5 with two marks has the rank 1.
func TestRanks(t *testing.T) {
	p := &tables.Post{ID: "po_1", Channel: "den", CreatedAt: noon.UnixMilli()}
	k := &tables.PostCounters{Score: -5, Helpful: 2}
	writes := p.Restore(&tables.Case{ID: "ca_1"}, "ca_2", "text", k)
	if u := updated(writes[0], "restored"); u == nil || u.Value != int64(1) {
		t.Errorf("update of restored: got %+v, want the value 1", u)
	}
	retallied := k.Retally("den", p.ID, p.CountersItem())
	for name, w := range map[string]tables.Write{"restore": writes[1], "retally": retallied} {
		if u := updated(w, "rank_sk"); u == nil || u.Value != tables.BestSK(1, p.ID) || u.Value != "1000000001#po_1" {
			t.Errorf("rank after %s: got %+v, want %s", name, u, tables.BestSK(1, p.ID))
		}
	}
	if got := p.CountersItem().Str("rank_sk"); got != "1000000000#po_1" {
		t.Errorf("new post's rank: got %s, want 1000000000#po_1", got)
	}
}

func TestEmptyAttributes(t *testing.T) {
	none := &tables.PostCounters{}
	some := &tables.PostCounters{Reactions: tables.Map{"🦊": int64(1)}}
	for name, c := range map[string]struct {
		w    tables.Write
		attr string
		want tables.UpdateOp
	}{
		"no reaction":  {none.Retally("den", "po_1", nil), "reactions", tables.UpdRemove},
		"one reaction": {some.Retally("den", "po_1", nil), "reactions", tables.UpdSet},
	} {
		if u := updated(c.w, c.attr); u == nil || u.Op != c.want {
			t.Errorf("update of reactions with %s: got %+v, want operation %d", name, u, c.want)
		}
	}
	for note, want := range map[string]bool{"": false, "Because.": true} {
		s := &tables.Seat{Case: "ca_1", Juror: tables.Author{ID: fox}, Note: note}
		u := updated(s.Vote(), "note")
		if has := u != nil && u.Op == tables.UpdSet; has != want {
			t.Errorf("vote with the note %q: update of note: got %+v, want the note stored = %t", note, u, want)
		}
	}
	push := tables.Push("po_1", nil, noon).Item
	if one := tables.Push("po_1", []string{fox}, noon).Item; push["to"] != nil || one["to"] == nil {
		t.Errorf("followers of pushes: got %v and %v, want none and one", push["to"], one["to"])
	}
	for _, waits := range []tables.Map{nil, {"owner": tables.Map{"id": "ev_1", "at": int64(1)}}} {
		item := (&tables.Reported{Target: "po_1", Waits: waits}).Keep().Item
		if (item["rank_pk"] != nil) != (waits != nil) {
			t.Errorf("item with %d waiting reports: got %v, want rank_pk only if one waits", len(waits), item)
		}
	}
	if p := (&tables.Profile{ID: fox, SuspendedUntil: 5}).Lift(); updated(p, "suspended_until").Op != tables.UpdRemove {
		t.Errorf("lifted suspension: got %+v, want suspended_until removed", p.Updates)
	}
	u := &tables.Upheld{Agent: fox}
	u.Add("ca_1", noon, nil, 3, noon, 0)
	u.Add("ca_2", noon, []string{"a"}, 3, noon, 0)
	if u.Owners["ca_1"] != nil || u.Owners["ca_2"] == nil {
		t.Errorf("owners: got %v, want only those of ca_2", u.Owners)
	}
}

func TestReadBestSK(t *testing.T) {
	for sk, want := range map[string]int64{tables.BestSK(7, "po_1"): 7, tables.BestSK(-7, "po_1"): -7} {
		if rank, post, ok := tables.ReadBestSK(sk); rank != want || post != "po_1" || !ok {
			t.Errorf("ReadBestSK(%q): got %d, %q, %t, want %d, po_1, true", sk, rank, post, ok, want)
		}
	}
	for _, sk := range []string{"", "x#po_1", "1000000007#", "7#po_1"} {
		if rank, post, ok := tables.ReadBestSK(sk); rank != 0 || post != "" || ok {
			t.Errorf("ReadBestSK(%q): got %d, %q, %t, want 0, no post, false", sk, rank, post, ok)
		}
	}
}

func TestReported_Waiting(t *testing.T) {
	r := &tables.Reported{Target: "po_1", Waits: tables.Map{
		"a": tables.Map{"id": "ev_3", "at": int64(2)}, "b": tables.Map{"id": "ev_2", "at": int64(2)}, "c": tables.Map{"id": "ev_9", "at": int64(1)},
	}}
	var got []string
	for _, item := range r.Waiting() {
		got = append(got, item.Str("id"))
	}
	if len(got) != 3 || got[0] != "ev_9" || got[1] != "ev_2" || got[2] != "ev_3" {
		t.Errorf("waiting: got %q, want ev_9, ev_2, ev_3", got)
	}
}
