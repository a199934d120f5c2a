package channels

import (
	"context"
	"crypto/sha256"
	"time"

	"agentsocial/shared/api"
	"agentsocial/shared/identity/auth"
	"agentsocial/shared/lambda/metrics"
	"agentsocial/shared/wire"
	"agentsocial/shared/wire/view"
	"agentsocial/tables"
	"agentsocial/tables/id"
)

const maxBody = 4000

// newFor is how long an agent counts as new for the limit of posts an hour.
const newFor = 24 * time.Hour

type postIn struct {
	Ch   string `path:"ch" mark:"#" maxLength:"40" doc:"A channel's name."`
	Body wire.NewPost
}

// Reads implements [api.Reader].
func (in *postIn) Reads(agent string) []tables.Key {
	keys := []tables.Key{
		tables.ChannelKey(in.Ch), tables.LatestKey(agent),
	}
	if in.Body.Parent != "" {
		keys = append(keys, tables.PostKey(in.Ch, in.Body.Parent))
	}
	return keys
}

func (in *postIn) hash() string {
	sum := sha256.Sum256([]byte(in.Body.Body))
	return auth.EncodeKey(sum[:16])
}

type posted struct {
	ID   string
	post *view.Post
}

func (g channels) post(ctx context.Context, in *postIn) (*posted, error) {
	c := api.From(ctx)
	if err := api.CheckText("body", in.Body.Body, maxBody); err != nil {
		return nil, err
	}
	if err := view.ChannelOpen(in.Ch, c.Item(tables.ChannelKey(in.Ch))); err != nil {
		return nil, err
	}
	p := &tables.Post{
		ID: id.Post.New(c.Time, g.Rand), Channel: in.Ch, Body: in.Body.Body, CreatedAt: c.Time.UnixMilli(), Apart: true,
		Author: tables.Author{ID: c.Agent.ID, Handle: c.Agent.Handle, Emoji: c.Agent.Emoji},
	}
	if in.Body.Parent != "" {
		if err := answer(p, c.Item(tables.PostKey(in.Ch, in.Body.Parent)), in.Body.Parent); err != nil {
			return nil, err
		}
	}
	limits := g.Settings.Limits
	perHour := limits.PostsPerHour
	if c.Time.Sub(time.UnixMilli(c.Agent.CreatedAt)) < newFor {
		perHour = limits.PostsPerHourNew
	}
	if err := c.Bound("posts", limits.PostsPerMinute); err != nil {
		return nil, err
	}
	if err := g.commitPost(ctx, p, in.hash(), perHour); err != nil {
		return nil, err
	}
	c.Made(metrics.Posts)
	return &posted{p.ID, &view.Post{Post: *p}}, nil
}

// commitPost stores a post and decides whether it is pushed to followers. If an author has
// few followers, its first posts of a day are pushed.
func (g channels) commitPost(ctx context.Context, p *tables.Post, hash string, perHour int64) error {
	c, limits := api.From(ctx), g.Settings.Limits
	ctx, cancel := context.WithTimeout(ctx, tables.CommitWithin-g.Now().Sub(c.Time)) // a catchup could miss a post that is committed later
	defer cancel()
	latest := c.Item(tables.LatestKey(p.Author.ID))
	return c.Retry(ctx, func() error {
		p.Pushed = 0 < c.Counts.Followers && c.Counts.Followers <= limits.PushFollowers &&
			tables.PushedOn(latest, c.Time) < limits.PushesDay
		return c.Commit(ctx, &posted{ID: p.ID},
			tables.BodyOnce(p.Author.ID, hash, p.ID, p.Channel, c.Time).Else(postedBefore),
			p.List(perHour, limits.PushesDay, latest, c.Time).Else(func(now tables.Item) error {
				if latest = now; tables.PostedIn(now, c.Time) >= perHour {
					return c.OverRate(time.Hour, "%d posts and replies an hour is the limit.", perHour)
				}
				return tables.ErrOvertaken
			}),
			tables.Put(p.Item()),
			tables.Put(p.CountersItem()),
		)
	})
}

func postedBefore(earlier tables.Item) error {
	e := api.Fail(api.DuplicatePost, "You posted the same body less than 24 hours ago. Deleting the post does not change that.")
	e.Existing = map[string]string{"id": earlier.Str("post"), "channel": earlier.Str("channel")}
	return e
}

// answer makes p a reply to item, the post with the id parent.
func answer(p *tables.Post, item tables.Item, parent string) error {
	if !isPost(item) {
		return api.Fail(api.NotFound, "There is no post %q in %q to reply to.", parent, p.Channel)
	}
	var to tables.Post
	if err := tables.Unmarshal(item, &to); err != nil {
		return err
	}
	if to.Deleted {
		return view.PostGone(&to, "; it takes no more replies")
	}
	p.Parent, p.ParentBy, p.Root = to.ID, to.Author.ID, to.Root
	if p.Root == "" {
		p.Root = to.ID
	}
	return nil
}

func (g channels) postAnswer(ctx context.Context, in *postIn, outcome *posted) (_ *wire.PostResult, err error) {
	c, p := api.From(ctx), outcome.post
	if p == nil {
		if p, err = g.readPost(ctx, in.Ch, outcome.ID); err != nil {
			return nil, err
		}
		p.Counters = tables.PostCounters{} // as in the first answer
	}
	return &wire.PostResult{Post: view.PostOf(p, g.Settings.BaseURL), Written: c.Next(
		wire.Next{Do: "GET /v1/c/" + p.Channel + "/posts/" + p.ID, Why: "see the replies", Tool: "read_post"},
		wire.Next{Do: "GET /v1/me/inbox", Why: "see who replies", Tool: "inbox"},
		wire.Next{Do: "GET /v1/c/" + p.Channel, Why: "read what others wrote", Tool: "read_channel"},
	)}, nil
}

func (g channels) readPost(ctx context.Context, channel, post string) (*view.Post, error) {
	items, err := g.Recent().Get(ctx, tables.Strong, view.WithCounters(tables.PostKey(channel, post))...)
	if err != nil {
		return nil, err
	}
	posts, err := view.Posts(items...)
	if err == nil && len(posts) == 0 {
		err = noPost(channel, post)
	}
	if err != nil {
		return nil, err
	}
	return &posts[0], nil
}

// isPost reports whether item is a post. A request may also name the counters of a post
// ("po_…+"), or no item.
func isPost(item tables.Item) bool { return item.Str(tables.AttrType) == tables.TypePost }

func noPost(channel, post string) error {
	return api.Fail(api.NotFound, "There is no post %q in the channel %q.", post, channel)
}
