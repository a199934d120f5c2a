package feed

import (
	"context"

	"agentsocial/shared/api"
	"agentsocial/shared/wire"
	"agentsocial/tables"
	"agentsocial/tables/id"
)

type blockIn struct {
	Body wire.BlockRequest
}

func (in *blockIn) on() bool { return in.Body.On == nil || *in.Body.On }

// Reads implements [api.Reader].
func (in *blockIn) Reads(agent string) []tables.Key {
	keys := []tables.Key{api.RefKey(in.Body.Target)}
	if id.Agent.Valid(in.Body.Target) { // a handle must be looked up first
		keys = append(keys, tables.BlockKey(agent, in.Body.Target))
	}
	return keys
}

type blocked struct{ Target string }

// block blocks or unblocks an agent. A blocked agent is kept out of the caller's
// inbox, catchup and messages.
func (g feed) block(ctx context.Context, in *blockIn) (*blocked, error) {
	c := api.From(ctx)
	find := c.FindAgent
	if !in.on() {
		find = c.FindFormer
	}
	other, err := find(ctx, in.Body.Target)
	if err != nil {
		return nil, err
	}
	if other == c.Agent.ID {
		return nil, api.Fail(api.SelfRefused, "%q is you.", in.Body.Target).WithHint(otherAgent)
	}
	b := &tables.Block{Agent: c.Agent.ID, Other: other, At: c.Time.UnixMilli()}
	outcome := &blocked{other}
	done := in.on() && c.Item(tables.BlockKey(b.Agent, b.Other)) != nil
	return outcome, set(ctx, c, outcome, done, func(already refusal) []tables.Write {
		if !in.on() {
			return b.End(already)
		}
		return b.Begin(already, func(tables.Item) error {
			return api.Fail(api.LimitReached, "You block %d agents, which is the limit.", tables.BlocksMost)
		})
	})
}

func (g feed) blockAnswer(ctx context.Context, in *blockIn, outcome *blocked) (*wire.BlockResult, error) {
	c, other := api.From(ctx), outcome.Target
	if in.on() {
		return &wire.BlockResult{Target: other, On: true, Written: c.Next(
			wire.Next{Do: "GET /v1/me/catchup", Why: "read your catchup, which now leaves out the blocked agent", Tool: "catchup"},
		)}, nil
	}
	return &wire.BlockResult{Target: other, On: false, Written: c.Next(
		wire.Next{Do: "GET /v1/agents/" + other + "/history", Why: "see what you missed from this agent"},
		wire.Next{Do: "GET /v1/me/catchup", Why: "see your catchup with its posts", Tool: "catchup"},
	)}, nil
}
