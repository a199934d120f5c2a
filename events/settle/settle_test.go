package settle

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"agentsocial/shared/app"
	"agentsocial/shared/rules/promo"
	"agentsocial/tables"
	"agentsocial/tables/embedded"
	"agentsocial/tables/id"
)

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// fixture is a channel with promos.
type fixture struct {
	settle
	t     *testing.T
	table *embedded.Table
	clock atomic.Int64
	n     int // viewers so far
}

const (
	in    = "den"
	buyer = "ag_00000000000000000000000001"
	purse = 1000 * promo.USD
)

func newFixture(t *testing.T) *fixture {
	t.Helper()
	d := &fixture{t: t}
	d.clock.Store(noon.UnixMilli())
	now := func() time.Time { return time.UnixMilli(d.clock.Load()).UTC() }
	var err error
	if d.table, err = embedded.Open(embedded.Config{Now: now}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { d.table.Close() })
	d.settle = settle{&app.App{Table: d.table, Now: now, Rand: rand.Reader, Log: slog.New(slog.DiscardHandler)}}
	d.commit(tables.Put((&tables.Channel{Name: in, Kind: tables.KindWork}).Item()))
	d.commit((&tables.Movement{
		ID: tables.MovementID(noon, tables.Bought, "cs_1"), At: 1, Kind: tables.Bought,
		From: tables.Processor, To: tables.AgentAccount(buyer), MicroUSD: purse,
	}).Writes()...)
	return d
}

func (d *fixture) commit(w ...tables.Write) {
	d.t.Helper()
	if err := d.table.Commit(d.t.Context(), tables.Tx{Writes: w}); err != nil {
		d.t.Fatal(err)
	}
}

func (d *fixture) get(k tables.Key) tables.Item {
	d.t.Helper()
	items, err := d.table.Get(d.t.Context(), tables.Strong, k)
	if err != nil {
		d.t.Fatal(err)
	}
	return items[0]
}

func (d *fixture) buy(usd int64, days int) *tables.Promo {
	d.t.Helper()
	b, err := tables.ReadBoard(in, d.get(tables.BoardKey(in)))
	if err != nil {
		d.t.Fatal(err)
	}
	o := promo.Offer{USD: usd, Days: days, CPM: promo.CPMLeast, Now: d.Now()}
	p := &tables.Promo{
		ID: id.Promo.New(d.Now(), d.Rand), Channel: in, Buyer: tables.Author{ID: buyer}, Body: "x", State: tables.PromoLive,
		Budget: o.Budget(), Price: o.Price(), CreatedAt: d.Now().UnixMilli(), EndsAt: o.EndsAt().UnixMilli(),
	}
	d.commit(append(append(b.Add(p, o.Entry(&tables.Profile{ID: buyer}), nil), tables.Put(p.Item(), tables.NoItem())), p.Payment().Writes()...)...)
	return p
}

// seen bills a promo for n more viewers.
func (d *fixture) seen(p *tables.Promo, n int) {
	d.t.Helper()
	for range n {
		d.n++
		d.commit(tables.Impression(in, p.ID, fmt.Sprintf("ag_%026d", d.n), d.Now())...)
	}
}

func (d *fixture) pass(t time.Duration) { d.clock.Add(t.Milliseconds()) }

// past returns an ended promo, or nil if it has not ended.
func (d *fixture) past(p *tables.Promo) *tables.Promo {
	d.t.Helper()
	item := d.get(tables.PastPromoKey(in, p.ID))
	if item == nil {
		return nil
	}
	ended := new(tables.Promo)
	if err := tables.Unmarshal(item, ended); err != nil {
		d.t.Fatal(err)
	}
	return ended
}

