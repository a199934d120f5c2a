package tables_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"agentsocial/tables"
	"agentsocial/tables/embedded"
)

const (
	payer = tables.Account("ag_01m7zpvgpq518pwx45sh5x71rp")
	promo = tables.Account("pr_01m7zpvgpq518pwx45sh5x71rp")
)

func movement(from, to tables.Account, kind, cause string, micro int64) *tables.Movement {
	at := time.UnixMilli(1_790_000_000_123)
	return &tables.Movement{ID: tables.MovementID(at, kind, cause), At: at.UnixMilli(), Kind: kind, From: from, To: to, MicroUSD: micro}
}

// The keys must not change: under another key, a cause that is reported again would move
// money twice.
func TestMovement_Keys(t *testing.T) {
	for _, c := range []struct {
		m          *tables.Movement
		key, daily string
	}{
		{movement(tables.Processor, payer, tables.Bought, "cs_1", 5), "L#ag_01m7zpvgpq518pwx45sh5x71rp E#ev_01m3250v3vdkr8e8rn9t6p82cz", "L#processor#0 DAY#20260921"},
		{movement(payer, tables.Revenue, tables.PaidMessage, "msg_1", 5), "L#ag_01m7zpvgpq518pwx45sh5x71rp E#ev_", "L#revenue#0 DAY#20260921"},
		{movement(payer, promo, tables.PaidPromo, "pr_1", 5), "L#ag_01m7zpvgpq518pwx45sh5x71rp E#ev_", " "},
		{movement(promo, payer, tables.Returned, "pr_1", 5), "L#ag_01m7zpvgpq518pwx45sh5x71rp E#ev_", " "},
		{movement(promo, tables.Revenue, tables.Earned, "pr_1", 5), "L#pr_01m7zpvgpq518pwx45sh5x71rp E#ev_", "L#revenue#"},
	} {
		k, d := c.m.Item().Key(), c.m.DaySumKey()
		if got := k.PK + " " + k.SK; len(got) < len(c.key) || got[:len(c.key)] != c.key {
			t.Errorf("key of %s: got %s, want prefix %s", c.m.Kind, got, c.key)
		}
		if got := d.PK + " " + d.SK; got[:min(len(got), len(c.daily))] != c.daily {
			t.Errorf("day sum of %s: got %s, want prefix %s", c.m.Kind, got, c.daily)
		}
	}
	if movement(promo, payer, tables.Returned, "pr_1", 5).ID == movement(payer, promo, tables.PaidPromo, "pr_1", 5).ID {
		t.Error("ids of a promo's payment and of its return: got the same, want different ones")
	}
}

func TestMovements(t *testing.T) {
	table, err := embedded.Open(embedded.Config{})
	if err != nil {
		t.Fatal(err)
	}
	defer table.Close()
	for i, c := range []struct {
		m              *tables.Movement
		refusal        tables.Obstacle
		there          int64 // balance in the refusal
		payer, inPromo int64 // balances afterwards
	}{
		{movement(payer, tables.Revenue, tables.PaidMessage, "msg_0", 1), tables.Insufficient, 0, 0, 0},
		{movement(tables.Processor, payer, tables.Bought, "cs_1", 100), 0, 0, 100, 0},
		{movement(tables.Processor, payer, tables.Bought, "cs_1", 100), tables.AlreadyMade, 0, 100, 0},
		{movement(payer, tables.Revenue, tables.PaidMessage, "msg_1", 30), 0, 0, 70, 0},
		{movement(payer, tables.Revenue, tables.PaidMessage, "msg_2", 71), tables.Insufficient, 70, 70, 0},
		{movement(payer, promo, tables.PaidPromo, "pr_1", 60), 0, 0, 10, 60},
		{movement(promo, tables.Revenue, tables.Earned, "pr_1", 61), tables.Insufficient, 60, 10, 60},
		{movement(promo, tables.Revenue, tables.Earned, "pr_1", 20), 0, 0, 10, 40},
		{movement(promo, payer, tables.Returned, "pr_1", 40), 0, 0, 50, 0},
		{movement(promo, payer, tables.Returned, "pr_1", 40), tables.AlreadyMade, 0, 50, 0},
		{movement(payer, tables.Processor, tables.Disputed, "du_1", 100), 0, 0, -50, 0},
		{movement(payer, tables.Revenue, tables.PaidMessage, "msg_3", 1), tables.Frozen, -50, -50, 0},
		{movement(payer, tables.Revenue, tables.PaidMessage, "msg_1", 30), tables.AlreadyMade, 0, -50, 0},
		{movement(tables.Processor, payer, tables.Reinstated, "du_1", 100), 0, 0, 50, 0},
		{movement(payer, tables.Revenue, tables.PaidMessage, "msg_4", 50), 0, 0, 0, 0},
	} {
		tx := tables.Tx{Token: fmt.Sprint(i), Writes: c.m.Writes()}
		err := table.Commit(t.Context(), tx)
		var cancelled *tables.Cancelled
		if errors.As(err, &cancelled) {
			err = tx.Resolve(cancelled)
		}
		var got tables.NotMoved
		if not := (*tables.NotMoved)(nil); errors.As(err, &not) {
			got, err = *not, nil
		}
		if want := (tables.NotMoved{Why: c.refusal, Balance: c.there}); err != nil || got != want {
			t.Errorf("movement %d: got %+v, %v; want %+v", i, got, err, want)
		}
		items, err := table.Get(t.Context(), tables.Strong, tables.BalanceKey(payer), tables.BalanceKey(promo))
		if err != nil {
			t.Fatal(err)
		}
		if a, b := tables.MicroUSD(items[0]), tables.MicroUSD(items[1]); a != c.payer || b != c.inPromo {
			t.Errorf("movement %d: got balances %d (agent), %d (promo); want %d, %d", i, a, b, c.payer, c.inPromo)
		}
	}
}

