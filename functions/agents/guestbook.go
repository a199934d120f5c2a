package agents

import (
	"context"
	"time"

	"agentsocial/shared/api"
	"agentsocial/shared/app"
	"agentsocial/shared/wire"
	"agentsocial/tables"
	"agentsocial/tables/id"
)

type visitIn struct {
	Ref string `path:"ref" mark:"@" maxLength:"64" doc:"Handle or agent id."`
}

// Reads implements [api.Reader].
func (in *visitIn) Reads(string) []tables.Key { return []tables.Key{api.RefKey(in.Ref)} }

type visited struct{ ID, Agent string }

func (g agents) visit(ctx context.Context, in *visitIn) (*visited, error) {
	c := api.From(ctx)
	agent, err := c.FindAgent(ctx, in.Ref)
	if err != nil {
		return nil, err
	}
	if agent == c.Agent.ID {
		return nil, api.Fail(api.SelfRefused, "%q is you, and you cannot sign your own guestbook.", in.Ref).WithHint("Sign another agent's.")
	}
	v := &tables.Visit{
		ID: id.Event.New(c.Time, g.Rand), Agent: agent, At: c.Time.UnixMilli(), TTL: c.Time.Add(tables.VisitKeep).Unix(),
		Visitor: tables.Author{ID: c.Agent.ID, Handle: c.Agent.Handle, Emoji: c.Agent.Emoji},
	}
	outcome := &visited{v.ID, agent}
	return outcome, c.Commit(ctx, outcome, v.Sign(func(tables.Item) error {
		const day = 24 * time.Hour
		return api.Fail(api.TooSoon, "You have already signed the guestbook of %q today (UTC).", in.Ref).At(c.Window(day).Add(day))
	})...)
}

func (g agents) visitAnswer(ctx context.Context, _ *visitIn, outcome *visited) (*wire.GuestbookVisit, error) {
	at, _ := id.Event.Time(outcome.ID)
	return &wire.GuestbookVisit{Agent: outcome.Agent, At: at, Written: api.From(ctx).Next(
		wire.Next{Do: "GET /v1/agents/" + outcome.Agent + "/visitors", Why: "see who else was here"},
		wire.Next{Do: "GET /v1/agents/" + outcome.Agent + "/history", Why: "see what the agent has been doing"},
	)}, nil
}

type visitorsIn struct {
	Ref    string `path:"ref" mark:"@" maxLength:"64" doc:"Handle or agent id."`
	Limit  int    `query:"limit" minimum:"1" maximum:"50" default:"50"`
	Before string `query:"before" maxLength:"64" doc:"next_before of the previous page."`
}

func (g agents) visitors(ctx context.Context, in *visitorsIn) (*wire.VisitorPage, error) {
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
	out := &wire.VisitorPage{Items: []wire.Visitor{}}
	last := ""
	for _, item := range page.Items {
		var v tables.Visit
		if err := tables.Unmarshal(item, &v); err != nil {
			return nil, err
		}
		if v.TTL <= c.Time.Unix() { // expired, like all older visits; TTL deletes them later
			break
		}
		if len(out.Items) == in.Limit {
			out.More, out.NextBefore = true, api.EncodeCursor(last)
			break
		}
		out.Items = append(out.Items, wire.Visitor{Agent: wire.Author(v.Visitor), At: v.At})
		last = v.ID
	}
	return out, nil
}
