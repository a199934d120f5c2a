package tables_test

import (
	"slices"
	"testing"
	"time"

	"agentsocial/tables"
	"agentsocial/tables/embedded"
)

func openCase(t *testing.T, table *embedded.Table) *tables.Case {
	t.Helper()
	c := &tables.Case{ID: "ca_1", Kind: tables.CasePost, Target: "po_1", Channel: "den", Openers: tables.NewSet("a person"), State: tables.CaseVoting, Open: true, Filled: 5}
	known := &tables.Reported{Target: c.Target, Case: c.ID, State: tables.CaseSeating}
	commit(t, table, tables.Put(tables.CountersItem(fox, &tables.Counters{})), tables.Put(tables.CountersItem("ag_owl", &tables.Counters{})))
	commit(t, table, c.Count("a person", 3, nil)[0], c.Begin(), known.Keep())
	return c
}

func TestCaseKeep_ChangedSinceRead(t *testing.T) {
	for name, w := range map[string]tables.Write{
		"joined by a party":    tables.JoinCase("ca_1", "ag_owl", "a domain", true),
		"joined by a reporter": tables.JoinCase("ca_1", "ag_owl", "a domain", false),
		"lost a juror":         tables.LoseJuror("ca_1", noon),
		"kept":                 (&tables.Case{ID: "ca_1", Open: true}).Keep(),
	} {
		t.Run(name, func(t *testing.T) {
			table := openTable(t)
			c := openCase(t, table)
			commit(t, table, w)
			if got := refused(t, table, c.Keep()); !slices.Equal(got, []int{0}) {
				t.Errorf("refused writes: got %v, want [0]", got)
			}
		})
	}
}

func TestCase_Closed(t *testing.T) {
	table := openTable(t)
	c := openCase(t, table)
	commit(t, table, c.Close(tables.CaseLapsed, noon, new(bool), nil)[:3]...) // there is no post to unmark
	for name, w := range map[string]tables.Write{"join": tables.JoinCase(c.ID, "ag_owl", "", true), "lose a juror": tables.LoseJuror(c.ID, noon)} {
		if got := refused(t, table, w); !slices.Equal(got, []int{0}) {
			t.Errorf("%s: refused writes: got %v, want [0]", name, got)
		}
	}
}

func TestOpenCases(t *testing.T) {
	table := openTable(t)
	c := openCase(t, table)
	open := func() int64 { return get(t, table, tables.OpenCasesKey("a person")).Int("n") }
	commit(t, table, c.Count("a person", 3, nil)...)
	commit(t, table, c.Count("a person", 3, nil)...)
	if got := refused(t, table, c.Count("a person", 3, nil)...); !slices.Equal(got, []int{0}) || open() != 3 {
		t.Errorf("fourth case: got refused writes %v, %d open; want [0], 3", got, open())
	}
	again := *c
	commit(t, table, c.Close(tables.CaseLapsed, noon, new(bool), nil)[:3]...)
	if got := refused(t, table, again.Close(tables.CaseOverturned, noon, new(bool), nil)[:3]...); !slices.Contains(got, 0) || open() != 2 {
		t.Errorf("second close: got refused writes %v, %d open; want write 0 refused, 2 open", got, open())
	}
}

// Of two draws that read the same number of duties, one gets the agent.
func TestDuties_OneRead(t *testing.T) {
	table := openTable(t)
	openCase(t, table)
	for n := range int64(2) {
		one, other := tables.Duty{Agent: fox, Case: "ca_a" + string('0'+rune(n))}, tables.Duty{Agent: fox, Case: "ca_b" + string('0'+rune(n))}
		commit(t, table, one.Begin(n)...)
		if got := refused(t, table, other.Begin(n)...); !slices.Equal(got, []int{1}) {
			t.Errorf("with %d duties: refused writes: got %v, want [1]", n, got)
		}
	}
	if n := get(t, table, tables.CountersKey(fox)).Int("duties"); n != 2 {
		t.Errorf("duties in the counters: got %d, want 2", n)
	}
	nobody := tables.Duty{Agent: "ag_nobody", Case: "ca_1"}
	if got := refused(t, table, nobody.Begin(0)...); !slices.Equal(got, []int{1}) {
		t.Errorf("duty of an agent that does not exist: refused writes: got %v, want [1]", got)
	}
}

func TestSuspend_Concurrent(t *testing.T) {
	table := openTable(t)
	p := &tables.Profile{ID: fox, Handle: "fox", State: tables.StateActive}
	if got := refused(t, table, p.Suspend(noon.UnixMilli())); !slices.Equal(got, []int{0}) {
		t.Errorf("suspension of a missing profile: refused writes: got %v, want [0]", got)
	}
	commit(t, table, tables.Put(p.Item()))
	long := noon.Add(14 * 24 * time.Hour).UnixMilli()
	commit(t, table, p.Suspend(long))
	if got := refused(t, table, p.Suspend(noon.UnixMilli())); !slices.Equal(got, []int{0}) {
		t.Errorf("second suspension from one read: refused writes: got %v, want [0]", got)
	}
	p.SuspendedUntil = long
	commit(t, table, p.Suspend(noon.UnixMilli())) // keeps the longer one
	if until := get(t, table, tables.ProfileKey(fox)).Int("suspended_until"); until != long {
		t.Errorf("suspended_until: got %d, want %d", until, long)
	}
}

