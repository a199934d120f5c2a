package tables_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"agentsocial/tables"
)

const day = 24 * time.Hour

func TestWeighs(t *testing.T) {
	for _, c := range []struct {
		age      time.Duration
		karma, v int64
		want     bool
	}{
		{day, 0, 1, true}, {day - time.Millisecond, 100, 1, false}, {day, -5, 1, true},
		{day, 0, -1, false}, {day, 1, -1, true}, {day - time.Millisecond, 1, -1, false}, {day, 0, 0, true},
	} {
		p := &tables.Profile{CreatedAt: noon.Add(-c.age).UnixMilli()}
		if got := tables.Weighs(p, c.karma, c.v, noon); got != c.want {
			t.Errorf("voter of age %v with %d karma, vote %d: got Weighs = %t, want %t", c.age, c.karma, c.v, got, c.want)
		}
	}
}

func TestKarmaSlots(t *testing.T) {
	type vote struct {
		post string
		day  int
	}
	for name, c := range map[string]struct {
		votes []vote
		took  []bool
	}{
		"three":            {[]vote{{"a", 0}, {"b", 1}, {"c", 29}, {"d", 29}}, []bool{true, true, true, false}},
		"a month later":    {[]vote{{"a", 0}, {"b", 1}, {"c", 2}, {"d", 30}, {"e", 30}, {"f", 31}}, []bool{true, true, true, true, false, true}},
		"late":             {[]vote{{"a", 31}, {"b", 32}, {"c", 33}, {"d", 4}, {"e", 20}, {"f", 1}}, []bool{true, true, true, false, false, true}},
		"long after":       {[]vote{{"a", 0}, {"b", 0}, {"c", 0}, {"d", 100}, {"e", 100}, {"f", 100}, {"g", 100}}, []bool{true, true, true, true, true, true, false}},
		"late, long after": {[]vote{{"a", 29}, {"b", 29}, {"c", 29}, {"d", 88}, {"e", 29}}, []bool{true, true, true, true, false}},
	} {
		var s tables.KarmaSlots
		var took []bool
		for _, v := range c.votes {
			at := noon.Add(time.Duration(v.day) * day).UnixMilli()
			ok := s.Take(v.post, at)
			took = append(took, ok)
			if s.Holds(v.post, at) != ok {
				t.Errorf("%s: Holds(%s): got %v, want %v", name, v.post, !ok, ok)
			}
		}
		if !slices.Equal(took, c.took) {
			t.Errorf("%s: votes that took a slot: got %v, want %v", name, took, c.took)
		}
	}
	s := tables.KarmaSlots{}
	s.Take("a", noon.UnixMilli())
	if !s.Holds("a", noon.Add(30*day-time.Millisecond).UnixMilli()) || s.Holds("a", noon.Add(30*day).UnixMilli()) || s.Holds("b", noon.UnixMilli()) {
		t.Errorf("slots: got %+v, want post a to hold a slot for less than 30 days, and post b none", s)
	}
}

func TestKarmaSlots_OneRead(t *testing.T) {
	table := openTable(t)
	for i := range 2 {
		read := func() (s tables.KarmaSlots) {
			if err := tables.Unmarshal(get(t, table, tables.KarmaSlotsKey("ag_owl", "ag_fox")), &s); err != nil {
				t.Fatal(err)
			}
			return s
		}
		one, other := read(), read()
		one.Take(fmt.Sprint("po_1", i), noon.UnixMilli())
		other.Take(fmt.Sprint("po_2", i), noon.UnixMilli())
		if r := refused(t, table, one.Keep("ag_owl", "ag_fox")); r != nil {
			t.Fatalf("round %d: refused writes: got %v, want none", i, r)
		}
		if r := refused(t, table, other.Keep("ag_owl", "ag_fox")); r == nil {
			t.Fatalf("round %d: second write based on one read: got it accepted, want it refused", i)
		}
	}
	if typ := get(t, table, tables.KarmaSlotsKey("ag_owl", "ag_fox")).Str(tables.AttrType); typ != tables.TypeQuota {
		t.Errorf("item type of karma slots: got %q, want %q", typ, tables.TypeQuota)
	}
}

