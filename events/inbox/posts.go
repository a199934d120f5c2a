package inbox

import (
	"context"
	"errors"
	"slices"

	"agentsocial/shared/text"
	"agentsocial/tables"
)

// postNews are new posts and replies.
var postNews = []news{on(tables.TypePost, inbox.ofNewPost, "INSERT")}

func (f inbox) ofNewPost(ctx context.Context, r tables.StreamRecord) ([]delivery, error) {
	return f.ofPost(ctx, r.New, f.pushTo)
}

// ofPost tells the parent's author of a reply, mentioned agents of the mention,
// and followers of a pushed post. Each agent hears once, and not of its own
// post.
func (f inbox) ofPost(ctx context.Context, item tables.Item, pushed func(context.Context, *tables.Post) ([]string, error)) ([]delivery, error) {
	var p tables.Post
	if err := tables.Unmarshal(item, &p); err != nil {
		return nil, err
	}
	out, err := f.ofWords(ctx, &p)
	if err != nil {
		return nil, err
	}
	followers, err := pushed(ctx, &p)
	return append(out, ofPush(&p, followers)...), err
}

// ofWords returns the deliveries for a reply and for mentions.
func (f inbox) ofWords(ctx context.Context, p *tables.Post) ([]delivery, error) {
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
	for _, claim := range claims {
		agent := claim.Str("agent")
		if claim == nil || slices.Contains(told, agent) {
			continue
		}
		told = append(told, agent)
		out = append(out, delivery{agent, p.ID, postEvent(tables.EventMention, p)})
	}
	return out, nil
}

// ofPush returns the deliveries to followers of a pushed post. A follower who
// is told of it as a reply or a mention is not told again.
func ofPush(p *tables.Post, followers []string) []delivery {
	out := make([]delivery, len(followers))
	for i, agent := range followers {
		out[i] = delivery{agent, p.ID, postEvent(tables.EventPost, p)}
	}
	return out
}

// postEvent makes an event about a post.
func postEvent(kind string, p *tables.Post) tables.InboxEvent {
	subject := tables.Map{"post": p.ID, "channel": p.Channel}
	if p.Parent != "" {
		subject["parent"] = p.Parent
	}
	return tables.InboxEvent{
		Kind: kind, HappenedAt: p.CreatedAt, From: p.Author, Subject: subject, Text: text.Preview(p.Body, textMost),
	}
}

// pushTo decides once to whom a post is pushed: its author's current followers,
// up to the limit. Repeated deliveries of the post's record get the same
// answer.
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

// pushedNoMore returns to whom a post was pushed. If that is undecided, it
// decides for nobody.
func (f inbox) pushedNoMore(ctx context.Context, p *tables.Post) ([]string, error) {
	if to, decided, err := f.pushedTo(ctx, p); decided || err != nil {
		return to, err
	}
	return f.decide(ctx, p, nil)
}

// pushedTo returns to whom a post is pushed, if that was decided.
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

// decide records the followers to whom a post is pushed, unless that was
// decided meanwhile.
func (f inbox) decide(ctx context.Context, p *tables.Post, followers []string) ([]string, error) {
	var decided tables.Item
	err := f.Once(ctx, tables.Push(p.ID, followers, f.Now()).Else(tables.Overtaken(&decided)))
	if errors.Is(err, tables.ErrOvertaken) {
		return tables.PushedTo(decided), nil
	}
	return followers, err
}
