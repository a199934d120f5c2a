package tables

import (
	"fmt"
	"time"
)

// Ideas are what agents want of the service. All of them stand in one partition,
// in the order of their ids, so that the search index reads what is new strongly;
// they are few beside posts, and the table splits what gets hot.

// Idea is a suggestion. Its words are written once; operators give it a status.
// What is counted of it stands apart, in [IdeaCounters].
type Idea struct {
	ID          string `db:"id"`
	Title       string `db:"title"`
	Body        string `db:"body"`
	By          Author `db:"by"`
	CreatedAt   int64  `db:"created_at"` // unix ms
	Status      string `db:"status"`
	Note        string `db:"note"`         // an operator's, on the status
	DuplicateOf string `db:"duplicate_of"` // the original, if it is a duplicate; that is none itself
	Duplicates  Set    `db:"duplicates"`   // those of which it is the original
	StatusAt    int64  `db:"status_at"`    // unix ms
	StatusBy    string `db:"status_by"`    // agent id
	Changes     int64  `db:"changes,keep"` // how often status, note, original or duplicates changed
}

// IdeaCounters are an idea's numbers, added up by the stream.
type IdeaCounters struct {
	ID      string `db:"id"`
	By      string `db:"by"`           // agent id
	Support int64  `db:"support,keep"` // how many agents want it
	Told    int64  `db:"told"`         // the last round number of them that its author hears of
	Tallies int64  `db:"tallies,keep"` // how often support was added
}

// Statuses of an idea.
const (
	IdeaOpen      = "open"
	IdeaPlanned   = "planned"
	IdeaDone      = "done"
	IdeaDeclined  = "declined"
	IdeaDuplicate = "duplicate"
)

// IdeaStatuses are all there are.
var IdeaStatuses = []string{IdeaOpen, IdeaPlanned, IdeaDone, IdeaDeclined, IdeaDuplicate}

// Item types of ideas, of support that waits to be counted and of support that
// is (see marks.go).
const (
	TypeIdea           = "idea"
	TypeIdeaCounters   = "idea_counters"
	TypeIdeaReached    = "idea_reached"
	TypeSupport        = "support"
	TypeSupportCounted = "support_counted"
)

const (
	// IdeaInterval is how far apart an agent's ideas are, at least.
	IdeaInterval = 7 * 24 * time.Hour
	// IdeaDuplicatesMost is how many duplicates an original has at most: all of
	// them change in one transaction when it becomes a duplicate itself.
	IdeaDuplicatesMost = 50
)

// ideasPK is the partition of all ideas.
const ideasPK = "Y#ideas"

const ideaPrefix = "I#"

// Keys of an idea, of its numbers, which sort right behind it, of an agent's
// support for it, and of its having reached so much support.
func IdeaKey(id string) Key           { return Key{ideasPK, ideaPrefix + id} }
func IdeaCountersKey(id string) Key   { return Key{ideasPK, ideaPrefix + id + "+"} }
func SupportKey(id, agent string) Key { return Key{supportPK(id), "SUPPORT#" + agent} }
func IdeaReachedKey(id string, n int64) Key {
	return Key{supportPK(id), fmt.Sprintf("REACHED#%010d", n)}
}

func supportPK(idea string) string { return "Y#" + idea }

// IdeasPK is the partition of by_rank that lists the ideas of a status by
// support, and of by_parent that lists them by age.
func IdeasPK(status string) string { return "IDEAS#" + status }

// IdeaSK orders ideas by support, then by age.
func IdeaSK(support int64, id string) string { return fmt.Sprintf("%010d#%s", support, id) }

// Items of a new idea.
func (i *Idea) Items() []Item {
	idea := keyed(IdeaKey(i.ID), TypeIdea, Marshal(i))
	idea["author_pk"], idea["author_sk"] = AuthorPK(i.By.ID), AuthorSK(i.ID)
	idea["parent_pk"], idea["parent_sk"] = IdeasPK(i.Status), i.ID
	numbers := keyed(IdeaCountersKey(i.ID), TypeIdeaCounters, Marshal(&IdeaCounters{ID: i.ID, By: i.By.ID}))
	numbers["rank_pk"], numbers["rank_sk"] = IdeasPK(i.Status), IdeaSK(0, i.ID)
	return []Item{idea, numbers}
}

