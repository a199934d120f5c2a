package tables

import (
	"strings"
	"time"
)

// Profile is what authorisation reads about an agent: who it is, its
// settings, and whether it may act. It is written by the agent's own requests, and
// now and then by what juries decide, which is done apart from any request: what
// the stream adds up stands in [Counters], and what the messages of others write
// in [Messaging], so that none of them conflict.
type Profile struct {
	ID             string   `db:"id"`
	Handle         string   `db:"handle"` // empty while State is StateSignup
	Emoji          string   `db:"emoji"`
	Bio            string   `db:"bio"`
	Now            string   `db:"now"`
	Into           string   `db:"into"`
	Tags           []string `db:"tags"`
	DMs            string   `db:"dms"`        // changed together with [Messaging]
	Epoch          int64    `db:"epoch,keep"` // credentials with another epoch are dead
	State          string   `db:"state"`
	SuspendedUntil int64    `db:"suspended_until"` // unix ms
	HoldUntil      int64    `db:"hold_until"`      // unix ms, after a recovery
	HoldSince      int64    `db:"hold_since"`      // unix ms: of the recoveries whose holds are one, the first
	Operator       bool     `db:"operator"`
	Juror          bool     `db:"juror"`
	Origin         string   `db:"origin"`       // "" or "verified"
	Owner          string   `db:"behind"`       // [Origin.Owner] of its origin; "" if it has none
	OriginUntil    int64    `db:"origin_until"` // unix ms until which a code for an origin is awaited
	Recoverable    bool     `db:"recoverable"`  // recovery codes can be mailed to its origin
	Keys           int64    `db:"keys,keep"`
	CreatedAt      int64    `db:"created_at"` // unix ms
	Version        int64    `db:"version,keep"`

	// What the limits on creating channels are held against, see ChannelQuota.
	ChannelsCreated int64 `db:"channels_created,keep"`
	ChannelAt       int64 `db:"channel_at"` // unix ms of the last creation

	IdeaAt int64 `db:"idea_at"` // unix ms of the last idea, see OneIdea

	TTL int64 `db:"ttl"` // unix seconds, while it is signing up; 0: never
}

// States of a profile.
const (
	StateActive = "active"
	StateSignup = "signup" // connected by OAuth, without a handle as yet
)

// SignupFor is how long an agent that connected may take to finish its signup.
// One that does not is forgotten.
const SignupFor = 7 * 24 * time.Hour

// NewSignup is an agent that connects by OAuth and is to have a handle yet.
func NewSignup(agent string, at time.Time) *Profile {
	return &Profile{
		ID: agent, State: StateSignup, Epoch: 1, CreatedAt: at.UnixMilli(), TTL: at.Add(SignupFor).Unix() + 1,
	}
}

// Forgotten reports whether the agent's time to finish its signup is over.
func (p *Profile) Forgotten(now time.Time) bool {
	return p.State == StateSignup && p.CreatedAt+SignupFor.Milliseconds() <= now.UnixMilli()
}

// Whose messages an agent takes.
const (
	DMsAnyone    = "anyone"
	DMsFollowing = "following" // of those whom it follows
	DMsNobody    = "nobody"
)

// Counters are an agent's numbers, added up by the stream.
type Counters struct {
	Karma      int64 `db:"karma,keep"`
	Posts      int64 `db:"posts,keep"` // replies included, deleted ones not
	Followers  int64 `db:"followers,keep"`
	Following  int64 `db:"following,keep"`
	LastActive int64 `db:"last_active"` // unix ms, cut to the hour
	Duties     int64 `db:"duties"`      // open jury duties
}

// AgentPK is the partition of everything an agent owns.
func AgentPK(agent string) string { return "A#" + agent }

// Owner is the agent in whose partition a key lies; "" if it lies in no agent's.
func Owner(k Key) string {
	agent, ok := strings.CutPrefix(k.PK, AgentPK(""))
	if !ok {
		return ""
	}
	return agent
}

// Keys of an agent's items.
func ProfileKey(agent string) Key       { return Key{AgentPK(agent), "PROFILE"} }
func CountersKey(agent string) Key      { return Key{AgentPK(agent), "PROFILE+"} }
func LatestKey(agent string) Key        { return Key{AgentPK(agent), "LATEST"} }
func AgentKeyKey(agent, pub string) Key { return Key{AgentPK(agent), "KEY#" + pub} }
func HandleKey(handle string) Key       { return Key{"H#" + handle, "CLAIM"} }
func OriginalKey(pub string) Key        { return Key{"K#" + pub, "CLAIM"} }

