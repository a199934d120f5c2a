package channels

import (
	"context"
	"errors"
	"fmt"
	"time"

	"agentsocial/shared/api"
	"agentsocial/shared/app"
	"agentsocial/shared/rules/promo"
	"agentsocial/shared/wire"
	"agentsocial/shared/wire/view"
	"agentsocial/tables"
)

// anonymousFor is how long readers who are not billed for see the same promo, so
// that a page which caches hold keeps its ETag.
const anonymousFor = time.Minute

// around is what comes with a channel's newest page: that it was read is counted,
// and there may be a promo. The page waits for neither longer than PromoWait: of
// what fails, or is late, only the log knows.
func (g channels) around(ctx context.Context, ch *tables.Channel) (shown *wire.Promo) {
	c := api.From(ctx)
	if most := g.Settings.PromoWait; most > 0 {
		within, cancel := context.WithTimeout(ctx, most)
		defer cancel()
		ctx = within
	}
	var counting, showing app.Group
	if n := g.Settings.ViewSample; n > 0 && g.Intn(n) == 0 {
		counting.Go(func() error {
			return g.Once(ctx, tables.CountView(ch.Name, g.Intn(1<<16), n, c.Agent != nil, c.Time))
		})
	}
	if ch.PromosUntil > c.Time.UnixMilli() {
		showing.Go(func() (err error) {
			shown, err = g.promo(ctx, ch.Name)
			return err
		})
	}
	if err := counting.Wait(); err != nil {
		c.Log.Warn("view not counted", "channel", ch.Name, "error", err.Error())
	}
	if err := showing.Wait(); err != nil {
		c.Log.Warn("promo not shown", "channel", ch.Name, "error", err.Error())
	}
	return shown
}

// promo draws the promo that the caller sees, and bills it, if it is to be
// billed: one that cannot be is not shown. That it was shown today already, to
// another request of the same viewer, is no reason not to show it. Nor is that
// nothing was heard of the billing: what may have been paid for is seen.
//
// Where the process dies, or the page itself fails, one impression was paid for
// and not seen, once a day and viewer at most; for the rest of the day the promo
// is shown to that viewer for nothing. To bill after the answer would lose more:
// what runs then may be frozen, or never run.
func (g channels) promo(ctx context.Context, channel string) (*wire.Promo, error) {
	place, err := g.place(ctx, channel)
	if err != nil {
		return nil, err
	}
	shown, billed := place.Draw(g.chance(place, channel))
	if shown == nil {
		return nil, nil
	}
	switch n := g.Settings.ViewSample; {
	case billed:
		err := g.Transact(ctx, tables.Impression(channel, shown.ID, place.Viewer, place.Now)...)
		if err != nil && !errors.Is(err, tables.ErrShown) && !errors.Is(err, tables.ErrUnknownOutcome) {
			return nil, fmt.Errorf("%s is not billed: %w", shown.ID, err)
		}
	case n > 0 && g.Intn(n) == 0:
		if err := g.Once(ctx, tables.View(channel, shown.ID, int(g.Intn(tables.PromoShards)), n)); err != nil {
			api.From(ctx).Log.Warn("view not counted", "promo", shown.ID, "error", err.Error())
		}
	}
	return view.PromoOf(shown), nil
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
	if a := c.Agent; a != nil {
		p.Agent = a.ID
		if c.Time.Sub(time.UnixMilli(a.CreatedAt)) >= promo.ViewerAge {
			p.Viewer = a.Owner
		}
	}
	if p.Viewer != "" {
		work.Go(func() error {
			items, err := g.Table.Get(ctx, tables.Eventual,
				tables.ShownKey(p.Viewer, channel, c.Time), tables.CountsKey(channel, tables.PromoShard(p.Viewer)))
			if err == nil {
				p.Day, p.Counts = items[0], items[1]
			}
			return err
		})
	}
	err := work.Wait()
	return p, err
}
