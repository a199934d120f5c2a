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
	"slices"
	"time"
)

func main() {
	asJSON := flag.Bool("json", false, "print JSON instead of tables")
	quick := flag.Bool("quick", false, "measure times for 2 s instead of 45 s")
	best := flag.Bool("best", false, "measure only a channel's best and its page without replies, by the number of its posts")
	searching := flag.Bool("search", false, "measure only searching, by the number of a channel's posts, beside SQLite's")
	pushing := flag.Bool("push", false, "measure only inbox events, spread and in a burst, beside raw batch writes")
	pacing := flag.Bool("promos", false, "play only how evenly, and how fairly, promos spend their budgets")
	duplicates := flag.Bool("duplicates", false, "measure only what share of likely duplicates among ideas is found")
	drawing := flag.Bool("jury", false, "measure only draws of juries, by the number of volunteers, and play how even they are")
	flag.Parse()
	if *drawing {
		if err := runDraws(context.Background(), os.Stdout, lots, 10, 1000, 100_000); err != nil {
			fmt.Fprintln(os.Stderr, "bench:", err)
			os.Exit(1)
		}
		return
	}
	if *duplicates {
		if err := runDuplicates(context.Background(), os.Stdout); err != nil {
			fmt.Fprintln(os.Stderr, "bench:", err)
			os.Exit(1)
		}
		return
	}
	if *pacing {
		runPacings(os.Stdout, pacings)
		return
	}
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
	Rounds     int           // that are measured whatever it takes
	Block      int           // requests between two looks at the processor's clock
	Clean      bool          // the garbage of what came before a block is not counted with it
}

var (
	thorough = effort{Times: 20 * time.Second, CPU: 25 * time.Second, Rounds: 3, Block: 200, Clean: true}
	brief    = effort{Times: 800 * time.Millisecond, CPU: 1200 * time.Millisecond, Rounds: 3, Block: 15, Clean: true}
)

// Report is everything that one run found.
type Report struct {
	Endpoints []Row         `json:"endpoints"`
	Stream    []StreamShare `json:"stream"`
	ReadLimit Cost          `json:"read_limit"` // expected share of a read of weight one, on top of its row
	ViewCount Cost          `json:"view_count"` // expected share of each view of a channel's newest page
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

	like string // the route and variant of what a tool calls: there is a budget for its CPU time beside that
}

func run(ctx context.Context, out io.Writer, e effort, asJSON bool) error {
	r, err := count(ctx)
	if err == nil {
		err = r.time(ctx, e)
	}
	if err != nil {
		return err
	}
	if asJSON {
		return r.encode(out)
	}
	r.print(out)
	fmt.Fprintln(out)
	runPacings(out, pacings)
	fmt.Fprintln(out)
	if err := runDraws(ctx, out, lots[:1], 10, 1000, 100_000); err != nil {
		return err
	}
	fmt.Fprintln(out)
	return runDuplicates(ctx, out)
}

// encode prints the report as JSON.
func (r *Report) encode(out io.Writer) error {
	enc := json.NewEncoder(out)
	enc.SetIndent("", "  ")
	return enc.Encode(r)
}

// time measures times in a world where the table is not away, and holds them
// against the budgets.
func (r *Report) time(ctx context.Context, e effort) error {
	w, list, err := staged(ctx, false)
	if err != nil {
		return err
	}
	defer w.close()
	var timed []*subject
	for i := range list {
		if list[i].costOnly {
			continue
		}
		s, err := newSubject(w, &list[i])
		if err != nil {
			return err
		}
		timed = append(timed, s)
		r.Endpoints[i].Times = &s.Times
	}
	if r.Rounds, err = measureTimes(w, timed, e); err != nil {
		return err
	}
	if r.CPURounds, err = measureCPU(w, timed, e); err != nil {
		return err
	}
	r.Budgets = slices.Concat(r.Budgets, cpuVerdicts(r.Endpoints), toolVerdicts(r.Endpoints), costCPUVerdicts(r.Endpoints))
	return nil
}

// count is the part of a report that is the same in every run: what is asked of a
// table that is some milliseconds away.
func count(ctx context.Context) (*Report, error) {
	w, list, err := staged(ctx, true)
	if err != nil {
		return nil, err
	}
	defer w.close()
	r := &Report{ReadLimit: readLimitShare(), ViewCount: viewShare(), FirstUse: firstUse()}
	for i := range list {
		w.random.begin(list[i].name())
		cost, err := costOf(w, &list[i])
		if err != nil {
			return nil, err
		}
		r.Endpoints = append(r.Endpoints, Row{
			Route: list[i].route, Variant: list[i].variant, Cost: cost, signed: list[i].signed, kilobyte: list[i].kilobyte, like: list[i].like,
		})
	}
	if r.Stream, err = streamShares(ctx, w); err != nil {
		return nil, err
	}
	r.Budgets = costVerdicts(r)
	return r, nil
}
