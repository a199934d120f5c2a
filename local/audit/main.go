// Command audit proves a table's books: `make audit`, with the TABLE and DATA of
// `make run`. The embedded table is one process's: stop the service first.
package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/signal"
	"slices"
	"syscall"
	"time"

	"agentsocial/local/books"
	"agentsocial/local/service"
	"agentsocial/tables"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, os.Getenv, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "audit:", err)
		os.Exit(1)
	}
}

var errWrong = errors.New("the books are wrong")

func run(ctx context.Context, getenv func(string) string, out io.Writer) error {
	t, err := service.OpenTable(ctx, cmp.Or(getenv("TABLE"), "embedded"), cmp.Or(getenv("DATA"), "data"))
	if err != nil {
		return err
	}
	defer t.Close()
	r, err := books.Settled(ctx, t, time.Now())
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "  the table   %s\n", t.Where)
	return tell(out, r)
}

// tell says what the books say, and fails if they are wrong.
func tell(out io.Writer, r *books.Report) error {
	var agents, escrows, negative int64
	n := 0
	for account, balance := range r.Balances {
		switch {
		case account.Agent() != "":
			n++
			agents += balance
			negative += min(balance, 0)
		case account.Runs():
			escrows += balance
		}
	}
	fmt.Fprintf(out, "  movements   %d, of which %d wait to be added up\n", r.Movements, r.Uncounted)
	row := func(name string, microUSD int64, more string) {
		fmt.Fprintf(out, "  %-10s  %16s%s\n", name, usd(microUSD), more)
	}
	row("agents", agents, fmt.Sprintf("  %d of them; %s below zero", n, usd(negative)))
	row("escrows", escrows, "")
	row("revenue", r.Balances[tables.Revenue], "")
	row("processor", r.Balances[tables.Processor], "")
	days := r.Days[tables.Revenue]
	for _, day := range slices.Sorted(maps.Keys(days)) {
		row("  "+day, days[day], "  revenue")
	}
	if len(r.Problems) == 0 {
		fmt.Fprintln(out, "  all accounts come to zero, and each is what its movements say")
		return nil
	}
	for _, p := range r.Problems {
		fmt.Fprintf(out, "  WRONG       %s\n", p)
	}
	return fmt.Errorf("%w: %d problems", errWrong, len(r.Problems))
}

// usd writes micro-USD in dollars.
func usd(micro int64) string {
	sign := ""
	if micro < 0 {
		sign, micro = "-", -micro
	}
	return fmt.Sprintf("%s%d.%06d USD", sign, micro/1_000_000, micro%1_000_000)
}
