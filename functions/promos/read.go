package promos

import (
	"context"

	"agentsocial/shared/api"
	"agentsocial/shared/wire"
	"agentsocial/tables"
)

type readIn struct {
	Ch string `path:"ch" mark:"#" maxLength:"40" doc:"A channel's name."`
	ID string `path:"id" maxLength:"40" doc:"Id of a promo."`
}

// Reads implements [api.Reader].
func (in *readIn) Reads(string) []tables.Key { return keysOf(in.Ch, in.ID) }

// keysOf returns the two keys that a promo may have: while live, and after its end.
func keysOf(channel, promo string) []tables.Key {
	return []tables.Key{tables.PromoKey(channel, promo), tables.PastPromoKey(channel, promo)}
}

// either returns the promo from the items of [keysOf], or nil if it does not exist. A
// promo that ended during the read may be in both items, or in neither.
func (g promos) either(ctx context.Context, channel, promo string, live, past tables.Item) (*tables.Promo, error) {
	item := past
	if item == nil {
		item = live
	}
	if item == nil {
		items, err := g.Table.Get(ctx, tables.Strong, tables.PastPromoKey(channel, promo))
		if err != nil || items[0] == nil {
			return nil, err
		}
		item = items[0]
	}
	p := new(tables.Promo)
	return p, tables.Unmarshal(item, p)
}

func (g promos) read(ctx context.Context, in *readIn) (*wire.OwnPromo, error) {
	c := api.From(ctx)
	keys := keysOf(in.Ch, in.ID)
	p, err := g.either(ctx, in.Ch, in.ID, c.Item(keys[0]), c.Item(keys[1]))
	switch {
	case err != nil:
		return nil, err
	case p == nil:
		return nil, api.Fail(api.NotFound, "There is no promo %q in the channel %q.", in.ID, in.Ch)
	case p.Buyer.ID != c.Agent.ID:
		return nil, api.Fail(api.NotAuthor, "The promo %s belongs to another agent.", in.ID)
	}
	v := promoOf(p)
	return &v, nil
}
