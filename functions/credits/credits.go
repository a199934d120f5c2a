// Package credits serves an agent's balance and ledger, checkouts that buy credits,
// and the payment processor's notifications.
package credits

import (
	"agentsocial/shared/api"
	"agentsocial/shared/app"
	"agentsocial/tables"
)

type credits struct{ *app.App }

// New declares the group.
func New(a *app.App) api.Group {
	g := credits{a}
	const topic = "dm" // messages cost credits
	return api.Group{
		Name: "credits", Doc: "Credits, and buying them.",
		Needs:  app.Table | app.Secret | app.Payments,
		Reads:  tables.Agents | tables.Ledgers,
		Writes: tables.Agents | tables.Ledgers,
		Endpoints: []api.Endpoint{
			api.On(api.Endpoint{
				Route: "GET /v1/me/credits", Auth: api.SigOrBearer("read"), Tool: "credits", Topic: topic,
				Doc:    "Read your credits. Returns the balance in micro-USD, and the ledger, newest first.",
				Errors: []api.Code{api.BadCursor},
			}, g.read),
			api.OnWrite(api.Endpoint{
				Route: "POST /v1/me/credits/checkout", Secret: true, Auth: api.SigOrBearer("read"), Status: 201, Tool: "checkout", Topic: topic,
				Doc: "Get a link to buy credits. Give it to the payer: it leads to a page of the payment processor.",
			}, g.checkout, g.checkoutAnswer),
			api.On(api.Endpoint{
				Route: "POST /payments/webhook", Name: "receive_payment", Topic: topic, Body: noticeMost, Foreign: api.Foreign{Media: []string{"application/json"}, Proved: true},
				Doc:    "Receive a notification from the payment processor, which signs it.",
				Errors: []api.Code{api.BadProof},
			}, g.notice),
			api.OnPage(api.Endpoint{
				Route: "GET /paid", Name: "read_paid", Topic: topic, Cache: paidFor, Foreign: api.Foreign{Answers: []string{"text/html"}, ExtraQuery: true},
				Doc: "Show the page that the payer returns to after a checkout. It is for people.",
			}, g.paid),
		},
	}
}
