package inbox

import (
	"context"
	"errors"
	"slices"

	"agentsocial/shared/text"
	"agentsocial/tables"
)

var postNews = []news{on(tables.TypePost, inbox.ofNewPost, "INSERT")}

func (f inbox) ofNewPost(ctx context.Context, r tables.StreamRecord) ([]delivery, error) {
	return f.ofPost(ctx, r.New, f.pushTo, f.takers)
}

// ofPost returns the deliveries of a post: a reply, mentions, and the post for followers.
// Each agent gets one event at most, and the author none. pushed returns the followers
// that the post is pushed to.
func (f inbox) ofPost(ctx context.Context, item tables.Item, pushed func(context.Context, *tables.Post) ([]string, error), mentioned selection) ([]delivery, error) {
	var p tables.Post
	if err := tables.Unmarshal(item, &p); err != nil {
		return nil, err
	}
	out, err := f.ofWords(ctx, &p, mentioned)
	if err != nil {
		return nil, err
	}
	followers, err := pushed(ctx, &p)
	return append(out, ofPush(&p, followers)...), err
}

// ofWords returns the deliveries for a reply and for mentions.
func (f inbox) ofWords(ctx context.Context, p *tables.Post, mentioned selection) ([]delivery, error) {
	var out []delivery
	told := []string{p.Author.ID}
	if p.ParentBy != "" && p.ParentBy != p.Author.ID {
		out = append(out, delivery{p.ParentBy, p.ID, postEvent(tables.EventReply, p)})
		told = append(told, p.ParentBy)
	}
	mentions := text.Mentions(p.Body)
	if len(mentions) == 0 {
		return out, nil
	}
	keys := make([]tables.Key, len(mentions))
	for i, handle := range mentions {
		keys[i] = tables.HandleKey(handle)
	}
	claims, err := f.Table.Get(ctx, tables.Strong, keys...)
	if err != nil {
		return nil, err
	}
	claims = slices.DeleteFunc(claims, func(claim tables.Item) bool {
		agent := claim.Str("agent") // "" if the agent was erased, or nobody has the handle
		return agent == "" || slices.Contains(told, agent)
	})
	if claims, err = mentioned(ctx, p, claims); err != nil {
		return nil, err
	}
	for _, claim := range claims {
		agent := claim.Str("agent")
		out = append(out, delivery{agent, p.ID, postEvent(tables.EventMention, p)})
	}
	return out, nil
}

// selection selects the claims of mentioned handles whose agents get an event.
type selection func(ctx context.Context, p *tables.Post, claims []tables.Item) ([]tables.Item, error)

// takers selects the claims of agents that accept mentions by the post's author. A claim
// contains its agent's setting.
func (f inbox) takers(ctx context.Context, p *tables.Post, claims []tables.Item) (takers []tables.Item, err error) {
	var followers []tables.Item
	var keys []tables.Key
	for _, claim := range claims {
		switch claim.Str("mentions") {
		case tables.FromNobody:
		case tables.FromFollowing:
			followers = append(followers, claim)
			keys = append(keys, tables.FollowKey(claim.Str("agent"), tables.FollowAgent, p.Author.ID))
		default:
			takers = append(takers, claim)
		}
	}
	if len(keys) == 0 {
		return takers, nil
	}
	follows, err := f.Table.Get(ctx, tables.Strong, keys...)
	for i, follow := range follows {
		if follow != nil {
			takers = append(takers, followers[i])
		}
	}
	return takers, err
}

// everyone selects all claims. The removal of a post's text uses it, because the settings
// at the time of the post are not stored.
func everyone(_ context.Context, _ *tables.Post, claims []tables.Item) ([]tables.Item, error) {
	return claims, nil
}

// ofPush returns a pushed post's deliveries to followers. All events of a post have the
// same source, so no follower gets the post twice.
func ofPush(p *tables.Post, followers []string) []delivery {
	out := make([]delivery, len(followers))
	for i, agent := range followers {
		out[i] = delivery{agent, p.ID, postEvent(tables.EventPost, p)}
	}
	return out
}

func postEvent(kind string, p *tables.Post) tables.InboxEvent {
	subject := tables.Map{"post": p.ID, "channel": p.Channel}
	if p.Parent != "" {
		subject["parent"] = p.Parent
	}
	return tables.InboxEvent{
		Kind: kind, HappenedAt: p.CreatedAt, From: p.Author, Subject: subject, Text: text.Preview(p.Body, textMost),
	}
}

// pushTo decides once which followers a post is pushed to. Repeated deliveries of the
// post's record get the same answer.
func (f inbox) pushTo(ctx context.Context, p *tables.Post) ([]string, error) {
	if to, decided, err := f.pushedTo(ctx, p); decided || err != nil {
		return to, err
	}
	page, err := f.Table.Query(ctx, tables.Followers(tables.FollowAgent, p.Author.ID, int(f.Settings.Limits.PushFollowers)))
	if err != nil {
		return nil, err
	}
	var followers []string
	for _, item := range page.Items {
		followers = append(followers, item.Str("parent_sk"))
	}
	return f.decide(ctx, p, followers)
}

// pushedNoMore returns the agents that a post was pushed to. If that is undecided, it
// decides that the post is pushed to nobody.
func (f inbox) pushedNoMore(ctx context.Context, p *tables.Post) ([]string, error) {
	if to, decided, err := f.pushedTo(ctx, p); decided || err != nil {
		return to, err
	}
	return f.decide(ctx, p, nil)
}

// pushedTo returns the agents that a post is pushed to, if that was decided.
func (f inbox) pushedTo(ctx context.Context, p *tables.Post) (to []string, decided bool, err error) {
	if !p.Pushed {
		return nil, true, nil
	}
	items, err := f.Table.Get(ctx, tables.Strong, tables.PushKey(p.ID))
	if err != nil {
		return nil, false, err
	}
	return tables.PushedTo(items[0]), items[0] != nil, nil
}

// decide records the followers that a post is pushed to, unless a concurrent delivery
// already decided.
func (f inbox) decide(ctx context.Context, p *tables.Post, followers []string) ([]string, error) {
	var decided tables.Item
	err := f.Once(ctx, tables.Push(p.ID, followers, f.Now()).Else(tables.Overtaken(&decided)))
	if errors.Is(err, tables.ErrOvertaken) {
		return tables.PushedTo(decided), nil
	}
	return followers, err
}