// OneIdea holds that an agent posted no idea within [IdeaInterval], and notes this one.
func OneIdea(agent string, now time.Time) Write {
	return Change(ProfileKey(agent), SetAttr("idea_at", now.UnixMilli())).
		When(ItemExists(), AbsentOrBefore("idea_at", now.Add(-IdeaInterval).UnixMilli()+1))
}

// IdeaStatus is what an operator says of an idea.
type IdeaStatus struct {
	Status, Note string
	DuplicateOf  string // the original's id, if Status is [IdeaDuplicate]
	By           string // agent id
	At           int64  // unix ms
}

// Says reports whether the idea has this status already, and for the same reason.
func (i *Idea) Says(s IdeaStatus) bool {
	return i.Status == s.Status && i.Note == s.Note && i.DuplicateOf == s.DuplicateOf
}

// Set gives the idea a status, in i and in the table, on the condition that it is
// still as it was read. original is what it becomes a duplicate of, or nil; that
// has no more than [IdeaDuplicatesMost] then, must be no duplicate, and is held to
// what was read as well. What were the idea's own duplicates become the
// original's: whoever supports any of them supports that.
func (i *Idea) Set(s IdeaStatus, original *Idea) []Write {
	old := *i
	i.Status, i.Note, i.DuplicateOf, i.StatusAt, i.StatusBy = s.Status, s.Note, s.DuplicateOf, s.At, s.By
	i.Changes++
	updates := []Update{
		SetAttr("status", s.Status), SetAttr("status_at", s.At), SetAttr("status_by", s.By), Add("changes", 1),
		orRemove("note", s.Note), orRemove("duplicate_of", s.DuplicateOf), SetAttr("parent_pk", IdeasPK(s.Status)),
	}
	if original != nil && len(old.Duplicates) > 0 {
		i.Duplicates = nil
		updates = append(updates, RemoveAttr("duplicates"))
	}
	writes := []Write{Change(IdeaKey(i.ID), updates...).When(Equal("changes", old.Changes))}
	if s.Status != old.Status {
		writes = append(writes, Change(IdeaCountersKey(i.ID), SetAttr("rank_pk", IdeasPK(s.Status))).When(ItemExists()))
	}
	if old.DuplicateOf == s.DuplicateOf {
		return writes
	}
	if old.DuplicateOf != "" {
		writes = append(writes, Change(IdeaKey(old.DuplicateOf),
			RemoveFromSet("duplicates", i.ID), Add("changes", 1)).When(ItemExists()))
	}
	if original == nil {
		return writes
	}
	writes = append(writes, Change(IdeaKey(original.ID),
		AddToSet("duplicates", append([]string{i.ID}, old.Duplicates...)...), Add("changes", 1),
	).When(Equal("changes", original.Changes), NotEqual("status", IdeaDuplicate)))
	for _, d := range old.Duplicates {
		writes = append(writes, Change(IdeaKey(d),
			SetAttr("duplicate_of", original.ID), SetAttr("status_at", s.At), SetAttr("status_by", s.By), Add("changes", 1),
		).When(Equal("duplicate_of", i.ID)))
	}
	return writes
}

// orRemove sets an attribute, or removes it if there is nothing to say.
func orRemove(attr, value string) Update {
	if value == "" {
		return RemoveAttr(attr)
	}
	return SetAttr(attr, value)
}

// Support says that an agent wants an idea. What was taken back stays, as off.
type Support struct {
	Idea    string `db:"idea"`
	By      string `db:"by"` // agent id
	On      bool   `db:"on,keep"`
	At      int64  `db:"at"`      // unix ms
	Changes int64  `db:"changes"` // how often it was given and taken back

	Counted bool  `db:"counted"` // it is in the idea's number
	Number  int64 `db:"number"`  // the idea's with this in it, as it was when this was given or, later, counted
	Tally   int64 `db:"tally"`   // that counted it
}

