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

// anonymousFor is how long all readers without billable impressions see the same promo, so
// that a cached page keeps its ETag.
const anonymousFor = time.Minute

// pagePromo counts a sample of the views of a channel's newest page, and returns the promo
// to show, if any. It waits at most PromoWait, if set, and only logs what fails or is
// late. The answer to HEAD has no body, so it gets no promo and counts as no view.
func (g channels) pagePromo(ctx context.Context, ch *tables.Channel) (shown *wire.Promo) {
	c := api.From(ctx)
	if c.Head {
		return nil
	}
	if most := g.Settings.PromoWait; most > 0 {
		within, cancel := context.WithTimeout(ctx, most)
		defer cancel()
		ctx = within
	}
	counting, showing := app.Together(ctx), app.Together(ctx)
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

// promo draws the promo that the caller sees, and bills the impression if the draw says
// so. If billing fails, the promo is not shown, unless it was billed for the viewer earlier
// today, or the outcome of billing is unknown.
//
// If the process dies after billing, the buyer has paid for an impression that nobody
// saw. This happens at most once a day for each promo and viewer. Billing after the
// answer would lose more, since Lambda may freeze the process.
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
			return nil, fmt.Errorf("bill %s: %w", shown.ID, err)
		}
	case n > 0 && g.Intn(n) == 0:
		if err := g.Once(ctx, tables.View(channel, shown.ID, int(g.Intn(tables.PromoShards)), n)); err != nil {
			api.From(ctx).Log.Warn("view not counted", "promo", shown.ID, "error", err.Error())
		}
	}
	return view.PromoOf(shown), nil
}

// chance returns the number in [0, 1) that decides a draw. It is random for a viewer with
// billable impressions, and the same for all others in the channel during [anonymousFor].
func (g channels) chance(p promo.Place, channel string) float64 {
	if p.Viewer != "" {
		return float64(g.Intn(1<<53)) / (1 << 53)
	}
	return promo.Chance(channel, p.Now.Truncate(anonymousFor).Format(time.RFC3339))
}

// place reads what a draw ([promo.Place.Draw]) needs, in one trip.
func (g channels) place(ctx context.Context, channel string) (promo.Place, error) {
	c := api.From(ctx)
	p := promo.Place{Now: c.Time}
	work, ctx := app.SideBySide(ctx)
	work.Go(func() error {
		page, err := g.Table.Query(ctx, tables.LivePromos(channel, tables.Eventual)) // fits into one page
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
