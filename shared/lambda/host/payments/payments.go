// Package payments lets a Lambda function take money through Stripe.
package payments

import (
	"agentsocial/shared/app"
	"agentsocial/shared/lambda/host"
	"agentsocial/shared/lambda/host/secret"
	"agentsocial/shared/outside/payments"
	"agentsocial/shared/outside/payments/stripe"
)

// Stripe reads its keys from a secret that an operator fills. While the secret is empty,
// credits cannot be bought.
//
// It is a function because a variable would be linked into every binary that imports the
// package.
func Stripe() host.Part {
	return part(func(c stripe.Config) payments.Processor { return stripe.New(c) })
}

// StripePages is Stripe for functions that make payment pages but read no
// notifications.
func StripePages() host.Part {
	return part(func(c stripe.Config) payments.Processor { return stripe.NewSeller(c) })
}

func part(processor func(stripe.Config) payments.Processor) host.Part {
	return host.Part{
		Is: app.Payments,
		Add: func(e host.Env, a *app.App) {
			keys := secret.Keep(secret.Read(e, e.PaymentsARN), stripe.ParseKeys, a.Now)
			c := stripe.Config{BaseURL: a.Settings.BaseURL, Stage: e.Stage, Keys: keys.Get, Doubt: keys.Doubt}
			if e.Local != nil {
				c.URL = e.Local.StripeURL
			}
			a.Payments = processor(c)
		},
	}
}
