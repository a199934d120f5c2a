package tables_test

import (
	"slices"
	"testing"
	"time"

	"agentsocial/tables"
	"agentsocial/tables/embedded"
)

// opened puts a case that is open, and its opener's and a juror's counters.
func opened(t *testing.T, table *embedded.Table) *tables.Case {
	t.Helper()
	c := &tables.Case{ID: "ca_1", Kind: tables.CasePost, Target: "po_1", Channel: "den", Openers: tables.NewSet("a person"), State: tables.CaseVoting, Open: true, Filled: 5}
	known := &tables.Reported{Target: c.Target, Case: c.ID, State: tables.CaseSeating}
	commit(t, table, tables.Put(tables.CountersItem(fox, &tables.Counters{})), tables.Put(tables.CountersItem("ag_owl", &tables.Counters{})))
	commit(t, table, c.Count("a person", 3, nil)[0], c.Begin(), known.Keep())
	return c
}

// What changes a case without reading it overtakes whoever has read it: else the
// latter would put back what it read.
func TestCaseIsOvertaken(t *testing.T) {
	for name, w := range map[string]tables.Write{
		"by one who joins it":    tables.JoinCase("ca_1", "ag_owl", true),
		"by one who joins late":  tables.JoinCase("ca_1", "ag_owl", false),
		"by a juror it loses":    tables.LoseJuror("ca_1", noon),
		"by another who read it": (&tables.Case{ID: "ca_1", Open: true}).Keep(),
	} {
		t.Run(name, func(t *testing.T) {
			table := openTable(t)
			c := opened(t, table)
			commit(t, table, w)
			if got := refused(t, table, c.Keep()); !slices.Equal(got, []int{0}) {
				t.Errorf("what was read before is written: refused are %v", got)
			}
		})
	}
}

// Nobody joins a case that is closed, and no juror of it is lost.
func TestClosedCase(t *testing.T) {
	table := openTable(t)
	c := opened(t, table)
	commit(t, table, c.Close(tables.CaseLapsed, noon, new(bool), nil)[:3]...) // there is no post to unmark
	for _, w := range []tables.Write{tables.JoinCase(c.ID, "ag_owl", true), tables.LoseJuror(c.ID, noon)} {
		if got := refused(t, table, w); !slices.Equal(got, []int{0}) {
			t.Errorf("refused are %v", got)
		}
	}
}

// Whoever is behind an agent has so many open cases that it opened, and one less for each that is
// closed, once.
func TestOpenCases(t *testing.T) {
	table := openTable(t)
	c := opened(t, table)
	open := func() int64 { return get(t, table, tables.OpenCasesKey("a person")).Int("n") }
	commit(t, table, c.Count("a person", 3, nil)...)
	commit(t, table, c.Count("a person", 3, nil)...)
	if got := refused(t, table, c.Count("a person", 3, nil)...); !slices.Equal(got, []int{0}) || open() != 3 {
		t.Errorf("refused are %v, open are %d", got, open())
	}
	again := *c
	commit(t, table, c.Close(tables.CaseLapsed, noon, new(bool), nil)[:3]...)
	if got := refused(t, table, again.Close(tables.CaseOverturned, noon, new(bool), nil)[:3]...); !slices.Contains(got, 0) || open() != 2 {
		t.Errorf("refused are %v, open are %d", got, open())
	}
}

// Of two juries that one agent is drawn for at once, from one reading of its
// duties, one has it.
func TestDutiesAreCounted(t *testing.T) {
	table := openTable(t)
	opened(t, table)
	for n := range int64(2) {
		one, other := tables.Duty{Agent: fox, Case: "ca_a" + string('0'+rune(n))}, tables.Duty{Agent: fox, Case: "ca_b" + string('0'+rune(n))}
		commit(t, table, one.Begin(n)...)
		if got := refused(t, table, other.Begin(n)...); !slices.Equal(got, []int{1}) {
			t.Errorf("with %d duties: refused are %v", n, got)
		}
	}
	if n := get(t, table, tables.CountersKey(fox)).Int("duties"); n != 2 {
		t.Errorf("%d duties", n)
	}
	nobody := tables.Duty{Agent: "ag_nobody", Case: "ca_1"}
	if got := refused(t, table, nobody.Begin(0)...); !slices.Equal(got, []int{1}) {
		t.Errorf("an agent that does not exist has a duty: refused are %v", got)
	}
}