func TestHelpfulOf(t *testing.T) {
	table := openTable(t)
	key := tables.HelpfulDaysKey("ag_fox")
	for d := range 3 {
		now := noon.Add(time.Duration(d) * day)
		for i := range 4 {
			r := refused(t, table, tables.HelpfulOf("ag_fox", 3, get(t, table, key), now))
			if (r == nil) != (i < 3) {
				t.Errorf("day %d, mark %d: refused writes: got %v, want some only after 3 marks", d, i+1, r)
			}
		}
		item := get(t, table, key)
		if tables.HelpfulMarked(item, now) != 3 || tables.HelpfulMarked(item, now.Add(day)) != 0 {
			t.Errorf("day %d: got %v, want 3 marks of this day, none of the next", d, item)
		}
		if len(item) != 5 { // pk, sk, type, ttl and this day
			t.Errorf("day %d: got %v, want 5 attributes", d, item)
		}
		if ttl := time.Unix(item.Int(tables.AttrTTL), 0); !ttl.After(now.Truncate(day).Add(day)) {
			t.Errorf("day %d: got ttl %v, want a time after the day", d, ttl)
		}
	}
}

func TestTally_ChangedSinceRead(t *testing.T) {
	for _, apart := range []bool{false, true} {
		t.Run(fmt.Sprintf("apart %v", apart), func(t *testing.T) { testTally(t, apart) })
	}
}

func testTally(t *testing.T, apart bool) {
	post := &tables.Post{ID: "po_1", Channel: "den", Author: tables.Author{ID: "ag_fox"}, CreatedAt: noon.UnixMilli()}
	v := &tables.Vote{Post: post.ID, Apart: apart, Channel: "den", To: "ag_fox", By: "ag_owl", V: 1, At: 1}
	re := &tables.Reactions{Post: post.ID, Apart: apart, Channel: "den", To: "ag_fox", By: tables.Author{ID: "ag_owl"}, At: 1}
	h := &tables.Helpful{ID: "ev_1", Post: post.ID, Channel: "den", To: "ag_fox", At: 1}
	for name, c := range map[string]struct {
		meanwhile tables.Write
		refused   []int
	}{
		"nothing":           {tables.Put(tables.Item{"pk": "x", "sk": "y"}), nil},
		"a vote":            {v.Cast(), []int{0}},
		"a reaction":        {re.React("🦊"), []int{1}},
		"a reaction undone": {re.Unreact("🦉"), []int{1}},
		"vote counted":      {(&tables.Vote{Post: post.ID, Apart: apart, By: "ag_owl", Changes: 1}).Count(&tables.PostCounters{}), []int{0}},
		"reactions counted": {(&tables.Reactions{Post: post.ID, Apart: apart, By: re.By, Changes: 1}).Count(nil), []int{1}},
		"helpful counted":   {h.Count(5), []int{2}},
		"a tally":           {(&tables.PostCounters{}).Retally("den", post.ID, post.CountersItem()), []int{3}},
		"a deletion":        {post.Unrank(), []int{3}},
		"a reply":           {tables.AddReplies("den", post.ID, 1), nil},
	} {
		table := openTable(t)
		commit(t, table, append(h.Mark(nil), tables.Put(post.CountersItem()), v.Cast(), re.React("🦉"))...)
		var vote tables.Vote
		var reactions tables.Reactions
		if err := tables.Unmarshal(get(t, table, tables.VoteKey(post.ID, "ag_owl", apart)), &vote); err != nil {
			t.Fatal(err)
		}
		if err := tables.Unmarshal(get(t, table, tables.ReactionsKey(post.ID, "ag_owl", apart)), &reactions); err != nil {
			t.Fatal(err)
		}
		k := tables.PostCounters{Score: 1}
		writes := []tables.Write{
			vote.Count(&k), reactions.Count(reactions.Emoji), h.Count(5), k.Retally("den", post.ID, post.CountersItem()),
		}
		commit(t, table, c.meanwhile)
		if r := refused(t, table, writes...); !slices.Equal(r, c.refused) {
			t.Errorf("%s: refused writes: got %v, want %v", name, r, c.refused)
		}
	}
}
