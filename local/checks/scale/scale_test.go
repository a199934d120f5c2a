package scale

import (
	"flag"
	"os"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/cryptotest"
	"testing/synctest"
	"time"

	"agentsocial/shared/text/pack"
)

var (
	scenario = flag.String("scenario", "", "scenarios to run, with spaces between them; or \"all\"; or \"growing\" to list the keys that all agents share")
	seed     = flag.Uint64("seed", 7, "seed of the run")
	parallel = flag.Int("parallel", AWS.Parallel, "batches of a shard that Lambda runs at once, 1 to 10")
)

func play(t *testing.T, s Scenario, seed uint64) (r *Result) {
	t.Helper()
	// Package pack makes channels on first use. They must not belong to the bubble.
	if packed, err := pack.Pack([]byte(".")); err != nil {
		t.Fatal(err)
	} else if _, err := pack.Unpack(packed); err != nil {
		t.Fatal(err)
	}
	cryptotest.SetGlobalRandom(t, seed) // nonces of sealed tokens
	synctest.Test(t, func(t *testing.T) { r = run(t, s, seed) })
	if r.Failed != nil {
		t.Errorf("%s: %v", s.Name, r.Failed)
	}
	return r
}

// `make scale` runs TestScale.
func TestScale(t *testing.T) {
	if *scenario == "" {
		t.Skip("without -scenario")
	}
	wanted := strings.Fields(*scenario)
	for _, s := range Scenarios() {
		if !slices.Contains(wanted, s.Name) && !slices.Contains(wanted, "all") {
			continue
		}
		wanted = slices.DeleteFunc(wanted, func(name string) bool { return name == s.Name })
		began, limits := time.Now(), AWS
		limits.Parallel = *parallel
		s.limits = &limits
		play(t, s, *seed).Print(os.Stdout)
		t.Logf("%s took %.0f s", s.Name, time.Since(began).Seconds())
	}
	if slices.Contains(wanted, "all") || slices.Contains(wanted, "growing") {
		PrintGrowing(os.Stdout)
	}
	if wanted = slices.DeleteFunc(wanted, func(name string) bool { return name == "all" || name == "growing" }); len(wanted) > 0 {
		t.Errorf("there is no scenario %s", strings.Join(wanted, ", "))
	}
}

// The scenario of TestRepeatable throttles calls, refuses executions, and stops a reader.
func TestRepeatable(t *testing.T) {
	limits := AWS
	limits.Writes, limits.Executions = 12, 4
	s := Scenario{
		Name: "small", Slice: 1, Agents: 20, Circle: 10, Ranges: 4, For: 12 * time.Second, Flows: habits(20, secondsDay/20),
		Closed: Span{4 * time.Second, 6 * time.Second}, Reader: "inbox", Down: Span{time.Second, 9 * time.Second}, limits: &limits,
	}
	table := func(seed uint64, processors int) string {
		defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(processors))
		r := play(t, s, seed)
		if r.Calls.Throttled == 0 || r.Pool.refused == 0 {
			t.Errorf("seed %d: got %d calls throttled and %d executions refused, want some of each", seed, r.Calls.Throttled, r.Pool.refused)
		}
		if r.Whole.OK == 0 || r.Readers[0].lags == nil || r.Readers[0].left() > 0 {
			t.Errorf("seed %d: got %d requests accepted, %d records read and %d left; want some, some and 0", seed, r.Whole.OK, len(r.Readers[0].lags), r.Readers[0].left())
		}
		var out strings.Builder
		r.Print(&out)
		return out.String()
	}
	first := table(3, 1)
	if again := table(3, 4); again != first {
		t.Errorf("seed 3 on four processors: got\n%s\nwant, as on one processor,\n%s", again, first)
	}
	if table(4, 1) == first {
		t.Errorf("seeds 3 and 4: got the same report, want different reports:\n%s", first)
	}
}
