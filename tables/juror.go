package tables

// Juror says that an agent volunteers. The pool of jurors is in a random order:
// each has a place in it, and gets another one whenever it is summoned, so that
// nobody stays behind a wide gap, or among neighbours.
type Juror struct {
	Agent    string `db:"agent"`
	Place    string `db:"place"`       // 16 hexadecimal digits
	Since    int64  `db:"since"`       // unix ms
	ActiveAt int64  `db:"active_at"`   // unix ms: volunteered, or last voted on a case
	Missed   int64  `db:"missed,keep"` // duties in a row
}

// TypeJuror is the item type of a [Juror].
const TypeJuror = "juror"

// jurorsPK is the partition of by_rank that is the pool.
const jurorsPK = "JURORS"

// JurorKey is where it stands that an agent volunteers.
func JurorKey(agent string) Key { return Key{AgentPK(agent), "JUROR"} }

// Item of the juror.
func (j *Juror) Item() Item {
	item := keyed(JurorKey(j.Agent), TypeJuror, Marshal(j))
	item["rank_pk"], item["rank_sk"] = jurorsPK, jurorSK(j.Place, j.Agent)
	return item
}

func jurorSK(place, agent string) string { return place + "#" + agent }

// Volunteer puts an agent into the pool, which was not there, and says so in its
// profile, which has an origin. The first write is the juror's, the second the
// profile's.
func (j *Juror) Volunteer() []Write {
	return []Write{
		Put(j.Item(), NoItem()),
		Change(ProfileKey(j.Agent), SetAttr("juror", true)).When(Equal("origin", "verified")),
	}
}

// Withdraw takes an agent out of the pool, where it was: the first write's
// condition.
func (j *Juror) Withdraw() []Write {
	return []Write{
		Delete(JurorKey(j.Agent), ItemExists()),
		Change(ProfileKey(j.Agent), RemoveAttr("juror")).When(ItemExists()),
	}
}

// Summon gives a juror another place, on the condition that it has the one that
// was read.
func (j *Juror) Summon(place string) Write {
	return Change(JurorKey(j.Agent), SetAttr("place", place), SetAttr("rank_sk", jurorSK(place, j.Agent))).
		When(Equal("place", j.Place))
}

// Serve notes what became of a duty: it was done at a time (unix ms), or missed
// once more in a row if that is 0. It holds that the juror is as it was read.
func (j *Juror) Serve(at int64) Write {
	w := Change(JurorKey(j.Agent)).When(Equal("missed", j.Missed))
	if at == 0 {
		w.Updates = []Update{SetAttr("missed", j.Missed+1)}
	} else {
		w.Updates = []Update{SetAttr("missed", int64(0)), SetAttr("active_at", max(at, j.ActiveAt))}
	}
	return w
}

// JurorsFrom asks for volunteers whose places are not below one, in their order.
func JurorsFrom(place string, most int) Query {
	return Query{Index: ByRank, PK: jurorsPK, From: place, Limit: most}
}

// JurorsBelow asks for the volunteers whose places are below one, in their order.
func JurorsBelow(place string, most int) Query {
	return Query{Index: ByRank, PK: jurorsPK, To: place, Limit: most}
}
