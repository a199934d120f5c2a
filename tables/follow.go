package tables

import "time"

// Follow says that an agent follows another one, or a channel.
type Follow struct {
	ID     string `db:"id"`     // ev_…: a new one each time that the agent follows the target
	Agent  string `db:"agent"`  // who follows
	Kind   string `db:"kind"`   // FollowAgent or FollowChannel
	Target string `db:"target"` // an agent id or a channel's name
	Handle string `db:"handle"` // of the target, if it is an agent
}

// Kinds of what is followed.
const (
	FollowAgent   = "agent"
	FollowChannel = "channel"
)

// Limits of what one agent follows.
const (
	FollowAgentsMost   = 1000
	FollowChannelsMost = 200
)

// TypeFollow is the item type of a [Follow].
const TypeFollow = "follow"

const followPrefix = "FOLLOW#"

// FollowKey is the key of an agent's follow of a target.
func FollowKey(agent, kind, target string) Key {
	return Key{AgentPK(agent), followPrefix + kind + "#" + target}
}

// FollowersPK is the partition of by_parent that lists a target's followers.
func FollowersPK(kind, target string) string { return "FOLLOWERS#" + kind + "#" + target }

// Item returns the item of the follow.
func (f *Follow) Item() Item {
	item := keyed(FollowKey(f.Agent, f.Kind, f.Target), TypeFollow, Marshal(f))
	item["parent_pk"], item["parent_sk"] = FollowersPK(f.Kind, f.Target), f.Agent
	return item
}

// Begin starts a follow and drops the counts of past hours in old, the graph's item as
// read. already returns the error if the follow exists. full returns the error if the
// limit of its kind or of the hour is reached ([Write.Else]).
func (f *Follow) Begin(perHour int64, old Item, now time.Time, already, full func(Item) error) []Write {
	hour := followsHour(now)
	updates := []Update{SetAttr(AttrType, TypeGraph), Add(f.counter(), 1), Add(hour, 1)}
	for attr := range old {
		if len(attr) == len(hour) && attr[0] == 'n' && attr < hour {
			updates = append(updates, RemoveAttr(attr))
		}
	}
	return []Write{
		Put(f.Item(), NoItem()).Else(already),
		Change(GraphKey(f.Agent), updates...).
			When(AbsentOrBefore(f.counter(), f.Most()), AbsentOrBefore(hour, perHour)).Else(full),
	}
}

// End ends a follow. missing returns the error if it does not exist ([Write.Else]).
func (f *Follow) End(missing func(Item) error) []Write {
	return []Write{
		Delete(FollowKey(f.Agent, f.Kind, f.Target), ItemExists()).Else(missing),
		Change(GraphKey(f.Agent), Add(f.counter(), -1)),
	}
}

// Most returns the limit for the follow's kind.
func (f *Follow) Most() int64 {
	if f.Kind == FollowChannel {
		return FollowChannelsMost
	}
	return FollowAgentsMost
}

// counter returns the attribute of the graph that counts the kind.
func (f *Follow) counter() string { return f.Kind + "s" }

// Follows requires that an agent follows another one.
func Follows(agent, other string) Write {
	return Check(FollowKey(agent, FollowAgent, other), ItemExists())
}

// Following queries what an agent follows, agents before channels; the limits
// keep it within one page.
func Following(agent string) Query {
	return Query{PK: AgentPK(agent), From: followPrefix, To: followPrefix + "~", Consistency: Strong}
}

// Followers queries the followers of a target. In each item found, parent_sk is the
// follower's id.
func Followers(kind, target string, most int) Query {
	return Query{Index: ByParent, PK: FollowersPK(kind, target), Limit: most}
}

// FollowedKey is the key of the item with a target's number of followers.
func FollowedKey(kind, target string) Key {
	if kind == FollowChannel {
		return ChannelKey(target)
	}
	return CountersKey(target)
}

// AddFollowers adds n to a target's number of followers, and requires that the target
// exists.
func AddFollowers(kind, target string, n int64) Write {
	return Change(FollowedKey(kind, target), Add("followers", n)).When(ItemExists())
}

// AddFollowing adds n to the number of targets that an agent follows.
func AddFollowing(agent string, n int64) Write {
	return Change(CountersKey(agent), Add("following", n)).When(ItemExists())
}

// TypeGraph is the item type of an agent's counts in the social graph: what it follows,
// its blocks, and its new follows by hour. Conditions on these counts make the limits
// exact. Follows by other agents do not write it.
const TypeGraph = "graph"

// GraphKey is the key of an agent's graph item.
func GraphKey(agent string) Key { return Key{AgentPK(agent), "GRAPH"} }

func followsHour(t time.Time) string { return "n" + t.UTC().Format("2006010215") }

// FollowsFull reports whether a graph's counts have reached the limit of the follow's
// kind.
func (f *Follow) FollowsFull(graph Item) bool { return graph.Int(f.counter()) >= f.Most() }
