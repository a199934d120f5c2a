package bench

import (
	"context"
	"fmt"
	"time"

	"agentsocial/events/settle"
	"agentsocial/shared/app"
	"agentsocial/shared/rules/promo"
	"agentsocial/tables"
	"agentsocial/tables/id"
)

// promotedIn is a channel with as many promos as a channel may have.
const promotedIn = "promoted"

func promoting(w *world) ([]scenario, error) {
	people, err := w.recruits(3)
	if err != nil {
		return nil, err
	}
	buyer, seen, poor := people[0], people[1], people[2]
	if err := w.credit(buyer, 1_000_000*promo.USD); err != nil {
		return nil, err
	}
	promos, err := w.promote(promotedIn, buyer)
	if err != nil {
		return nil, err
	}
	if err := w.stockPosts(promotedIn, 3*pageSize); err != nil {
		return nil, err
	}
	views := []tables.Write{verified(seen)}
	for i := range int64(4 * tables.ViewsDays) {
		views = append(views, tables.CountView(promotedIn, i, 1000, true, w.base.AddDate(0, 0, -int(i/4))))
	}
	for _, p := range promos {
		views = append(views, tables.Impression(promotedIn, p.ID, seen.id, w.base)[:1]...)
	}
	for _, v := range views { // one at a time, since several write the same item
		if err := w.stock([]tables.Write{v}); err != nil {
			return nil, err
		}
	}
	quote := request{route: "GET /v1/c/{ch}/promos/quote", path: "/v1/c/" + promotedIn + "/promos/quote", query: "usd=50&days=10"}
	page := request{route: "GET /v1/c/{ch}", path: "/v1/c/" + promotedIn}
	again := page
	again.by = seen
	status := request{route: "GET /v1/c/{ch}/promos/{id}", path: "/v1/c/" + promotedIn + "/promos/" + promos[0].ID, by: buyer}
	const route = "POST /v1/c/{ch}/promos"
	return []scenario{
		{route: quote.route, variant: fmt.Sprintf("%d promos", tables.PromosMost), next: func(int) (call, error) { return w.call(w.base, quote), nil }},
		{route: route, variant: "a channel's first", status: 201, next: func(i int) (call, error) {
			channel, err := w.empty(i)
			return w.call(w.at(i), promotion(buyer, channel, body(i, 140))), err
		}},
		{route: route, variant: "without credits", status: 402, next: func(i int) (call, error) {
			return w.call(w.at(i), promotion(poor, promotedIn, body(i, 140))), nil
		}},
		{route: status.route, next: always(w, status)},
		{route: page.route, variant: promoted, next: always(w, page)},
		{route: page.route, variant: promotedAgain, next: func(int) (call, error) { return w.call(w.base, again), nil }},
		{route: page.route, variant: promotedBilled, costOnly: true, next: func(i int) (call, error) {
			viewers, err := w.recruits(1)
			if err != nil {
				return call{}, err
			}
			r := page
			r.by = viewers[0]
			return w.call(w.at(i), r), w.stock([]tables.Write{verified(viewers[0])})
		}},
	}, nil
}

// Variants of a page with promos.
var (
	promoted       = fmt.Sprintf("page of %d, %d promos", pageSize, tables.PromosMost)
	promotedAgain  = promoted + ", all shown today"
	promotedBilled = promoted + ", billed"
)

func promotion(by *agent, channel, text string) request {
	return request{route: "POST /v1/c/{ch}/promos", path: "/v1/c/" + channel + "/promos", by: by, body: encode(map[string]any{
		"body": text, "usd": 5, "days": 10,
	})}
}

// empty makes a channel without posts and promos.
func (w *world) empty(i int) (string, error) {
	ch := &tables.Channel{Name: fmt.Sprintf("empty-%06d", i), Kind: tables.KindWork, CreatedAt: w.base.UnixMilli()}
	return ch.Name, w.stock([]tables.Write{tables.Put(ch.Item())})
}

