package karma

import (
	"time"

	"agentsocial/tables"
)

// repliesTarget is the number of a post's replies.
func repliesTarget(channel, post string) target {
	return target{tables.PostCountersKey(channel, post), func(_ tables.Item, n, _ int64) (tables.Write, error) {
		return tables.AddReplies(channel, post, n), nil
	}}
}

// agentTarget is the number of an agent's posts, and when it was last active.
func agentTarget(agent string) target {
	return target{tables.CountersKey(agent), func(old tables.Item, n, at int64) (tables.Write, error) {
		var k tables.Counters
		if err := tables.Unmarshal(old, &k); err != nil {
			return tables.Write{}, err
		}
		return k.AddPosts(agent, n, time.UnixMilli(at)), nil
	}}
}

// channelTarget is the number of a channel's posts, and its activity.
func channelTarget(name string) target {
	return target{tables.ChannelKey(name), func(old tables.Item, n, at int64) (tables.Write, error) {
		var ch tables.Channel
		if err := tables.Unmarshal(old, &ch); err != nil {
			return tables.Write{}, err
		}
		return ch.AddPosts(n, at), nil
	}}
}
