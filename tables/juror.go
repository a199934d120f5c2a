package tables

import "time"

// Juror says that an agent volunteers as a juror. A juror gets a new random place in the
// pool whenever it is summoned, so that nobody keeps a place that is more likely to be
// drawn.
type Juror struct {
	Agent    string `db:"agent"`
	Owner    string `db:"behind"`      // [Origin.Owner] when it volunteered
	Place    string `db:"place"`       // 16 hexadecimal digits
	Since    int64  `db:"since"`       // unix ms
	ActiveAt int64  `db:"active_at"`   // unix ms: when it volunteered or last voted on a case
	Missed   int64  `db:"missed,keep"` // consecutive missed duties, at most one a day
	MissedOn int64  `db:"missed_on"`   // unix ms of the UTC day of the newest counted miss
}

// TypeJuror is the item type of a [Juror], and TypeJurorClaim of its owner's
// claim.
const (
	TypeJuror      = "juror"
	TypeJurorClaim = "juror_claim"
)

// JurorClaimKeep is how long missed duties are remembered after their juror has left.
const JurorClaimKeep = 90 * 24 * time.Hour

const jurorsPK = "JURORS"

// JurorKey is the key of an agent's [Juror].
func JurorKey(agent string) Key { return Key{AgentPK(agent), "JUROR"} }

// JurorClaimKey is the key of an owner's claim, which names the owner's only juror. After a
// juror with missed duties leaves, its claim stays, without an agent, for [JurorClaimKeep].
// Claims that early versions left do not expire.
func JurorClaimKey(owner string) Key { return Key{"O#" + owner, "JUROR"} }

// JurorOf reads the item of [JurorKey]; nil if there is none.
func JurorOf(item Item) (*Juror, error) {
	if item == nil {
		return nil, nil
	}
	j := new(Juror)
	return j, Unmarshal(item, j)
}

// Item returns the item of the juror.
func (j *Juror) Item() Item {
	item := keyed(JurorKey(j.Agent), TypeJuror, Marshal(j))
	item["rank_pk"], item["rank_sk"] = jurorsPK, jurorSK(j.Place, j.Agent)
	return item
}

func jurorSK(place, agent string) string { return place + "#" + agent }

// VolunteerRefusals return the errors of [Juror.Volunteer] ([Write.Else]).
type VolunteerRefusals struct {
	There      func(Item) error // the agent is in the pool
	Claimed    func(Item) error // its owner has a juror, or other missed duties than were read
	Unverified func(Item) error // its profile has no verified origin
}

// Volunteer puts an agent into the pool, makes its claim ([Juror.Claim]), and sets `juror`
// in its profile. It requires that the agent is not in the pool, that its origin is verified,
// and that the origin's person is as read.
func (j *Juror) Volunteer(person string, r VolunteerRefusals) []Write {
	return []Write{
		Put(j.Item(), NoItem()).Else(r.There),
		j.Claim().Else(r.Claimed),
		Change(ProfileKey(j.Agent), SetAttr("juror", true)).When(Equal("origin", "verified")).Else(r.Unverified),
		Check(OriginKey(j.Agent), Equal("person", person)).Else(Means(ErrConflict)),
	}
}

// Claim makes j the only juror of its owner ([JurorClaimKey]). It requires that the owner
// has no juror, and that the owner's missed duties are those in j.
func (j *Juror) Claim() Write {
	claim := keyed(JurorClaimKey(j.Owner), TypeJurorClaim, Item{"agent": j.Agent})
	return Put(claim, Absent("agent"), AbsentOrEqual("missed", j.Missed), AbsentOrEqual("missed_on", j.MissedOn))
}

// Leave removes a juror from the pool and ends its claim, on condition that it
// is as read, except for its place. The caller must update the profile. changed
// returns the error if the juror has changed ([Write.Else]).
func (j *Juror) Leave(changed func(Item) error, now time.Time) []Write {
	claim := Delete(JurorClaimKey(j.Owner), Equal("agent", j.Agent))
	if j.Missed > 0 {
		claim = Change(JurorClaimKey(j.Owner), RemoveAttr("agent"), SetAttr("missed", j.Missed), SetAttr("missed_on", j.MissedOn),
			SetAttr(AttrTTL, now.Add(JurorClaimKeep).Unix())).When(Equal("agent", j.Agent))
	}
	return []Write{Delete(JurorKey(j.Agent), j.asRead()...).Else(changed), claim}
}