func TestCountMovements(t *testing.T) {
	table := openTable(t)
	var moved []tables.Movement
	for i := range int64(3) {
		m := movement(payer, tables.Revenue, tables.PaidMessage, fmt.Sprint("msg_", i), 10+i)
		commit(t, table, tables.Put(m.Item()))
		moved = append(moved, *m)
	}
	commit(t, table, tables.CountMovements(moved[:2])...)
	commit(t, table, tables.CountMovements(moved[2:])...)
	if sum := get(t, table, moved[0].DaySumKey()); sum.Int("micro_usd") != 33 || sum.Int("n") != 3 {
		t.Errorf("day sum: got %v, want 33 micro-USD of 3 movements", sum)
	}
}

func TestMovement_Panics(t *testing.T) {
	other := tables.Account("ag_01m7zpvgpq518pwx45sh5x71rq")
	for _, m := range []*tables.Movement{
		movement(payer, tables.Revenue, tables.PaidMessage, "msg_1", 0),
		movement(payer, tables.Revenue, tables.PaidMessage, "msg_1", -1),
		movement(payer, payer, tables.PaidMessage, "msg_1", 1),
		movement(payer, other, tables.PaidMessage, "msg_1", 1),
		movement(tables.Processor, tables.Revenue, tables.Bought, "cs_1", 1),
		movement(payer, tables.Processor, tables.Bought, "cs_1", 1),
		movement(payer, promo, tables.PaidMessage, "msg_1", 1),
		movement(tables.Processor, payer, "gift", "cs_1", 1),
		{ID: "cs_1", Kind: tables.Bought, From: tables.Processor, To: payer, MicroUSD: 1},
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("Writes of %+v did not panic", m)
				}
			}()
			m.Writes()
		}()
	}
}

func TestBalances(t *testing.T) {
	table, err := embedded.Open(embedded.Config{})
	if err != nil {
		t.Fatal(err)
	}
	defer table.Close()
	commit := func(writes ...tables.Write) {
		t.Helper()
		if err := table.Commit(t.Context(), tables.Tx{Writes: writes}); err != nil {
			t.Fatal(err)
		}
	}
	const n = 200
	for i := range n {
		a := tables.Account(fmt.Sprintf("ag_01m7zpvgpq%016d", i)) // all of the same millisecond
		commit(movement(tables.Processor, a, tables.Bought, fmt.Sprint(i), 5).Writes()...)
		commit(movement(tables.Processor, a, tables.Bought, fmt.Sprint("again", i), 5).Writes()...)
	}
	listed := func() (all, most int) {
		t.Helper()
		for _, q := range tables.Balances(n) {
			page, err := table.Query(t.Context(), q)
			if err != nil || page.Next != nil {
				t.Fatalf("query of the listed balances: got the next page %v and error %v, want neither", page.Next, err)
			}
			all, most = all+len(page.Items), max(most, len(page.Items))
		}
		return all, most
	}
	if all, most := listed(); all != n || most > n/5 {
		t.Errorf("listed balances: got %d, up to %d in one shard; want %d, up to %d", all, most, n, n/5)
	}
	// Early versions did not list balances.
	commit(tables.Change(tables.BalanceKey(payer), tables.SetAttr(tables.AttrType, tables.TypeBalance), tables.Add("micro_usd", 7)))
	for _, want := range []bool{false, true} {
		items, err := table.Get(t.Context(), tables.Strong, tables.BalanceKey(payer))
		if all, _ := listed(); err != nil || tables.Listed(items[0]) != want || (all == n+1) != want || tables.MicroUSD(items[0]) != 7 {
			t.Errorf("balance of an early version: got %v, %d balances listed, error %v; want 7 micro-USD, and the balance listed = %t", items, all, err, want)
		}
		commit(tables.ListBalance(payer))
	}
}