// books returns the sum of each account's movements, and checks the balances against
// them.
func (d *fixture) books() map[tables.Account]int64 {
	d.t.Helper()
	sums := map[tables.Account]int64{}
	balances := map[tables.Account]int64{}
	err := d.table.Scan(d.t.Context(), func(item tables.Item) error {
		switch item.Str(tables.AttrType) {
		case tables.TypeMovement:
			var m tables.Movement
			if err := tables.Unmarshal(item, &m); err != nil {
				return err
			}
			sums[m.From] -= m.MicroUSD
			sums[m.To] += m.MicroUSD
		case tables.TypeBalance:
			balances[tables.BalanceOwner(item)] = tables.MicroUSD(item)
		}
		return nil
	})
	if err != nil {
		d.t.Fatal(err)
	}
	for account, n := range balances {
		if sums[account] != n || n < 0 {
			d.t.Errorf("balance of %s: got %d, want the sum of its movements, %d, and not below 0", account, n, sums[account])
		}
	}
	return sums
}

// ended checks how a promo ended, and the books.
func (d *fixture) ended(p *tables.Promo, state string, impressions int64) {
	d.t.Helper()
	got := d.past(p)
	if got == nil {
		d.t.Fatalf("%s has not ended", p.ID)
	}
	earned := impressions * p.Price
	if got.State != state || got.Impressions != impressions || got.Spent() != earned || got.Returned != p.Budget-earned {
		d.t.Errorf("%s: got %s after %d impressions, %d spent, %d returned; want %s after %d impressions, %d spent, %d returned", p.ID, got.State, got.Impressions, got.Spent(), got.Returned, state, impressions, earned, p.Budget-earned)
	}
	if len(got.Counted) != 0 {
		d.t.Errorf("%s: got counts by shard %v, want none", p.ID, got.Counted)
	}
	books := d.books()
	if books[tables.EscrowAccount(p.ID)] != 0 || books[tables.Revenue] != earned || books[tables.AgentAccount(buyer)] != purse-earned {
		d.t.Errorf("ended promo: got books %v, want an empty escrow, revenue %d and a balance of %d", books, earned, purse-earned)
	}
	if d.get(tables.PromoKey(in, p.ID)) != nil {
		d.t.Errorf("%s is still live", p.ID)
	}
	board, channel := d.get(tables.BoardKey(in)), d.get(tables.ChannelKey(in))
	if board.Str("rank_pk") != "" || channel.Int("promos_until") != 0 {
		d.t.Errorf("ended promo: got board %v and promos_until %d, want a board that is not due, and 0", board, channel.Int("promos_until"))
	}
	for shard := range tables.PromoShards {
		if counts := d.get(tables.CountsKey(in, shard)); tables.Billed(counts, p.ID) != 0 {
			d.t.Errorf("shard %d: got impressions of %s, want none", shard, p.ID)
		}
	}
}

func (d *fixture) handleOK() {
	d.t.Helper()
	if err := d.handle(d.t.Context()); err != nil {
		d.t.Fatal(err)
	}
}

func TestEarning(t *testing.T) {
	d := newFixture(t)
	p := d.buy(5, 1)
	if got := d.books(); got[tables.EscrowAccount(p.ID)] != p.Budget || got[tables.AgentAccount(buyer)] != purse-p.Budget {
		t.Fatalf("books after the purchase: got %v, want %d in escrow and a balance of %d", got, p.Budget, purse-p.Budget)
	}
	total := int64(0)
	for _, n := range []int{7, 0, 13} {
		d.seen(p, n)
		total += int64(n)
		d.pass(tables.SettleEvery)
		d.handleOK()
		if got := d.books(); got[tables.Revenue] != total*p.Price || got[tables.EscrowAccount(p.ID)] != p.Budget-total*p.Price {
			t.Errorf("books after %d impressions: got %v, want revenue %d and %d in escrow", total, got, total*p.Price, p.Budget-total*p.Price)
		}
	}
	d.seen(p, 3)
	d.pass(24 * time.Hour)
	d.handleOK()
	d.ended(p, tables.PromoExpired, total+3)
	if got := d.past(p).EndedAt; got != p.EndsAt {
		t.Errorf("end of the promo: got %d, want %d", got, p.EndsAt)
	}
}

