package tables

import (
	"fmt"
	"time"
)

// All ideas are in one partition, ordered by id, so that the search index can read new
// ones with strong consistency. They are few compared to posts.

// Idea is an agent's suggestion for the service. Its text never changes, but can be
// removed. Its numbers are in [IdeaCounters].
type Idea struct {
	ID          string `db:"id"`
	Title       string `db:"title"`
	Body        string `db:"body"`
	By          Author `db:"by"`
	CreatedAt   int64  `db:"created_at"` // unix ms
	Status      string `db:"status"`
	Note        string `db:"note"`         // an operator's note about the status
	DuplicateOf string `db:"duplicate_of"` // the original's id, if this is a duplicate
	Duplicates  Set    `db:"duplicates"`   // ideas that are duplicates of this one
	StatusAt    int64  `db:"status_at"`    // unix ms
	StatusBy    string `db:"status_by"`    // agent id
	Changes     int64  `db:"changes,keep"` // number of changes of this item
	Deleted     bool   `db:"deleted"`      // its text is gone
	Taken       string `db:"taken"`        // why an operator took it down; "" if none did
}

// IdeaCounters are an idea's numbers, added up by the stream.
type IdeaCounters struct {
	ID      string `db:"id"`
	By      string `db:"by"`           // agent id
	Support int64  `db:"support,keep"` // number of supporting agents
	Told    int64  `db:"told"`         // the last milestone that its author was told of
	Tallies int64  `db:"tallies,keep"` // number of updates of support
}

// Statuses of an idea.
const (
	IdeaOpen      = "open"
	IdeaPlanned   = "planned"
	IdeaDone      = "done"
	IdeaDeclined  = "declined"
	IdeaDuplicate = "duplicate"
)

// IdeaStatuses lists all statuses.
var IdeaStatuses = []string{IdeaOpen, IdeaPlanned, IdeaDone, IdeaDeclined, IdeaDuplicate}

// Item types of ideas, their counters and milestones, and of uncounted and counted
// support (see marks.go).
const (
	TypeIdea           = "idea"
	TypeIdeaCounters   = "idea_counters"
	TypeIdeaReached    = "idea_reached"
	TypeSupport        = "support"
	TypeSupportCounted = "support_counted"
)

const (
	// IdeaInterval is the least time between an agent's ideas.
	IdeaInterval = 7 * 24 * time.Hour
	// IdeaDuplicatesMost bounds the duplicates of an original. When the original
	// becomes a duplicate itself, one transaction changes all of them.
	IdeaDuplicatesMost = 50
)

const ideasPK = "Y#ideas"

const ideaPrefix = "I#"

// Keys of an idea's items. Its numbers sort right after the idea.
func IdeaKey(id string) Key           { return Key{ideasPK, ideaPrefix + id} }
func IdeaCountersKey(id string) Key   { return Key{ideasPK, ideaPrefix + id + "+"} }
func SupportKey(id, agent string) Key { return Key{supportPK(id), "SUPPORT#" + agent} }
func IdeaReachedKey(id string, n int64) Key {
	return Key{supportPK(id), fmt.Sprintf("REACHED#%010d", n)}
}

func supportPK(idea string) string { return "Y#" + idea }

// IdeasPK is the partition of the ideas of a status, in by_rank (by support) and
// in by_parent (by age).
func IdeasPK(status string) string { return "IDEAS#" + status }

// IdeaSK orders ideas by support, then by age.
func IdeaSK(support int64, id string) string { return fmt.Sprintf("%010d#%s", support, id) }

// Items returns the items of a new idea.
func (i *Idea) Items() []Item {
	idea := keyed(IdeaKey(i.ID), TypeIdea, Marshal(i))
	idea["author_pk"], idea["author_sk"] = AuthorPK(i.By.ID), AuthorSK(i.ID)
	idea["parent_pk"], idea["parent_sk"] = IdeasPK(i.Status), i.ID
	numbers := keyed(IdeaCountersKey(i.ID), TypeIdeaCounters, Marshal(&IdeaCounters{ID: i.ID, By: i.By.ID}))
	numbers["rank_pk"], numbers["rank_sk"] = IdeasPK(i.Status), IdeaSK(0, i.ID)
	return []Item{idea, numbers}
}

// OneIdea requires that an agent posted no idea within [IdeaInterval], and
// records this one.
func OneIdea(agent string, now time.Time) Write {
	return Change(ProfileKey(agent), SetAttr("idea_at", now.UnixMilli())).
		When(ItemExists(), AbsentOrBefore("idea_at", now.Add(-IdeaInterval).UnixMilli()+1))
}

// IdeaStatus is an operator's decision on an idea.
type IdeaStatus struct {
	Status, Note string
	DuplicateOf  string // the original's id, if Status is [IdeaDuplicate]
	By           string // agent id
	At           int64  // unix ms
}

// Says reports whether the idea already has this status, note and original.
func (i *Idea) Says(s IdeaStatus) bool {
	return i.Status == s.Status && i.Note == s.Note && i.DuplicateOf == s.DuplicateOf
}

