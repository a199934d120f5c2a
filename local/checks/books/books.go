// Package books checks the ledger of a whole table: no money appears or disappears, and
// the balances match the movements.
package books

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"agentsocial/tables"
	"agentsocial/tables/id"
)

// Report is the result of an audit. Amounts are micro-USD.
type Report struct {
	Movements int
	Uncounted int                                 // movements missing from the sums by day
	Unlisted  int                                 // balances that tables.Balances does not find
	Balances  map[tables.Account]int64            // of all accounts
	Days      map[tables.Account]map[string]int64 // for revenue and the processor: the stored sums by day
	Problems  []Problem
}

// Problem is a violated rule.
type Problem struct {
	Where string // an account, a movement, a promo or a key
	What  string
	off   int64 // by how much a sum is wrong; 0 if no sum is wrong
}

func (p Problem) String() string { return p.Where + ": " + p.What }

// same reports whether two problems are the same. The sums in their texts may differ.
func (p Problem) same(q Problem) bool {
	return p.Where == q.Where && p.off == q.off && (p.off != 0 || p.What == q.What)
}

// audit is an audit in progress.
type audit struct {
	Report
	moved     map[tables.Account]int64 // by account: the sum of all its movements
	now       time.Time
	profiles  map[tables.Account]bool  // the existing agents
	takenBack map[tables.Account]int64 // what the processor took back from an account
	escrow    map[tables.Account]int64 // what the escrow of each promo must hold
	running   map[tables.Account]int64 // stored balances
	counted   map[tables.Key]int64     // by the key of a day's sum: the total of the movements marked as counted
	sums      map[tables.Key]int64     // stored sums by day
}

// countedWithin bounds the time until the stream sums a movement.
const countedWithin = time.Hour

// Audit reads a table. If the table is in use, Audit may see half of a movement: see
// [Settled].
func Audit(ctx context.Context, t tables.Scanner, now time.Time) (*Report, error) {
	a := &audit{
		Report: Report{Balances: map[tables.Account]int64{}, Days: map[tables.Account]map[string]int64{}},
		now:    now, profiles: map[tables.Account]bool{},
		moved: map[tables.Account]int64{}, takenBack: map[tables.Account]int64{}, running: map[tables.Account]int64{},
		counted: map[tables.Key]int64{}, sums: map[tables.Key]int64{}, escrow: map[tables.Account]int64{},
	}
	if err := t.Scan(ctx, a.visit); err != nil {
		return nil, err
	}
	a.judge()
	return &a.Report, nil
}

func (a *audit) problem(where, format string, args ...any) {
	a.Problems = append(a.Problems, Problem{Where: where, What: fmt.Sprintf(format, args...)})
}

// off reports a problem if a sum is wrong.
func (a *audit) off(where string, is, should int64, format string) {
	if is != should {
		a.Problems = append(a.Problems, Problem{where, fmt.Sprintf(format, is, should), is - should})
	}
}

func (a *audit) visit(item tables.Item) error {
	switch item.Str(tables.AttrType) {
	case tables.TypeMovement:
		return a.movement(item)
	case tables.TypeBalance:
		account := tables.BalanceOwner(item)
		a.running[account] = tables.MicroUSD(item)
		if !tables.Listed(item) {
			a.Unlisted++
		}
		if item.Key() != tables.BalanceKey(account) {
			a.problem(string(account), "its balance has the wrong key %v", item.Key())
		}
	case tables.TypePromo, tables.TypePastPromo:
		return a.promo(item)
	case tables.TypeProfile:
		a.profiles[tables.AgentAccount(tables.Owner(item.Key()))] = true
	case tables.TypeDaySum:
		var s tables.DaySum
		if err := tables.Unmarshal(item, &s); err != nil {
			return err
		}
		a.sums[item.Key()] = s.MicroUSD
		if a.Days[s.Account] == nil {
			a.Days[s.Account] = map[string]int64{}
		}
		a.Days[s.Account][s.Day] += s.MicroUSD
	default:
		if strings.HasPrefix(item.Key().PK, tables.LedgerPK("")) && item.Str(tables.AttrType) != tables.TypeCheckout {
			a.problem(fmt.Sprint(item.Key()), "an item of type %q does not belong in the ledger", item.Str(tables.AttrType))
		}
	}
	return nil
}

