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

type checkoutIn struct {
	Body struct {
		USD int64 `json:"usd" minimum:"5" maximum:"10000" doc:"Whole US dollars."`
	}
}

type checkoutOut struct {
	ID        string `json:"id" doc:"The processor's name for it. Your ledger and inbox say it as checkout."`
	URL       string `json:"url" format:"uri" doc:"The page to pay on. Whoever opens it may pay; the credits are yours."`
	USD       int64  `json:"usd"`
	ExpiresAt int64  `json:"expires_at" doc:"Unix ms."`
	api.Written
}

// checkout counts the page, has the processor make it, and only then remembers
// it. A page that nobody hears of, because what follows failed, expires unpaid;
// where the process died, the same request is told of it once the claim is over
// ([api.Call.Claim]), since the processor is asked under the same key.
func (g credits) checkout(ctx context.Context, in *checkoutIn) (*checkoutOut, error) {
	c := api.From(ctx)
	hold, release := c.Claim()
	if err := g.reserve(ctx, hold); err != nil {
		return nil, err
	}
	page, err := g.Payments.Checkout(ctx, payments.Order{
		Agent: c.Agent.ID, Handle: c.Agent.Handle, USD: in.Body.USD, Key: orderKey(c, in.Body.USD),
	})
	if err != nil {
		if errors.Is(err, payments.ErrNone) { // nobody was asked
			c.Log.Error("credits cannot be bought: fill the secret agentsocial/STAGE/payments with the processor's keys (README, Deploy)")
			release = append(release, g.quota(c, -1))
		}
		g.letGo(ctx, release)
		return nil, api.Fail(api.Unavailable, "Credits cannot be bought at the moment.").Because(err)
	}
	made := &tables.Checkout{
		ID: page.ID, Agent: c.Agent.ID, URL: page.URL, USD: in.Body.USD,
		CreatedAt: c.Time.UnixMilli(), ExpiresAt: page.ExpiresAt.UnixMilli(),
	}
	err = c.Commit(ctx, []string{made.ID}, made.Put())
	if err == nil {
		return checkoutAnswer(c, made), nil
	}
	g.letGo(ctx, release)
	var cancelled *tables.Cancelled
	if errors.As(err, &cancelled) { // the processor remembers a key for longer than this service
		return nil, api.BadField("Idempotency-Key", "was used for another checkout, more than a day ago")
	}
	return nil, err
}

// quota counts n pages that the processor is asked for.
func (g credits) quota(c *api.Call, n int64) tables.Write {
	return tables.Quota(c.Agent.ID, "checkouts", c.Window(time.Minute), time.Minute, n, g.Settings.Limits.CheckoutsPerMinute)
}

// reserve counts a page before the processor is asked for it, and claims its
// request: sent twice at once, that is counted once, and asked once. What the
// processor was asked stays counted, whatever it answers.
func (g credits) reserve(ctx context.Context, hold []tables.Write) error {
	c := api.From(ctx)
	err := g.Transact(ctx, append([]tables.Write{g.quota(c, 1)}, hold...)...)
	var full *tables.Cancelled
	switch {
	case !errors.As(err, &full):
		return err
	case len(hold) > 0 && full.Reasons[1].Failed:
		return api.Fail(api.Busy, "The same request is being carried out.")
	}
	return c.OverRate(time.Minute, "%d checkouts a minute is the limit.", g.Settings.Limits.CheckoutsPerMinute)
}

// letGo has the same request tried again: its page is the same, by its name.
func (g credits) letGo(ctx context.Context, writes []tables.Write) {
	if len(writes) == 0 {
		return
	}
	if err := g.Transact(ctx, writes...); err != nil {
		api.From(ctx).Log.Warn("a checkout that failed stays claimed", "error", err.Error())
	}
}

// orderKey names an order for the processor: the same for the same request,
// however often and whenever it is sent.
func orderKey(c *api.Call, usd int64) string {
	request := c.Request()
	if request == "" {
		request = c.Random(16)
	}
	return fmt.Sprintf("%x", sha256.Sum256(fmt.Appendf(nil, "%s\n%s\n%d", c.Agent.ID, request, usd)))
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
	return &checkoutOut{made.ID, made.URL, made.USD, made.ExpiresAt, c.Next(
		api.Next{Do: "GET /v1/me/inbox", Why: "hear when it was paid", Tool: "inbox"},
		api.Next{Do: "GET /v1/me/credits", Why: "see your balance", Tool: "credits"},
	)}
}