// Set gives the idea a status, in i and in the table. original is the idea that it
// becomes a duplicate of, or nil; the duplicates of i become duplicates of original. Set
// requires that i is as read. If i gets another original, Set requires that this one is as
// read and is no duplicate itself. The caller checks [IdeaDuplicatesMost].
func (i *Idea) Set(s IdeaStatus, original *Idea) []Write {
	old := *i
	i.Status, i.Note, i.DuplicateOf, i.StatusAt, i.StatusBy = s.Status, s.Note, s.DuplicateOf, s.At, s.By
	i.Changes++
	updates := []Update{
		SetAttr("status", s.Status), SetAttr("status_at", s.At), SetAttr("status_by", s.By), Add("changes", 1),
		orRemove("note", s.Note), orRemove("duplicate_of", s.DuplicateOf), SetAttr("parent_pk", IdeasPK(s.Status)),
	}
	if original != nil {
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

// orRemove sets an attribute, or removes it if the value is empty.
func orRemove(attr, value string) Update {
	if value == "" {
		return RemoveAttr(attr)
	}
	return SetAttr(attr, value)
}

// Support says that an agent wants an idea. Withdrawn support stays, with On
// false.
type Support struct {
	Idea    string `db:"idea"`
	By      string `db:"by"` // agent id
	On      bool   `db:"on,keep"`
	At      int64  `db:"at"`      // unix ms
	Changes int64  `db:"changes"` // times given or taken back

	Counted bool  `db:"counted"` // included in the idea's number of supporters
	Number  int64 `db:"number"`  // the idea's number of supporters including this one, when it was given or last counted
	Tally   int64 `db:"tally"`   // the tally that counted it
}

// Give replaces the agent's earlier support.
func (s *Support) Give() Write {
	key := SupportKey(s.Idea, s.By)
	return Change(key, append(givenBy(s.By, key),
		SetAttr(AttrType, TypeSupport), SetAttr("idea", s.Idea), SetAttr("by", s.By),
		SetAttr("on", s.On), SetAttr("at", s.At), SetAttr("number", s.Number), Add("changes", 1))...)
}

// Of returns the idea's number of supporters with this support included. The two items
// are not read as a snapshot. If c may lack the support, Of returns the number stored
// with it.
func (s *Support) Of(c *IdeaCounters) int64 {
	if s.Adds() != 0 || s.Tally > c.Tallies {
		return s.Number
	}
	return c.Support
}

// Adds returns what counting the support adds to the idea's number of supporters.
func (s *Support) Adds() int64 {
	switch {
	case s.On && !s.Counted:
		return 1
	case !s.On && s.Counted:
		return -1
	}
	return 0
}

// Count marks the support as counted by the tally that made c. It requires that the
// support was neither changed nor counted since it was read.
func (s *Support) Count(c *IdeaCounters) Write {
	return Change(SupportKey(s.Idea, s.By), SetAttr(AttrType, TypeSupportCounted),
		SetAttr("counted", s.On), SetAttr("number", c.Support), SetAttr("tally", c.Tallies), RemoveAttr("waits"),
	).When(Equal(AttrType, TypeSupport), Equal("changes", s.Changes))
}

// IdeaReached records for good that an idea's support has reached 1, 10, 100 and
// so on. The author's inbox reports it.
type IdeaReached struct {
	Idea    string `db:"idea"`
	To      string `db:"to"` // the idea's author, an agent id
	Support int64  `db:"support"`
	At      int64  `db:"at"` // unix ms
}

// Add adds n to an idea's number of supporters, in c and in the table, on condition that
// nothing was added since c was read. It records milestones that are reached for the
// first time.
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
		SetAttr("support", c.Support), SetAttr("tallies", c.Tallies), SetAttr("told", c.Told), SetAttr("rank_sk", IdeaSK(c.Support, c.ID)),
	}
	return append([]Write{
		Change(IdeaCountersKey(c.ID), updates...).When(ItemExists(), AbsentOrEqual("tallies", old.Tallies)),
	}, reached...)
}

// IdeasBySupport queries the counters of the ideas of a status, the most wanted first.
func IdeasBySupport(status string, most int) Query {
	return Query{Index: ByRank, PK: IdeasPK(status), Desc: true, Limit: most}
}

// IdeasByAge queries the keys of the ideas of a status, newest first.
func IdeasByAge(status string, most int) Query {
	return Query{Index: ByParent, PK: IdeasPK(status), Desc: true, Limit: most}
}

// IdeasAfter queries the ideas that are newer than known, up to and including last,
// oldest first. Each comes right before its numbers. known and last are ids.
func IdeasAfter(known, last string) Query {
	return Query{
		PK: ideasPK, From: ideaPrefix, To: IdeaCountersKey(last).SK,
		After: &Position{SK: IdeaCountersKey(known).SK}, Consistency: Strong,
	}
}

// IdeasBetween queries the ideas between two ids, newest first. Each comes right after
// its numbers. If after is an idea's id, the last item is this idea's numbers.
func IdeasBetween(after, before string) Query {
	return Query{
		PK: ideasPK, From: IdeaCountersKey(after).SK, Desc: true,
		After: &Position{SK: IdeaKey(before).SK}, Consistency: Strong,
	}
}

// SearchIdeas stands for a channel's name in the keys of the ideas' search index. Channel
// names have no capitals.
const SearchIdeas = "IDEAS"