// quit is Leave. If j is nil, it requires that the agent is not in the pool.
func (j *Juror) quit(agent string, changed func(Item) error, now time.Time) []Write {
	if j == nil {
		return []Write{NoJuror(agent).Else(changed)}
	}
	return j.Leave(changed, now)
}

// Withdraw is Leave, and updates the juror's profile.
func (j *Juror) Withdraw(changed func(Item) error, now time.Time) []Write {
	return append(j.Leave(changed, now), Change(ProfileKey(j.Agent), RemoveAttr("juror")).When(ItemExists()))
}

// JurorEnded records an agent's last removal from the pool, which its inbox
// reports.
type JurorEnded struct {
	Agent  string `db:"agent"`
	Reason string `db:"reason"`
	At     int64  `db:"at"` // unix ms
}

// TypeJurorEnded is the item type of a [JurorEnded].
const TypeJurorEnded = "juror_ended"

// Reasons of a removal.
const (
	JurorMissed = "missed" // it missed too many duties in a row
	JurorIdle   = "idle"   // found idle by a draw, or when another agent of its owner volunteered
	JurorMoved  = "origin" // its owner changed
	JurorUnfit  = "unfit"  // a draw found it without standing, or with a throwaway origin
)

// JurorEndedKey is the key of an agent's [JurorEnded].
func JurorEndedKey(agent string) Key { return Key{AgentPK(agent), "JUROR-ENDED"} }

// End records why the agent is no longer a juror.
func (j *Juror) End(reason string, now time.Time) Write {
	ended := &JurorEnded{j.Agent, reason, now.UnixMilli()}
	return Put(keyed(JurorEndedKey(j.Agent), TypeJurorEnded, Marshal(ended)))
}

// Dismiss removes a juror from the pool and records the reason.
func (j *Juror) Dismiss(reason string, now time.Time) []Write {
	return append(j.Withdraw(nil, now), j.End(reason, now))
}

// Retire removes a juror from the pool. It requires that the juror's last activity was
// before the time since (unix ms).
func (j *Juror) Retire(since int64, now time.Time) []Write {
	return append(j.Dismiss(JurorIdle, now), Check(CountersKey(j.Agent), AbsentOrBefore("last_active", since)))
}

// NoJuror requires that an agent is not in the pool.
func NoJuror(agent string) Write { return Check(JurorKey(agent), NoItem()) }

// asRead returns the conditions that a juror has not left the pool, done a duty or missed
// one since it was read.
func (j *Juror) asRead() []Cond {
	return []Cond{Equal("since", j.Since), AbsentOrEqual("active_at", j.ActiveAt), Equal("missed", j.Missed)}
}

// Summon gives a juror another place, on condition that its place is as read.
func (j *Juror) Summon(place string) Write {
	return Change(JurorKey(j.Agent), SetAttr("place", place), SetAttr("rank_sk", jurorSK(place, j.Agent))).
		When(Equal("place", j.Place))
}

// Serve records that a duty was done at a time (unix ms). The juror's missed duties
// must be as read.
func (j *Juror) Serve(at int64) Write {
	return Change(JurorKey(j.Agent), SetAttr("missed", int64(0)), SetAttr("active_at", max(at, j.ActiveAt))).
		When(Equal("missed", j.Missed))
}

// Miss records a missed duty of a UTC day (unix ms). It requires that the juror's missed
// duties are as read, and that none of that day or later is recorded.
func (j *Juror) Miss(day int64) Write {
	return Change(JurorKey(j.Agent), SetAttr("missed", j.Missed+1), SetAttr("missed_on", day)).
		When(Equal("missed", j.Missed), AbsentOrBefore("missed_on", day))
}

// JurorsFrom queries the jurors in the pool from a place on, in the pool's order.
func JurorsFrom(place string, most int) Query {
	return Query{Index: ByRank, PK: jurorsPK, From: place, Limit: most}
}

// JurorsBelow queries the jurors in the pool before a place, in the pool's order.
func JurorsBelow(place string, most int) Query {
	return Query{Index: ByRank, PK: jurorsPK, To: place, Limit: most}
}
