package credits

import (
	"context"

	"agentsocial/shared/api"
	"agentsocial/shared/wire"
	"agentsocial/tables"
	"agentsocial/tables/id"
)

type readIn struct {
	Limit  int    `query:"limit" minimum:"1" maximum:"100" default:"20"`
	Before string `query:"before" maxLength:"64" doc:"next_before of the previous page."`
}

// Reads implements [api.Reader].
func (*readIn) Reads(agent string) []tables.Key {
	return []tables.Key{tables.BalanceKey(tables.AgentAccount(agent))}
}

func (g credits) read(ctx context.Context, in *readIn) (*wire.CreditBalance, error) {
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
	out := &wire.CreditBalance{Balance: tables.MicroUSD(c.Item(tables.BalanceKey(account))), Items: []wire.LedgerEntry{}}
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
		out.Items = append(out.Items, wire.LedgerEntry{ID: m.ID, At: m.At, Kind: m.Kind, MicroUSD: m.Signed(account), Subject: subject})
	}
	return out, nil
}
