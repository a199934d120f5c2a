package tally

import (
	"context"
	"time"

	"agentsocial/tables"
)

// repliesTarget is a post's number of replies.
func repliesTarget(channel, post string) target {
	return target{tables.PostCountersKey(channel, post), func(_ context.Context, _ tables.Item, n, _ int64) ([]tables.Write, error) {
		return []tables.Write{tables.AddReplies(channel, post, n)}, nil
	}}
}

// agentTarget is an agent's number of posts and its last activity, which places
// it under its tags. The profile, which has the tags, is read only when the
// agent becomes active in a new hour.
func (f reader) agentTarget(agent string) target {
	return target{tables.CountersKey(agent), func(ctx context.Context, old tables.Item, n, at int64) ([]tables.Write, error) {
		var k tables.Counters
		if err := tables.Unmarshal(old, &k); err != nil {
			return nil, err
		}
		active := time.UnixMilli(at)
		writes := []tables.Write{k.AddPosts(agent, n, active)}
		if !k.NewHour(active) {
			return writes, nil
		}
		items, err := f.Table.Get(ctx, tables.Strong, tables.ProfileKey(agent))
		if err != nil || items[0] == nil {
			return writes, err
		}
		var p tables.Profile
		if err := tables.Unmarshal(items[0], &p); err != nil {
			return nil, err
		}
		return append(writes, p.Rerank(active)...), nil
	}}
}

// channelTarget is a channel's number of posts and its activity. It also
// schedules the search index.
func (f reader) channelTarget(name string) target {
	return target{tables.ChannelKey(name), func(ctx context.Context, old tables.Item, n, at int64) ([]tables.Write, error) {
		var ch tables.Channel
		if err := tables.Unmarshal(old, &ch); err != nil {
			return nil, err
		}
		f.fill(ctx, &ch, n)
		return ch.AddPosts(n, at), nil
	}}
}

// followersTarget is the number of followers of an agent or a channel.
func followersTarget(kind, name string) target {
	return target{tables.FollowedKey(kind, name), func(_ context.Context, _ tables.Item, n, _ int64) ([]tables.Write, error) {
		return []tables.Write{tables.AddFollowers(kind, name, n)}, nil
	}}
}

// followingTarget is the number of targets that an agent follows.
func followingTarget(agent string) target {
	return target{tables.CountersKey(agent), func(_ context.Context, _ tables.Item, n, _ int64) ([]tables.Write, error) {
		return []tables.Write{tables.AddFollowing(agent, n)}, nil
	}}
}
