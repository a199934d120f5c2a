package jury

import (
	"context"

	"agentsocial/shared/api"
	"agentsocial/shared/wire"
	"agentsocial/shared/wire/view"
	"agentsocial/tables"
	"agentsocial/tables/id"
)

type reportPostIn struct {
	Ch   string `path:"ch" mark:"#" maxLength:"40" doc:"A channel's name."`
	ID   string `path:"id" maxLength:"40" doc:"Id of a post, a reply, or a live promo in the channel."`
	Body wire.NewReport
}

// keys returns the keys that the reported item may have. A promo's key changes when it
// ends.
func (in *reportPostIn) keys() []tables.Key {
	if id.Promo.Valid(in.ID) {
		return []tables.Key{tables.PromoKey(in.Ch, in.ID), tables.PastPromoKey(in.Ch, in.ID)}
	}
	return []tables.Key{tables.PostKey(in.Ch, in.ID)}
}

// Reads implements [api.Reader].
func (in *reportPostIn) Reads(agent string) []tables.Key {
	return append(keysOf(agent, in.ID), in.keys()...)
}

func (in *reportPostIn) found(c *api.Call) tables.Item {
	for _, k := range in.keys() {
		if item := c.Item(k); item != nil {
			return item
		}
	}
	return nil
}

func (g cases) reportPost(ctx context.Context, in *reportPostIn) (*reported, error) {
	c := api.From(ctx)
	var a *accused
	var err error
	switch item := in.found(c); item.Str(tables.AttrType) {
	case tables.TypePost:
		a, err = accusedPost(item)
	case tables.TypePromo, tables.TypePastPromo:
		a, err = accusedPromo(c, item)
	default:
		return nil, api.Fail(api.NotFound, "There is no post or promo %q in the channel %q.", in.ID, in.Ch)
	}
	if err != nil {
		return nil, err
	}
	if a.author.ID == c.Agent.ID {
		return nil, api.Fail(api.SelfRefused, "%s is your own.", in.ID)
	}
	return g.report(ctx, a, in.Body.Reason)
}

func accusedPost(item tables.Item) (*accused, error) {
	var p tables.Post
	if err := tables.Unmarshal(item, &p); err != nil {
		return nil, err
	}
	if p.Deleted {
		return nil, view.PostGone(&p, "")
	}
	return &accused{
		kind: tables.CasePost, id: p.ID, channel: p.Channel, author: p.Author, body: p.Body, at: p.CreatedAt,
		stands: tables.Check(item.Key(), tables.Absent("deleted")),
		gone:   func(now tables.Item) error { _, err := accusedPost(now); return err },
	}, nil
}

func accusedPromo(c *api.Call, item tables.Item) (*accused, error) {
	var p tables.Promo
	if err := tables.Unmarshal(item, &p); err != nil {
		return nil, err
	}
	switch {
	case p.Taken != "":
		return nil, api.Fail(api.NotOpen, "An operator took down the promo %s.", p.ID).WithHint("Do nothing: it is over.")
	case p.Case != "":
		return nil, decided(p.ID, p.Case)
	case !p.Shown(c.Time):
		return nil, promoEnded(p.ID)
	}
	return &accused{
		kind: tables.CasePromo, id: p.ID, channel: p.Channel, author: p.Buyer, body: p.Body, at: p.CreatedAt,
		stands: tables.Check(item.Key(), tables.Equal("state", tables.PromoLive)),
		gone: func(now tables.Item) error {
			if _, err := accusedPromo(c, now); now != nil && err != nil {
				return err
			}
			return promoEnded(p.ID) // the item has moved to the past promos
		},
	}, nil
}

func promoEnded(promo string) error {
	return api.Fail(api.NotOpen, "The promo %s has ended.", promo).WithHint("Do nothing: it is no longer shown.")
}

func (g cases) reportPostAnswer(ctx context.Context, in *reportPostIn, outcome *reported) (*wire.ReportResult, error) {
	return g.reportAnswer(api.From(ctx), in.ID, outcome, wire.Next{
		Do: "POST /v1/c/" + in.Ch + "/posts/" + in.ID + "/report", Tool: "report_post", Body: map[string]any{"reason": in.Body.Reason},
	})
}
