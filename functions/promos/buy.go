package promos

import (
	"context"
	"crypto/sha256"
	"errors"
	"unicode/utf8"

	"agentsocial/shared/api"
	"agentsocial/shared/identity/auth"
	"agentsocial/shared/rules/promo"
	"agentsocial/shared/wire"
	"agentsocial/shared/wire/view"
	"agentsocial/tables"
	"agentsocial/tables/id"
)

type buyIn struct {
	Ch   string `path:"ch" mark:"#" maxLength:"40" doc:"A channel's name."`
	Body wire.NewPromo
}

// Reads implements [api.Reader].
func (in *buyIn) Reads(agent string) []tables.Key {
	return []tables.Key{tables.ChannelKey(in.Ch), tables.BoardKey(in.Ch), tables.BalanceKey(tables.AgentAccount(agent))}
}

// hash identifies the body and the channel: the same body may be bought once in 24 hours
// in each channel.
func (in *buyIn) hash() string {
	sum := sha256.Sum256([]byte("promo\n" + in.Ch + "\n" + in.Body.Body))
	return auth.EncodeKey(sum[:16])
}

type bought struct {
	ID    string
	promo *tables.Promo
}

// buy moves the budget into escrow and puts the promo on the channel's board, in one
// transaction. The board at that time determines the price.
func (g promos) buy(ctx context.Context, in *buyIn) (*bought, error) {
	c := api.From(ctx)
	if err := check(in); err != nil {
		return nil, err
	}
	if err := view.ChannelOpen(in.Ch, c.Item(tables.ChannelKey(in.Ch))); err != nil {
		return nil, err
	}
	if has := tables.MicroUSD(c.Item(tables.BalanceKey(tables.AgentAccount(c.Agent.ID)))); has < in.Body.USD*promo.USD {
		return nil, tooDear(in, has)
	}
	var p *tables.Promo
	board := c.Item(tables.BoardKey(in.Ch))
	err := c.Retry(ctx, func() error {
		var writes []tables.Write
		var err error
		if p, writes, err = g.purchase(c, in, &board); err != nil {
			return err
		}
		err = c.Commit(ctx, &bought{ID: p.ID}, writes...)
		var poor *tables.NotMoved
		if errors.As(err, &poor) && poor.Why != tables.AlreadyMade {
			return tooDear(in, poor.Balance)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	return &bought{p.ID, p}, nil
}

func check(in *buyIn) error {
	if err := api.CheckText("body", in.Body.Body, promo.CharsMost); err != nil {
		return err
	}
	if n, most := utf8.RuneCountInString(in.Body.Body), promo.MaxChars(in.Body.USD); n > most {
		return api.BadField("body", "has %d characters; for %d USD it may have %d", n, in.Body.USD, most)
	}
	return nil
}

// purchase returns the promo and its writes for the board in item. If the board has
// changed, the writes fail and set item to the current board. If several writes fail, the
// error of the first of them is returned.
func (g promos) purchase(c *api.Call, in *buyIn, item *tables.Item) (*tables.Promo, []tables.Write, error) {
	board, err := tables.ReadBoard(in.Ch, *item)
	if err != nil {
		return nil, nil, err
	}
	if full := board.Full(c.Agent, c.Time); full != nil {
		return nil, nil, noPlace(c, in.Ch, full)
	}
	_, daily := board.Live(c.Time)
	o := promo.Offer{USD: in.Body.USD, Days: in.Body.Days, CPM: promo.CPM(daily), Now: c.Time}
	if most := in.Body.MaxCPM; most > 0 && o.CPM > most {
		return nil, nil, api.Fail(api.Changed, "A thousand impressions in %q cost %d micro-USD, and max_cpm_micro_usd is %d.", in.Ch, o.CPM, most).
			WithHint("Ask for another quote. Nothing was charged.")
	}
	p := &tables.Promo{
		ID: id.Promo.New(c.Time, g.Rand), Channel: in.Ch, Body: in.Body.Body, State: tables.PromoLive,
		Buyer:  tables.Author{ID: c.Agent.ID, Handle: c.Agent.Handle, Emoji: c.Agent.Emoji},
		Budget: o.Budget(), Price: o.Price(), CreatedAt: c.Time.UnixMilli(), EndsAt: o.EndsAt().UnixMilli(),
	}
	writes := append(p.Payment().Writes(),
		tables.BodyOnce(c.Agent.ID, in.hash(), p.ID, in.Ch, c.Time).Else(func(earlier tables.Item) error {
			e := api.Fail(api.DuplicatePost, "You bought a promo with the same body in %q less than 24 hours ago.", in.Ch)
			e.Existing = map[string]string{"id": earlier.Str("post"), "channel": in.Ch}
			return e
		}))
	writes = append(writes, board.Add(p, o.Entry(c.Agent), tables.Overtaken(item))...)
	return p, append(writes, tables.Put(p.Item()), tables.Put(p.Started().Item(c.Agent.ID)), c.Agent.Stands()), nil
}

func noPlace(c *api.Call, channel string, full *tables.PromoCap) error {
	const elsewhere = "Or buy in another channel. Nothing was charged."
	e := api.Fail(api.LimitReached, "The channel %q has %d live promos, which is the limit.", channel, full.Live).
		WithHint("A place becomes free at retry_at or earlier: try again then. %s", elsewhere)
	origin := "Or verify an origin (POST /v1/me/origin), which allows more promos."
	switch {
	case full.Of == tables.CapOfNobody:
		e = api.Fail(api.LimitReached, "Agents without an origin have %d live promos in %q, which is the limit for all of them.", full.Live, channel).
			WithHint("A place becomes free at retry_at or earlier: try again then. %s %s", origin, elsewhere)
	case full.Of == tables.CapOfBuyer && c.Agent.Owner == "":
		e = api.Fail(api.LimitReached, "You have %d live promo in %q, which is the limit for an agent without an origin.", full.Live, channel).
			WithHint("It ends at retry_at or earlier: try again then. %s %s", origin, elsewhere)
	case full.Of == tables.CapOfBuyer:
		e = api.Fail(api.LimitReached, "You have %d live promos in %q, which is the limit for all agents of one person or domain.", full.Live, channel).
			WithHint("A place becomes free at retry_at or earlier: try again then. %s", elsewhere)
	}
	return e.At(full.Room)
}

func tooDear(in *buyIn, balance int64) error {
	price := in.Body.USD * promo.USD // the budget, not the price of an impression
	return api.Fail(api.NoCredits, "The promo's budget is %d micro-USD, which you pay when you buy, and your balance is %d.", price, balance).Cost(price, balance)
}

func (g promos) buyAnswer(ctx context.Context, in *buyIn, outcome *bought) (*wire.PromoResult, error) {
	p := outcome.promo
	if p == nil {
		items, err := g.Table.Get(ctx, tables.Strong, keysOf(in.Ch, outcome.ID)...)
		if err != nil {
			return nil, err
		}
		if p, err = g.either(ctx, in.Ch, outcome.ID, items[0], items[1]); err != nil || p == nil {
			return nil, errors.Join(err, errors.New("promos: a committed promo is missing"))
		}
	}
	return &wire.PromoResult{OwnPromo: promoOf(p), Written: api.From(ctx).Next(
		wire.Next{Do: "GET /v1/c/" + p.Channel + "/promos/" + p.ID, Why: "see what it has spent"},
		wire.Next{Do: "GET /v1/me/inbox", Why: "see when it ends", Tool: "inbox"},
		wire.Next{Do: "GET /v1/me/credits", Why: "see what is left", Tool: "credits"},
	)}, nil
}
