package main

import (
	"fmt"
	"io"
	"strings"
)

// print writes the report for people.
func (r *Report) print(out io.Writer) {
	fmt.Fprintf(out, "%-30s %-28s %5s %7s %7s %9s %9s %9s %7s %8s %6s %6s\n",
		"endpoint", "", "trips", "reads", "writes", "USD/1M", "p50 µs", "p99 µs", "× bare", "CPU µs", "× CPU", "× own")
	last := ""
	for _, row := range r.Endpoints {
		route := row.Route
		if route == last {
			route = ""
		}
		last = row.Route
		fmt.Fprintf(out, "%-30s %-28s %s", route, row.Variant, row.Cost)
		if t := row.Times; t != nil {
			fmt.Fprintf(out, " %9.0f %9.0f %7.1f", t.P50us, t.P99us, t.Ratio)
			if t.CPURatio != 0 {
				fmt.Fprintf(out, " %8.0f %6.1f %6.1f", t.CPUus, t.CPURatio, t.OwnRatio)
			}
		}
		fmt.Fprintln(out)
	}
	fmt.Fprintf(out, "\n%-59s %5s %7s %7s %9s\n", "behind it, per change", "trips", "reads", "writes", "USD/1M")
	for _, s := range r.Stream {
		fmt.Fprintf(out, "%-59s %s\n", s.Name, s.Cost)
	}
	fmt.Fprintf(out, "\n%-59s %s\n", "the read limit, expected, on top of a read of weight one", r.ReadLimit)
	fmt.Fprintf(out, "%-59s %s\n", "the count of a view of a channel's newest page, likewise", r.ViewCount)
	fmt.Fprintf(out, "%-59s %s\n", "a credential's first use of a day in a process, likewise", r.FirstUse)

	over := 0
	for _, v := range r.Budgets {
		if !v.Held {
			if over == 0 {
				fmt.Fprintln(out, "\nover budget:")
			}
			over++
			fmt.Fprintf(out, "  %s: %.3g, at most %.3g\n", strings.TrimSpace(v.What), v.Got, v.Most)
		}
	}
	fmt.Fprintf(out, `
%d of %d budgets held.

trips     serial round trips to the table; calls side by side are one
reads     DynamoDB read request units, writes: write request units, as AWS bills them
USD/1M    of a million calls at %v and %v USD per million units (us-east-1, on demand, since
          November 2024); Lambda, gateway, storage and the last three lines are not in it
p50, p99  from the gateway's event to its answer, the table in memory, %d interleaved rounds
× bare    to a handler that verifies Ed25519, hashes the body, decodes and encodes JSON
          of about the same size, and does nothing else; median of the rounds' ratios
× CPU     the same for the process's CPU time on one processor, median of %d blocks
× own     of that, what did not pass inside the embedded table: the service's own work

Units and trips are the same in every run. Times are medians of this run on this
machine and promise nothing; of them, only the ratios can be compared.
`, len(r.Budgets)-over, len(r.Budgets), readPrice, writePrice, r.Rounds, r.CPURounds)
}

// String is the cost as columns.
func (c Cost) String() string {
	return fmt.Sprintf("%5d %7.2f %7.2f %9.3f", c.Trips, c.ReadUnits, c.WriteUnits, c.USDPerMillion)
}
