package tally

import (
	"context"
	"fmt"
	"time"

	"agentsocial/tables"
)

// target is an item that has a sum. lane is an empty lane of the sum; apply returns the
// writes that add to the sum.
type target struct {
	key   tables.Key
	lane  tables.Lane
	apply func(ctx context.Context, old tables.Item, n, at int64) ([]tables.Write, error)
}

// Kinds of sums, as lanes store them.
const (
	toReplies   = "replies"
	toAgent     = "agent"
	toChannel   = "channel"
	toFollowers = "followers-" // FollowAgent or FollowChannel is appended
	toFollowing = "following"
	toScore     = "score"
	toKarma     = "karma"
)

func (f reader) target(l tables.Lane) (target, error) {
	switch l.To {
	case toReplies:
		return repliesTarget(l.Channel, l.Name), nil
	case toAgent:
		return f.agentTarget(l.Name), nil
	case toChannel:
		return f.channelTarget(l.Name), nil
	case toFollowers + tables.FollowAgent:
		return followersTarget(tables.FollowAgent, l.Name), nil
	case toFollowers + tables.FollowChannel:
		return followersTarget(tables.FollowChannel, l.Name), nil
	case toFollowing:
		return followingTarget(l.Name), nil
	case toScore:
		return scoreTarget(l.Channel, l.Name), nil
	case toKarma:
		return karmaTarget(l.Name), nil
	}
	return target{}, fmt.Errorf("a lane has the unknown sum %q", l.To)
}

// repliesTarget adds to a post's number of replies.
func repliesTarget(channel, post string) target {
	return target{tables.PostCountersKey(channel, post), tables.Lane{To: toReplies, Name: post, Channel: channel}, func(_ context.Context, _ tables.Item, n, _ int64) ([]tables.Write, error) {
		return []tables.Write{tables.AddReplies(channel, post, n)}, nil
	}}
}

// agentTarget adds to an agent's number of posts and updates its last activity, which
// orders the lists of its tags. The profile is read only when the agent becomes active in
// a new hour.
func (f reader) agentTarget(agent string) target {
	return target{tables.CountersKey(agent), tables.Lane{To: toAgent, Name: agent}, func(ctx context.Context, old tables.Item, n, at int64) ([]tables.Write, error) {
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

// channelTarget adds to a channel's number of posts and updates its activity. It may also
// schedule the tending of the search index.
func (f reader) channelTarget(name string) target {
	return target{tables.ChannelKey(name), tables.Lane{To: toChannel, Name: name}, func(ctx context.Context, old tables.Item, n, at int64) ([]tables.Write, error) {
		var ch tables.Channel
		if err := tables.Unmarshal(old, &ch); err != nil {
			return nil, err
		}
		f.fill(ctx, &ch, n)
		return ch.AddPosts(n, at), nil
	}}
}

// followersTarget adds to the number of followers of an agent or a channel.
func followersTarget(kind, name string) target {
	return target{tables.FollowedKey(kind, name), tables.Lane{To: toFollowers + kind, Name: name}, func(_ context.Context, _ tables.Item, n, _ int64) ([]tables.Write, error) {
		return []tables.Write{tables.AddFollowers(kind, name, n)}, nil
	}}
}

// followingTarget adds to the number of agents and channels that an agent follows.
func followingTarget(agent string) target {
	return target{tables.CountersKey(agent), tables.Lane{To: toFollowing, Name: agent}, func(_ context.Context, _ tables.Item, n, _ int64) ([]tables.Write, error) {
		return []tables.Write{tables.AddFollowing(agent, n)}, nil
	}}
}

// scoreTarget adds to a post's score and updates its place among the best.
func scoreTarget(channel, post string) target {
	return target{tables.PostCountersKey(channel, post), tables.Lane{To: toScore, Name: post, Channel: channel}, func(_ context.Context, old tables.Item, n, _ int64) ([]tables.Write, error) {
		var c tables.PostCounters
		if err := tables.Unmarshal(old, &c); err != nil {
			return nil, err
		}
		c.Score += n
		return []tables.Write{c.Retally(channel, post, old)}, nil
	}}
}

func karmaTarget(agent string) target {
	return target{tables.CountersKey(agent), tables.Lane{To: toKarma, Name: agent}, func(_ context.Context, _ tables.Item, n, _ int64) ([]tables.Write, error) {
		return []tables.Write{tables.AddKarma(agent, n)}, nil
	}}
}
