// Package payments lets a Lambda function take money through Stripe.
package payments

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	"agentsocial/shared/app"
	"agentsocial/shared/host"
	"agentsocial/shared/host/secret"
	"agentsocial/shared/payments"
	"agentsocial/shared/payments/stripe"
)

// Stripe reads its keys from a secret that an operator fills. While it is
// empty, credits cannot be bought, and all else works.
var Stripe = host.Part{
	Needs: func(e host.Env) []string {
		return host.Missing(map[string]string{"PAYMENTS_ARN": e.PaymentsARN, "AWS_REGION": e.Region})
	},
	Add: func(e host.Env, a *app.App) {
		keys := secret.Lazily(secret.Read(e, e.PaymentsARN), stripe.ParseKeys)
		a.Payments = stripe.New(stripe.Config{BaseURL: a.Settings.BaseURL, Keys: seldom(keys, a.Now)})
	},
}

// emptyFor is how long an empty secret is not looked at again: anybody may send
// what asks for it, and each look is paid for.
const emptyFor = 30 * time.Second

// seldom remembers for a while that there are no keys.
func seldom(keys func(context.Context) (stripe.Keys, error), now func() time.Time) func(context.Context) (stripe.Keys, error) {
	var until atomic.Int64 // unix ms
	return func(ctx context.Context) (stripe.Keys, error) {
		if now().UnixMilli() < until.Load() {
			return stripe.Keys{}, payments.ErrNone
		}
		k, err := keys(ctx)
		if errors.Is(err, payments.ErrNone) {
			until.Store(now().Add(emptyFor).UnixMilli())
		}
		return k, err
	}
}