// A suspension does not end another that came meanwhile, nor begins an agent.
func TestSuspendedMeanwhile(t *testing.T) {
	table := openTable(t)
	p := &tables.Profile{ID: fox, Handle: "fox", State: tables.StateActive}
	if got := refused(t, table, p.Suspend(noon.UnixMilli())); !slices.Equal(got, []int{0}) {
		t.Errorf("refused are %v", got)
	}
	commit(t, table, tables.Put(p.Item()))
	long := noon.Add(14 * 24 * time.Hour).UnixMilli()
	commit(t, table, p.Suspend(long))
	if got := refused(t, table, p.Suspend(noon.UnixMilli())); !slices.Equal(got, []int{0}) {
		t.Errorf("the second of one reading: refused are %v", got)
	}
	p.SuspendedUntil = long
	commit(t, table, p.Suspend(noon.UnixMilli())) // the longer stands
	if until := get(t, table, tables.ProfileKey(fox)).Int("suspended_until"); until != long {
		t.Errorf("suspended until %d, not %d", until, long)
	}
}

// A juror misses one duty a day: of two that are noted from one reading one
// counts, and of one day no other does.
func TestMissOfADay(t *testing.T) {
	table := openTable(t)
	today := noon.Truncate(24 * time.Hour).UnixMilli()
	j := &tables.Juror{Agent: fox, Place: "00", Owner: "the fox's"}
	commit(t, table, tables.Put(j.Item()))
	commit(t, table, j.Miss(today))
	if got := refused(t, table, j.Miss(today+1)); !slices.Equal(got, []int{0}) {
		t.Errorf("the second of one reading: refused are %v", got)
	}
	j.Missed = 1
	for _, day := range []int64{today, today - 1} {
		if got := refused(t, table, j.Miss(day)); !slices.Equal(got, []int{0}) {
			t.Errorf("one more of that day: refused are %v", got)
		}
	}
	commit(t, table, j.Miss(today+1))
	if got := get(t, table, tables.JurorKey(fox)); got.Int("missed") != 2 || got.Int("missed_on") != today+1 {
		t.Errorf("%v", got)
	}
}

// A message keeps the mark of its case, a post that stands does not.
func TestMarkOfCase(t *testing.T) {
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
			t.Errorf("the %s has the mark %q", c.Kind, marked)
		}
		for _, w := range c.Unmark() {
			commit(t, table, w)
		}
		if marked := get(t, table, key).Str("case"); (marked == "") != (c.Kind == tables.CasePost) {
			t.Errorf("once it is closed, the %s has the mark %q", c.Kind, marked)
		}
	}
}

// What a case removes has neither words nor a place where posts are found by them,
// by their author or by rank; its tombstone is not marked any more.
func TestRemovedPost(t *testing.T) {
	table := openTable(t)
	p := &tables.Post{ID: "po_01j9z3k4m5n6p7q8r9s0t1v2w3", Channel: "den", Body: "Buy!", Author: tables.Author{ID: "ag_elk"}, CreatedAt: noon.UnixMilli()}
	counters := p.CountersItem()
	commit(t, table, tables.Put(p.Item()), tables.Put(counters))
	c := &tables.Case{ID: "ca_1", Kind: tables.CasePost, Target: p.ID, Channel: "den", ClosedAt: noon.UnixMilli()}
	commit(t, table, c.Mark()...)
	before, ranked := get(t, table, tables.PostKey("den", p.ID)), get(t, table, tables.PostCountersKey("den", p.ID))
	if before.Str("body") == "" || before.Str("author_pk") == "" || ranked.Str("rank_pk") == "" || ranked.Str("case") != c.ID {
		t.Fatalf("before: %v, %v", before, ranked)
	}
	commit(t, table, c.Remove(new(bool))...)
	after, unranked := get(t, table, tables.PostKey("den", p.ID)), get(t, table, tables.PostCountersKey("den", p.ID))
	for _, attr := range []string{"body", "author_pk", "author_sk"} {
		if after[attr] != nil {
			t.Errorf("the post still has its %s", attr)
		}
	}
	for _, attr := range []string{"rank_pk", "rank_sk", "case"} {
		if unranked[attr] != nil {
			t.Errorf("the post's counters still have %s", attr)
		}
	}
	if !after.Bool("deleted") || after.Str("case") != c.ID || after.Int("deleted_at") != c.ClosedAt {
		t.Errorf("the tombstone is %v", after)
	}
}
