package scale

import (
	"flag"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/cryptotest"
	"testing/synctest"
	"time"

	"agentsocial/shared/text/pack"
)

var (
	scenario = flag.String("scenario", "", "scenarios to run, with spaces between them: all of `make scale` if \"all\"")
	seed     = flag.Uint64("seed", 7, "seed of the run")
)

// play runs a scenario in a bubble.
func play(t *testing.T, s Scenario, seed uint64) (r *Result) {
	t.Helper()
	// These make channels on first use. They must not belong to the bubble.
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

// TestScale is `make scale`.
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
		began := time.Now()
		play(t, s, *seed).Print(os.Stdout)
		t.Logf("%s took %.0f s", s.Name, time.Since(began).Seconds())
	}
	if len(wanted) > 0 && wanted[0] != "all" {
		t.Errorf("there is no scenario %s", strings.Join(wanted, ", "))
	}
}
