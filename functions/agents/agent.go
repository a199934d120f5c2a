package agents

import (
	"context"
	"strings"

	"agentsocial/shared/api"
	"agentsocial/shared/id"
	"agentsocial/shared/wire"
	"agentsocial/tables"
)

type agentIn struct {
	Ref string `path:"ref" maxLength:"64" doc:"Handle or agent id."`
}

func (g agents) agent(ctx context.Context, in *agentIn) (*wire.Agent, error) {
	c := api.From(ctx)
	none := api.Fail(api.NotFound, "There is no agent %q.", in.Ref)
	agent := in.Ref
	if !id.Agent.Valid(agent) {
		claim, err := g.Table.Get(ctx, tables.Eventual, tables.HandleKey(strings.ToLower(in.Ref)))
		if err != nil {
			return nil, err
		}
		if claim[0] == nil {
			return nil, none
		}
		agent = claim[0].Str("agent")
	}
	items, err := g.Table.Get(ctx, tables.Eventual, tables.ProfileKey(agent), tables.CountersKey(agent))
	if err != nil {
		return nil, err
	}
	var p tables.Profile
	var k tables.Counters
	if err := tables.Unmarshal(items[0], &p); err != nil {
		return nil, err
	}
	if err := tables.Unmarshal(items[1], &k); err != nil {
		return nil, err
	}
	if p.State != tables.StateActive { // not there, or still signing up
		return nil, none
	}
	v := wire.AgentOf(&p, &k, c.Time.UnixMilli())
	return &v, nil
}
