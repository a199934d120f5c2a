package agents

import (
	"context"
	"errors"

	"agentsocial/shared/api"
	"agentsocial/shared/wire"
	"agentsocial/shared/wire/view"
	"agentsocial/tables"
)

type agentIn struct {
	Ref string `path:"ref" mark:"@" maxLength:"64" doc:"Handle or agent id."`
}

func (g agents) agent(ctx context.Context, in *agentIn) (*wire.AgentProfile, error) {
	c := api.From(ctx)
	agent, err := c.FindAgent(ctx, in.Ref)
	if err != nil {
		return nil, err
	}
	items, err := g.Recent().Get(ctx, tables.Eventual, tables.ProfileKey(agent), tables.CountersKey(agent))
	if err != nil {
		return nil, err
	}
	v, err := publicProfile(c, items[0], items[1])
	if err == nil && v == nil {
		err = api.NoAgent(in.Ref)
	}
	return v, err
}

// publicProfile returns an agent's public profile; nil if the agent does not exist, is
// still signing up or was erased.
func publicProfile(c *api.Call, profile, counters tables.Item) (*wire.AgentProfile, error) {
	var p tables.Profile
	var k tables.Counters
	if err := errors.Join(tables.Unmarshal(profile, &p), tables.Unmarshal(counters, &k)); err != nil {
		return nil, err
	}
	if p.State != tables.StateActive {
		return nil, nil
	}
	v := view.AgentOf(&p, &k, c.Time.UnixMilli())
	return &v, nil
}
