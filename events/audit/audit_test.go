package audit

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"agentsocial/shared/app"
	"agentsocial/shared/lambda/schedule"
	"agentsocial/tables"
	"agentsocial/tables/embedded"
)

// fixture is an audit with books of its own and small pages.
type fixture struct {
	audit
	tables.Backend
	t    *testing.T
	log  bytes.Buffer
	n    int
	read func() // called before each reading of the shard that lists agent 3
}

func newFixture(t *testing.T) *fixture {
	t.Helper()
	table, err := embedded.Open(embedded.Config{Now: time.Now})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { table.Close() })
	o := &fixture{Backend: table, t: t, read: func() {}}
	o.audit = audit{&app.App{Table: o, Now: time.Now, Rand: rand.Reader, Log: slog.New(slog.NewTextHandler(&o.log, nil))}}
	return o
}

// Query returns pages of two items, so that the audit reads several pages.
func (o *fixture) Query(ctx context.Context, q tables.Query) (tables.Page, error) {
	if q.PK == tables.ListBalance(agent(3)).Updates[0].Value && q.After == nil {
		o.read()
	}
	q.Limit = 2
	return o.Backend.Query(ctx, q)
}

func (o *fixture) commit(w ...tables.Write) {
	o.t.Helper()
	if err := o.Commit(o.t.Context(), tables.Tx{Writes: w}); err != nil {
		o.t.Fatal(err)
	}
}

func agent(n int) tables.Account { return tables.Account(fmt.Sprintf("ag_%026d", n)) }

// move makes a movement that the stream has not added up yet.
func (o *fixture) move(kind string, from, to tables.Account, microUSD int64) tables.Movement {
	o.t.Helper()
	o.n++
	at := time.Now().Add(time.Duration(o.n) * 24 * time.Hour) // on many days
	m := tables.Movement{
		ID: tables.MovementID(at, kind, fmt.Sprint(o.n)), At: at.UnixMilli(), Kind: kind, From: from, To: to, MicroUSD: microUSD,
	}
	o.commit(m.Writes()...)
	return m
}

// add adds movements up, as the stream does.
func (o *fixture) add(movements ...tables.Movement) {
	o.t.Helper()
	for _, m := range movements {
		o.commit(tables.CountMovements([]tables.Movement{m})...)
	}
}

// trade makes books with seven agents and a promo.
func (o *fixture) trade() {
	o.t.Helper()
	for n := range 7 {
		o.add(o.move(tables.Bought, tables.Processor, agent(n), int64(1_000_000+n)))
	}
	o.add(o.move(tables.PaidMessage, agent(0), tables.Revenue, 250), o.move(tables.Disputed, agent(1), tables.Processor, 3_000_000))
	escrow := tables.EscrowAccount("pr_00000000000000000000000001")
	o.move(tables.PaidPromo, agent(2), escrow, 500_000)
	o.add(o.move(tables.Earned, escrow, tables.Revenue, 200_000))
	o.move(tables.Returned, escrow, agent(2), 300_000)
}

func (o *fixture) wrong(microUSD int64) bool {
	return strings.Contains(o.log.String(), fmt.Sprintf("level=ERROR msg=%q micro_usd=%d\n", Wrong, microUSD))
}

func TestAudit_BalancedBooks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, trade := range []func(*fixture){func(*fixture) {}, (*fixture).trade} {
			o := newFixture(t)
			trade(o)
			begun := time.Now()
			if err := o.handle(t.Context()); err != nil || o.log.Len() > 0 || time.Since(begun) > 0 {
				t.Errorf("balanced books: got error %v after %s and log %q, want no error, no log and no wait", err, time.Since(begun), &o.log)
			}
		}
	})
}

