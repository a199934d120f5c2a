package credits

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"agentsocial/shared/api"
	"agentsocial/shared/outside/payments"
	"agentsocial/shared/wire"
	"agentsocial/tables"
)

// noticeMost bounds a notification, in bytes. The notifications that the service uses are
// far smaller.
const noticeMost = 256 << 10

type noticeIn struct {
	Signature string `header:"Stripe-Signature" doc:"The payment processor's signature."`
	RawBody   []byte
}

// notice stores what a notification says. If that fails, the answer is a server error,
// and the processor repeats the notification. If an operator must decide, the
// notification is accepted and an error is logged: the processor may switch off an
// endpoint that refuses for days.
func (g credits) notice(ctx context.Context, in *noticeIn) (*wire.PaymentNoticeResult, error) {
	c := api.From(ctx)
	n, err := g.Payments.Notice(ctx, in.RawBody, in.Signature)
	switch {
	case errors.Is(err, payments.ErrForged):
		return nil, api.Fail(api.BadProof, "The notification is not signed by the payment processor, or was signed more than five minutes ago.").
			WithHint("Only the payment processor can sign notifications. If it did, check that the signing secret of its webhook is one of the service's webhook_secrets, and that the clocks agree.").Because(err)
	case errors.Is(err, payments.ErrNone):
		return nil, api.Fail(api.Unavailable, "This service takes no payments.").Because(err)
	case err != nil:
		return nil, err
	}
	done, err := g.carryOut(ctx, c.Time, n)
	if err == nil {
		var nobody bool
		if nobody, err = g.forNobody(ctx, n); nobody {
			n.Unclear = "the agent that the credits are for was erased: they are booked, and the payment can be refunded"
		}
	}
	logNotice(c.Log, n, done, err)
	if err != nil {
		return nil, err
	}
	return &wire.PaymentNoticeResult{Received: true, Written: c.Next()}, nil
}

// effect is a logged effect of a notification.
type effect struct {
	Kind     string `json:"kind"`
	MicroUSD int64  `json:"micro_usd,omitempty"`
	ID       string `json:"id"`
	Outcome  string `json:"outcome"`
}

const (
	made        = "made"
	alreadyMade = "already made"
)

// carryOut makes a notification's movements of credits in order, and ends its checkout. It
// stops at the first failure.
func (g credits) carryOut(ctx context.Context, now time.Time, n payments.Notice) (done []effect, err error) {
	for _, m := range n.Movements {
		outcome, err := g.make(ctx, n.Agent, m)
		if err != nil {
			return done, err
		}
		done = append(done, effect{m.Kind, m.MicroUSD, m.ID, outcome})
	}
	if e := n.Ended; e != nil {
		err := g.Once(ctx, tables.EndCheckout(n.Agent, e.Checkout, e.State, now))
		outcome := made
		var known *tables.Cancelled
		switch {
		case errors.As(err, &known): // ended before, or never stored because the request for it failed
			outcome = alreadyMade
		case err != nil:
			return done, err
		}
		done = append(done, effect{Kind: "checkout_" + e.State, ID: e.Checkout, Outcome: outcome})
	}
	return done, nil
}

// forNobody reports whether a notification has a purchase for an agent that was erased.
// Nobody can spend its credits.
func (g credits) forNobody(ctx context.Context, n payments.Notice) (bool, error) {
	if !slices.ContainsFunc(n.Movements, func(m *tables.Movement) bool { return m.Kind == tables.Bought }) {
		return false, nil
	}
	items, err := g.Table.Get(ctx, tables.Strong, tables.ProfileKey(n.Agent))
	if err != nil {
		return false, err
	}
	return items[0].Str("state") == tables.StateErased, nil
}

// make makes a movement, unless it was made before. It makes movements of suspended
// agents too, and fails for an agent that does not exist.
func (g credits) make(ctx context.Context, agent string, m *tables.Movement) (outcome string, err error) {
	nobody := fmt.Errorf("credits: %s of %d micro-USD, %s, is for an agent that does not exist", m.Kind, m.MicroUSD, m.ID)
	err = g.Transact(ctx, append(m.Writes(), tables.Check(tables.ProfileKey(agent), tables.ItemExists()).Else(tables.Means(nobody)))...)
	var not *tables.NotMoved
	switch {
	case !errors.As(err, &not):
		return made, err
	case not.Why == tables.AlreadyMade:
		return alreadyMade, nil
	}
	return "", fmt.Errorf("credits: the processor's movement %s was refused; the balance is %d", m.ID, not.Balance)
}

func logNotice(log *slog.Logger, n payments.Notice, done []effect, err error) {
	log = log.With("event", n.ID, "type", n.Type)
	switch f := n.Foreign; {
	case err != nil:
		log.Error("notification failed", "agent", n.Agent, "done", done, "error", err.Error())
	case n.Unclear != "":
		log.Error("notification unclear: an operator must decide", "agent", n.Agent, "reason", n.Unclear, "done", done)
	case n.Agent != "":
		log.Info("notification", "agent", n.Agent, "done", done)
	case f != nil:
		log.Warn("payment not credited: it belongs to no agent of this stage", "stage", f.Stage, "agent", f.Agent)
	default:
		log.Info("notification ignored")
	}
}
