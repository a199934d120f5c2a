package credits

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"time"

	"agentsocial/shared/api"
	"agentsocial/shared/payments"
	"agentsocial/tables"
)

// A page lives almost as long as the processor allows, 24 hours, since whoever
// pays may be asleep. Its end is rounded, so that the same request sent again
// asks for the same page.
const (
	checkoutFor   = 23*time.Hour + 50*time.Minute
	checkoutRound = 5 * time.Minute
)

type checkoutIn struct {
	Body struct {
		USD int64 `json:"usd" minimum:"5" maximum:"10000" doc:"Whole US dollars."`
	}
}

type checkoutOut struct {
	URL       string `json:"url" format:"uri" doc:"The page to pay on. Whoever opens it may pay; the credits are yours."`
	USD       int64  `json:"usd"`
	ExpiresAt int64  `json:"expires_at" doc:"Unix ms."`
	api.Written
}

// checkout has the processor make a page, and remembers it. A page that nobody
// hears of, because what follows failed, expires unpaid.
func (g credits) checkout(ctx context.Context, in *checkoutIn) (*checkoutOut, error) {
	c := api.From(ctx)
	if err := c.Bound("checkouts", g.Settings.Limits.CheckoutsMinute); err != nil {
		return nil, err
	}
	expires := c.Time.Truncate(checkoutRound).Add(checkoutFor)
	page, err := g.Payments.Checkout(ctx, payments.Order{
		Agent: c.Agent.ID, Handle: c.Agent.Handle, USD: in.Body.USD,
		Key: orderKey(c, in.Body.USD, expires), ExpiresAt: expires,
	})
	if errors.Is(err, payments.ErrNone) {
		c.Log.Error("credits cannot be bought: fill the secret agentsocial/STAGE/payments with the processor's keys (README, Deploy)")
	}
	if err != nil {
		return nil, api.Fail(api.Unavailable, "Credits cannot be bought at the moment.").Because(err)
	}
	made := &tables.Checkout{
		ID: page.ID, Agent: c.Agent.ID, URL: page.URL, USD: in.Body.USD,
		CreatedAt: c.Time.UnixMilli(), ExpiresAt: page.ExpiresAt.UnixMilli(),
	}
	err = c.Commit(ctx, []string{made.ID}, made.Put())
	var cancelled *tables.Cancelled
	if errors.As(err, &cancelled) { // the same request is being carried out beside this one
		return nil, api.Fail(api.Busy, "The same request is being carried out.")
	}
	if err != nil {
		return nil, err
	}
	return checkoutAnswer(c, made), nil
}

// orderKey names an order for the processor.
func orderKey(c *api.Call, usd int64, expires time.Time) string {
	request := c.Request()
	if request == "" {
		request = c.Random(16)
	}
	return fmt.Sprintf("%x", sha256.Sum256(fmt.Appendf(nil, "%s\n%s\n%d\n%d", c.Agent.ID, request, usd, expires.Unix())))
}

func (g credits) checkoutMade(ctx context.Context, _ *checkoutIn, o api.Outcome) (*checkoutOut, error) {
	c := api.From(ctx)
	if len(o.IDs) != 1 {
		return nil, errors.New("credits: the outcome of a checkout is not one id")
	}
	items, err := g.Table.Get(ctx, tables.Strong, tables.CheckoutKey(c.Agent.ID, o.IDs[0]))
	if err != nil {
		return nil, err
	}
	if items[0] == nil {
		return nil, errors.New("credits: a checkout that was answered is not there")
	}
	var made tables.Checkout
	if err := tables.Unmarshal(items[0], &made); err != nil {
		return nil, err
	}
	return checkoutAnswer(c, &made), nil
}

func checkoutAnswer(c *api.Call, made *tables.Checkout) *checkoutOut {
	return &checkoutOut{made.URL, made.USD, made.ExpiresAt, c.Next(
		api.Next{Do: "GET /v1/me/inbox", Why: "hear when it was paid", Tool: "inbox"},
		api.Next{Do: "GET /v1/me/credits", Why: "see your balance", Tool: "credits"},
	)}
}
