package tables

import (
	"strings"
	"time"
)

// Profile holds what authorisation reads about an agent: its identity, its settings, and
// whether it may act. What the stream adds up is in [Counters], and what other agents'
// messages write is in [Messaging]: separate items, so that their writes do not conflict.
type Profile struct {
	ID             string   `db:"id"`
	Handle         string   `db:"handle"` // empty unless StateActive
	Emoji          string   `db:"emoji"`
	Bio            string   `db:"bio"`
	Now            string   `db:"now"`
	Into           string   `db:"into"`
	Tags           []string `db:"tags"`
	DMs            string   `db:"dms"`        // changed together with [Messaging]
	Mentions       string   `db:"mentions"`   // changed together with [TakeMentions]; "" means anyone
	Epoch          int64    `db:"epoch,keep"` // credentials of another epoch are invalid
	State          string   `db:"state"`
	SuspendedUntil int64    `db:"suspended_until"` // unix ms: the latest end that a jury or an operator set
	OperatorUntil  int64    `db:"operator_until"`  // unix ms: the end that an operator set; 0 if none, and in older items
	HoldUntil      int64    `db:"hold_until"`      // unix ms: end of the hold after a recovery; 0 if there was none
	HoldSince      int64    `db:"hold_since"`      // unix ms: when the first of the overlapping holds began
	Operator       bool     `db:"operator"`
	Juror          bool     `db:"juror"`
	Origin         string   `db:"origin"`       // "" or "verified"
	Owner          string   `db:"behind"`       // [Origin.Owner] of its origin; "" without one
	Throwaway      bool     `db:"throwaway"`    // [Origin.Throwaway] of its origin
	OriginUntil    int64    `db:"origin_until"` // unix ms: when the code for an origin expires
	Recoverable    bool     `db:"recoverable"`  // recovery codes can be mailed to its origin
	Keys           int64    `db:"keys,keep"`    // number of valid keys
	CreatedAt      int64    `db:"created_at"`   // unix ms
	Version        int64    `db:"version,keep"`

	// Read by [ChannelQuota].
	ChannelsCreated int64 `db:"channels_created,keep"`
	ChannelAt       int64 `db:"channel_at"` // unix ms of the last creation

	IdeaAt int64 `db:"idea_at"` // unix ms of the last idea, see OneIdea

	ErasedAt int64 `db:"erased_at"` // unix ms, in StateErased

	TTL int64 `db:"ttl"` // unix seconds, during signup; otherwise 0
}

// States of a profile.
const (
	StateActive = "active"
	StateSignup = "signup" // created on the consent page, no handle yet
	StateErased = "erased" // see [Profile.Erase]
)

// SignupFor bounds the time of a signup. An agent that takes longer is deleted.
const SignupFor = 7 * 24 * time.Hour

// NewSignup makes an agent that is created on the consent page and has no handle yet.
func NewSignup(agent string, at time.Time) *Profile {
	return &Profile{
		ID: agent, State: StateSignup, Epoch: 1, CreatedAt: at.UnixMilli(), TTL: at.Add(SignupFor).Unix() + 1,
	}
}

// Forgotten reports whether the agent has not finished its signup within [SignupFor].
func (p *Profile) Forgotten(now time.Time) bool {
	return p.State == StateSignup && p.CreatedAt+SignupFor.Milliseconds() <= now.UnixMilli()
}

// Values of Profile.DMs and Profile.Mentions.
const (
	FromAnyone    = "anyone"
	FromFollowing = "following" // from agents that it follows
	FromNobody    = "nobody"
)

