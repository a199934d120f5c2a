// Package settle moves the earnings of promos from escrow to revenue. It also ends
// promos, and returns the rest of their budgets.
package settle

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"agentsocial/shared/app"
	"agentsocial/shared/lambda/schedule"
	"agentsocial/shared/rules/promo"
	"agentsocial/tables"
)

type settle struct{ *app.App }

// New declares the schedule.
func New(a *app.App) schedule.Function {
	return schedule.Function{
		Name: "settle", Doc: "Moves the earnings of promos from escrow to revenue, ends promos, and returns the rest of their budgets.",
		Reads: tables.Channels | tables.Ledgers | tables.Impressions | tables.RankIndex, Writes: tables.Channels | tables.Ledgers | tables.Impressions,
		Every:  tables.SettleEvery,
		Handle: settle{a}.handle,
	}
}

const (
	// sweepFor bounds one sweep, well below the function's timeout. The next sweep begins
	// with the work that is left.
	sweepFor = 90 * time.Second

	pageMost   = 100
	sideBySide = 8
)

// handle settles the channels that are due. A channel that fails does not stop the
// others.
func (s settle) handle(ctx context.Context) error { return schedule.Sweep(ctx, sweepFor, s.sweep) }

func (s settle) sweep(ctx context.Context) error {
	begun := s.Now()
	return schedule.Each(ctx, s.App, tables.BoardsDue(begun, pageMost), sideBySide, func(ctx context.Context, item tables.Item) error {
		return s.board(ctx, item, begun.Add(tables.SettleEvery-early))
	})
}

// early makes a channel's board ([tables.Board]) due a little before the next sweep, so
// that a sweep that comes early does not miss it.
const early = 30 * time.Second

// board settles the promos on a channel's board, unless another sweep has taken the
// board.
func (s settle) board(ctx context.Context, item tables.Item, next time.Time) error {
	channel := tables.BoardChannel(item)
	b, err := tables.ReadBoard(channel, item)
	if err != nil {
		return err
	}
	var taken *tables.Cancelled
	if err := s.Once(ctx, b.Take(next)); errors.As(err, &taken) {
		return nil
	} else if err != nil {
		return err
	}
	found, err := s.read(ctx, channel)
	if err != nil {
		return err
	}
	var failed error
	for _, id := range slices.Sorted(maps.Keys(found.live)) { // one after another, because each end changes the board
		if err := s.promo(ctx, id, found, time.UnixMilli(b.Due)); err != nil {
			failed = errors.Join(failed, fmt.Errorf("settle: %s: %w", id, err))
		}
	}
	return failed
}

type reading struct {
	channel string
	at      time.Time // before the reads, so they include everything billed until then
	live    map[string]*tables.Promo
	counts  []tables.Item   // by shard
	owing   map[string]bool // by buyer: whether its balance is negative
}

func (s settle) read(ctx context.Context, channel string) (*reading, error) {
	r := &reading{channel: channel, at: s.Now(), live: map[string]*tables.Promo{}}
	work, both := app.SideBySide(ctx)
	work.Go(func() error {
		page, err := s.Table.Query(both, tables.LivePromos(channel, tables.Strong)) // they fit into one page
		for _, item := range page.Items {
			p := new(tables.Promo)
			err = errors.Join(err, tables.Unmarshal(item, p))
			r.live[p.ID] = p
		}
		return err
	})
	work.Go(func() (err error) {
		r.counts, err = s.Table.Get(both, tables.Strong, tables.CountsKeys(channel)...)
		return err
	})
	if err := work.Wait(); err != nil {
		return nil, err
	}
	var err error
	r.owing, err = s.owing(ctx, r.live)
	return r, err
}

// owing reports for each buyer whether its balance is negative. A balance becomes
// negative when a payment is reversed.
func (s settle) owing(ctx context.Context, live map[string]*tables.Promo) (map[string]bool, error) {
	owing := map[string]bool{}
	for _, p := range live {
		owing[p.Buyer.ID] = false
	}
	buyers := slices.Sorted(maps.Keys(owing))
	var keys []tables.Key
	for _, b := range buyers {
		keys = append(keys, tables.BalanceKey(tables.AgentAccount(b)))
	}
	balances, err := s.GetAll(ctx, tables.Strong, keys)
	for i, b := range buyers {
		owing[b] = tables.MicroUSD(balances[i]) < 0
	}
	return owing, err
}

// promo settles one promo. If another writer is faster, it reads again and retries.
func (s settle) promo(ctx context.Context, id string, found *reading, due time.Time) error {
	first := true
	return s.Retry(ctx, func() (err error) {
		if !first {
			if found, err = s.read(ctx, found.channel); err != nil {
				return err
			}
		}
		first = false
		if found.live[id] == nil { // another sweep ended it
			return nil
		}
		return s.settleOnce(ctx, found.live[id], found, due)
	})
}

// settleOnce books the counted impressions, then ends the promo if [ending] says so.
// Each step is one conditional transaction. If a settlement is interrupted between the
// two, the next one makes the second step.
//
// found.at decides whether the promo's days are over, so that every impression billed
// within them counts.
func (s settle) settleOnce(ctx context.Context, p *tables.Promo, found *reading, due time.Time) error {
	to := promo.Settle(p, found.counts, found.at)
	if to != p {
		if err := s.Transact(ctx, p.Earn(to, due)...); err != nil {
			return err
		}
	}
	state, at := ending(to, found.at, found.owing[p.Buyer.ID])
	if state == "" {
		return nil
	}
	items, err := s.Table.Get(ctx, tables.Strong, tables.BoardKey(p.Channel))
	if err != nil {
		return err
	}
	board, err := tables.ReadBoard(p.Channel, items[0])
	if err != nil {
		return err
	}
	last := *to
	last.SettledAt = found.at.UnixMilli()
	if err := s.Transact(ctx, append(last.End(state, at), board.Drop(p.ID)...)...); err != nil {
		return err
	}
	return s.forget(ctx, p, found.counts)
}

// ending returns the state in which a promo ends now, and the time of its end; "" if it
// goes on. If a buyer is in debt, its promos end, and the rest of their budgets pays the
// debt. Otherwise a stolen card could advertise for a month. An unbillable promo ends so
// that it takes no other promo's place.
func ending(p *tables.Promo, now time.Time, owing bool) (state string, at int64) {
	switch {
	case p.State == tables.PromoRemoved:
		return tables.PromoRemoved, p.RemovedAt
	case p.Impressions >= p.Most():
		return tables.PromoSpent, now.UnixMilli()
	case now.UnixMilli() >= p.EndsAt:
		return tables.PromoExpired, p.EndsAt
	case owing:
		return tables.PromoRemoved, now.UnixMilli()
	case promo.Unbillable(p, now):
		return tables.PromoUnbilled, now.UnixMilli()
	}
	return "", 0
}

// forget removes the counts of an ended promo. Counts that remain do no harm.
func (s settle) forget(ctx context.Context, p *tables.Promo, counts []tables.Item) error {
	work := app.Together(ctx)
	work.SetLimit(sideBySide)
	for shard, item := range counts {
		if tables.Billed(item, p.ID) != 0 || tables.Viewed(item, p.ID) != 0 {
			work.Go(func() error { return s.Once(ctx, tables.ForgetCounts(p.Channel, p.ID, shard)) })
		}
	}
	return work.Wait()
}
