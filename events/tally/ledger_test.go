package tally

import (
	"crypto/rand"
	"fmt"
	"slices"
	"testing"
	"time"

	"agentsocial/shared/app"
	"agentsocial/tables"
	"agentsocial/tables/embedded"
)

// TestDaySums checks that each movement is added to the sum of its day once. Movements
// between two accounts with balances are in no sum.
func TestDaySums(t *testing.T) {
	const (
		agent = tables.Account("ag_01m7zpvgpq518pwx45sh5x71rp")
		promo = tables.Account("pr_01m7zpvgpq518pwx45sh5x71rp")
	)
	noon := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	var all []tables.StreamRecord
	var put []tables.Write
	move := func(i int, from, to tables.Account, kind string) *tables.Movement {
		at := noon.AddDate(0, 0, i%2)
		m := &tables.Movement{ID: tables.MovementID(at, kind, fmt.Sprint(i)), At: at.UnixMilli(), Kind: kind, From: from, To: to, MicroUSD: 10}
		all = append(all, tables.StreamRecord{Event: "INSERT", Key: m.Item().Key(), New: m.Item()})
		put = append(put, tables.Put(m.Item()))
		return m
	}
	var spent, bought, held *tables.Movement
	for i := range 100 {
		spent = move(i, agent, tables.Revenue, tables.PaidMessage)
	}
	for i := range 10 {
		bought = move(i, tables.Processor, agent, tables.Bought)
		held = move(i, agent, promo, tables.PaidPromo)
		move(i, agent, tables.Processor, tables.Refunded)
		move(i, tables.Processor, agent, tables.Reinstated)
	}
	if held.DaySumKey() != (tables.Key{}) {
		t.Errorf("day sum of a movement to escrow: got %v, want none", held.DaySumKey())
	}
	watch := spent.DaySumKey()
	for name, batches := range map[string][][]tables.StreamRecord{
		"once":            {all},
		"twice":           {slices.Concat(all, all)},
		"again and again": {all[:70], all[20:], all[100:], all},
	} {
		t.Run(name, func(t *testing.T) {
			table, err := embedded.Open(embedded.Config{})
			if err != nil {
				t.Fatal(err)
			}
			defer table.Close()
			for chunk := range slices.Chunk(put, tables.MaxTxWrites) {
				if err := table.Commit(t.Context(), tables.Tx{Writes: chunk}); err != nil {
					t.Fatal(err)
				}
			}
			run := func(b tables.Backend, batch []tables.StreamRecord) {
				f := newReader(&app.App{Table: b, Now: time.Now, Rand: rand.Reader})
				if err := f.handle(t.Context(), batch); err != nil {
					t.Error(err)
				}
			}
			overtaken := &meddled{Backend: table, watch: watch, before: func() { run(table, all) }}
			for _, batch := range batches {
				run(overtaken, batch)
			}
			items, err := table.Get(t.Context(), tables.Strong, watch, bought.DaySumKey(), all[0].Key)
			if err != nil {
				t.Fatal(err)
			}
			if n, of := tables.MicroUSD(items[0]), items[0].Int("n"); n != 500 || of != 50 {
				t.Errorf("revenue of the day: got %d in %d movements, want 500 in 50", n, of)
			}
			if n, of := tables.MicroUSD(items[1]), items[1].Int("n"); n != -50 || of != 15 {
				t.Errorf("processor's sum of the day: got %d in %d movements, want -50 in 15", n, of)
			}
			if !items[2].Bool("counted") {
				t.Error("a summed movement: got counted = false, want true")
			}
		})
	}
}
