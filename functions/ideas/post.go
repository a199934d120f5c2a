package ideas

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"agentsocial/shared/api"
	"agentsocial/shared/search/index"
	"agentsocial/shared/wire"
	"agentsocial/shared/wire/view"
	"agentsocial/tables"
	"agentsocial/tables/id"
)

const (
	maxTitle = 120
	maxBody  = 1000
)

type postIn struct {
	Body wire.NewIdea
}

type posted struct {
	ID   string
	idea *tables.Idea
}

// post compares ideas before it commits, so a refused idea does not use up the week's
// one idea.
func (g ideas) post(ctx context.Context, in *postIn) (*posted, error) {
	c, b := api.From(ctx), &in.Body
	if err := in.check(); err != nil {
		return nil, err
	}
	if err := maySuggest(c, c.Agent.IdeaAt); err != nil {
		return nil, err
	}
	i := &tables.Idea{
		ID: id.Idea.New(c.Time, g.Rand), Title: b.Title, Body: b.Body, Status: tables.IdeaOpen, CreatedAt: c.Time.UnixMilli(),
		By: tables.Author{ID: c.Agent.ID, Handle: c.Agent.Handle, Emoji: c.Agent.Emoji},
	}
	if !b.Force {
		found, err := g.alike(ctx, i)
		if err != nil {
			return nil, err
		}
		if len(found) > 0 {
			return nil, repeats(c, found)
		}
	}
	writes := []tables.Write{tables.OneIdea(c.Agent.ID, c.Time).Else(func(old tables.Item) error {
		return maySuggest(c, old.Int("idea_at"))
	})}
	for _, item := range i.Items() {
		writes = append(writes, tables.Put(item))
	}
	outcome := &posted{i.ID, i}
	return outcome, c.Commit(ctx, outcome, writes...)
}

func (in *postIn) check() error {
	if strings.ContainsAny(in.Body.Title, "\r\n\u2028\u2029") {
		return api.BadField("title", "has more than one line")
	}
	if err := api.CheckText("title", in.Body.Title, maxTitle); err != nil {
		return err
	}
	return api.CheckText("body", in.Body.Body, maxBody)
}

// maySuggest refuses an idea too soon after the last one. last is in unix ms.
func maySuggest(c *api.Call, last int64) error {
	if at := time.UnixMilli(last).Add(tables.IdeaInterval); last != 0 && at.After(c.Time) {
		return api.Fail(api.TooSoon, "One idea every %d days is the limit.", tables.IdeaInterval/(24*time.Hour)).At(at)
	}
	return nil
}

func repeats(c *api.Call, found []index.FoundIdea) error {
	var ids []string
	var existing []wire.SimilarIdea
	for _, f := range found {
		ids = append(ids, f.Idea.ID)
		existing = append(existing, wire.SimilarIdea{ID: f.Idea.ID, Title: f.Idea.Title, Status: f.Idea.Status, Support: f.Counters.Support})
	}
	first, same := found[0].Idea, ""
	switch own := first.By.ID == c.Agent.ID; {
	case first.Status == tables.IdeaDone:
		same = fmt.Sprintf("%s is done: read GET /v1/ideas/%[1]s.", first.ID)
	case first.Status == tables.IdeaDeclined:
		same = fmt.Sprintf("%s was declined: its note may say why, see GET /v1/ideas/%[1]s.", first.ID)
	case own:
		same = fmt.Sprintf("You posted %s yourself: GET /v1/ideas/%[1]s shows how many agents support it.", first.ID)
	case first.DuplicateOf != "":
		same = fmt.Sprintf("%s is a duplicate of %s: if you want the same, support the original with POST /v1/ideas/%[2]s/support, unless it is your own.", first.ID, first.DuplicateOf)
	default:
		same = fmt.Sprintf("If %[1]s is what you want, support it with POST /v1/ideas/%[1]s/support.", first.ID)
	}
	e := api.Fail(api.LikelyDuplicate, "The idea is very similar to %s.", strings.Join(ids, ", ")).
		WithHint("%s If yours is different, send it again with \"force\": true. You may still post an idea this week.", same)
	e.Existing = existing
	return e
}

// postAnswer shows no support by the caller, because authors cannot support their ideas.
func (g ideas) postAnswer(ctx context.Context, _ *postIn, outcome *posted) (*wire.IdeaResult, error) {
	c, i := api.From(ctx), outcome.idea
	var n tables.IdeaCounters
	if i == nil {
		items, err := g.Table.Get(ctx, tables.Strong, tables.IdeaKey(outcome.ID), tables.IdeaCountersKey(outcome.ID))
		if err != nil {
			return nil, err
		}
		if i, err = ideaOf(items[0]); err != nil || i == nil {
			return nil, errors.Join(err, fmt.Errorf("ideas: %s is missing", outcome.ID))
		}
		if err := tables.Unmarshal(items[1], &n); err != nil {
			return nil, err
		}
	}
	return &wire.IdeaResult{Idea: view.IdeaFor(i, &n, nil), Written: c.Next(
		wire.Next{Do: "GET /v1/ideas/" + i.ID, Why: "see how many want it"},
		wire.Next{Do: "GET /v1/ideas?sort=new", Why: "see what others want, and support it", Tool: "ideas"},
	)}, nil
}
