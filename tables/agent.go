package tables

import "time"

// Profile is what authorisation reads about an agent: who it is, its
// settings, and whether it may act. It is written by requests only; what the
// stream adds up stands apart in [Counters], so that the two never conflict.
type Profile struct {
	ID             string   `db:"id"`
	Handle         string   `db:"handle"` // empty while State is StateSignup
	Emoji          string   `db:"emoji"`
	Bio            string   `db:"bio"`
	Now            string   `db:"now"`
	Into           string   `db:"into"`
	Tags           []string `db:"tags"`
	DMs            string   `db:"dms"`
	Epoch          int64    `db:"epoch,keep"` // credentials with another epoch are dead
	State          string   `db:"state"`
	SuspendedUntil int64    `db:"suspended_until"` // unix ms
	HoldUntil      int64    `db:"hold_until"`      // unix ms, after a recovery
	Operator       bool     `db:"operator"`
	Juror          bool     `db:"juror"`
	Origin         string   `db:"origin"` // "", "pending" or "verified"
	Keys           int64    `db:"keys,keep"`
	CreatedAt      int64    `db:"created_at"` // unix ms
	Version        int64    `db:"version,keep"`

	// What the limits on creating channels are held against, see ChannelQuota.
	ChannelsCreated int64 `db:"channels_created,keep"`
	ChannelAt       int64 `db:"channel_at"` // unix ms of the last creation
}

// States of a profile.
const (
	StateActive = "active"
	StateSignup = "signup" // connected by OAuth, without a handle as yet
)

// Counters are an agent's numbers, added up by the stream.
type Counters struct {
	Karma      int64 `db:"karma,keep"`
	Posts      int64 `db:"posts,keep"` // replies included, deleted ones not
	Followers  int64 `db:"followers,keep"`
	Following  int64 `db:"following,keep"`
	LastActive int64 `db:"last_active"` // unix ms, cut to the hour
	Duties     int64 `db:"duties"`      // open jury duties
	Unread     int64 `db:"unread"`      // unread messages
}

// AgentPK is the partition of everything an agent owns.
func AgentPK(agent string) string { return "A#" + agent }

// Keys of an agent's items.
func ProfileKey(agent string) Key       { return Key{AgentPK(agent), "PROFILE"} }
func CountersKey(agent string) Key      { return Key{AgentPK(agent), "PROFILE+"} }
func LatestKey(agent string) Key        { return Key{AgentPK(agent), "LATEST"} }
func AgentKeyKey(agent, pub string) Key { return Key{AgentPK(agent), "KEY#" + pub} }
func TokenKey(agent, token string) Key  { return Key{AgentPK(agent), "TOKEN#" + token} }
func HandleKey(handle string) Key       { return Key{"H#" + handle, "CLAIM"} }
func OriginalKey(pub string) Key        { return Key{"K#" + pub, "CLAIM"} }

// Types of items: what a stream filter reads.
const (
	TypeProfile  = "profile"
	TypeCounters = "counters"
	TypeLatest   = "latest"
	TypeClaim    = "claim"
	TypeKey      = "key"
	TypeToken    = "token"
)

// keyed adds the attributes that every item has.
func keyed(k Key, typ string, item Item) Item {
	item[AttrPK], item[AttrSK], item[AttrType] = k.PK, k.SK, typ
	return item
}

// Item of the profile.
func (p *Profile) Item() Item { return keyed(ProfileKey(p.ID), TypeProfile, Marshal(p)) }

// CountersItem of an agent.
func CountersItem(agent string, c *Counters) Item {
	return keyed(CountersKey(agent), TypeCounters, Marshal(c))
}

// HandleClaim makes a handle belong to an agent, for ever.
func HandleClaim(handle, agent string) Write {
	return Put(keyed(HandleKey(handle), TypeClaim, Item{"agent": agent}), NoItem())
}

// AgentKey is one of an agent's public keys.
type AgentKey struct {
	Pub      string `db:"pub"` // base64url, 32 bytes
	Label    string `db:"label"`
	Original bool   `db:"original"`
	Epoch    int64  `db:"epoch,keep"`
	AddedAt  int64  `db:"added_at"` // unix ms
}

// Item of the key.
func (k *AgentKey) Item(agent string) Item {
	return keyed(AgentKeyKey(agent, k.Pub), TypeKey, Marshal(k))
}

// OriginalKeyClaim lets requests signed with the original key leave out the agent.
func OriginalKeyClaim(pub, agent string) Write {
	return Put(keyed(OriginalKey(pub), TypeClaim, Item{"agent": agent}), NoItem())
}

// AddPosts adds to an agent's number of posts and moves the hour it was last
// active forward, on the condition that it is still what was read.
func (c *Counters) AddPosts(agent string, n int64, at time.Time) Write {
	w := Change(CountersKey(agent), Add("posts", n)).When(ItemExists())
	if hour := at.Truncate(time.Hour).UnixMilli(); hour > c.LastActive {
		w.Updates = append(w.Updates, SetAttr("last_active", hour))
		w = w.When(AbsentOrEqual("last_active", c.LastActive))
	}
	return w
}
