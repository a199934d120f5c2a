package credits

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"agentsocial/shared/api"
	"agentsocial/shared/outside/payments"
	"agentsocial/shared/wire"
	"agentsocial/tables"
)

// noticeMost is the most bytes of a notification: far more than any that is of
// concern here.
const noticeMost = 256 << 10

type noticeIn struct {
	Signature string `header:"Stripe-Signature" doc:"The payment processor's signature."`
	RawBody   []byte
}

// notice writes down what a notification says. Whatever fails here is answered
// with an error of the service's own, and the processor sends it again. What no
// second try would change is taken, and left to who reads the log: an endpoint
// that refuses for days may be switched off by the processor, with all that is
// told there.
func (g credits) notice(ctx context.Context, in *noticeIn) (*wire.NoticeTaken, error) {
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
	logNotice(c.Log, n, done, err)
	if err != nil {
		return nil, err
	}
	return &wire.NoticeTaken{Received: true, Written: c.Next()}, nil
}

// deed is what a notification came to, in the words of the log.
type deed struct {
	Kind     string `json:"kind"`
	MicroUSD int64  `json:"micro_usd,omitempty"`
	ID       string `json:"id"`
	Outcome  string `json:"outcome"`
}

const (
	made        = "made"
	alreadyMade = "already made"
)

// carryOut does what a notification says, one after the other, up to what fails.
func (g credits) carryOut(ctx context.Context, now time.Time, n payments.Notice) (done []deed, err error) {
	for _, m := range n.Movements {
		outcome, err := g.make(ctx, n.Agent, m)
		if err != nil {
			return done, err
		}
		done = append(done, deed{m.Kind, m.MicroUSD, m.ID, outcome})
	}
	if e := n.Ended; e != nil {
		err := g.Once(ctx, tables.EndCheckout(n.Agent, e.Checkout, e.State, now))
		outcome := made
		var known *tables.Cancelled
		switch {
		case errors.As(err, &known): // or the request that asked for it broke off
			outcome = alreadyMade
		case err != nil:
			return done, err
		}
		done = append(done, deed{Kind: "checkout_" + e.State, ID: e.Checkout, Outcome: outcome})
	}
	return done, nil
}

// make makes a movement, unless it was made before. Whoever is suspended has it
// made all the same; for an agent that there is not, nothing is, and somebody
// has to look.
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
	return "", fmt.Errorf("credits: the processor's movement %s was refused, the balance being %d", m.ID, not.Balance)
}

// logNotice writes the one line that says what became of a notification.
func logNotice(log *slog.Logger, n payments.Notice, done []deed, err error) {
	log = log.With("event", n.ID, "type", n.Type)
	switch f := n.Foreign; {
	case err != nil:
		log.Error("notification failed", "agent", n.Agent, "done", done, "error", err.Error())
	case n.Unclear != "":
		log.Error("notification not written down: somebody has to look", "agent", n.Agent, "reason", n.Unclear)
	case n.Agent != "":
		log.Info("notification", "agent", n.Agent, "done", done)
	case f != nil:
		log.Warn("notification refused: the payment is not one of this stage's agents", "stage", f.Stage, "agent", f.Agent)
	default:
		log.Info("notification ignored")
	}
}
