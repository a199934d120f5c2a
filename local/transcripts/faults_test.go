package transcripts

import (
	"cmp"
	"flag"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
	"golang.org/x/sync/errgroup"

	"agentsocial/local/checks/faults"
	"agentsocial/local/service"
)

var (
	everyPlace = flag.Bool("faults", false, "break a commit at every place in the source that makes one, in every way, and print the outcomes")
	onlyPlace  = flag.String("place", "", "with -faults: only the places whose name matches")
)

// played is a testscript.T that records the outcome of a script.
type played struct {
	log    strings.Builder
	failed bool
	rest   error // the problem once the service is at rest
}

func (p *played) Run(_ string, f func(testscript.T)) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		f(p)
	}()
	<-done
}
func (p *played) FailNow()          { p.failed = true; runtime.Goexit() }
func (p *played) Fatal(args ...any) { p.Log(args...); p.FailNow() }
func (p *played) Skip(args ...any)  { p.Fatal(args...) }
func (p *played) Log(args ...any)   { fmt.Fprintln(&p.log, args...) }
func (*played) Parallel()           {}
func (*played) Verbose() bool       { return false }

// play plays a script on a table that counts commits and may break one.
func play(script string, broken *faults.Table) *played {
	p := &played{}
	testscript.RunT(p, params(testscript.Params{Files: []string{script}}, broken, nil))
	return p
}

type reach struct {
	script  string
	commits int // all that the script makes
}

// reaches plays all scripts, and returns the scripts that reach each place, the one with
// the fewest commits first.
func reaches(t *testing.T, places []faults.Place) map[faults.Place][]reach {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(scripts, "*.txtar"))
	if err != nil {
		t.Fatal(err)
	}
	var mu sync.Mutex
	by := map[faults.Place][]reach{}
	atOnce(len(files), func(i int) {
		table := faults.New(places, nil, service.Kill)
		p := play(files[i], table)
		mu.Lock()
		defer mu.Unlock()
		for _, code := range table.Strange() {
			t.Errorf("%s: got a commit by %s, which is not a known place", files[i], code)
		}
		if p.failed || p.rest != nil {
			t.Errorf("%s fails without a fault: %v\n%s", files[i], p.rest, &p.log)
		}
		counts, n := table.Counts(), 0
		for count := range maps.Values(counts) {
			n += count
		}
		for p := range counts {
			by[p] = append(by[p], reach{files[i], n})
		}
	})
	for _, r := range by {
		slices.SortFunc(r, func(a, b reach) int {
			return cmp.Or(cmp.Compare(a.commits, b.commits), strings.Compare(a.script, b.script))
		})
	}
	return by
}

// together is the number of scripts played at once. It is high, since scripts mostly wait.
const together = 24

// atOnce calls do for n jobs, at most [together] at a time.
func atOnce(n int, do func(i int)) {
	var work errgroup.Group
	work.SetLimit(together)
	for i := range n {
		work.Go(func() error { do(i); return nil })
	}
	_ = work.Wait() // no job returns an error
}

// cell is the outcome of one kind of fault at one place.
type cell struct {
	faults.Fault
	script string
	short  *reason // why the script did not finish; nil if it did
	wrong  string  // the problem; "" if there is none
}

// turns bounds how often the scripts are played until one meets the fault. A script may
// miss it, since some commits depend on chance.
const turns = 3

func (c *cell) try(places []faults.Place, by []reach) {
	c.wrong = "no script reaches the place"
	for _, r := range slices.Repeat(by, turns) {
		table := faults.New(places, &c.Fault, service.Kill)
		p := play(r.script, table)
		c.script, c.wrong = r.script, "no script met the fault"
		if !table.Met() {
			continue
		}
		c.wrong = ""
		if p.failed {
			if c.short = reasonOf(c.Fault, lastWords(p.log.String())); c.short == nil {
				c.wrong = p.log.String()
			}
		}
		if p.rest != nil {
			c.wrong += "at rest: " + p.rest.Error()
		}
		return
	}
}

