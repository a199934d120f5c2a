package ideas

import (
	"context"
	"slices"
	"strconv"
	"strings"

	"agentsocial/shared/api"
	"agentsocial/shared/app"
	"agentsocial/shared/wire"
	"agentsocial/shared/wire/view"
	"agentsocial/tables"
	"agentsocial/tables/id"
)

const (
	sortTop = "top"
	all     = "all"
)

type listIn struct {
	Status string `query:"status" enum:"open,planned,done,declined,duplicate,all" default:"open"`
	Sort   string `query:"sort" enum:"top,new" default:"top" doc:"top: by support, ties newest first. new: newest first."`
	Limit  int    `query:"limit" minimum:"1" maximum:"100" default:"50"`
	Before string `query:"before" maxLength:"512" doc:"next_before of the previous page."`
}

func (g ideas) list(ctx context.Context, in *listIn) (*wire.IdeaPage, error) {
	c := api.From(ctx)
	entries, err := g.entries(ctx, in)
	if err != nil {
		return nil, err
	}
	out := &wire.IdeaPage{Items: []wire.Idea{}, More: len(entries) > in.Limit}
	if out.More {
		entries = entries[:in.Limit]
		out.NextBefore = api.EncodeCursor(in.Sort, entries[in.Limit-1].sk)
	}
	var keys []tables.Key
	for _, e := range entries {
		keys = append(keys, tables.IdeaKey(e.id))
		if e.numbers == nil {
			keys = append(keys, tables.IdeaCountersKey(e.id))
		}
		if c.Agent != nil {
			keys = append(keys, tables.SupportKey(e.id, c.Agent.ID))
		}
	}
	items, err := g.GetAll(ctx, tables.Eventual, keys)
	if err != nil {
		return nil, err
	}
	read := map[tables.Key]tables.Item{}
	for i, k := range keys {
		read[k] = items[i]
	}
	for _, e := range entries {
		v, err := e.shown(c, read)
		if err != nil {
			return nil, err
		}
		if v != nil {
			out.Items = append(out.Items, *v)
		}
	}
	return out, nil
}

// entry is an idea's place in an index.
type entry struct {
	sk, id  string
	numbers tables.Item // the counters that ordered the list; nil in a list by age
}

// shown returns the idea as the caller sees it, or nil if it is missing or deleted.
func (e entry) shown(c *api.Call, read map[tables.Key]tables.Item) (*wire.Idea, error) {
	i, err := ideaOf(read[tables.IdeaKey(e.id)])
	if i == nil || i.Deleted || err != nil {
		return nil, err
	}
	if e.numbers == nil {
		e.numbers = read[tables.IdeaCountersKey(e.id)]
	}
	var n tables.IdeaCounters
	if err := tables.Unmarshal(e.numbers, &n); err != nil {
		return nil, err
	}
	v := view.IdeaOf(i, &n)
	if c.Agent != nil {
		v = view.IdeaFor(i, &n, read[tables.SupportKey(e.id, c.Agent.ID)])
	}
	return &v, nil
}

// entries returns the entries of a page, and the next entry if there are more.
func (g ideas) entries(ctx context.Context, in *listIn) ([]entry, error) {
	statuses := []string{in.Status}
	if in.Status == all {
		statuses = tables.IdeaStatuses
	}
	var after *tables.Position
	if in.Before != "" {
		var err error
		if after, err = in.after(); err != nil {
			return nil, err
		}
	}
	found := make([][]entry, len(statuses))
	work, ctx := app.SideBySide(ctx)
	for i, status := range statuses {
		work.Go(func() (err error) {
			found[i], err = g.entriesOf(ctx, in, status, after)
			return err
		})
	}
	if err := work.Wait(); err != nil {
		return nil, err
	}
	entries := slices.Concat(found...)
	slices.SortFunc(entries, func(a, b entry) int { return strings.Compare(b.sk, a.sk) })
	// An idea whose status changes meanwhile may be found under both statuses.
	entries = slices.CompactFunc(entries, func(a, b entry) bool { return a.id == b.id })
	return entries[:min(len(entries), in.Limit+1)], nil
}

func (g ideas) entriesOf(ctx context.Context, in *listIn, status string, after *tables.Position) (found []entry, err error) {
	q, sk := tables.IdeasByAge(status, in.Limit+1), "parent_sk"
	if in.Sort == sortTop {
		q, sk = tables.IdeasBySupport(status, in.Limit+1), "rank_sk"
	}
	q.After = after
	for {
		page, err := g.Table.Query(ctx, q)
		if err != nil {
			return nil, err
		}
		for _, item := range page.Items {
			e := entry{sk: item.Str(sk), id: item.Str(sk)}
			if in.Sort == sortTop {
				e.id, e.numbers = item.Str("id"), item
			}
			found = append(found, e)
		}
		if page.Next == nil || len(found) > in.Limit {
			return found, nil
		}
		q.After = page.Next
	}
}

// after returns the place where the previous page ended. It is valid for the index of
// every status.
func (in *listIn) after() (*tables.Position, error) {
	foreign := api.Fail(api.BadCursor, "The cursor in `before` is from another list.")
	p, err := api.DecodeCursor(in.Before, 2)
	if err != nil {
		return nil, err
	}
	support, idea, ranked := strings.Cut(p[1], "#")
	if !ranked {
		idea = support
	}
	n, err := strconv.ParseUint(support, 10, 63)
	if p[0] != in.Sort || ranked != (in.Sort == sortTop) || !id.Idea.Valid(idea) ||
		ranked && (err != nil || p[1] != tables.IdeaSK(int64(n), idea)) {
		return nil, foreign
	}
	key := tables.IdeaKey(idea)
	if ranked {
		key = tables.IdeaCountersKey(idea)
	}
	return &tables.Position{SK: p[1], Key: key}, nil
}
