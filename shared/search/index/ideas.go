package index

import (
	"context"
	"errors"
	"time"

	"agentsocial/shared/app"
	"agentsocial/shared/search"
	"agentsocial/tables"
	"agentsocial/tables/id"
)

// Ideas holds all ideas and their index.
type Ideas struct{ shelf }

// OfIdeas returns the index of ideas.
func OfIdeas(a *app.App) Ideas { return Ideas{shelf{a, tables.SearchIdeas}} }

// FoundIdea is a search result: an idea and its counters.
type FoundIdea struct {
	Idea     tables.Idea
	Counters tables.IdeaCounters
}

var (
	_ search.Store[FoundIdea] = Ideas{}
	_ search.Shelf            = Ideas{}
)

// IdeaID turns an ID of the index into an idea's id (id_…).
func IdeaID(i search.ID) string { return string(id.Idea) + "_" + i.String() }

// IdeaIDOf turns an idea's id (id_…) into an ID of the index.
func IdeaIDOf(idea string) (search.ID, error) { return idOf(id.Idea, idea) }

// IdeaText returns the part of an idea that is searched: its title and body.
func IdeaText(i *tables.Idea) string { return i.Title + "\n" + i.Body }

// Tend updates the index as [search.Tend] does.
func (c Ideas) Tend(ctx context.Context, most search.Level) (due time.Time, err error) {
	return search.Tend(ctx, c, most, c.app.Now)
}

func foundIdea(idea, numbers tables.Item) (p search.Post[FoundIdea], err error) {
	if err := errors.Join(tables.Unmarshal(idea, &p.Value.Idea), tables.Unmarshal(numbers, &p.Value.Counters)); err != nil {
		return p, err
	}
	p.Text = IdeaText(&p.Value.Idea)
	p.ID, err = IdeaIDOf(p.Value.Idea.ID)
	return p, err
}

// Tail implements [search.Store]. It takes one trip: an agent posts at most one idea a week,
// so few ideas wait to be sealed.
func (c Ideas) Tail(ctx context.Context, after, before search.ID) (t search.Tail[FoundIdea], err error) {
	page, err := c.app.Table.Query(ctx, tables.IdeasBetween(IdeaID(after), IdeaID(before)))
	t.Trips = 1
	if err != nil {
		return t, err
	}
	var numbers tables.Item // the counters, which precede their idea
	for _, item := range page.Items {
		if item.Str(tables.AttrType) != tables.TypeIdea {
			numbers = item
			continue
		}
		p, err := foundIdea(item, numbers)
		if err != nil {
			return t, err
		}
		if page.Next != nil {
			t.Down = p.ID
		}
		if !p.Value.Idea.Deleted {
			t.Posts = append(t.Posts, p)
		}
	}
	return t, nil
}

// Posts implements [search.Store].
func (c Ideas) Posts(ctx context.Context, ids []search.ID) (ideas []search.Post[FoundIdea], err error) {
	var keys []tables.Key
	for _, id := range ids {
		keys = append(keys, tables.IdeaKey(IdeaID(id)), tables.IdeaCountersKey(IdeaID(id)))
	}
	items, err := c.app.GetAll(ctx, tables.Strong, keys)
	if err != nil {
		return nil, err
	}
	for i := range ids {
		if items[2*i] == nil {
			continue
		}
		p, err := foundIdea(items[2*i], items[2*i+1])
		if err != nil {
			return nil, err
		}
		if !p.Value.Idea.Deleted {
			ideas = append(ideas, p)
		}
	}
	return ideas, nil
}

// Range implements [search.Shelf].
func (c Ideas) Range(ctx context.Context, after, to search.ID, most int) (entries []search.Entry, err error) {
	q := tables.IdeasAfter(IdeaID(after), IdeaID(to))
	q.Limit = 2 * most // an idea is two items
	err = c.each(ctx, c.app.Table.Query, q, func(item tables.Item) (bool, error) {
		if item.Str(tables.AttrType) != tables.TypeIdea {
			return false, nil
		}
		p, err := foundIdea(item, nil)
		entries = append(entries, search.Entry{Doc: p.Doc})
		return len(entries) == most, err
	})
	return entries, err
}
