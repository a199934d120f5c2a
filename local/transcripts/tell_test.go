package transcripts

import (
	"strings"
	"testing"

	"agentsocial/local/checks/faults"
)

func TestTell_OutcomesAndReasons(t *testing.T) {
	read := faults.Place{File: "functions/dm/read.go", Line: 7, Func: "mark"}
	cells := func() (all []*cell) {
		for _, kind := range faults.Kinds() {
			all = append(all, &cell{Fault: faults.Fault{Place: read, N: 1, Kind: kind}, script: "dm.txtar"})
		}
		return all
	}
	for name, c := range map[string]struct {
		do   func([]*cell)
		good bool
		want string
	}{
		"all holds":             {func([]*cell) {}, true, "functions/dm/read.go:7             mark            holds         holds"},
		"a reason":              {func(c []*cell) { c[1].short = reasonOf(c[1].Fault, "unread") }, true, "holds         at rest (1)   holds"},
		"reason's text":         {func(c []*cell) { c[1].short = reasonOf(c[1].Fault, "unread") }, true, "  (1) reads are marked in the background"},
		"broken":                {func(c []*cell) { c[0].wrong = "half done" }, false, "BROKEN        holds"},
		"problem's text":        {func(c []*cell) { c[5].wrong = "half done" }, false, "functions/dm/read.go:7, killed after, by dm.txtar:\nhalf done\n"},
		"broken, with a reason": {func(c []*cell) { c[5].short, c[5].wrong = reasonOf(c[5].Fault, "unread"), "half done" }, false, "BROKEN"},
	} {
		all := cells()
		c.do(all)
		var out strings.Builder
		if good := tell(&out, all); good != c.good || !strings.Contains(out.String(), c.want) {
			t.Errorf("%s: got %t and output\n%s\nwant %t and %q in the output", name, good, &out, c.good, c.want)
		}
	}
}

func TestReasonOf_OnlyWhereItApplies(t *testing.T) {
	f := faults.Fault{Place: faults.Place{File: "functions/access/live.go", Func: "add"}, Kind: faults.Killed}
	if reasonOf(f, "FAIL: code: it is absent") == nil {
		t.Error("a failure with a reason: got none, want one")
	}
	if reasonOf(f, "FAIL: the status is 500") != nil {
		t.Error("another failure: got a reason, want none")
	}
	if f.Kind = faults.Lost; reasonOf(f, "FAIL: code: it is absent") != nil {
		t.Error("another kind of fault: got a reason, want none")
	}
	f.Kind, f.Place.Func = faults.Killed, "remove"
	if reasonOf(f, "FAIL: code: it is absent") != nil {
		t.Error("another place: got a reason, want none")
	}
}

func TestCell_BrokenIfNotMet(t *testing.T) {
	places, err := faults.Places()
	if err != nil {
		t.Fatal(err)
	}
	c := &cell{Fault: faults.Fault{Place: faults.Place{File: "functions/none.go", Line: 1}, N: 1}}
	if c.try(places, []reach{{script: scripts + "/errors.txtar"}}); c.wrong != "no script met the fault" {
		t.Errorf("a script that misses the fault: got %q, want \"no script met the fault\"", c.wrong)
	}
	if c.try(places, nil); c.wrong == "" {
		t.Error("a place that no script reaches: got no problem, want one")
	}
}
