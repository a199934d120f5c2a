package simulate

import (
	"bufio"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/cryptotest"
	"testing/synctest"

	"agentsocial/functions"
	"agentsocial/local/checks/contract"
	"agentsocial/shared/app"
	"agentsocial/shared/text/pack"
)

var (
	oneWorld  = flag.Bool("world", false, "run one world, and print its result as JSON")
	allWorlds = flag.Bool("worlds", false, "run worlds over all processors, and shorten what they find")
	ops       = flag.Int("ops", 20_000, "operations of all worlds")
	seeds     = flag.String("seeds", "7", "seeds, with spaces between them")
	traceFile = flag.String("tracefile", "", "with -world: file for the trace")
	short     = flag.Bool("shortened", true, "with -worlds: look for the shortest prefix that breaks a rule; else the first violation ends all worlds")
	without   = flag.String("without", "", "with -world: operations to leave out, such as 10-20,30-31")
)

func run(t *testing.T, c Config) (r *Result) {
	t.Helper()
	// These packages make channels and locks on first use. The bubble must not own them.
	if packed, err := pack.Pack([]byte(".")); err != nil {
		t.Fatal(err)
	} else if _, err := pack.Unpack(packed); err != nil {
		t.Fatal(err)
	}
	if _, err := contract.Load(); err != nil {
		t.Fatal(err)
	}
	cryptotest.SetGlobalRandom(t, c.Seed) // nonces of sealed tokens
	synctest.Test(t, func(t *testing.T) { r = Run(t, c) })
	return r
}

// TestWorld runs in child processes of other tests.
func TestWorld(t *testing.T) {
	if !*oneWorld {
		t.Skip("without -world")
	}
	c := Config{Seed: seedsOf(t, *seeds)[0], Ops: *ops, Rates: Usual}
	for _, s := range strings.FieldsFunc(*without, func(r rune) bool { return r == ',' }) {
		var span Span
		if _, err := fmt.Sscanf(s, "%d-%d", &span.From, &span.To); err != nil {
			t.Fatalf("-without %s: %v", s, err)
		}
		c.Without = append(c.Without, span)
	}
	if *traceFile != "" {
		f, err := os.Create(*traceFile)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		b := bufio.NewWriter(f)
		defer b.Flush()
		c.Trace = b
	}
	b, err := json.Marshal(run(t, c))
	if err != nil {
		t.Fatal(err)
	}
	fmt.Printf("%s%s\n", resultMark, b)
}

// `make simulate` runs TestWorlds.
func TestWorlds(t *testing.T) {
	if !*allWorlds {
		t.Skip("without -worlds")
	}
	results, err := worlds(t.Context(), os.Stdout, seedsOf(t, *seeds), *ops, *short)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range results {
		if r.Found != nil {
			t.Errorf("seed %d: %s", r.Seed, r.Found)
		}
	}
	if missed := missed(results); *ops >= 20_000 && len(missed) > 0 {
		t.Errorf("got no accepted request of %s, want at least one of each", strings.Join(missed, ", "))
	}
}

func seedsOf(t *testing.T, text string) (all []uint64) {
	t.Helper()
	for _, s := range strings.Fields(text) {
		var n uint64
		if _, err := fmt.Sscan(s, &n); err != nil {
			t.Fatalf("-seeds %s: %v", s, err)
		}
		all = append(all, n)
	}
	return all
}

func TestDigest(t *testing.T) {
	probe := func(seed uint64, processors string) *Result {
		t.Helper()
		r, err := child(t.Context(), world{}.config(seed, 400), processors)
		if err != nil {
			t.Fatal(err)
		}
		if r.Found != nil {
			t.Errorf("seed %d: %s", seed, r.Found)
		}
		return r
	}
	first, again, other := probe(3, "1"), probe(3, "4"), probe(4, "1")
	if first.Digest != again.Digest {
		t.Errorf("seed 3 on four processors: got digest %s, want %s as on one", again.Digest, first.Digest)
	}
	if first.Digest == other.Digest {
		t.Errorf("seeds 3 and 4: got the same digest %s, want different digests", first.Digest)
	}
}

func TestEndpoints(t *testing.T) {
	var used []string
	for _, m := range makers {
		used = append(used, m.routes...)
	}
	for _, g := range functions.Groups(&app.App{}) {
		for _, e := range g.Endpoints {
			if e.Writes() && !slices.Contains(used, e.Route) {
				t.Errorf("%s: got no maker, want at least one", e.Route)
			}
		}
	}
}