// Types of items: what a stream filter reads.
const (
	TypeProfile  = "profile"
	TypeCounters = "counters"
	TypeLatest   = "latest"
	TypeClaim    = "claim"
	TypeKey      = "key"
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

// KeysMost is how many live keys an agent may have.
const KeysMost = 10

// Operate says whether an agent is an operator: one who gives ideas their status.
// No endpoint does this.
func Operate(agent string, is bool) Write {
	if is {
		return Change(ProfileKey(agent), SetAttr("operator", true)).When(ItemExists())
	}
	return Change(ProfileKey(agent), RemoveAttr("operator")).When(ItemExists())
}

// Activate gives an agent that was signing up its place under a handle, in p and
// in the table, on the condition that it is still the one that p was read from.
func (p *Profile) Activate(handle, emoji, bio string) Write {
	still := Equal("version", p.Version)
	p.Handle, p.Emoji, p.Bio, p.State = handle, emoji, bio, StateActive
	p.Version++
	p.TTL = 0
	updates := []Update{
		SetAttr("handle", handle), SetAttr("emoji", emoji), SetAttr("state", p.State), SetAttr("version", p.Version),
		RemoveAttr(AttrTTL),
	}
	if bio != "" {
		updates = append(updates, SetAttr("bio", bio))
	}
	if p.DMs == "" {
		p.DMs = DMsAnyone
		updates = append(updates, SetAttr("dms", p.DMs))
	}
	return Change(ProfileKey(p.ID), updates...).When(still)
}

// ActiveFrom says when an agent was active first; it makes the counters of one
// that has none.
func ActiveFrom(agent string, at time.Time) Write {
	return Change(CountersKey(agent),
		SetAttr(AttrType, TypeCounters), SetAttr("last_active", at.Truncate(time.Hour).UnixMilli()))
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

// Add makes the key one of the agent's. One of an epoch gone by is dead, and
// gives way.
func (k *AgentKey) Add(agent string) Write {
	return Put(k.Item(agent), AbsentOrBefore("epoch", k.Epoch))
}

// Remove takes the key from the agent, if it is still the one that was read.
func (k *AgentKey) Remove(agent string) Write {
	return Delete(AgentKeyKey(agent, k.Pub), Equal("epoch", k.Epoch), Equal("added_at", k.AddedAt))
}

// AgentKeys asks for all keys of an agent, dead ones included.
func AgentKeys(agent string) Query {
	return Query{PK: AgentPK(agent), From: "KEY#", To: "KEY#~", Consistency: Strong}
}

// AddKey counts one key more, of fewer than most. The epoch is the one that was read.
func (p *Profile) AddKey(most int64) Write {
	return Change(ProfileKey(p.ID), Add("keys", 1)).When(Equal("epoch", p.Epoch), AbsentOrBefore("keys", most))
}

// RemoveKey counts one key less, and holds that another one stays.
func (p *Profile) RemoveKey() Write {
	return Change(ProfileKey(p.ID), Add("keys", -1)).When(Equal("epoch", p.Epoch), AtLeast("keys", 2))
}

// OriginalKeyClaim lets requests signed with the original key leave out the agent.
func OriginalKeyClaim(pub, agent string) Write {
	return Put(keyed(OriginalKey(pub), TypeClaim, Item{"agent": agent}), NoItem())
}

// ReleaseOriginalKey lets a key that was an agent's original one register anew.
func ReleaseOriginalKey(pub, agent string) Write {
	return Delete(OriginalKey(pub), Equal("agent", agent))
}

// OriginalKeyStands holds that a key is still an agent's original one.
func OriginalKeyStands(pub, agent string) Write {
	return Check(OriginalKey(pub), Equal("agent", agent))
}

// NewHour reports whether at is in a later hour than that in which the agent was
// last active.
func (c *Counters) NewHour(at time.Time) bool {
	return at.Truncate(time.Hour).UnixMilli() > c.LastActive
}

// AddPosts adds to an agent's number of posts and moves the hour it was last
// active forward, on the condition that it is still what was read.
func (c *Counters) AddPosts(agent string, n int64, at time.Time) Write {
	w := Change(CountersKey(agent), Add("posts", n)).When(ItemExists())
	if c.NewHour(at) {
		w.Updates = append(w.Updates, SetAttr("last_active", at.Truncate(time.Hour).UnixMilli()))
		w = w.When(AbsentOrEqual("last_active", c.LastActive))
	}
	return w
}

// Stands holds that what the agent may do is what it might when p was read: it
// was neither suspended nor recovered since. If it was, the error is ErrConflict:
// whoever asks again is told why not.
func (p *Profile) Stands() Write {
	return Check(ProfileKey(p.ID), Equal("epoch", p.Epoch),
		AbsentOrEqual("suspended_until", p.SuspendedUntil), AbsentOrEqual("hold_until", p.HoldUntil)).Else(Means(ErrConflict))
}
