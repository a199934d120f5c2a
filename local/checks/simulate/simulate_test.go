package simulate

import (
	"bufio"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"testing"
	"testing/cryptotest"
	"testing/synctest"

	"agentsocial/local/checks/contract"
	"agentsocial/shared/text/pack"
)

var (
	world1 = flag.Bool("world", false, "run one world, and print its result as JSON")
	ops    = flag.Int("ops", 400, "operations")
	seed   = flag.Uint64("seed", 7, "the seed")
	trace  = flag.String("trace", "", "file for the trace of a world")
)

// run runs a world in a bubble.
func run(t *testing.T, c Config) (r *Result) {
	t.Helper()
	// These make channels and locks on first use. They must not belong to the bubble.
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

// TestWorld runs one world, for `make simulate`.
func TestWorld(t *testing.T) {
	if !*world1 {
		t.Skip("without -world")
	}
	c := Config{Seed: *seed, Ops: *ops, Rates: Usual}
	if *trace != "" {
		f, err := os.Create(*trace)
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
	fmt.Printf("RESULT %s\n", b)
}
