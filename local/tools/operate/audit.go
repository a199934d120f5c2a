package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"agentsocial/local/checks/books"
	"agentsocial/tables"
)

var errWrong = errors.New("the books are wrong")

func audit(ctx context.Context, j job) error {
	r, err := books.Settled(ctx, j, j.Now())
	if err != nil {
		return err
	}
	return j.tell(r)
}

// tell prints a report, and returns an error if the books are wrong.
func (j job) tell(r *books.Report) error {
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
	j.say("movements   %d, of which %d are not summed yet", r.Movements, r.Uncounted)
	row := func(name string, microUSD int64, more string) { j.say("%-10s  %16s%s", name, usd(microUSD), more) }
	row("agents", agents, fmt.Sprintf("  %d agents; %s below zero", n, usd(negative)))
	row("escrows", escrows, "")
	row("revenue", r.Balances[tables.Revenue], "")
	row("processor", r.Balances[tables.Processor], "")
	if r.Unlisted > 0 {
		j.say("unlisted    %d balances, which the function audit does not see; run `make list-balances`", r.Unlisted)
	}
	days := r.Days[tables.Revenue]
	for _, day := range slices.Sorted(maps.Keys(days)) {
		row("  "+day, days[day], "  revenue")
	}
	if len(r.Problems) == 0 {
		j.say("all accounts sum to zero, and each balance matches its movements")
		return nil
	}
	for _, p := range r.Problems {
		j.say("WRONG       %s", p)
	}
	return fmt.Errorf("%w: %d problems", errWrong, len(r.Problems))
}

// usd formats micro-USD as dollars.
func usd(micro int64) string {
	sign := ""
	if micro < 0 {
		sign, micro = "-", -micro
	}
	return fmt.Sprintf("%s%d.%06d USD", sign, micro/1_000_000, micro%1_000_000)
}
