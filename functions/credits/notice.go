package credits

import (
	"context"
	"errors"
	"fmt"

	"agentsocial/shared/api"
	"agentsocial/shared/payments"
	"agentsocial/tables"
)

// noticeMost is the most bytes of a notification: far more than any that is of
// concern here.
const noticeMost = 256 << 10

type noticeIn struct {
	Signature string `header:"Stripe-Signature" doc:"The processor's."`
	RawBody   []byte
}

type noticeOut struct {
	Received bool `json:"received"`
	api.Written
}

// notice writes down what a notification says. Whatever fails here is answered
// with an error of the service's own, and the processor sends it again.
func (g credits) notice(ctx context.Context, in *noticeIn) (*noticeOut, error) {
	c := api.From(ctx)
	n, err := g.Payments.Notice(ctx, in.RawBody, in.Signature)
	switch {
	case errors.Is(err, payments.ErrForged):
		return nil, api.Fail(api.BadProof, "The notification is not signed by the payment processor, or was signed more than five minutes ago.").Because(err)
	case errors.Is(err, payments.ErrNone):
		return nil, api.Fail(api.Unavailable, "This service takes no payments.").Because(err)
	case err != nil:
		return nil, err
	}
	for _, m := range n.Movements {
		if err := g.make(ctx, m); err != nil {
			return nil, err
		}
	}
	if e := n.Checkout; e != nil {
		err := g.Once(ctx, tables.EndCheckout(e.Agent, e.Checkout, e.State, c.Time))
		var known *tables.Cancelled
		if err != nil && !errors.As(err, &known) {
			return nil, err
		}
	}
	return &noticeOut{true, c.Next()}, nil
}

// make makes a movement, unless it was made before.
func (g credits) make(ctx context.Context, m *tables.Movement) error {
	err := g.Transact(ctx, m.Writes()...)
	var cancelled *tables.Cancelled
	if !errors.As(err, &cancelled) {
		return err
	}
	if r, balance := m.Refusal(cancelled.Reasons); r != tables.AlreadyMade {
		return fmt.Errorf("credits: the processor's movement %s was refused, the balance being %d", m.ID, balance)
	}
	return nil
}