func TestJurorMiss_OncePerDay(t *testing.T) {
	table := openTable(t)
	today := noon.Truncate(24 * time.Hour).UnixMilli()
	j := &tables.Juror{Agent: fox, Place: "00", Owner: "an owner"}
	commit(t, table, tables.Put(j.Item()))
	commit(t, table, j.Miss(today))
	if got := refused(t, table, j.Miss(today+1)); !slices.Equal(got, []int{0}) {
		t.Errorf("second miss from one read: refused writes: got %v, want [0]", got)
	}
	j.Missed = 1
	for _, day := range []int64{today, today - 1} {
		if got := refused(t, table, j.Miss(day)); !slices.Equal(got, []int{0}) {
			t.Errorf("miss of day %d after one of day %d: refused writes: got %v, want [0]", day, today, got)
		}
	}
	commit(t, table, j.Miss(today+1))
	if got := get(t, table, tables.JurorKey(fox)); got.Int("missed") != 2 || got.Int("missed_on") != today+1 {
		t.Errorf("got juror %v, want missed 2 and missed_on %d", got, today+1)
	}
}

// After its case is closed, a message keeps the mark and a post does not.
func TestCaseMark(t *testing.T) {
	table := openTable(t)
	post := &tables.Post{ID: "po_1", Channel: "den"}
	message := &tables.Message{ID: "msg_1", From: owl, To: fox}
	commit(t, table, tables.Put(post.CountersItem()), tables.Put(message.Item()))
	for key, c := range map[tables.Key]*tables.Case{
		tables.PostCountersKey("den", "po_1"):   {ID: "ca_1", Kind: tables.CasePost, Target: "po_1", Channel: "den"},
		tables.MessageKey(owl.ID, fox, "msg_1"): {ID: "ca_1", Kind: tables.CaseMessage, Target: "msg_1", Author: owl, Receiver: fox},
	} {
		commit(t, table, c.Mark()...)
		if marked := get(t, table, key).Str("case"); marked != c.ID {
			t.Errorf("mark of the %s: got %q, want %q", c.Kind, marked, c.ID)
		}
		for _, w := range c.Unmark() {
			commit(t, table, w)
		}
		if marked := get(t, table, key).Str("case"); (marked == "") != (c.Kind == tables.CasePost) {
			t.Errorf("mark of the %s after the close: got %q, want it kept: %t", c.Kind, marked, c.Kind != tables.CasePost)
		}
	}
}

func TestCaseRemove_Post(t *testing.T) {
	table := openTable(t)
	p := &tables.Post{ID: "po_01j9z3k4m5n6p7q8r9s0t1v2w3", Channel: "den", Body: "Buy!", Author: tables.Author{ID: "ag_elk"}, CreatedAt: noon.UnixMilli()}
	counters := p.CountersItem()
	commit(t, table, tables.Put(p.Item()), tables.Put(counters))
	c := &tables.Case{ID: "ca_1", Kind: tables.CasePost, Target: p.ID, Channel: "den", ClosedAt: noon.UnixMilli()}
	commit(t, table, c.Mark()...)
	before, ranked := get(t, table, tables.PostKey("den", p.ID)), get(t, table, tables.PostCountersKey("den", p.ID))
	if before.Str("body") == "" || before.Str("author_pk") == "" || ranked.Str("rank_pk") == "" || ranked.Str("case") != c.ID {
		t.Fatalf("before the removal: got post %v, counters %v; want text, listings and a mark", before, ranked)
	}
	commit(t, table, c.Remove(new(bool))...)
	after, unranked := get(t, table, tables.PostKey("den", p.ID)), get(t, table, tables.PostCountersKey("den", p.ID))
	for _, attr := range []string{"body", "author_pk", "author_sk"} {
		if after[attr] != nil {
			t.Errorf("got post with %s, want it removed", attr)
		}
	}
	for _, attr := range []string{"rank_pk", "rank_sk", "case"} {
		if unranked[attr] != nil {
			t.Errorf("got counters with %s, want it removed", attr)
		}
	}
	if !after.Bool("deleted") || after.Str("case") != c.ID || after.Int("deleted_at") != c.ClosedAt {
		t.Errorf("got tombstone %v, want deleted at %d by %s", after, c.ClosedAt, c.ID)
	}
}

func TestCase_Recuses(t *testing.T) {
	for name, c := range map[string]struct {
		state, appeals string
		want           bool
	}{
		"upheld": {tables.CaseUpheld, "", true}, "overturned": {tables.CaseOverturned, "", false}, "upheld appeal": {tables.CaseUpheld, "ca_0", false},
	} {
		k := &tables.Case{ID: "ca_1", Kind: tables.CasePost, Appeals: c.appeals, Openers: tables.NewSet("opener"), Barred: tables.NewSet("joiner")}
		k.Close(c.state, noon, new(bool), nil)
		for owner, want := range map[string]bool{"opener": c.want, "joiner": c.want, "another": false, "": false} {
			if got := k.Recuses(owner); got != want {
				t.Errorf("%s: Recuses(%q) = %t, want %t", name, owner, got, want)
			}
		}
	}
}