// TestEndIsASettlement checks that the end of a promo sets SettledAt, even without new
// impressions.
func TestEndIsASettlement(t *testing.T) {
	d := newFixture(t)
	p := d.buy(5, 1)
	d.seen(p, 2)
	d.pass(tables.SettleEvery)
	d.handleOK()
	d.pass(24 * time.Hour)
	d.handleOK()
	d.ended(p, tables.PromoExpired, 2)
	if got := d.past(p); got.SettledAt != d.Now().UnixMilli() {
		t.Errorf("settled at: got %d, want %d", got.SettledAt, d.Now().UnixMilli())
	}
}

func TestSpent(t *testing.T) {
	d := newFixture(t)
	p := d.buy(5, 1)
	p.Price = 1_500_000 // the budget buys three impressions, and half a dollar is left
	d.commit(tables.Change(tables.PromoKey(in, p.ID), tables.SetAttr("price", p.Price)))
	d.seen(p, 2)
	d.pass(tables.SettleEvery)
	d.handleOK()
	if d.past(p) != nil {
		t.Error("the promo ended before its budget was spent")
	}
	d.seen(p, 9)
	d.pass(tables.SettleEvery)
	d.handleOK()
	d.ended(p, tables.PromoSpent, 3)
}

func TestRemoved(t *testing.T) {
	d := newFixture(t)
	p := d.buy(5, 10)
	d.seen(p, 4)
	d.pass(time.Minute)
	d.commit(p.Remove("ca_1", d.Now()))
	if err := d.table.Commit(t.Context(), tables.Tx{Writes: []tables.Write{p.Remove("ca_2", d.Now())}}); err == nil {
		t.Error("a promo was removed twice")
	}
	d.pass(tables.SettleEvery)
	d.handleOK()
	d.ended(p, tables.PromoRemoved, 4)
	if got := d.past(p); got.Case != "ca_1" || got.EndedAt != noon.Add(time.Minute).UnixMilli() {
		t.Errorf("removal: got case %q at %d, want ca_1 at %d", got.Case, got.EndedAt, noon.Add(time.Minute).UnixMilli())
	}
	var gone *tables.Cancelled
	if err := d.table.Commit(t.Context(), tables.Tx{Writes: []tables.Write{p.Remove("ca_3", d.Now())}}); !errors.As(err, &gone) {
		t.Errorf("removing an ended promo: got error %v, want a failed condition", err)
	}
}

func TestReversedPayment(t *testing.T) {
	d := newFixture(t)
	p := d.buy(5, 10)
	d.seen(p, 4)
	takeBack := func(cause string, microUSD int64) {
		d.commit((&tables.Movement{
			ID: tables.MovementID(d.Now(), tables.Disputed, cause), At: d.clock.Load(), Kind: tables.Disputed,
			From: tables.AgentAccount(buyer), To: tables.Processor, MicroUSD: microUSD,
		}).Writes()...)
		d.pass(tables.SettleEvery)
		d.handleOK()
	}
	takeBack("du_1", purse-p.Budget)
	if d.past(p) != nil {
		t.Fatal("the promo ended, though its buyer owes nothing")
	}
	takeBack("du_2", 1000)
	got := d.past(p)
	if got == nil || got.State != tables.PromoRemoved || got.Case != "" || got.Returned != p.Budget-4*p.Price {
		t.Fatalf("buyer in debt: got promo %+v, want it removed, without a case, and the rest returned", got)
	}
	if left := tables.MicroUSD(d.get(tables.BalanceKey(buyer))); left != got.Returned-1000 {
		t.Errorf("buyer's balance: got %d micro-USD, want %d", left, got.Returned-1000)
	}
}

// stopping is a table whose n'th commit and all later ones fail.
type stopping struct {
	tables.Backend
	left  atomic.Int64
	after bool // the n'th commit is made, but reports an error
}