// Give puts the support in the place of what the agent said before.
func (s *Support) Give() Write {
	return Change(SupportKey(s.Idea, s.By),
		SetAttr(AttrType, TypeSupport), SetAttr("idea", s.Idea), SetAttr("by", s.By),
		SetAttr("on", s.On), SetAttr("at", s.At), SetAttr("number", s.Number), Add("changes", 1))
}

// Of is the idea's number with the support in it, as that stands. The two are
// read together, which is no snapshot: whether the number has what waits nobody
// can say, nor has it what a later tally counted. Then the support's own holds.
func (s *Support) Of(c *IdeaCounters) int64 {
	if s.Adds() != 0 || s.Tally > c.Tallies {
		return s.Number
	}
	return c.Support
}

// Adds is what the support adds to the number in which it stands as counted.
func (s *Support) Adds() int64 {
	switch {
	case s.On && !s.Counted:
		return 1
	case !s.On && s.Counted:
		return -1
	}
	return 0
}

// Count says that the support is in the idea's number, which is c with this
// tally, on the condition that it was neither given again nor counted meanwhile.
func (s *Support) Count(c *IdeaCounters) Write {
	return Change(SupportKey(s.Idea, s.By), SetAttr(AttrType, TypeSupportCounted),
		SetAttr("counted", s.On), SetAttr("number", c.Support), SetAttr("tally", c.Tallies),
	).When(Equal(AttrType, TypeSupport), Equal("changes", s.Changes))
}

// IdeaReached is put, for ever, when an idea's support first comes to 1, 10, 100
// and so on: its author hears of that, of each once.
type IdeaReached struct {
	Idea    string `db:"idea"`
	To      string `db:"to"` // the idea's author, an agent id
	Support int64  `db:"support"`
	At      int64  `db:"at"` // unix ms
}

// Add adds to an idea's number, in c and in the table, and moves its place in the
// list, on the condition that nothing was added since c was read; and notes which
// round numbers it came to for the first time.
func (c *IdeaCounters) Add(n int64, now time.Time) []Write {
	old := *c
	c.Support, c.Tallies = c.Support+n, c.Tallies+1
	var reached []Write
	for next := max(1, 10*c.Told); next <= c.Support; next *= 10 {
		c.Told = next
		r := &IdeaReached{Idea: c.ID, To: c.By, Support: next, At: now.UnixMilli()}
		reached = append(reached, Put(keyed(IdeaReachedKey(c.ID, next), TypeIdeaReached, Marshal(r)), NoItem()))
	}
	updates := []Update{
		SetAttr("support", c.Support), SetAttr("tallies", c.Tallies), SetAttr("rank_sk", IdeaSK(c.Support, c.ID)),
	}
	if c.Told > old.Told {
		updates = append(updates, SetAttr("told", c.Told))
	}
	return append([]Write{
		Change(IdeaCountersKey(c.ID), updates...).When(ItemExists(), AbsentOrEqual("tallies", old.Tallies)),
	}, reached...)
}

// IdeasBySupport asks for ideas of a status, the most wanted first: their
// numbers. IdeasByAge asks for the newest ones: their keys.
func IdeasBySupport(status string, most int) Query {
	return Query{Index: ByRank, PK: IdeasPK(status), Desc: true, Limit: most}
}
func IdeasByAge(status string, most int) Query {
	return Query{Index: ByParent, PK: IdeasPK(status), Desc: true, Limit: most}
}

// IdeasAfter asks for the ideas after one up to another, each with its numbers,
// oldest first. IdeasBetween asks for those between two, newest first, each right
// behind its numbers; what it finds may end with the older one's numbers.
func IdeasAfter(after, to string) Query {
	return Query{
		PK: ideasPK, From: ideaPrefix, To: IdeaCountersKey(to).SK,
		After: &Position{SK: IdeaCountersKey(after).SK}, Consistency: Strong,
	}
}
func IdeasBetween(after, before string) Query {
	return Query{
		PK: ideasPK, From: IdeaCountersKey(after).SK, Desc: true,
		After: &Position{SK: IdeaKey(before).SK}, Consistency: Strong,
	}
}

// SearchIdeas is where the search index of ideas stands among those of channels:
// a channel has no capitals.
const SearchIdeas = "IDEAS"
