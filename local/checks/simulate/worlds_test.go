package simulate

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"agentsocial/functions"
	"agentsocial/shared/app"
)

// worldMost bounds the operations of a world, because checks of a large table take long.
const worldMost = 20_000

const resultMark = "RESULT "

func (world) config(seed uint64, ops int) Config { return Config{Seed: seed, Ops: ops, Rates: Usual} }

func child(ctx context.Context, c Config, processors string) (*Result, error) {
	args := []string{"-test.run=^TestWorld$", "-test.timeout=0", "-world", fmt.Sprintf("-ops=%d", c.Ops), fmt.Sprintf("-seeds=%d", c.Seed)}
	if len(c.Without) > 0 {
		args = append(args, "-without="+spans(c.Without))
	}
	cmd := exec.CommandContext(ctx, os.Args[0], args...)
	cmd.Env = append(os.Environ(), "GOMAXPROCS="+processors, "GOGC=400")
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	err := cmd.Run()
	for line := range strings.Lines(out.String()) {
		if text, ok := strings.CutPrefix(line, resultMark); ok && err == nil {
			r := new(Result)
			return r, json.Unmarshal([]byte(text), r)
		}
	}
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	// The process panicked, which is a violation, too.
	return &Result{Seed: c.Seed, Ops: c.Ops, Found: &Violation{c.Ops, "process", fmt.Sprintf("%v\n%.4000s", err, out.String())}}, nil
}

func spans(all []Span) string {
	var parts []string
	for _, s := range all {
		parts = append(parts, fmt.Sprintf("%d-%d", s.From, s.To))
	}
	return strings.Join(parts, ",")
}

// worlds divides operations among worlds, one for each seed. If the worlds would be too
// long, it adds seeds after the last. Unless short, the first violation ends all worlds.
func worlds(ctx context.Context, out io.Writer, seeds []uint64, ops int, short bool) ([]*Result, error) {
	n := max(len(seeds), (ops+worldMost-1)/worldMost)
	for len(seeds) < n {
		seeds = append(seeds, seeds[len(seeds)-1]+1)
	}
	each := ops / n
	results := make([]*Result, n)
	began := time.Now()
	var mu sync.Mutex
	within, stop := context.WithCancel(ctx)
	defer stop()
	var work errgroup.Group
	work.SetLimit(runtime.NumCPU())
	for i, seed := range seeds {
		work.Go(func() error {
			start := time.Now()
			r, err := child(within, world{}.config(seed, each), "1")
			if ctx.Err() == nil && within.Err() != nil {
				return nil // another world found something
			}
			if err != nil {
				return err
			}
			results[i] = r
			mu.Lock()
			defer mu.Unlock()
			if r.Found != nil && !short {
				stop()
			}
			fmt.Fprintf(out, "seed %d: %d operations, %d turns, %.1f days in %.0f s, digest %s, %s\n", seed, r.Ops, r.Turns, r.For.Hours()/24, time.Since(start).Seconds(), r.Digest, r.told())
			return nil
		})
	}
	if err := work.Wait(); err != nil {
		return nil, err
	}
	results = slices.DeleteFunc(results, func(r *Result) bool { return r == nil })
	fmt.Fprintf(out, "%d operations in %d worlds, %.0f s\n", each*n, n, time.Since(began).Seconds())
	tell(out, results)
	for _, r := range results {
		if r.Found != nil && short {
			return results, shorten(ctx, out, r)
		}
	}
	return results, nil
}

func (r *Result) told() string {
	if r.Found == nil {
		return "nothing found"
	}
	return "VIOLATION: " + r.Found.String()
}

func tell(out io.Writer, results []*Result) {
	sent, accepted, faults := map[string]int{}, map[string]int{}, map[string]int{}
	for _, r := range results {
		for k, n := range r.Counts {
			sent[k] += n
		}
		for k, n := range r.Accepted {
			accepted[k] += n
		}
		for k, n := range r.Faults {
			faults[k] += n
		}
	}
	fmt.Fprintln(out, "requests sent and accepted, and other events:")
	for _, k := range sortedKeys(sent) {
		fmt.Fprintf(out, "  %7d %7d  %s\n", sent[k], accepted[k], k)
	}
	fmt.Fprintln(out, "faults of the table:")
	for _, k := range sortedKeys(faults) {
		fmt.Fprintf(out, "  %7d  %s\n", faults[k], k)
	}
}

func sortedKeys(m map[string]int) (keys []string) {
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

func missed(results []*Result) (routes []string) {
	for _, g := range functions.Groups(&app.App{}) {
		for _, e := range g.Endpoints {
			if e.Writes() && !slices.ContainsFunc(results, func(r *Result) bool { return r.Accepted[e.Route] > 0 }) {
				routes = append(routes, e.Route)
			}
		}
	}
	return routes
}

const shortenMost = 30

// shorten looks for the shortest prefix of a run that breaks the same rule, then leaves out
// operations while the rule is still broken.
func shorten(ctx context.Context, out io.Writer, r *Result) error {
	rule, tries := r.Found.Rule, 0
	breaks := func(c Config) (*Violation, error) {
		tries++
		got, err := child(ctx, c, "1")
		if err != nil || got.Found == nil || got.Found.Rule != rule {
			return nil, err
		}
		return got.Found, nil
	}
	c, found := world{}.config(r.Seed, r.Found.Op), r.Found
	for low, high := 0, c.Ops; low < high && tries < shortenMost; {
		mid := (low + high) / 2
		v, err := breaks(world{}.config(r.Seed, mid))
		if err != nil {
			return err
		}
		if v == nil {
			low = mid + 1
			continue
		}
		c, found, high = world{}.config(r.Seed, mid), v, mid
	}
	for size := c.Ops / 2; size >= 1 && tries < shortenMost; size /= 2 {
		for from := c.Ops - size; from >= 1 && tries < shortenMost; from -= size {
			try := c
			try.Without = append(slices.Clone(c.Without), Span{from, from + size})
			if slices.ContainsFunc(c.Without, func(s Span) bool { return s.From <= from && from < s.To }) {
				continue
			}
			v, err := breaks(try)
			if err != nil {
				return err
			}
			if v != nil {
				try.Ops = v.Op
				c, found = try, v
			}
		}
	}
	fmt.Fprintf(out, "\nVIOLATION with seed %d after operation %d, the shortest prefix found in %d runs: %s\n", r.Seed, c.Ops, tries, found)
	again := fmt.Sprintf("go test ./local/checks/simulate -run '^TestWorld$' -v -world -seeds=%d -ops=%d -tracefile=/tmp/trace", c.Seed, c.Ops)
	if len(c.Without) > 0 {
		again += " -without=" + spans(c.Without)
	}
	fmt.Fprintln(out, "again:", again)
	return nil
}
