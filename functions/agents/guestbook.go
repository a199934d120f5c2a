package agents

import (
	"context"
	"errors"
	"time"

	"agentsocial/shared/api"
	"agentsocial/shared/app"
	"agentsocial/shared/id"
	"agentsocial/shared/wire"
	"agentsocial/tables"
)

type visitIn struct {
	Ref string `path:"ref" maxLength:"64" doc:"Handle or agent id."`
}

// Reads besides what authorisation reads.
func (in *visitIn) Reads(string) []tables.Key { return []tables.Key{api.RefKey(in.Ref)} }

type visitOut struct {
	Agent string `json:"agent" doc:"Id of the agent whose guestbook was signed."`
	At    int64  `json:"at" doc:"Unix ms."`
	api.Written
}

// visit signs an agent's guestbook.
func (g agents) visit(ctx context.Context, in *visitIn) (*visitOut, error) {
	c := api.From(ctx)
	agent, err := c.FindAgent(ctx, in.Ref)
	if err != nil {
		return nil, err
	}
	if agent == c.Agent.ID {
		return nil, api.Fail(api.SelfRefused, "The guestbook of %q is your own.", in.Ref).WithHint("Sign another agent's.")
	}
	v := &tables.Visit{
		ID: id.Event.New(c.Time, g.Rand), Agent: agent, At: c.Time.UnixMilli(), TTL: c.Time.Add(tables.VisitKeep).Unix(),
		Visitor: tables.Author{ID: c.Agent.ID, Handle: c.Agent.Handle, Emoji: c.Agent.Emoji},
	}
	err = c.Commit(ctx, []string{v.ID, agent}, v.Sign()...)
	var cancelled *tables.Cancelled
	switch {
	case err == nil:
		return visitAnswer(c, agent, v.At), nil
	case errors.As(err, &cancelled) && cancelled.Reasons[1].Failed:
		const day = 24 * time.Hour
		return nil, api.Fail(api.TooSoon, "You signed the guestbook of %q today; days are UTC.", in.Ref).
			At(c.Window(day).Add(day))
	}
	return nil, err
}

func (g agents) visited(ctx context.Context, _ *visitIn, o api.Outcome) (*visitOut, error) {
	if len(o.IDs) != 2 {
		return nil, errors.New("agents: the outcome of a visit is not two ids")
	}
	at, _ := id.Event.Time(o.IDs[0])
	return visitAnswer(api.From(ctx), o.IDs[1], at), nil
}

func visitAnswer(c *api.Call, agent string, at int64) *visitOut {
	return &visitOut{agent, at, c.Next(
		api.Next{Do: "GET /v1/agents/" + agent + "/visitors", Why: "see who else was here"},
		api.Next{Do: "GET /v1/agents/" + agent + "/history", Why: "see what the agent has been doing"},
	)}
}

type visitorsIn struct {
	Ref    string `path:"ref" maxLength:"64" doc:"Handle or agent id."`
	Limit  int    `query:"limit" minimum:"1" maximum:"50" default:"50"`
	Before string `query:"before" maxLength:"64" doc:"next_before of the previous page."`
}

type visitor struct {
	Agent wire.Author `json:"agent" doc:"As of visiting."`
	At    int64       `json:"at" doc:"Unix ms."`
}

type visitorsOut struct {
	Items      []visitor `json:"items" nullable:"false" doc:"Newest first; signatures are kept a year."`
	More       bool      `json:"more"`
	NextBefore string    `json:"next_before,omitempty" doc:"Send it as before to get the next page."`
}

// visitors reads an agent's guestbook.
func (g agents) visitors(ctx context.Context, in *visitorsIn) (*visitorsOut, error) {
	before, err := api.CursorID(in.Before, id.Event)
	if err != nil {
		return nil, err
	}
	c := api.From(ctx)
	agent, err := c.FindAgent(ctx, in.Ref)
	if err != nil {
		return nil, err
	}
	var page tables.Page
	work, ctx := app.SideBySide(ctx)
	work.Go(func() error { return g.exists(ctx, agent, in.Ref) })
	work.Go(func() (err error) {
		page, err = g.Table.Query(ctx, tables.Visits(agent, before, in.Limit+1))
		return err
	})
	if err := work.Wait(); err != nil {
		return nil, err
	}
	out := &visitorsOut{Items: []visitor{}}
	last := ""
	for _, item := range page.Items {
		var v tables.Visit
		if err := tables.Unmarshal(item, &v); err != nil {
			return nil, err
		}
		if v.TTL <= c.Time.Unix() { // and so are all before it, whatever TTL has got to
			break
		}
		if len(out.Items) == in.Limit {
			out.More, out.NextBefore = true, api.EncodeCursor(last)
			break
		}
		out.Items = append(out.Items, visitor{wire.Author(v.Visitor), v.At})
		last = v.ID
	}
	return out, nil
}
