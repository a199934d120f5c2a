package channels

import (
	"cmp"
	"context"
	"slices"
	"time"

	"agentsocial/shared/api"
	"agentsocial/shared/app"
	"agentsocial/shared/wire"
	"agentsocial/shared/wire/view"
	"agentsocial/tables"
	"agentsocial/tables/id"
)

type bestIn struct {
	Ch     string `path:"ch" mark:"#" maxLength:"40" doc:"A channel's name."`
	Days   int    `query:"days" minimum:"1" maximum:"30" default:"7" doc:"Number of UTC days, including today."`
	Limit  int    `query:"limit" minimum:"1" maximum:"100" default:"20" doc:"Posts on a page."`
	Before string `query:"before" maxLength:"512" doc:"next_before of the previous page; works across midnight."`
}

// best merges the best posts of each UTC day, then reads them. It takes whole days: for a
// part of a day, it would have to read and drop any number of posts.
func (g channels) best(ctx context.Context, in *bestIn) (*wire.BestPostPage, error) {
	today, after, err := bestCursor(in.Before, g.Now())
	if err != nil {
		return nil, err
	}
	days := make([][]tables.Item, in.Days)
	work, wctx := app.SideBySide(ctx)
	work.Go(func() error {
		_, err := g.readChannel(wctx, in.Ch)
		return err
	})
	for i := range days {
		work.Go(func() (err error) {
			pk := tables.BestPK(in.Ch, today.AddDate(0, 0, -i))
			days[i], err = g.queryUpTo(wctx, tables.Best(in.Ch, pk, after, in.Limit+1))
			return err
		})
	}
	if err := work.Wait(); err != nil {
		return nil, err
	}
	ranked := slices.SortedFunc(slices.Values(slices.Concat(days...)), func(a, b tables.Item) int {
		return cmp.Compare(b.Str("rank_sk"), a.Str("rank_sk"))
	})
	out := &wire.BestPostPage{Since: today.AddDate(0, 0, 1-in.Days).UnixMilli()}
	if len(ranked) > in.Limit {
		ranked = ranked[:in.Limit]
		out.More = true
		out.NextBefore = api.EncodeCursor(today.Format(time.DateOnly), ranked[in.Limit-1].Str("rank_sk"))
	}
	out.Items, err = g.rankedPosts(ctx, in.Ch, ranked)
	return out, err
}

// bestCursor returns the last day of the list and the place after which a page begins.
// Cursors hold that day, so that no page repeats or skips a post at midnight.
func bestCursor(before string, now time.Time) (today time.Time, after string, err error) {
	today = now.UTC().Truncate(24 * time.Hour)
	if before == "" {
		return today, "", nil
	}
	p, err := api.DecodeCursor(before, 2)
	if err != nil {
		return today, "", err
	}
	day, err := time.Parse(time.DateOnly, p[0])
	_, post, ok := tables.ReadBestSK(p[1])
	switch {
	case err != nil || !ok || !id.Post.Valid(post):
		return today, "", api.ForeignCursor()
	case day.After(today) || day.Before(today.AddDate(0, 0, -1)):
		return today, "", api.Fail(api.BadCursor, "The cursor in `before` belongs to a list that began on %s (UTC), and expired at the end of the next day.", p[0])
	}
	return day, p[1], nil
}

// queryUpTo reads up to q.Limit items. It reads on if a page ends earlier because it
// has too many bytes.
func (g channels) queryUpTo(ctx context.Context, q tables.Query) ([]tables.Item, error) {
	var items []tables.Item
	for {
		page, err := g.Recent().Query(ctx, q)
		if err != nil {
			return nil, err
		}
		items = append(items, page.Items...)
		q.Limit -= len(page.Items)
		if q.Limit <= 0 || page.Next == nil {
			return items, nil
		}
		q.After = page.Next
	}
}

// rankedPosts reads the posts of index entries. The entries hold the posts' counters. It
// reads strongly, because the index may still have a deleted post.
func (g channels) rankedPosts(ctx context.Context, channel string, ranked []tables.Item) ([]wire.Post, error) {
	keys := make([]tables.Key, len(ranked))
	for i, r := range ranked {
		_, post, _ := tables.ReadBestSK(r.Str("rank_sk"))
		keys[i] = tables.PostKey(channel, post)
	}
	items, err := g.GetRecent(ctx, tables.Strong, keys)
	if err != nil {
		return nil, err
	}
	posts, err := view.Posts(append(items, ranked...)...)
	list := []wire.Post{}
	for _, p := range posts {
		if !p.Deleted {
			list = append(list, view.PostOf(&p, g.Settings.BaseURL))
		}
	}
	return list, err
}
