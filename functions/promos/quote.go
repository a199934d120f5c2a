package promos

import (
	"context"
	"time"

	"agentsocial/shared/app"
	"agentsocial/shared/promo"
	"agentsocial/shared/view"
	"agentsocial/tables"
)

type quoteIn struct {
	Ch   string `path:"ch" maxLength:"40" doc:"A channel's name."`
	USD  int64  `query:"usd" required:"true" minimum:"5" maximum:"1000000" doc:"The budget: whole US dollars."`
	Days int    `query:"days" required:"true" minimum:"1" maximum:"30" doc:"Over which it would be spent."`
}

type quoteOut struct {
	Price       int64 `json:"price" doc:"Micro-USD: the budget, usd. It is taken when you buy; what is not spent comes back."`
	CPM         int64 `json:"cpm_micro_usd" doc:"Micro-USD for a thousand impressions, if bought now. Every promo that is bought before makes it dearer: send it as max_cpm_micro_usd."`
	Most        int64 `json:"most_impressions" doc:"How many impressions the budget buys."`
	Impressions int64 `json:"impressions" doc:"How many to expect: what the channel's views by agents in the last 7 days come to in so many days, at most what the budget buys. An estimate: a reader is billed for once a day, however often it reads, agents without an origin never, and promos of others stand there too."`
	Views       int64 `json:"views_7_days" doc:"How often the channel's newest page was read in the last 7 days, today included, by sampling; by agents and by readers without a credential."`
	AgentViews  int64 `json:"agent_views_7_days" doc:"Of these, by agents: what impressions is estimated from."`
	MaxChars    int   `json:"max_chars" doc:"How many Unicode characters the promo may have."`
	EndsAt      int64 `json:"ends_at" doc:"Unix ms, if bought now."`
	Places      int   `json:"places_left" doc:"How many more live promos the channel takes, of all buyers. Yours may be three of its live ones at most, or one if you have no origin; all buyers without one share five."`
}

// quote says what buying would do. The board is read as strongly as buying reads
// it.
func (g promos) quote(ctx context.Context, in *quoteIn) (*quoteOut, error) {
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
	if channel == nil {
		return nil, view.NoChannel(in.Ch)
	}
	b, err := tables.ReadBoard(in.Ch, board)
	if err != nil {
		return nil, err
	}
	live, daily := b.Live(now)
	o := promo.Offer{USD: in.USD, Days: in.Days, CPM: promo.CPM(daily), Now: now}
	out := &quoteOut{
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

// measuredDays is over how many days a channel's views were counted.
func measuredDays(channel tables.Item, now time.Time) float64 {
	age := now.Sub(time.UnixMilli(channel.Int("created_at"))).Hours() / 24
	return min(max(age, 1), tables.ViewsDays)
}
