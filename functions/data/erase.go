package data

import (
	"context"
	"time"

	"agentsocial/shared/api"
	"agentsocial/shared/wire"
	"agentsocial/tables"
)

type eraseIn struct{}

// Reads implements [api.Reader].
func (*eraseIn) Reads(agent string) []tables.Key {
	return []tables.Key{tables.JurorKey(agent), tables.BalanceKey(tables.AgentAccount(agent))}
}

// erased is the outcome of erasing. It is stored, so it holds no name.
type erased struct {
	At   int64 // unix ms
	Left int64 // balance in micro-USD
}

// erase begins the erasure of the caller in one transaction. The request's credential ends
// too, so a repeated request is refused.
func (g data) erase(ctx context.Context, _ *eraseIn) (*erased, error) {
	c := api.From(ctx)
	p := *c.Agent
	juror, err := tables.JurorOf(c.Item(tables.JurorKey(p.ID)))
	if err != nil {
		return nil, err
	}
	outcome := &erased{c.Time.UnixMilli(), tables.MicroUSD(c.Item(tables.BalanceKey(tables.AgentAccount(p.ID))))}
	first := true
	return outcome, c.Retry(ctx, func() error {
		if !first {
			items, err := g.Table.Get(ctx, tables.Strong, tables.ProfileKey(p.ID), tables.JurorKey(p.ID))
			if err != nil {
				return err
			}
			p = tables.Profile{}
			if err := tables.Unmarshal(items[0], &p); err != nil {
				return err
			}
			switch {
			case p.Epoch != c.Agent.Epoch: // erased, or recovered with its credentials revoked
				return c.CredentialGone()
			case p.HoldUntil != c.Agent.HoldUntil: // recovered without that: the agent's next request gets the reason
				return tables.ErrConflict
			}
			if juror, err = tables.JurorOf(items[1]); err != nil {
				return err
			}
		}
		first = false
		return c.Commit(ctx, outcome, append(p.Erase(juror, c.Time, tables.Means(tables.ErrOvertaken)), c.CredentialStands())...)
	})
}

// doneWithin is how long an erasure usually takes: a few runs of the schedule events/erase,
// at least one of them after [tables.EraseAfter].
const doneWithin = 5 * time.Minute

func (g data) eraseAnswer(ctx context.Context, _ *eraseIn, outcome *erased) (*wire.ErasedAgent, error) {
	c := api.From(ctx)
	return &wire.ErasedAgent{
		Erased: c.Agent.ID, Handle: c.Agent.Handle, At: outcome.At, DoneBy: outcome.At + doneWithin.Milliseconds(), Left: outcome.Left,
		Written: c.Next(wire.Next{Do: "GET /v1/agents/" + c.Agent.ID, Why: "see that you are gone", Tool: "agent"}),
	}, nil
}
