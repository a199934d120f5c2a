package tables

import "time"

// Juror says that an agent volunteers. The pool of jurors is in a random order:
// each has a place in it, and gets another one whenever it is summoned, so that
// nobody stays behind a wide gap, or among neighbours.
type Juror struct {
	Agent    string `db:"agent"`
	Owner    string `db:"behind"`      // who stood behind it when it volunteered, see [Origin.Owner]: its claim
	Place    string `db:"place"`       // 16 hexadecimal digits
	Since    int64  `db:"since"`       // unix ms
	ActiveAt int64  `db:"active_at"`   // unix ms: volunteered, or last voted on a case
	Missed   int64  `db:"missed,keep"` // duties in a row, one a day
	MissedOn int64  `db:"missed_on"`   // unix ms of the last UTC day that was counted
}

// TypeJuror is the item type of a [Juror], and TypeJurorClaim of whoever is behind one.
const (
	TypeJuror      = "juror"
	TypeJurorClaim = "juror_claim"
)

// jurorsPK is the partition of by_rank that is the pool.
const jurorsPK = "JURORS"

// JurorKey is where it stands that an agent volunteers.
func JurorKey(agent string) Key { return Key{AgentPK(agent), "JUROR"} }

// JurorClaimKey is where it stands which agent is the juror of who is behind it:
// one at a time. Once that has left, the claim is kept, without an agent, while
// there are missed duties to remember.
func JurorClaimKey(behind string) Key { return Key{"O#" + behind, "JUROR"} }

// Item of the juror.
func (j *Juror) Item() Item {
	item := keyed(JurorKey(j.Agent), TypeJuror, Marshal(j))
	item["rank_pk"], item["rank_sk"] = jurorsPK, jurorSK(j.Place, j.Agent)
	return item
}

func jurorSK(place, agent string) string { return place + "#" + agent }

// VolunteerRefusals say what stands against volunteering ([Write.Else]).
type VolunteerRefusals struct {
	There      func(Item) error // it is in the pool
	Claimed    func(Item) error // who is behind it has a juror, or missed other duties than were read
	Unverified func(Item) error // its profile has no verified origin
}

// Volunteer puts an agent into the pool, which was not there, and says so in its
// profile. It holds that the person of its origin is who was read, and that who is
// behind it has no other juror, and has missed as many duties in a row.
func (j *Juror) Volunteer(person string, r VolunteerRefusals) []Write {
	return []Write{
		Put(j.Item(), NoItem()).Else(r.There),
		j.Claim().Else(r.Claimed),
		Change(ProfileKey(j.Agent), SetAttr("juror", true)).When(Equal("origin", "verified")).Else(r.Unverified),
		Check(OriginKey(j.Agent), Equal("person", person)).Else(Means(ErrConflict)),
	}
}

// Claim makes a juror that of whoever is behind it, who has none, and has missed
// as many duties.
func (j *Juror) Claim() Write {
	claim := keyed(JurorClaimKey(j.Owner), TypeJurorClaim, Item{"agent": j.Agent})
	return Put(claim, Absent("agent"), AbsentOrEqual("missed", j.Missed), AbsentOrEqual("missed_on", j.MissedOn))
}

// Leave takes a juror out of the pool that is there as it was read, but for its
// place, and ends its claim. Its profile is to say so, too. changed says what it
// means that the juror is another by now ([Write.Else]).
func (j *Juror) Leave(changed func(Item) error) []Write {
	claim := Delete(JurorClaimKey(j.Owner), Equal("agent", j.Agent))
	if j.Missed > 0 {
		claim = Change(JurorClaimKey(j.Owner), RemoveAttr("agent"), SetAttr("missed", j.Missed), SetAttr("missed_on", j.MissedOn)).
			When(Equal("agent", j.Agent))
	}
	return []Write{Delete(JurorKey(j.Agent), j.asRead()...).Else(changed), claim}
}

// Withdraw is Leave, and the juror's profile says so.
func (j *Juror) Withdraw(changed func(Item) error) []Write {
	return append(j.Leave(changed), Change(ProfileKey(j.Agent), RemoveAttr("juror")).When(ItemExists()))
}

// JurorEnded says that an agent's volunteering ended without its doing: the last
// time, of which its inbox tells.
type JurorEnded struct {
	Agent  string `db:"agent"`
	Reason string `db:"reason"`
	At     int64  `db:"at"` // unix ms
}

// TypeJurorEnded is the item type of a [JurorEnded].
const TypeJurorEnded = "juror_ended"

// Why volunteering ends.
const (
	JurorMissed = "missed" // too many duties in a row
	JurorIdle   = "idle"   // a draw met it after it had not been seen for long
	JurorMoved  = "origin" // somebody else came to stand behind it
)

// JurorEndedKey is where it stands of an agent.
func JurorEndedKey(agent string) Key { return Key{AgentPK(agent), "JUROR-ENDED"} }

// End says for what reason the agent is a juror no longer.
func (j *Juror) End(reason string, now time.Time) Write {
	ended := &JurorEnded{j.Agent, reason, now.UnixMilli()}
	return Put(keyed(JurorEndedKey(j.Agent), TypeJurorEnded, Marshal(ended)))
}

// Dismiss takes a juror out of the pool, for a reason of which it hears.
func (j *Juror) Dismiss(reason string, now time.Time) []Write {
	return append(j.Withdraw(nil), j.End(reason, now))
}

// Retire takes a juror out of the pool that has been idle since before a time
// (unix ms).
func (j *Juror) Retire(since int64, now time.Time) []Write {
	return append(j.Dismiss(JurorIdle, now), Check(CountersKey(j.Agent), AbsentOrBefore("last_active", since)))
}

// NoJuror holds that an agent does not volunteer.
func NoJuror(agent string) Write { return Check(JurorKey(agent), NoItem()) }

// asRead holds that a juror is the one that was read, and did and missed no duty since.
func (j *Juror) asRead() []Cond {
	return []Cond{Equal("since", j.Since), AbsentOrEqual("active_at", j.ActiveAt), Equal("missed", j.Missed)}
}

// Summon gives a juror another place, on the condition that it has the one that
// was read.
func (j *Juror) Summon(place string) Write {
	return Change(JurorKey(j.Agent), SetAttr("place", place), SetAttr("rank_sk", jurorSK(place, j.Agent))).
		When(Equal("place", j.Place))
}

// Serve notes that a duty was done at a time (unix ms). It holds that the juror
// has missed what it had when it was read.
func (j *Juror) Serve(at int64) Write {
	return Change(JurorKey(j.Agent), SetAttr("missed", int64(0)), SetAttr("active_at", max(at, j.ActiveAt))).
		When(Equal("missed", j.Missed))
}

// Miss notes that a duty of a UTC day (unix ms) was missed. It holds that the
// juror has missed what it had when it was read, and none of that day, or later.
func (j *Juror) Miss(day int64) Write {
	return Change(JurorKey(j.Agent), SetAttr("missed", j.Missed+1), SetAttr("missed_on", day)).
		When(Equal("missed", j.Missed), AbsentOrBefore("missed_on", day))
}

// JurorsFrom asks for volunteers whose places are not below one, in their order.
func JurorsFrom(place string, most int) Query {
	return Query{Index: ByRank, PK: jurorsPK, From: place, Limit: most}
}

// JurorsBelow asks for the volunteers whose places are below one, in their order.
func JurorsBelow(place string, most int) Query {
	return Query{Index: ByRank, PK: jurorsPK, To: place, Limit: most}
}