// promote makes a channel with promos of 30 days that began ten days ago. All are far
// behind their pace, and were billed just now.
func (w *world) promote(channel string, by *agent) ([]*tables.Promo, error) {
	begun := w.base.AddDate(0, 0, -10)
	if err := w.stock([]tables.Write{tables.Put((&tables.Channel{Name: channel, Kind: tables.KindLeisure, CreatedAt: begun.UnixMilli()}).Item())}); err != nil {
		return nil, err
	}
	var promos []*tables.Promo
	for i := range tables.PromosMost {
		o := promo.Offer{USD: 50, Days: promo.DaysMost, CPM: promo.CPMLeast, Now: begun}
		p := &tables.Promo{
			ID: id.Promo.New(begun, w.app.Rand), Channel: channel, Body: body(i, promo.MaxChars(o.USD)), State: tables.PromoLive,
			Buyer:  tables.Author{ID: by.id, Handle: by.handle, Emoji: "🦊"},
			Budget: o.Budget(), Price: o.Price(), CreatedAt: begun.UnixMilli(), EndsAt: o.EndsAt().UnixMilli(),
			BilledAt: w.base.UnixMilli(), // without it, the settlement ends the promo early
		}
		board, err := w.board(channel)
		if err != nil {
			return nil, err
		}
		writes := append(board.Add(p, o.Entry(&tables.Profile{ID: by.id}), nil), tables.Put(p.Item(), tables.NoItem()))
		if err := w.stock(append(writes, p.Payment().Writes()...)); err != nil {
			return nil, err
		}
		promos = append(promos, p)
	}
	return promos, nil
}

func (w *world) board(channel string) (*tables.Board, error) {
	items, err := w.feed.Get(context.Background(), tables.Strong, tables.BoardKey(channel))
	if err != nil {
		return nil, err
	}
	return tables.ReadBoard(channel, items[0])
}

// verified returns the write that gives an agent a verified origin, so that its impressions
// are billed.
func verified(a *agent) tables.Write {
	return (&tables.Profile{ID: a.id, Epoch: 1}).OriginVerified(&tables.Origin{Person: a.id}, true, false)
}

// settleShares measures the settlement of a channel with as many promos as it may have.
// Since the last settlement, either all of them were shown or none.
func (w *world) settleShares(ctx context.Context) ([]StreamShare, error) {
	buyer, err := w.recruits(1)
	if err != nil {
		return nil, err
	}
	if err := w.credit(buyer[0], 2000*promo.USD); err != nil {
		return nil, err
	}
	const channel = "settled"
	promos, err := w.promote(channel, buyer[0])
	if err != nil {
		return nil, err
	}
	begun := w.base.AddDate(0, 0, 1)
	defer w.clock.Store(w.clock.Load())
	sweep := settle.New(w.app)
	var shares []StreamShare
	for _, x := range []struct {
		name string
		n    int // promos that were shown
	}{
		{"settlement of a channel with 20 promos, not shown since", 0},
		{"settlement of a channel with 20 promos, all shown since", tables.PromosMost},
	} {
		begun = begun.Add(tables.SettleEvery)
		w.clock.Store(begun.UnixMilli())
		// This settles all channels. Afterwards board.Take makes only the measured channel due.
		if err := sweep.Handle(ctx); err != nil {
			return nil, err
		}
		for i, p := range promos[:x.n] {
			for viewer := range 3 * tables.PromoShards {
				if err := w.stock(tables.Impression(channel, p.ID, fmt.Sprintf("ag_%d-%d", i, viewer), begun)); err != nil {
					return nil, err
				}
			}
		}
		board, err := w.board(channel)
		if err != nil {
			return nil, err
		}
		if err := w.stock([]tables.Write{board.Take(begun)}); err != nil {
			return nil, err
		}
		metered, usage := tables.WithUsage(ctx)
		if err := w.counted(func() error { return sweep.Handle(metered) }); err != nil {
			return nil, err
		}
		shares = append(shares, StreamShare{x.name, 1, Cost{Trips: usage.Trips(), ReadUnits: usage.ReadUnits(), WriteUnits: usage.WriteUnits()}})
	}
	return shares, w.drain(ctx)
}

// viewShare returns the mean cost of counting a view of a channel's newest page. Only one
// view in ViewSample is counted, and the scenarios count none.
func viewShare() Cost {
	v := tables.CountView(promotedIn, 0, 1, true, time.Unix(0, 0))
	return Cost{WriteUnits: alone(v) / float64(app.DefaultSettings().ViewSample)}
}
