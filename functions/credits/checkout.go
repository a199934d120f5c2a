package credits

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"time"

	"agentsocial/shared/api"
	"agentsocial/shared/outside/payments"
	"agentsocial/shared/wire"
	"agentsocial/tables"
)

type checkoutIn struct {
	Body wire.NewCheckout
}

type opened struct {
	ID   string
	page *tables.Checkout
}

// checkout counts the payment page, has the processor make it, and then stores it. If
// storing fails, a repeated request gets the same page, because the processor gets the same
// key. If the process dies, this works only after the claim expires ([api.Call.Claim]).
func (g credits) checkout(ctx context.Context, in *checkoutIn) (*opened, error) {
	c := api.From(ctx)
	hold, release := c.Claim()
	if err := g.reserve(ctx, hold); err != nil {
		return nil, err
	}
	page, err := g.Payments.Checkout(ctx, payments.Order{
		Agent: c.Agent.ID, Handle: c.Agent.Handle, USD: in.Body.USD, Key: orderKey(c, in.Body.USD),
	})
	if err != nil {
		if errors.Is(err, payments.ErrNone) { // the processor was not asked
			c.Log.Error("credits cannot be bought: fill the secret agentsocial/STAGE/payments with the processor's keys (infra/RUNBOOK.md, Sell credits)")
			release = append(release, g.quota(c, -1))
		}
		g.release(ctx, release)
		return nil, api.Fail(api.Unavailable, "Credits cannot be bought at the moment.").Because(err)
	}
	made := &tables.Checkout{
		ID: page.ID, Agent: c.Agent.ID, URL: page.URL, USD: in.Body.USD,
		CreatedAt: c.Time.UnixMilli(), ExpiresAt: page.ExpiresAt.UnixMilli(),
	}
	outcome := &opened{made.ID, made}
	err = c.Commit(ctx, outcome, made.Put().Else(func(tables.Item) error { // the processor remembers a key for longer than this service does
		return api.BadField("Idempotency-Key", "was used for another checkout, more than a day ago")
	}))
	if err != nil {
		g.release(ctx, release)
	}
	return outcome, err
}

// quota returns the write that counts n requests for a payment page.
func (g credits) quota(c *api.Call, n int64) tables.Write {
	return tables.Quota(c.Agent.ID, "checkouts", c.Window(time.Minute), time.Minute, n, g.Settings.Limits.CheckoutsPerMinute)
}

// reserve counts a page and claims the request before the processor is asked for the
// page. If the same request is sent twice at once, the processor is asked once.
func (g credits) reserve(ctx context.Context, hold []tables.Write) error {
	count := g.quota(api.From(ctx), 1).Else(
		api.From(ctx).OverQuota(time.Minute, "%d checkouts a minute is the limit.", g.Settings.Limits.CheckoutsPerMinute))
	return g.Transact(ctx, append(hold, count)...)
}

// release commits writes that end a failed checkout's claim, and perhaps uncount its page.
func (g credits) release(ctx context.Context, writes []tables.Write) {
	if len(writes) == 0 {
		return
	}
	if err := g.Transact(ctx, writes...); err != nil {
		api.From(ctx).Log.Warn("claim of a failed checkout not released", "error", err.Error())
	}
}

// orderKey returns the processor's idempotency key of an order. An agent's requests with
// the same name ([api.Call.Request]) and amount have the same key. A request without a
// name has a random key.
func orderKey(c *api.Call, usd int64) string {
	request := c.Request()
	if request == "" {
		request = c.Random(16)
	}
	return fmt.Sprintf("%x", sha256.Sum256(fmt.Appendf(nil, "%s\n%s\n%d", c.Agent.ID, request, usd)))
}

func (g credits) checkoutAnswer(ctx context.Context, _ *checkoutIn, outcome *opened) (*wire.Checkout, error) {
	c, page := api.From(ctx), outcome.page
	if page == nil {
		items, err := g.Table.Get(ctx, tables.Strong, tables.CheckoutKey(c.Agent.ID, outcome.ID))
		if err != nil {
			return nil, err
		}
		if items[0] == nil {
			return nil, errors.New("credits: a committed checkout is missing")
		}
		page = new(tables.Checkout)
		if err := tables.Unmarshal(items[0], page); err != nil {
			return nil, err
		}
	}
	return &wire.Checkout{ID: page.ID, URL: page.URL, USD: page.USD, ExpiresAt: page.ExpiresAt, Written: c.Next(
		wire.Next{Do: "GET /v1/me/inbox", Why: "see when it is paid", Tool: "inbox"},
		wire.Next{Do: "GET /v1/me/credits", Why: "see your balance", Tool: "credits"},
	)}, nil
}
