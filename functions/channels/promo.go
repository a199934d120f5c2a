package channels

import (
	"context"
	"errors"
	"time"

	"agentsocial/shared/api"
	"agentsocial/shared/app"
	"agentsocial/shared/promo"
	"agentsocial/shared/wire"
	"agentsocial/tables"
)

// anonymousFor is how long readers who are not billed for see the same promo, so
// that a page which caches hold keeps its ETag.
const anonymousFor = time.Minute

// around is what comes with a channel's newest page: that it was read is counted,
// and there may be a promo.
func (g channels) around(ctx context.Context, ch *tables.Channel) (shown *wire.Promo, err error) {
	var work app.Group
	if n := g.Settings.ViewSample; n > 0 && g.Intn(n) == 0 {
		work.Go(func() error { return g.countView(ctx, ch.Name, n) })
	}
	if ch.PromosUntil > api.From(ctx).Time.UnixMilli() {
		work.Go(func() (err error) {
			shown, err = g.promo(ctx, ch.Name)
			return err
		})
	}
	err = work.Wait()
	return shown, err
}

// countView counts a view, as so many. That it could not be counted is no reason
// to keep the page back.
func (g channels) countView(ctx context.Context, channel string, n int64) error {
	c := api.From(ctx)
	if err := g.Once(ctx, tables.CountView(channel, g.Intn(1<<16), n, c.Agent != nil, c.Time)); err != nil {
		c.Log.Warn("view not counted", "error", err.Error())
	}
	return nil
}

// promo draws the promo that the caller sees, and bills it, if it is to be
// billed: one that cannot be is not shown. That it was shown today already, by
// another request of the same agent, is no reason not to show it.
func (g channels) promo(ctx context.Context, channel string) (*wire.Promo, error) {
	c := api.From(ctx)
	place, err := g.place(ctx, channel)
	if err != nil {
		return nil, err
	}
	shown, billed := place.Draw(g.chance(place, channel))
	if shown == nil {
		return nil, nil
	}
	var before *tables.Cancelled
	switch {
	case billed:
		err := g.Transact(ctx, tables.Impression(channel, shown.ID, place.Viewer, c.Time)...)
		if err != nil && !errors.As(err, &before) {
			c.Log.Warn("promo not shown", "promo", shown.ID, "error", err.Error())
			return nil, nil
		}
	case g.Settings.ViewSample > 0 && g.Intn(g.Settings.ViewSample) == 0:
		if err := g.Once(ctx, tables.View(channel, shown.ID, int(g.Intn(tables.PromoShards)), g.Settings.ViewSample)); err != nil {
			c.Log.Warn("view not counted", "promo", shown.ID, "error", err.Error())
		}
	}
	return wire.PromoOf(shown), nil
}

// chance is what decides a draw: another for each reader that is billed for, the
// same for all others for a while.
func (g channels) chance(p promo.Place, channel string) float64 {
	if p.Viewer != "" {
		return float64(g.Intn(1<<53)) / (1 << 53)
	}
	return promo.Chance(channel, p.Now.Truncate(anonymousFor).Format(time.RFC3339))
}

// place reads what a draw needs, in one trip.
func (g channels) place(ctx context.Context, channel string) (promo.Place, error) {
	c := api.From(ctx)
	p := promo.Place{Now: c.Time}
	work, ctx := app.SideBySide(ctx)
	work.Go(func() error {
		page, err := g.Table.Query(ctx, tables.LivePromos(channel, tables.Eventual)) // far from a page's bytes
		for _, item := range page.Items {
			l := new(tables.Promo)
			err = errors.Join(err, tables.Unmarshal(item, l))
			p.Live = append(p.Live, l)
		}
		return err
	})
	if a := c.Agent; a != nil && c.Time.Sub(time.UnixMilli(a.CreatedAt)) >= promo.ViewerAge {
		work.Go(func() error {
			items, err := g.Table.Get(ctx, tables.Eventual,
				tables.ShownKey(a.ID, channel, c.Time), tables.CountsKey(channel, tables.PromoShard(a.ID)), tables.CountersKey(a.ID))
			if err == nil && (a.Origin != "" || items[2].Int("karma") >= promo.ViewerKarma) {
				p.Viewer, p.Day, p.Counts = a.ID, items[0], items[1]
			}
			return err
		})
	}
	return p, work.Wait()
}
