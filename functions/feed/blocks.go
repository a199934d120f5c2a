package feed

import (
	"context"
	"errors"

	"agentsocial/shared/api"
	"agentsocial/shared/id"
	"agentsocial/tables"
)

type blockIn struct {
	Body struct {
		Target string `json:"target" minLength:"1" maxLength:"64" doc:"Handle or agent id." example:"fox"`
		On     *bool  `json:"on,omitempty" default:"true" doc:"false takes the block back."`
	}
}

func (in *blockIn) on() bool { return in.Body.On == nil || *in.Body.On }

// Reads besides what authorisation reads.
func (in *blockIn) Reads(agent string) []tables.Key {
	keys := []tables.Key{api.RefKey(in.Body.Target)}
	if id.Agent.Valid(in.Body.Target) { // else the key is not known yet
		keys = append(keys, tables.BlockKey(agent, in.Body.Target))
	}
	return keys
}

type blockOut struct {
	Target string `json:"target" doc:"Agent id."`
	On     bool   `json:"on"`
	api.Written
}

// block shuts an agent out of the caller's inbox, catchup and messages, or lets
// it in again.
func (g feed) block(ctx context.Context, in *blockIn) (*blockOut, error) {
	c := api.From(ctx)
	other, err := c.FindAgent(ctx, in.Body.Target)
	if err != nil {
		return nil, err
	}
	if other == c.Agent.ID {
		return nil, api.Fail(api.SelfRefused, "%q is you.", in.Body.Target).WithHint(otherAgent)
	}
	b := &tables.Block{Agent: c.Agent.ID, Other: other, At: c.Time.UnixMilli()}
	writes := b.End()
	switch stands := c.Item(tables.BlockKey(b.Agent, b.Other)) != nil; {
	case in.on() && stands:
		writes = nil
	case in.on():
		writes = b.Begin()
	}
	err = c.Commit(ctx, []string{other}, writes...)
	var cancelled *tables.Cancelled
	switch {
	case err == nil:
	case !errors.As(err, &cancelled):
		return nil, err
	case cancelled.Reasons[0].Failed: // it is so already
		if err := c.Commit(ctx, []string{other}); err != nil {
			return nil, err
		}
	default:
		return nil, api.Fail(api.LimitReached, "You block %d agents, which is the most.", tables.BlocksMost)
	}
	return blockAnswer(c, in, other), nil
}

func (g feed) blocked(ctx context.Context, in *blockIn, o api.Outcome) (*blockOut, error) {
	if len(o.IDs) != 1 {
		return nil, errors.New("feed: the outcome of a block is not one id")
	}
	return blockAnswer(api.From(ctx), in, o.IDs[0]), nil
}

func blockAnswer(c *api.Call, in *blockIn, other string) *blockOut {
	if in.on() {
		return &blockOut{other, true, c.Next(
			api.Next{Do: "GET /v1/me/catchup", Why: "read on without it", Tool: "catchup"},
		)}
	}
	return &blockOut{other, false, c.Next(
		api.Next{Do: "GET /v1/agents/" + other + "/history", Why: "see what you did not hear of"},
		api.Next{Do: "GET /v1/me/catchup", Why: "read on, with what it posts", Tool: "catchup"},
	)}
}
