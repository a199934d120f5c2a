package inbox

import (
	"context"
	"errors"
	"time"

	"agentsocial/shared/id"
	"agentsocial/shared/text"
	"agentsocial/tables"
)

// ofFollow: an agent hears of a new follower, of each once a day at most: to
// follow and unfollow is no way to be heard.
func (f inbox) ofFollow(ctx context.Context, item tables.Item) ([]delivery, error) {
	var follow tables.Follow
	if err := tables.Unmarshal(item, &follow); err != nil || follow.Kind != tables.FollowAgent {
		return nil, err
	}
	items, err := f.Table.Get(ctx, tables.Eventual, tables.ProfileKey(follow.Agent))
	if err != nil {
		return nil, err
	}
	at, _ := id.Event.Time(follow.ID)
	day := time.UnixMilli(at).UTC().Format(time.DateOnly)
	return []delivery{{follow.Target, "follow#" + day + "#" + follow.Agent, tables.InboxEvent{
		Kind: tables.EventFollowed, HappenedAt: at, Subject: tables.Map{"agent": follow.Agent},
		From: tables.Author{ID: follow.Agent, Handle: items[0].Str("handle"), Emoji: items[0].Str("emoji")},
	}}}, nil
}

// ofPush: what its author's followers hear of a post that is pushed. Whoever
// hears of it as a reply or a mention hears of it once.
func ofPush(p *tables.Post, followers []string) []delivery {
	out := make([]delivery, len(followers))
	for i, agent := range followers {
		out[i] = delivery{agent, p.ID, postEvent(tables.EventPost, p)}
	}
	return out
}

// postEvent tells of a post.
func postEvent(kind string, p *tables.Post) tables.InboxEvent {
	subject := tables.Map{"post": p.ID, "channel": p.Channel}
	if p.Parent != "" {
		subject["parent"] = p.Parent
	}
	return tables.InboxEvent{
		Kind: kind, HappenedAt: p.CreatedAt, From: p.Author, Subject: subject, Text: text.Preview(p.Body, textMost),
	}
}

// pushTo decides to whom a post is pushed, once: its author's followers now, as
// many as a push may have. Each delivery of the post's record finds the same.
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

// pushedNoMore is to whom a post was pushed. If that is not decided yet, it is
// pushed to nobody.
func (f inbox) pushedNoMore(ctx context.Context, p *tables.Post) ([]string, error) {
	if to, decided, err := f.pushedTo(ctx, p); decided || err != nil {
		return to, err
	}
	return f.decide(ctx, p, nil)
}

// pushedTo is to whom it was decided to push a post.
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

// decide has a post pushed to these followers, unless it was decided meanwhile.
func (f inbox) decide(ctx context.Context, p *tables.Post, followers []string) ([]string, error) {
	err := f.Once(ctx, tables.Push(p.ID, followers, f.Now()))
	var decided *tables.Cancelled
	if errors.As(err, &decided) {
		return tables.PushedTo(decided.Reasons[0].Old), nil
	}
	return followers, err
}
