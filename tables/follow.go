package tables

import "time"

// Follow says that an agent follows another one, or a channel.
type Follow struct {
	ID     string `db:"id"`     // ev_…: tells this following from an earlier one, and when it began
	Agent  string `db:"agent"`  // who follows
	Kind   string `db:"kind"`   // FollowAgent or FollowChannel
	Target string `db:"target"` // an agent id or a channel's name
	Handle string `db:"handle"` // of a target that is an agent
}

// Kinds of what is followed.
const (
	FollowAgent   = "agent"
	FollowChannel = "channel"
)

// How much one agent may follow.
const (
	FollowAgentsMost   = 1000
	FollowChannelsMost = 200
)

// TypeFollow is the item type of a [Follow].
const TypeFollow = "follow"

// followPrefix begins the sort keys of what an agent follows.
const followPrefix = "FOLLOW#"

// FollowKey is where it stands that an agent follows a target.
func FollowKey(agent, kind, target string) Key {
	return Key{AgentPK(agent), followPrefix + kind + "#" + target}
}

// FollowersPK is the partition of by_parent that lists a target's followers.
func FollowersPK(kind, target string) string { return "FOLLOWERS#" + kind + "#" + target }

// Item of the follow.
func (f *Follow) Item() Item {
	item := keyed(FollowKey(f.Agent, f.Kind, f.Target), TypeFollow, Marshal(f))
	item["parent_pk"], item["parent_sk"] = FollowersPK(f.Kind, f.Target), f.Agent
	return item
}

// Begin makes an agent follow what it did not follow, and holds the limits: how
// much of the kind there is at most, and how often an hour. old is the graph's item
// as it was read. already and full say what it means that the follow stands, or
// that a limit is reached, by the graph's item ([Write.Else]).
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

// End makes an agent follow no longer what it followed. already says what it means
// that it does not ([Write.Else]).
func (f *Follow) End(already func(Item) error) []Write {
	return []Write{
		Delete(FollowKey(f.Agent, f.Kind, f.Target), ItemExists()).Else(already),
		Change(GraphKey(f.Agent), Add(f.counter(), -1)),
	}
}

// Most is how much of the follow's kind one agent may follow.
func (f *Follow) Most() int64 {
	if f.Kind == FollowChannel {
		return FollowChannelsMost
	}
	return FollowAgentsMost
}

// counter names the attribute of the graph that counts the kind.
func (f *Follow) counter() string { return f.Kind + "s" }

// Follows holds that an agent follows another one.
func Follows(agent, other string) Write {
	return Check(FollowKey(agent, FollowAgent, other), ItemExists())
}

// Following asks for what an agent follows, agents before channels; at most is
// one page, whatever the limits are.
func Following(agent string) Query {
	return Query{PK: AgentPK(agent), From: followPrefix, To: followPrefix + "~", Consistency: Strong}
}

// Followers asks for the followers of a target: parent_sk is the agent's id.
func Followers(kind, target string, most int) Query {
	return Query{Index: ByParent, PK: FollowersPK(kind, target), Limit: most}
}

// FollowedKey is the item that has a target's number of followers.
func FollowedKey(kind, target string) Key {
	if kind == FollowChannel {
		return ChannelKey(target)
	}
	return CountersKey(target)
}

// AddFollowers adds to a target's number of followers, if the target is there.
func AddFollowers(kind, target string, n int64) Write {
	return Change(FollowedKey(kind, target), Add("followers", n)).When(ItemExists())
}

// AddFollowing adds to the number of what an agent follows.
func AddFollowing(agent string, n int64) Write {
	return Change(CountersKey(agent), Add("following", n)).When(ItemExists())
}

// TypeGraph is the item type of an agent's place in the social graph: how many
// agents and channels it follows, how many it blocks, and, in an attribute named
// for the hour, how often it began to follow. With conditions on these the
// limits are exact, and a stranger's follow touches nothing of it.
const TypeGraph = "graph"

// GraphKey is where an agent's follows and blocks are counted.
func GraphKey(agent string) Key { return Key{AgentPK(agent), "GRAPH"} }

func followsHour(t time.Time) string { return "n" + t.UTC().Format("2006010215") }

// FollowsFull reports whether a graph's item counts as many of the follow's kind
// as there may be.
func (f *Follow) FollowsFull(graph Item) bool { return graph.Int(f.counter()) >= f.Most() }
