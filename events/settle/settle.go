// Package settle does what promos come to: it moves what their impressions have
// earned from escrow to revenue, ends those that are spent, over, removed or not
// paid for any more, and gives back what they leave.
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
		Name: "settle", Doc: "What promos spend, their ends, and what comes back of them.",
		Reads: tables.Channels | tables.Ledgers | tables.Impressions | tables.RankIndex, Writes: tables.Channels | tables.Ledgers | tables.Impressions,
		Every:  tables.SettleEvery,
		Handle: settle{a}.handle,
	}
}

const (
	// sweepFor is how long one sweep goes on, well before the function's time is
	// over: what is left comes first in the next.
	sweepFor = 90 * time.Second

	pageMost   = 100
	sideBySide = 8
)

// handle settles the channels that are due, page by page. One that fails does not
// hold up the others.
func (s settle) handle(ctx context.Context) error { return schedule.Sweep(ctx, sweepFor, s.sweep) }

func (s settle) sweep(ctx context.Context) error {
	begun := s.Now()
	return schedule.Each(ctx, s.App, tables.BoardsDue(begun, pageMost), sideBySide, func(ctx context.Context, item tables.Item) error {
		return s.board(ctx, item, begun.Add(tables.SettleEvery-early))
	})
}

// early is how much sooner than the next tick a board is due again: a tick that
// comes a moment early must not pass it by.
const early = 30 * time.Second

// board settles a channel's promos, unless another sweep has taken it.
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
	for _, id := range slices.Sorted(maps.Keys(found.live)) { // one after the other: their ends touch the same board
		if err := s.promo(ctx, id, found, time.UnixMilli(b.Due)); err != nil {
			failed = errors.Join(failed, fmt.Errorf("settle: %s: %w", id, err))
		}
	}
	return failed
}

// reading is what was found in a channel.
type reading struct {
	channel string
	at      time.Time // before it was read: what was billed by then is in it
	live    map[string]*tables.Promo
	counts  []tables.Item   // of each shard
	owing   map[string]bool // buyers with less than no credits
}

// read reads a channel's promos and what has been counted of them.
func (s settle) read(ctx context.Context, channel string) (*reading, error) {
	r := &reading{channel: channel, at: s.Now(), live: map[string]*tables.Promo{}}
	work, both := app.SideBySide(ctx)
	work.Go(func() error {
		page, err := s.Table.Query(both, tables.LivePromos(channel, tables.Strong)) // far from a page's bytes
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

// owing are those buyers of promos whose balance is below zero: what they paid
// with was taken back.
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

// promo settles one promo; if others overtake it, as it is found then.
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

// settleOnce books what was counted, and then ends the promo if it is at its end.
// Each of the two is one transaction, which holds that the promo is as it was
// read: what broke off between them goes on with the second. The time of the
// reading decides whether the promo's days were over, so that whatever was billed
// within them is counted.
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

// ending is the state in which a promo ends now, and since when it is at its end;
// "" if it goes on. What was bought with money that was taken back ends, and what
// is left of it pays the debt: else a stolen card would advertise for a month.
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
	}
	return "", 0
}

// forget drops what counted a promo that ended. It is settled: what is left of it,
// should this break off, does no harm.
func (s settle) forget(ctx context.Context, p *tables.Promo, counts []tables.Item) error {
	var work app.Group
	work.SetLimit(sideBySide)
	for shard, item := range counts {
		if tables.Billed(item, p.ID) != 0 || tables.Viewed(item, p.ID) != 0 {
			work.Go(func() error { return s.Once(ctx, tables.ForgetCounts(p.Channel, p.ID, shard)) })
		}
	}
	return work.Wait()
}