// someFaults tries a few faults, few enough for every run of the tests.
func someFaults(t *testing.T) {
	places, err := faults.Places()
	if err != nil {
		t.Fatal(err)
	}
	some := map[string]faults.Kind{
		"functions/agents/register.go create": faults.Killed, "functions/agents/guestbook.go visit": faults.Unknown,
		"events/inbox/put.go put": faults.Failed, "shared/app/inboxes/inboxes.go number": faults.Unknown,
	}
	var cells []*cell
	for _, p := range places {
		if kind, ok := some[p.Name()]; ok {
			cells = append(cells, &cell{Fault: faults.Fault{Place: p, N: 1, Kind: kind}})
		}
	}
	if len(cells) != len(some) {
		t.Fatalf("places to break: got %d, want %d", len(cells), len(some))
	}
	atOnce(len(cells), func(i int) { cells[i].try(places, []reach{{script: filepath.Join(scripts, "guestbook.txtar")}}) })
	for _, c := range cells {
		if c.wrong != "" || c.short != nil {
			t.Errorf("%s, %s: got early end for a known reason: %t, want false; problem: %s", c.Place, c.Kind, c.short != nil, c.wrong)
		}
	}
}

// lastWords returns the end of a script's log: the last answer and the failure.
func lastWords(log string) string {
	return log[max(0, strings.LastIndex(log, "\n> ")):]
}

// TestFaults breaks a few commits. With -faults (`make faults`) it breaks a commit at every
// place in every way.
func TestFaults(t *testing.T) {
	if lambdas() {
		t.Skip("no commit can be broken in the built functions, which run in processes of their own")
	}
	if !*everyPlace {
		someFaults(t)
		return
	}
	only, err := regexp.Compile(*onlyPlace)
	if err != nil {
		t.Fatal(err)
	}
	places, err := faults.Places()
	if err != nil {
		t.Fatal(err)
	}
	by := reaches(t, places)
	places = slices.DeleteFunc(places, func(p faults.Place) bool { return !only.MatchString(p.String()) })
	var cells []*cell
	for _, p := range places {
		if test := elsewhere[p.Name()]; test != "" && by[p] == nil {
			fmt.Printf("%s: only concurrent or frequent calls reach it; tested by %s\n", p, test)
			continue
		}
		for _, kind := range faults.Kinds() {
			cells = append(cells, &cell{Fault: faults.Fault{Place: p, N: 1, Kind: kind}})
		}
	}
	atOnce(len(cells), func(i int) { cells[i].try(places, by[cells[i].Place]) })
	if !tell(os.Stdout, cells) {
		t.Fail()
	}
}

// tell prints the outcomes, and reports whether there are no problems.
func tell(out io.Writer, cells []*cell) bool {
	fmt.Fprintf(out, "%-34s %-15s", "place", "function")
	for _, k := range faults.Kinds() {
		fmt.Fprintf(out, " %-13s", k)
	}
	var last faults.Place
	var used []*reason
	for _, c := range cells {
		if c.Place != last {
			last = c.Place
			fmt.Fprintf(out, "\n%-34s %-15s", c.Place, c.Place.Func)
		}
		word := "holds"
		if c.short != nil {
			if !slices.Contains(used, c.short) {
				used = append(used, c.short)
			}
			word = fmt.Sprintf("at rest (%d)", slices.Index(used, c.short)+1)
		}
		if c.wrong != "" {
			word = "BROKEN"
		}
		fmt.Fprintf(out, " %-13s", word)
	}
	fmt.Fprintf(out, "\n\nholds: a repeated request gets a proper answer, the rest of the transcript passes, and the table at rest is correct.\n")
	fmt.Fprintf(out, "at rest: the transcript ends early, for the reason named; the table at rest is correct.\n")
	for i, r := range used {
		fmt.Fprintf(out, "  (%d) %s\n", i+1, r.why)
	}
	good := true
	for _, c := range cells {
		if c.wrong != "" {
			good = false
			fmt.Fprintf(out, "\n%s, %s, by %s:\n%s\n", c.Place, c.Kind, filepath.Base(c.script), strings.TrimSpace(c.wrong))
		}
	}
	return good
}
