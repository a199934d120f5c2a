// Command bench measures what each endpoint costs: `make bench`. Round trips
// and units are the table's own meter's and always the same; times are of this
// machine, in this run, and only their ratios say something.
package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"time"
)

func main() {
	asJSON := flag.Bool("json", false, "print JSON instead of tables")
	quick := flag.Bool("quick", false, "measure times for 2 s instead of 45 s")
	best := flag.Bool("best", false, "measure only a channel's best and its page without replies, by the number of its posts")
	searching := flag.Bool("search", false, "measure only searching, by the number of a channel's posts, beside SQLite's")
	pushing := flag.Bool("push", false, "measure only inbox events, spread and in a burst, beside raw batch writes")
	flag.Parse()
	if *pushing {
		if err := runPushes(context.Background(), os.Stdout, pushRounds); err != nil {
			fmt.Fprintln(os.Stderr, "bench:", err)
			os.Exit(1)
		}
		return
	}
	if *searching {
		if err := runSearches(context.Background(), os.Stdout, searchRounds, 1000, 10_000, 100_000); err != nil {
			fmt.Fprintln(os.Stderr, "bench:", err)
			os.Exit(1)
		}
		return
	}
	if *best {
		if err := runSizes(context.Background(), os.Stdout, 1000, 10_000, 100_000); err != nil {
			fmt.Fprintln(os.Stderr, "bench:", err)
			os.Exit(1)
		}
		return
	}
	effort := thorough
	if *quick {
		effort = brief
	}
	if err := run(context.Background(), os.Stdout, effort, *asJSON); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

// effort is how long times are measured; costs need no repetition.
type effort struct {
	Times, CPU time.Duration // how long each is measured, about
	Block      int           // requests between two looks at the processor's clock
}

var (
	thorough = effort{Times: 20 * time.Second, CPU: 25 * time.Second, Block: 200}
	brief    = effort{Times: 800 * time.Millisecond, CPU: 1200 * time.Millisecond, Block: 15}
)

// Report is everything that one run found.
type Report struct {
	Endpoints []Row         `json:"endpoints"`
	Stream    []StreamShare `json:"stream"`
	ReadLimit Cost          `json:"read_limit"` // expected share of each read, on top of its row
	FirstUse  Cost          `json:"first_use"`  // of a credential's first request of a day, per process
	Rounds    int           `json:"rounds"`     // in which times were measured
	CPURounds int           `json:"cpu_rounds"`
	Budgets   []Verdict     `json:"budgets"`
}

// Row is one scenario: what it cost, and how long it took.
type Row struct {
	Route   string `json:"route"`
	Variant string `json:"variant"`
	Cost
	*Times

	signed   bool // a signed read, or a post: there is a budget for its CPU time
	kilobyte bool // a post whose item has at most 1 KB: there is a budget for its units
}

func run(ctx context.Context, out io.Writer, e effort, asJSON bool) error {
	r, err := measure(ctx, e)
	if err != nil {
		return err
	}
	if asJSON {
		enc := json.NewEncoder(out)
		enc.SetIndent("", "  ")
		return enc.Encode(r)
	}
	r.print(out)
	return nil
}

// measure counts costs in one world, where the table is some milliseconds
// away, and measures times in another, where it is not.
func measure(ctx context.Context, e effort) (*Report, error) {
	r, err := count(ctx)
	if err != nil {
		return nil, err
	}
	w, err := newWorld(ctx, false)
	if err != nil {
		return nil, err
	}
	defer w.close()
	list, err := scenarios(w)
	if err != nil {
		return nil, err
	}
	var timed []*subject
	for i := range list {
		if list[i].costOnly {
			continue
		}
		s, err := newSubject(w, &list[i])
		if err != nil {
			return nil, err
		}
		timed = append(timed, s)
		r.Endpoints[i].Times = &s.Times
	}
	if r.Rounds, err = measureTimes(w, timed, e.Times); err != nil {
		return nil, err
	}
	if r.CPURounds, err = measureCPU(w, timed, e.CPU, e.Block); err != nil {
		return nil, err
	}
	r.Budgets = append(r.Budgets, cpuVerdicts(r.Endpoints)...)
	return r, nil
}

// count is the part of a report that is the same in every run.
func count(ctx context.Context) (*Report, error) {
	w, err := newWorld(ctx, true)
	if err != nil {
		return nil, err
	}
	defer w.close()
	list, err := scenarios(w)
	if err != nil {
		return nil, err
	}
	if err := covered(list); err != nil {
		return nil, err
	}
	r := &Report{ReadLimit: readLimitShare(), FirstUse: firstUse()}
	for i := range list {
		cost, err := costOf(w, &list[i])
		if err != nil {
			return nil, err
		}
		r.Endpoints = append(r.Endpoints, Row{
			Route: list[i].route, Variant: list[i].variant, Cost: cost, signed: list[i].signed, kilobyte: list[i].kilobyte,
		})
	}
	if r.Stream, err = streamShares(ctx, w); err != nil {
		return nil, err
	}
	r.Budgets = costVerdicts(r)
	return r, nil
}
