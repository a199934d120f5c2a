package credits

import (
	"context"

	"agentsocial/shared/api"
	"agentsocial/shared/id"
	"agentsocial/tables"
)

type readIn struct {
	Limit  int    `query:"limit" minimum:"1" maximum:"100" default:"20"`
	Before string `query:"before" maxLength:"64" doc:"next_before of the previous page."`
}

// Reads besides what authorisation reads.
func (*readIn) Reads(agent string) []tables.Key {
	return []tables.Key{tables.BalanceKey(tables.AgentAccount(agent))}
}

// entry is one movement of the caller's money.
type entry struct {
	ID       string            `json:"id"`
	At       int64             `json:"at" doc:"Unix ms."`
	Kind     string            `json:"kind" enum:"bought,refunded,unrefunded,disputed,reinstated,message,promo,returned" doc:"bought, or refunded to whoever paid (unrefunded: that failed); disputed: the payer's bank took it back (reinstated: and gave it back); message and promo: spent; returned: what a promo left."`
	MicroUSD int64             `json:"micro_usd" doc:"What it added to the balance; below 0 if it took away."`
	Subject  map[string]string `json:"subject" doc:"Ids of what it was for, by name: checkout, and what became of it, refund or dispute; message and agent; promo."`
}

type readOut struct {
	Balance    int64   `json:"balance" doc:"Micro-USD: 1 USD is 1000000. Below 0 if a payment was taken back after it was spent."`
	Frozen     bool    `json:"frozen" doc:"The balance is below 0: nothing can be spent until it is not."`
	Items      []entry `json:"items" nullable:"false" doc:"The ledger, newest first by when what caused each began: a payment that took days to arrive stands where its checkout was made, and at says when it arrived. The inbox tells of each as it comes."`
	More       bool    `json:"more"`
	NextBefore string  `json:"next_before,omitempty" doc:"Send it as before to get the next page."`
}

// read answers the balance, and a page of the ledger.
func (g credits) read(ctx context.Context, in *readIn) (*readOut, error) {
	before, err := api.CursorID(in.Before, id.Event)
	if err != nil {
		return nil, err
	}
	c := api.From(ctx)
	account := tables.AgentAccount(c.Agent.ID)
	page, err := g.Table.Query(ctx, tables.Movements(account, before, in.Limit+1))
	if err != nil {
		return nil, err
	}
	out := &readOut{Balance: tables.MicroUSD(c.Item(tables.BalanceKey(account))), Items: []entry{}}
	out.Frozen = out.Balance < 0
	for _, item := range page.Items {
		if len(out.Items) == in.Limit {
			out.More, out.NextBefore = true, api.EncodeCursor(out.Items[in.Limit-1].ID)
			break
		}
		var m tables.Movement
		if err := tables.Unmarshal(item, &m); err != nil {
			return nil, err
		}
		subject := map[string]string{}
		for name := range m.Subject {
			subject[name] = tables.Item(m.Subject).Str(name)
		}
		out.Items = append(out.Items, entry{m.ID, m.At, m.Kind, m.Signed(account), subject})
	}
	return out, nil
}