func (a *audit) movement(item tables.Item) error {
	var m tables.Movement
	if err := tables.Unmarshal(item, &m); err != nil {
		return err
	}
	a.Movements++
	switch {
	case !id.Event.Valid(m.ID), item.Key() != tables.MovementKey(m.Home(), m.ID):
		a.problem(m.ID, "its id is invalid, or its key %v is wrong", item.Key())
	case m.MicroUSD <= 0 || m.From == m.To || m.From == "" || m.To == "" || !m.From.Runs() && !m.To.Runs():
		a.problem(m.ID, "%d from %q to %q is not a valid movement", m.MicroUSD, m.From, m.To)
	case !m.Fits():
		a.problem(m.ID, "a movement of kind %q may not go from %q to %q", m.Kind, m.From, m.To)
	}
	a.moved[m.From] -= m.MicroUSD
	a.moved[m.To] += m.MicroUSD
	if m.To == tables.Processor {
		a.takenBack[m.From] += m.MicroUSD
	}
	if sum := m.DaySumKey(); sum != (tables.Key{}) {
		if _, n := m.Summed(); m.Counted {
			a.counted[sum] += n
		} else {
			a.Uncounted++
			if at := time.UnixMilli(m.At); a.now.Sub(at) > countedWithin {
				a.problem(m.ID, "it was made at %s and is not yet in a sum", at.UTC().Format(time.RFC3339))
			}
		}
	}
	return nil
}

// promo checks a promo's amounts, and notes what its escrow must hold: the rest of its
// budget, or nothing if it ended and returned the rest.
func (a *audit) promo(item tables.Item) error {
	var p tables.Promo
	if err := tables.Unmarshal(item, &p); err != nil {
		return err
	}
	account := tables.EscrowAccount(p.ID)
	left := p.Budget - p.Spent()
	switch _, twice := a.escrow[account]; {
	case twice:
		a.problem(p.ID, "it is both live and ended")
	case left < 0:
		a.problem(p.ID, "it spent %d of a budget of %d", p.Spent(), p.Budget)
	case p.EndedAt != 0 && p.Returned != left:
		a.problem(p.ID, "it returned %d, but %d was left", p.Returned, left)
	case p.EndedAt != 0:
		left = 0
	}
	a.escrow[account] = left
	return nil
}

// judge makes the checks that need the whole table.
func (a *audit) judge() {
	accounts := maps.Clone(a.moved)
	maps.Copy(accounts, a.running)
	var total int64
	for account := range accounts {
		balance := a.moved[account]
		if account.Runs() {
			balance = a.running[account]
			a.off(string(account), balance, a.moved[account], "its balance is %d, its movements come to %d")
			if account.Agent() != "" && !a.profiles[account] {
				a.problem(string(account), "it has a balance, and there is no such agent")
			}
			switch {
			case balance >= 0:
			case account.Agent() == "":
				a.problem(string(account), "its balance is %d, below zero", balance)
			case -balance > a.takenBack[account]:
				a.problem(string(account), "its balance is %d, and the processor took back %d", balance, a.takenBack[account])
			}
		}
		a.Balances[account] = balance
		total += balance
	}
	for account, left := range a.escrow {
		a.off(string(account), a.running[account], left, "its escrow is %d, and its promo has %d left")
	}
	for account, balance := range a.running {
		if _, promo := a.escrow[account]; account.Agent() == "" && !promo {
			a.problem(string(account), "it holds %d, and there is no such promo", balance)
		}
	}
	a.off("all accounts", total, 0, "they come to %d, not to %d")
	sums := maps.Clone(a.counted)
	maps.Copy(sums, a.sums)
	for key := range sums {
		a.off(key.PK+" "+key.SK, a.sums[key], a.counted[key], "the stored sum is %d, but the counted movements come to %d")
	}
	slices.SortFunc(a.Problems, func(x, y Problem) int { return strings.Compare(x.String(), y.String()) })
}

// If [Settled] finds problems, it reads the table again, up to passes times in all. A
// movement in progress has ended by then, but a real error remains.
const (
	passes = 3
	apart  = time.Second
)

// Settled audits a table that may be in use. It reports only the problems that every read
// finds with the same amount.
func Settled(ctx context.Context, t tables.Scanner, now time.Time) (*Report, error) {
	r, err := Audit(ctx, t, now)
	for pass := 1; err == nil && len(r.Problems) > 0 && pass < passes; pass++ {
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(apart):
		}
		before := r.Problems
		if r, err = Audit(ctx, t, now); err == nil {
			r.Problems = slices.DeleteFunc(r.Problems, func(p Problem) bool { return !slices.ContainsFunc(before, p.same) })
		}
	}
	return r, err
}
