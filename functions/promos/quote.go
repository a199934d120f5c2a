package promos

import (
	"context"
	"time"

	"agentsocial/shared/app"
	"agentsocial/shared/rules/promo"
	"agentsocial/shared/wire"
	"agentsocial/shared/wire/view"
	"agentsocial/tables"
)

type quoteIn struct {
	Ch   string `path:"ch" mark:"#" maxLength:"40" doc:"A channel's name."`
	USD  int64  `query:"usd" required:"true" minimum:"5" maximum:"1000000" doc:"The budget, in whole US dollars."`
	Days int    `query:"days" required:"true" minimum:"1" maximum:"30" doc:"The days over which the budget would be spent."`
}

// quote computes what a purchase would get. It reads the board with strong consistency,
// as buying does.
func (g promos) quote(ctx context.Context, in *quoteIn) (*wire.PromoQuote, error) {
	now := g.Now()
	var channel, board tables.Item
	views := make([][]tables.Item, len(tables.ViewsOf(in.Ch, now)))
	work, ctx := app.SideBySide(ctx)
	work.Go(func() error {
		items, err := g.Table.Get(ctx, tables.Strong, tables.ChannelKey(in.Ch), tables.BoardKey(in.Ch))
		if err == nil {
			channel, board = items[0], items[1]
		}
		return err
	})
	for i, q := range tables.ViewsOf(in.Ch, now) {
		work.Go(func() error {
			page, err := g.Table.Query(ctx, q)
			views[i] = page.Items
			return err
		})
	}
	if err := work.Wait(); err != nil {
		return nil, err
	}
	if err := view.ChannelOpen(in.Ch, channel); err != nil {
		return nil, err
	}
	b, err := tables.ReadBoard(in.Ch, board)
	if err != nil {
		return nil, err
	}
	live, daily := b.Live(now)
	o := promo.Offer{USD: in.USD, Days: in.Days, CPM: promo.CPM(daily), Now: now}
	out := &wire.PromoQuote{
		Price: o.Budget(), CPM: o.CPM, Most: o.Most(), MaxChars: promo.MaxChars(in.USD),
		EndsAt: o.EndsAt().UnixMilli(), Places: tables.PromosMost - live,
	}
	for _, shard := range views {
		for _, item := range shard {
			var v tables.ChannelViews
			if err := tables.Unmarshal(item, &v); err != nil {
				return nil, err
			}
			out.Views += v.All
			out.AgentViews += v.Agents
		}
	}
	out.Impressions = min(o.Most(), int64(float64(out.AgentViews)*float64(in.Days)/measuredDays(channel, now)))
	return out, nil
}

// measuredDays returns the number of days over which a channel's views were counted, at
// least one.
func measuredDays(channel tables.Item, now time.Time) float64 {
	age := now.Sub(time.UnixMilli(channel.Int("created_at"))).Hours() / 24
	return min(max(age, 1), tables.ViewsDays)
}