var errStopped = errors.New("stopped")

func (s *stopping) Commit(ctx context.Context, tx tables.Tx) error {
	switch left := s.left.Add(-1); {
	case left > 0:
		return s.Backend.Commit(ctx, tx)
	case left == 0 && s.after:
		return errors.Join(s.Backend.Commit(ctx, tx), errStopped)
	}
	return errStopped
}

func TestKilledAtEveryStep(t *testing.T) {
	for state, finish := range map[string]func(*fixture, *tables.Promo){
		tables.PromoExpired: func(d *fixture, p *tables.Promo) { d.pass(25 * time.Hour) },
		tables.PromoRemoved: func(d *fixture, p *tables.Promo) { d.commit(p.Remove("ca_1", d.Now())); d.pass(tables.SettleEvery) },
	} {
		for _, after := range []bool{false, true} {
			steps := 0
			for n := int64(1); n < 20; n++ {
				d := newFixture(t)
				p := d.buy(5, 1)
				d.seen(p, 6)
				d.pass(tables.SettleEvery)
				d.handleOK()
				d.seen(p, 5)
				finish(d, p)
				s := &stopping{Backend: d.table, after: after}
				s.left.Store(n)
				broken := *d.App
				broken.Table = s
				if (settle{&broken}).handle(t.Context()) != nil {
					steps++
				}
				d.pass(tables.SettleEvery)
				d.handleOK()
				got := d.past(p)
				if got == nil {
					t.Fatalf("%s, stopped at commit %d (after it: %t): the promo has not ended", state, n, after)
				}
				if got.State != state || got.Impressions != 11 || got.Returned != p.Budget-11*p.Price {
					t.Errorf("%s, stopped at commit %d (after it: %t): got %+v, want state %s after 11 impressions, and the rest returned", state, n, after, got, state)
				}
				if books := d.books(); books[tables.EscrowAccount(p.ID)] != 0 || books[tables.Revenue] != 11*p.Price || books[tables.AgentAccount(buyer)] != purse-11*p.Price {
					t.Errorf("%s, stopped at commit %d (after it: %t): got books %v, want an empty escrow, revenue %d and a balance of %d", state, n, after, books, 11*p.Price, purse-11*p.Price)
				}
			}
			if steps < 4 || steps == 19 { // at least take, earn, end and forget
				t.Errorf("%s: got %d killed sweeps, want 4 to 18", state, steps)
			}
		}
	}
}

// meddling is a table that calls a function right before the n'th commit.
type meddling struct {
	tables.Backend
	left atomic.Int64
	do   func()
}

func (m *meddling) Commit(ctx context.Context, tx tables.Tx) error {
	if m.left.Add(-1) == 0 {
		m.do()
	}
	return m.Backend.Commit(ctx, tx)
}

