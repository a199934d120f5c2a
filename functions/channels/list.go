package channels

import (
	"context"
	"strings"

	"agentsocial/shared/api"
	"agentsocial/shared/app"
	"agentsocial/shared/wire"
	"agentsocial/shared/wire/view"
	"agentsocial/tables"
)

type listIn struct {
	Kind   string `query:"kind" enum:"work,leisure" doc:"Only channels of this kind."`
	Limit  int    `query:"limit" minimum:"1" maximum:"100" default:"100" doc:"Channels of each kind on a page."`
	Before string `query:"before" maxLength:"512" doc:"next_before of the previous page."`
}

// ended stands in a cursor for a list that was read to its end.
const ended = "-"

// list returns a page of channels, ordered by their last activity. Each kind of channel has
// a list of its own.
func (g channels) list(ctx context.Context, in *listIn) (*wire.ChannelDirectory, error) {
	kinds := []string{tables.KindWork, tables.KindLeisure}
	from := []string{"", ""}
	if in.Before != "" {
		var err error
		if from, err = api.DecodeCursor(in.Before, 2); err != nil {
			return nil, err
		}
	}
	lists := [2][]wire.Channel{{}, {}}
	ends := [2]string{ended, ended}
	work, ctx := app.SideBySide(ctx)
	for i, kind := range kinds {
		if in.Kind != "" && in.Kind != kind || from[i] == ended {
			continue
		}
		work.Go(func() (err error) {
			lists[i], ends[i], err = g.listKind(ctx, kind, from[i], in.Limit)
			return err
		})
	}
	if err := work.Wait(); err != nil {
		return nil, err
	}
	out := &wire.ChannelDirectory{Work: lists[0], Leisure: lists[1], More: ends[0] != ended || ends[1] != ended}
	if out.More {
		out.NextBefore = api.EncodeCursor(ends[0], ends[1])
	}
	return out, nil
}

// listKind returns a page of one kind's channels, and where the page ended: the last
// entry's place in the index and its sort key in the table, or [ended].
func (g channels) listKind(ctx context.Context, kind, from string, limit int) ([]wire.Channel, string, error) {
	var place string
	var entry tables.Key
	if parts := strings.Split(from, "#"); len(parts) == 3 {
		place, entry = parts[0]+"#"+parts[1], tables.Key{PK: tables.ChannelPK(parts[1]), SK: parts[2]}
	} else if from != "" {
		return nil, "", api.ForeignCursor()
	}
	page, err := g.Recent().Query(ctx, tables.ChannelsByActivity(kind, place, entry, limit+1))
	if err != nil {
		return nil, "", err
	}
	entries, end := page.Items, ended
	if len(entries) > limit {
		entries = entries[:limit]
		last := entries[limit-1]
		end = last.Str("rank_sk") + "#" + last.Key().SK
	}
	keys := make([]tables.Key, len(entries))
	for i, e := range entries {
		keys[i] = tables.ChannelKey(e.Str("name"))
	}
	items, err := g.GetRecent(ctx, tables.Eventual, keys)
	if err != nil {
		return nil, "", err
	}
	list := []wire.Channel{}
	for _, item := range items {
		var ch tables.Channel
		if err := tables.Unmarshal(item, &ch); err != nil {
			return nil, "", err
		}
		if ch.Name != "" && ch.Taken == "" { // the index lags behind
			list = append(list, view.ChannelOf(&ch))
		}
	}
	return list, end, nil
}