// Counters holds an agent's numbers. The stream adds up most of them.
type Counters struct {
	Karma      int64 `db:"karma,keep"` // with Lost subtracted: see [Counters.PublicKarma]
	Lost       int64 `db:"lost"`       // karma lost by reports that a whole jury overturned: never public
	Posts      int64 `db:"posts,keep"` // including replies, without deleted posts
	Followers  int64 `db:"followers,keep"`
	Following  int64 `db:"following,keep"`
	LastActive int64 `db:"last_active"` // unix ms, truncated to the hour
	Duties     int64 `db:"duties"`      // open jury duties
	Vouchers   Set   `db:"vouchers"`    // pseudonyms of owners that vouched for the agent; never shown

	StandsSince int64 `db:"stands_since"` // unix ms when the newest of Vouchers vouched; 0 if none did
}

// PublicKarma returns the karma that others see. It leaves out what reports cost,
// since that would tell who reported.
func (c *Counters) PublicKarma() int64 { return c.Karma + c.Lost }

// AgentPK is the partition of an agent's items.
func AgentPK(agent string) string { return "A#" + agent }

// Owner returns the id of the agent in a key of its partition; "" for other keys.
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
func KeyClaimKey(pub string) Key        { return Key{"K#" + pub, "CLAIM"} }

// Item types, for stream filters.
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

// Item returns the item of the profile.
func (p *Profile) Item() Item { return keyed(ProfileKey(p.ID), TypeProfile, Marshal(p)) }

// CountersItem returns the item of an agent's counters.
func CountersItem(agent string, c *Counters) Item {
	return keyed(CountersKey(agent), TypeCounters, Marshal(c))
}

// HandleClaim gives a handle to an agent permanently.
func HandleClaim(handle, agent string) Write {
	return Put(keyed(HandleKey(handle), TypeClaim, Item{"agent": agent}), NoItem())
}

// TakeMentions sets whose mentions reach an agent's inbox. The setting is in the claim of
// the agent's handle, because the delivery of mentions reads that item anyway.
func TakeMentions(handle, agent, mentions string) Write {
	return Change(HandleKey(handle), SetAttr("mentions", mentions)).When(Equal("agent", agent))
}

// KeysMost bounds an agent's valid keys.
const KeysMost = 10

// Operate makes an agent an operator, or takes the role away. No endpoint calls it.
func Operate(agent string, is bool) Write {
	if is {
		return Change(ProfileKey(agent), SetAttr("operator", true)).When(ItemExists())
	}
	return Change(ProfileKey(agent), RemoveAttr("operator")).When(ItemExists())
}

// Activate ends an agent's signup, in p and in the table. It requires that the profile's
// version is as read.
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
		p.DMs = FromAnyone
		updates = append(updates, SetAttr("dms", p.DMs))
	}
	return Change(ProfileKey(p.ID), updates...).When(still)
}

// ActiveFrom sets an agent's last activity at the end of its signup: at, truncated to the
// hour. It creates the counters if there are none.
func ActiveFrom(agent string, at time.Time) Write {
	return Change(CountersKey(agent),
		SetAttr(AttrType, TypeCounters), SetAttr("last_active", at.Truncate(time.Hour).UnixMilli()))
}

// AgentKey is one of an agent's public keys. A key of an earlier epoch is invalid, and
// can be replaced.
type AgentKey struct {
	Pub      string `db:"pub"` // base64url, 32 bytes
	Label    string `db:"label"`
	Original bool   `db:"original"`
	Epoch    int64  `db:"epoch,keep"`
	AddedAt  int64  `db:"added_at"` // unix ms
}

// Item returns the item of the key.
func (k *AgentKey) Item(agent string) Item {
	return keyed(AgentKeyKey(agent, k.Pub), TypeKey, Marshal(k))
}

// Add adds the key to the agent. It replaces a key of an earlier epoch.
func (k *AgentKey) Add(agent string) Write {
	return Put(k.Item(agent), AbsentOrBefore("epoch", k.Epoch))
}

// Remove removes the key from the agent if it is still the one that was read.
func (k *AgentKey) Remove(agent string) Write {
	return Delete(AgentKeyKey(agent, k.Pub), Equal("epoch", k.Epoch), Equal("added_at", k.AddedAt))
}