func TestBooks_ChangesBetweenSteps(t *testing.T) {
	for what, c := range map[string]struct {
		do    func(*fixture, *tables.Promo)
		state string
		most  int64 // billed impressions; 9 were billed before the sweep
	}{
		"another sweep": {func(d *fixture, _ *tables.Promo) { d.pass(tables.SettleEvery); d.handleOK() }, tables.PromoExpired, 9},
		"a jury": {func(d *fixture, p *tables.Promo) {
			if d.get(tables.PromoKey(in, p.ID)) != nil {
				d.commit(p.Remove("ca_1", d.Now()))
			}
		}, tables.PromoRemoved, 9},
		"the end of its days": {func(d *fixture, _ *tables.Promo) { d.pass(24 * time.Hour) }, tables.PromoExpired, 9},
		"an impression":       {func(d *fixture, p *tables.Promo) { d.seen(p, 1) }, tables.PromoExpired, 10},
		"another purchase":    {func(d *fixture, _ *tables.Promo) { d.buy(5, 1) }, tables.PromoExpired, 9},
	} {
		for _, over := range []bool{false, true} { // whether the promo's days are over
			for n := int64(1); n < 14; n++ {
				d := newFixture(t)
				p := d.buy(5, 1)
				d.seen(p, 4)
				d.pass(tables.SettleEvery)
				d.handleOK()
				d.seen(p, 5)
				d.pass(tables.SettleEvery)
				if over {
					d.pass(24 * time.Hour)
				}
				m := &meddling{Backend: d.table, do: func() { c.do(d, p) }}
				m.left.Store(n)
				meddled := *d.App
				meddled.Table = m
				if err := (settle{&meddled}).handle(t.Context()); err != nil {
					t.Errorf("%s before commit %d: got error %v, want none", what, n, err)
				}
				happened := m.left.Load() <= 0
				for range 2 { // end the remaining promos
					d.pass(25 * time.Hour)
					d.handleOK()
				}
				got := d.past(p)
				if got == nil || got.Impressions < 9 || got.Impressions > c.most {
					t.Fatalf("%s before commit %d, days over = %t: got %+v, want an ended promo with 9 to %d impressions", what, n, over, got, c.most)
				}
				if happened && !over && got.State != c.state && what != "a jury" {
					t.Errorf("%s before commit %d: got state %s, want %s", what, n, got.State, c.state)
				}
				if got.State == tables.PromoRemoved != (got.Case != "") {
					t.Errorf("%s before commit %d, days over = %t: got state %s and case %q, want a case exactly if %s", what, n, over, got.State, got.Case, tables.PromoRemoved)
				}
				books := d.books()
				if books[tables.EscrowAccount(p.ID)] != 0 || books[tables.Revenue] != got.Spent() || books[tables.AgentAccount(buyer)] != purse-got.Spent() {
					t.Errorf("%s before commit %d, days over = %t: got books %v after %d impressions, want an empty escrow, revenue %d and a balance of %d", what, n, over, books, got.Impressions, got.Spent(), purse-got.Spent())
				}
				if due := d.get(tables.BoardKey(in)).Str("rank_pk"); due != "" {
					t.Errorf("%s before commit %d, days over = %t: the board is still due", what, n, over)
				}
			}
		}
	}
}

func TestManySweeps(t *testing.T) {
	for round := range 30 {
		d := newFixture(t)
		promos := []*tables.Promo{d.buy(5, 1), d.buy(7, 1), d.buy(9, 2)}
		for _, p := range promos {
			d.seen(p, 10)
		}
		d.pass(24 * time.Hour) // the days of two promos are over
		var work sync.WaitGroup
		for range 4 {
			work.Go(func() {
				for range 3 {
					if err := d.handle(t.Context()); err != nil {
						t.Error(err)
					}
					d.pass(tables.SettleEvery)
				}
			})
		}
		work.Go(func() {
			d.Pause(t.Context(), 5*time.Millisecond)
			d.commit(promos[2].Remove("ca_1", d.Now()))
		})
		work.Go(func() {
			for i := range 20 {
				if err := d.Transact(t.Context(), tables.Impression(in, promos[2].ID, fmt.Sprintf("ag_late%d", i), d.Now())...); err != nil {
					t.Error(err)
				}
			}
		})
		work.Wait()
		d.pass(tables.SettleEvery)
		d.handleOK()
		earned := int64(0)
		for i, p := range promos {
			got := d.past(p)
			want := []string{tables.PromoExpired, tables.PromoExpired, tables.PromoRemoved}[i]
			if got == nil || got.State != want || got.Impressions < 10 || got.Impressions > 30 || i < 2 && got.Impressions != 10 {
				t.Fatalf("round %d: promo %d: got %+v, want state %s after 10 impressions, or 10 to 30 for promo 2", round, i, got, want)
			}
			earned += got.Spent()
		}
		books := d.books()
		if books[tables.Revenue] != earned || books[tables.AgentAccount(buyer)] != purse-earned {
			t.Errorf("round %d: got books %v, want revenue %d and a balance of %d", round, books, earned, purse-earned)
		}
	}
}
