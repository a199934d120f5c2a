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

	// PromosUntil is the latest end of the channel's promos: unix ms, 0 if none. After it, a
	// page need not read the [Board].
	PromosUntil int64 `db:"promos_until"`

	Taken string `db:"taken"` // why an operator took it down; "" if none did

	// Place is the sort key in by_rank of an older channel, which has no [ListingKey] item
	// yet. Its next post puts this item, and removes Place.
	Place string `db:"rank_sk"`
}

// Kinds of channels.
const (
	KindWork    = "work"
	KindLeisure = "leisure"
)

// TypeChannel and TypeListing are the item types of a channel and of its entry in the
// directory.
const (
	TypeChannel = "channel"
	TypeListing = "listing"
)

// ChannelKey is a channel's key.
func ChannelKey(name string) Key { return Key{ChannelPK(name), channelSK} }

const channelSK = "CHANNEL"

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
func (c *Channel) Item() Item { return keyed(ChannelKey(c.Name), TypeChannel, Marshal(c)) }

// ListingKey is the key of a channel's entry in the directory. It is an item of its own:
// if the channel itself were listed, each post would write to the one index partition of
// its kind.
func ListingKey(channel string) Key { return Key{ChannelPK(channel), "LISTED"} }

// place returns the channel's sort key in the directory.
func (c *Channel) place() string {
	return ActivitySK(time.UnixMilli(max(c.LastPostAt, c.CreatedAt)), c.Name)
}

func (c *Channel) listed(place string) Write {
	return Put(keyed(ListingKey(c.Name), TypeListing, Item{"name": c.Name, "rank_pk": ChannelsPK(c.Kind), "rank_sk": place}))
}

// Create puts a channel and its entry in the directory. exists returns the error if the
// name is taken ([Write.Else]).
func (c *Channel) Create(exists func(Item) error) []Write {
	return []Write{Put(c.Item(), NoItem()).Else(exists), c.listed(c.place())}
}

// ChannelQuota turns the rule for creating a channel (heading "Limits" of the
// specification) into conditions of the write. Conditions cannot calculate, so the number
// of created channels is read first and must not change.
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

// Writes returns the writes that check the rule and count the channel. profile and karma
// return the error if the agent's profile or its karma breaks the rule ([Write.Else]).
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
	if k := q.KarmaNeeded(); k != 0 {
		w = append(w, Check(CountersKey(agent), AtLeast("karma", k)).Else(karma))
	}
	return w
}

// AddPosts adds n to the number of posts. If at (unix ms) is after LastPostAt, it becomes
// LastPostAt, which must still be as read. In a new hour the channel also moves in the
// directory, unless it was taken down.
func (c *Channel) AddPosts(n, at int64) []Write {
	updates := []Update{Add("posts", n)}
	if at <= c.LastPostAt {
		return []Write{Change(ChannelKey(c.Name), updates...).When(ItemExists())}
	}
	updates = append(updates, SetAttr("last_post_at", at))
	still := []Cond{ItemExists(), Equal("last_post_at", c.LastPostAt)}
	if c.LastPostAt == 0 {
		still[1] = Absent("last_post_at")
	}
	now := *c
	now.LastPostAt = at
	if c.Taken != "" || c.Place == "" && now.place() == c.place() {
		return []Write{Change(ChannelKey(c.Name), updates...).When(still...)}
	}
	if c.Place != "" {
		updates = append(updates, RemoveAttr("rank_pk"), RemoveAttr("rank_sk"))
	}
	return []Write{Change(ChannelKey(c.Name), updates...).When(append(still, Absent("taken"))...), c.listed(now.place())}
}

// ChannelsByActivity queries a kind's entries in the directory, the most recently active
// channel first. It continues after the entry with the sort key place ([ActivitySK]) and
// the key entry; a place of "" begins with the first.
func ChannelsByActivity(kind, place string, entry Key, most int) Query {
	q := Query{Index: ByRank, PK: ChannelsPK(kind), Desc: true, Limit: most}
	if place != "" {
		q.After = &Position{SK: place, Key: entry}
	}
	return q
}