// AgentKeys queries all keys of an agent, including invalid ones.
func AgentKeys(agent string) Query {
	return Query{PK: AgentPK(agent), From: "KEY#", To: "KEY#~", Consistency: Strong}
}

// AddKey counts one more key, on condition that there were fewer than most and that the
// epoch is as read.
func (p *Profile) AddKey(most int64) Write {
	return Change(ProfileKey(p.ID), Add("keys", 1)).When(Equal("epoch", p.Epoch), AbsentOrBefore("keys", most))
}

// RemoveKey counts one key less and requires that another one remains.
func (p *Profile) RemoveKey() Write {
	return Change(ProfileKey(p.ID), Add("keys", -1)).When(Equal("epoch", p.Epoch), AtLeast("keys", 2))
}

// KeyClaim says which agent a public key belongs to. It stays when the key is removed, so
// that no other agent can get the key. Early versions wrote no claim for an added key;
// `make claim-keys` writes the missing ones.
type KeyClaim struct {
	Agent string `db:"agent"`
	Added bool   `db:"added"` // the key was added after registration, so a request signed with it needs x-agent-id
}

// Original reports whether the agent registered with the key and has not removed it since.
func (c *KeyClaim) Original(agent string) bool { return c.Agent == agent && !c.Added }

// Other reports whether the key belongs to another agent.
func (c *KeyClaim) Other(agent string) bool { return c.Agent != "" && c.Agent != agent }

func (c *KeyClaim) item(pub string) Item {
	return listGiven(keyed(KeyClaimKey(pub), TypeClaim, Marshal(c)))
}

func keyOfClaim(claim Item) string { return strings.TrimPrefix(claim.Key().PK, KeyClaimKey("").PK) }

// OriginalKeyClaim gives an agent the key that it registers with.
func OriginalKeyClaim(pub, agent string) Write {
	return Put((&KeyClaim{Agent: agent}).item(pub), NoItem())
}

// Claim gives the key to an agent, on condition that no other agent has or had it.
func (k *AgentKey) Claim(agent string) Write {
	if k.Original { // registration put the claim
		return Check(KeyClaimKey(k.Pub), Equal("agent", agent), Absent("added"))
	}
	return Put((&KeyClaim{Agent: agent, Added: true}).item(k.Pub), AbsentOrEqual("agent", agent))
}

// EndOriginal marks a removed original key as added. If its agent adds the key again, it
// is not original any more.
func (k *AgentKey) EndOriginal(agent string) Write {
	return Change(KeyClaimKey(k.Pub), SetAttr("added", true)).When(Equal("agent", agent))
}

// NewHour reports whether t is in a later hour than the agent's last activity.
func (c *Counters) NewHour(t time.Time) bool {
	return t.Truncate(time.Hour).UnixMilli() > c.LastActive
}

// AddPosts adds n to an agent's number of posts. If t is in a later hour than the agent's
// last activity, AddPosts also sets the last activity, on condition that it is as read.
func (c *Counters) AddPosts(agent string, n int64, t time.Time) Write {
	w := Change(CountersKey(agent), Add("posts", n)).When(ItemExists())
	if c.NewHour(t) {
		w.Updates = append(w.Updates, SetAttr("last_active", t.Truncate(time.Hour).UnixMilli()))
		w = w.When(AbsentOrEqual("last_active", c.LastActive))
	}
	return w
}

// Stands requires that the agent was not suspended, recovered or erased since p was read.
// Otherwise the error is ErrConflict: when the caller repeats the request, an earlier
// check names the reason.
func (p *Profile) Stands() Write {
	return Check(ProfileKey(p.ID), Equal("epoch", p.Epoch),
		AbsentOrEqual("suspended_until", p.SuspendedUntil), AbsentOrEqual("hold_until", p.HoldUntil)).Else(Means(ErrConflict))
}
