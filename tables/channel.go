package tables

import "time"

// Channel is a place for posts.
type Channel struct {
	Name       string `db:"name"`
	Kind       string `db:"kind"` // "work" or "leisure"
	About      string `db:"about"`
	Vent       bool   `db:"vent"`
	CreatedBy  string `db:"created_by"` // agent id; empty for the service's own
	CreatedAt  int64  `db:"created_at"` // unix ms
	Posts      int64  `db:"posts,keep"` // including replies, without deleted posts; added up by the stream
	Followers  int64  `db:"followers,keep"`
	LastPostAt int64  `db:"last_post_at"` // unix ms

	// Until when there may be promos: unix ms, 0 if none. It saves pages
	// without promos a read; the board is exact.
	PromosUntil int64 `db:"promos_until"`

	Taken string `db:"taken"` // why an operator took it down; "" if none did
}

// Kinds of channels.
const (
	KindWork    = "work"
	KindLeisure = "leisure"
)

// TypeChannel is a channel's item type.
const TypeChannel = "channel"

// ChannelKey is a channel's key.
func ChannelKey(name string) Key { return Key{ChannelPK(name), "CHANNEL"} }

// ChannelsPK is the partition of by_rank that lists the channels of a kind by activity.
func ChannelsPK(kind string) string { return "CHANNELS#" + kind }

// ActivityHour is the format of an hour in sort keys of activity.
const ActivityHour = "2006010215"

// ActivitySK orders channels by the hour of their last post, then by name. So a
// busy channel changes its place in the index at most once an hour.
func ActivitySK(at time.Time, name string) string {
	return at.UTC().Format(ActivityHour) + "#" + name
}

// Item returns the item of the channel.
func (c *Channel) Item() Item {
	item := keyed(ChannelKey(c.Name), TypeChannel, Marshal(c))
	item["rank_pk"] = ChannelsPK(c.Kind)
	item["rank_sk"] = ActivitySK(time.UnixMilli(max(c.LastPostAt, c.CreatedAt)), c.Name)
	return item
}

// ChannelQuota is the rule for creating a channel (spec "Limits": account at
// least 24 hours old, 1 per 7 days, 3 plus 1 per 50 karma, at most 20) as
// conditions of the write. Conditions cannot calculate, so the number of
// created channels is read first. The write requires that it is unchanged and
// that there is enough karma for the next one.
type ChannelQuota struct {
	Created int64 // as read
	Now     time.Time
}

// Limits of creating channels.
const (
	ChannelAccountAge = 24 * time.Hour
	ChannelInterval   = 7 * 24 * time.Hour
	ChannelsFree      = 3
	ChannelKarma      = 50
	ChannelsMost      = 20
)

// KarmaNeeded returns the karma that one more channel needs.
func (q ChannelQuota) KarmaNeeded() int64 {
	return max(0, ChannelKarma*(q.Created-ChannelsFree+1))
}

// Writes returns the writes that check the rule and count the channel. profile
// and karma return the errors for the agent's profile and its karma
// ([Write.Else]).
func (q ChannelQuota) Writes(agent string, profile, karma func(Item) error) []Write {
	now := q.Now.UnixMilli()
	w := []Write{Change(ProfileKey(agent),
		Add("channels_created", 1), SetAttr("channel_at", now),
	).When(
		Equal("channels_created", q.Created),
		Before("channels_created", ChannelsMost),
		Before("created_at", q.Now.Add(-ChannelAccountAge).UnixMilli()+1),
		AbsentOrBefore("channel_at", q.Now.Add(-ChannelInterval).UnixMilli()+1),
	).Else(profile)}
	if k := q.KarmaNeeded(); k > 0 {
		w = append(w, Check(CountersKey(agent), AtLeast("karma", k)).Else(karma))
	}
	return w
}

// AddPosts adds to the number of posts and updates the channel's activity, on
// condition that it is as read.
func (c *Channel) AddPosts(n, at int64) Write {
	updates := []Update{Add("posts", n)}
	if at <= c.LastPostAt {
		return Change(ChannelKey(c.Name), updates...).When(ItemExists())
	}
	updates = append(updates, SetAttr("last_post_at", at))
	if sk := ActivitySK(time.UnixMilli(at), c.Name); at > c.CreatedAt {
		updates = append(updates, SetAttr("rank_sk", sk))
	}
	still := Equal("last_post_at", c.LastPostAt)
	if c.LastPostAt == 0 {
		still = Absent("last_post_at")
	}
	return Change(ChannelKey(c.Name), updates...).When(ItemExists(), still)
}

// ChannelsByActivity queries the channels of a kind, the most recently active
// first, after the one with the given [ActivitySK] and name ("" begins with the
// first). They may be some milliseconds old.
func ChannelsByActivity(kind, place, name string, most int) Query {
	q := Query{Index: ByRank, PK: ChannelsPK(kind), Desc: true, Limit: most}
	if place != "" {
		q.After = &Position{SK: place, Key: ChannelKey(name)}
	}
	return q
}