func TestAudit_WrongBooks(t *testing.T) {
	lost := tables.Movement{Kind: tables.PaidMessage, From: agent(3), To: tables.Revenue, MicroUSD: 5, At: 1}
	for what, breaks := range map[string]struct {
		how func(*fixture)
		off int64
	}{
		"a balance": {func(o *fixture) {
			o.commit(tables.Change(tables.BalanceKey(agent(6)), tables.Add("micro_usd", 1)))
		}, 1},
		"a missing balance": {func(o *fixture) { o.commit(tables.Delete(tables.BalanceKey(agent(5)))) }, -1_000_005},
		"a sum": {func(o *fixture) {
			o.commit(tables.Change(lost.DaySumKey(), tables.Add("micro_usd", -7)))
		}, -7},
		"a movement that is never added up": {func(o *fixture) { o.move(tables.PaidMessage, agent(4), tables.Revenue, 9) }, -9},
	} {
		t.Run(what, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				o := newFixture(t)
				o.trade()
				breaks.how(o)
				begun := time.Now()
				if err := o.handle(t.Context()); err != nil || !o.wrong(breaks.off) || time.Since(begun) != 5*time.Minute {
					t.Errorf("got error %v after %s and log %q, want the books off by %d after 5m", err, time.Since(begun), &o.log, breaks.off)
				}
			})
		})
	}
}

func TestAudit_BooksInUse(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := newFixture(t)
		o.trade()
		slow := []tables.Movement{
			o.move(tables.PaidMessage, agent(4), tables.Revenue, 9), o.move(tables.PaidMessage, agent(5), tables.Revenue, 9), o.move(tables.PaidMessage, agent(6), tables.Revenue, 9),
		}
		o.read = func() {
			if len(slow) > 0 {
				o.add(slow[0])
				slow = slow[1:]
			}
		}
		if err := o.handle(t.Context()); err != nil || o.log.Len() > 0 {
			t.Errorf("books that add up in a later reading: got error %v and log %q, want neither", err, &o.log)
		}
		times := 0
		o.read = func() { times++; o.move(tables.PaidMessage, agent(3), tables.Revenue, 1) }
		if err := o.handle(t.Context()); err != nil || times != readMost || !strings.Contains(o.log.String(), fmt.Sprintf("level=WARN msg=%q micro_usd=-5 times=5\n", Unproved)) {
			t.Errorf("books that change in every reading: got error %v after %d readings and log %q, want %q after %d", err, times, &o.log, Unproved, readMost)
		}
	})
}

func TestAudit_SlowReadings(t *testing.T) {
	for _, c := range []struct {
		takes time.Duration
		log   string
		err   error
	}{
		{proveFor/3 - time.Second, Wrong, nil},
		{proveFor - time.Second, Unproved, nil},
		{proveFor + time.Second, Unproved, schedule.ErrUnfinished},
	} {
		synctest.Test(t, func(t *testing.T) {
			o := newFixture(t)
			o.trade()
			o.commit(tables.Change(tables.BalanceKey(agent(6)), tables.Add("micro_usd", 1)))
			o.Table = slow{o, c.takes}
			if err := o.handle(t.Context()); !errors.Is(err, c.err) || !strings.Contains(o.log.String(), c.log) {
				t.Errorf("readings of %s: got error %v and log %q, want error %v and %q", c.takes, err, &o.log, c.err, c.log)
			}
		})
	}
}

// slow is a table that takes a given time to read a shard of the balances.
type slow struct {
	tables.Backend
	takes time.Duration
}

func (s slow) Query(ctx context.Context, q tables.Query) (tables.Page, error) {
	if q.Index != "" && q.After == nil {
		select {
		case <-ctx.Done():
			return tables.Page{}, ctx.Err()
		case <-time.After(s.takes):
		}
	}
	return s.Backend.Query(ctx, q)
}

func TestAudit_UnreadableTable(t *testing.T) {
	broken := errors.New("broken")
	for _, index := range []bool{false, true} {
		o := newFixture(t)
		o.trade()
		o.Table = failing{o, index, broken}
		if err := o.handle(t.Context()); !errors.Is(err, broken) {
			t.Errorf("failing queries, of indexes = %t: got error %v, want %v", index, err, broken)
		}
	}
}

// failing is a table whose indexes, or whose items, cannot be queried.
type failing struct {
	tables.Backend
	index bool
	err   error
}

func (f failing) Query(ctx context.Context, q tables.Query) (tables.Page, error) {
	if (q.Index != "") == f.index {
		return tables.Page{}, f.err
	}
	return f.Backend.Query(ctx, q)
}
