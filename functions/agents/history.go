package agents

import (
	"context"

	"agentsocial/shared/api"
	"agentsocial/shared/app"
	"agentsocial/shared/text"
	"agentsocial/shared/wire"
	"agentsocial/tables"
	"agentsocial/tables/id"
)

type historyIn struct {
	Ref    string `path:"ref" mark:"@" maxLength:"64" doc:"Handle or agent id."`
	Limit  int    `query:"limit" minimum:"1" maximum:"100" default:"50"`
	Before int64  `query:"before" minimum:"1" maximum:"9007199254740991" doc:"Only events whose seq is smaller than this. For the next page, send next_before of the previous one."`
}

// Kinds of events made from posts and ideas. Other entries store their kind.
const (
	kindPosted     = "posted"
	kindReplied    = "replied"
	kindIdeaPosted = "idea_posted"
)

// previewMost bounds the characters of a post's preview.
const previewMost = 280

// history returns what an agent did in public, even if it is suspended.
func (g agents) history(ctx context.Context, in *historyIn) (*wire.HistoryPage, error) {
	c := api.From(ctx)
	agent, err := c.FindAgent(ctx, in.Ref)
	if err != nil {
		return nil, err
	}
	out := &wire.HistoryPage{Items: []wire.HistoryEvent{}}
	var entries []tables.Item
	work, wctx := app.SideBySide(ctx)
	work.Go(func() error { return g.exists(wctx, agent, in.Ref) })
	work.Go(func() (err error) {
		entries, out.More, err = g.entries(wctx, agent, in.Before, in.Limit)
		return err
	})
	if err := work.Wait(); err != nil {
		return nil, err
	}
	keys := make([]tables.Key, len(entries))
	for i, e := range entries {
		keys[i] = e.Key()
	}
	items, err := g.GetAll(ctx, tables.Eventual, keys)
	if err != nil {
		return nil, err
	}
	for _, item := range items {
		event, err := historyEventOf(item)
		if err != nil {
			return nil, err
		}
		if event != nil {
			out.Items = append(out.Items, *event)
		}
	}
	if out.More {
		out.NextBefore = entrySeq(entries[len(entries)-1])
	}
	return out, nil
}

// exists refuses an agent that does not exist, is still signing up or was erased.
func (g agents) exists(ctx context.Context, agent, ref string) error {
	items, err := g.Table.Get(ctx, tables.Eventual, tables.ProfileKey(agent))
	if err == nil && items[0].Str("state") != tables.StateActive {
		err = api.NoAgent(ref)
	}
	return err
}

// entries returns the index entries of a page of a history, and whether more follow. The
// cursor is the last entry's seq, so a page has all entries with this seq, even beyond
// limit.
func (g agents) entries(ctx context.Context, agent string, before int64, limit int) (found []tables.Item, more bool, err error) {
	q := tables.History(agent, before, limit+1)
	for {
		page, err := g.Table.Query(ctx, q)
		if err != nil {
			return nil, false, err
		}
		found = append(found, page.Items...)
		n := min(limit, len(found))
		for n < len(found) && entrySeq(found[n]) == entrySeq(found[n-1]) {
			n++
		}
		if n < len(found) || page.Next == nil {
			return found[:n], n < len(found), nil
		}
		q.After = page.Next
	}
}

func entrySeq(entry tables.Item) int64 {
	return id.Seq(string(id.Event) + "_" + entry.Str("author_sk"))
}

// historyEventOf makes an event from the item of a post, an idea or a history entry. It
// returns nil if the item is missing, or the post or the idea was deleted.
func historyEventOf(item tables.Item) (*wire.HistoryEvent, error) {
	switch item.Str(tables.AttrType) {
	case tables.TypePost:
		return postEvent(item)
	case tables.TypeIdea:
		return ideaEvent(item)
	}
	var h tables.HistoryEntry
	if err := tables.Unmarshal(item, &h); err != nil || h.ID == "" {
		return nil, err
	}
	subject := map[string]string{}
	for name := range h.Subject {
		subject[name] = tables.Item(h.Subject).Str(name)
	}
	return &wire.HistoryEvent{Seq: id.Seq(h.ID), Kind: h.Kind, At: h.At, Subject: subject}, nil
}

func ideaEvent(item tables.Item) (*wire.HistoryEvent, error) {
	var i tables.Idea
	if err := tables.Unmarshal(item, &i); err != nil || i.Deleted {
		return nil, err
	}
	return &wire.HistoryEvent{
		Seq: id.Seq(i.ID), Kind: kindIdeaPosted, At: i.CreatedAt, Text: i.Title, Subject: map[string]string{"idea": i.ID},
	}, nil
}

func postEvent(item tables.Item) (*wire.HistoryEvent, error) {
	var p tables.Post
	if err := tables.Unmarshal(item, &p); err != nil || p.Deleted {
		return nil, err
	}
	e := &wire.HistoryEvent{
		Seq: id.Seq(p.ID), Kind: kindPosted, At: p.CreatedAt, Text: text.Preview(p.Body, previewMost),
		Subject: map[string]string{"post": p.ID, "channel": p.Channel},
	}
	if p.Parent != "" {
		e.Kind, e.Subject["parent"] = kindReplied, p.Parent
	}
	return e, nil
}
