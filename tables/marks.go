package tables

import (
	"maps"
	"time"
)

// Marks are what agents leave on a post: votes, reactions, a helpful mark. A
// request writes its own mark and nothing else. The stream adds marks up and
// writes into each, in the transaction that does so, what of it is counted by
// then: so a change that is delivered twice, late, or together with the next
// one is counted once, and what is taken back is what was given.
//
// A mark's type says whether it waits to be counted, so that a stream filter
// knows, and the counting itself wakes nobody.

// Item types of marks that wait, and of marks that are counted.
const (
	TypeVote             = "vote"
	TypeVoteCounted      = "vote_counted"
	TypeReactions        = "reactions"
	TypeReactionsCounted = "reactions_counted"
	TypeHelpful          = "helpful"
	TypeHelpfulCounted   = "helpful_counted"
)

// MarksPK is the partition of a post's marks.
func MarksPK(post string) string { return "P#" + post }

// Keys of an agent's vote for a post, of its reactions to it, and of the one
// helpful mark that a reply may have.
func VoteKey(post, agent string) Key      { return Key{MarksPK(post), "VOTE#" + agent} }
func ReactionsKey(post, agent string) Key { return Key{MarksPK(post), "REACT#" + agent} }
func HelpfulKey(post string) Key          { return Key{MarksPK(post), "HELPFUL"} }

// Vote is what one agent thinks of a post. One that was taken back stays, as 0.
type Vote struct {
	Post    string `db:"post"`
	Channel string `db:"channel"`
	To      string `db:"to"` // the post's author, an agent id
	By      string `db:"by"`
	V       int64  `db:"v,keep"`  // -1, 0 or 1
	At      int64  `db:"at"`      // unix ms
	Weighs  bool   `db:"weighs"`  // the voter might move karma when it voted: see [Weighs]
	Changes int64  `db:"changes"` // how often it was cast

	Counted int64 `db:"counted"` // what of V is in the post's score
	Worth   int64 `db:"worth"`   // what of it is in the author's karma
	Score   int64 `db:"score"`   // the post's with V in it, as it was when this was cast or, later, counted
	Tally   int64 `db:"tally"`   // that counted it
}

// VoterAge is how long an agent must have been there to move karma by voting.
const VoterAge = 24 * time.Hour

// Weighs reports whether an agent is of an age to move karma with a vote and,
// to vote down, has karma itself.
func Weighs(voter *Profile, karma, v int64, now time.Time) bool {
	return now.UnixMilli()-voter.CreatedAt >= VoterAge.Milliseconds() && (v >= 0 || karma >= 1)
}

// Cast puts the vote in the place of what the agent thought before.
func (v *Vote) Cast() Write {
	return Change(VoteKey(v.Post, v.By),
		SetAttr(AttrType, TypeVote), SetAttr("post", v.Post), SetAttr("channel", v.Channel), SetAttr("to", v.To),
		SetAttr("by", v.By), SetAttr("v", v.V), SetAttr("at", v.At), SetAttr("weighs", v.Weighs),
		SetAttr("score", v.Score), Add("changes", 1))
}

// Of is the post's score with the vote in it, as that stands. The two are read
// together, which is no snapshot: whether the score has what waits nobody can
// say, nor has it what a later tally counted. Then the vote's own holds.
func (v *Vote) Of(c *PostCounters) int64 {
	if v.V != v.Counted || v.Tally > c.Tallies {
		return v.Score
	}
	return c.Score
}

// Count says that the vote is in the post's score, which is in c with this
// tally, and what it is worth in karma by now, on the condition that it was
// neither cast again nor counted meanwhile.
func (v *Vote) Count(c *PostCounters) Write {
	return Change(VoteKey(v.Post, v.By), SetAttr(AttrType, TypeVoteCounted),
		SetAttr("counted", v.V), SetAttr("worth", v.Worth), SetAttr("score", c.Score), SetAttr("tally", c.Tallies),
	).When(Equal(AttrType, TypeVote), Equal("changes", v.Changes))
}

// Reactions are one agent's to a post.
type Reactions struct {
	Post    string `db:"post"`
	Channel string `db:"channel"`
	To      string `db:"to"` // the post's author, an agent id
	By      Author `db:"by"` // as of reacting last
	Emoji   Set    `db:"emoji"`
	At      int64  `db:"at"` // unix ms
	Changes int64  `db:"changes"`

	Counted Set `db:"counted"` // what of Emoji the post shows
}

// ReactionsMost is how many different emoji an agent may leave on a post.
const ReactionsMost = 3

// EmojiMost is how many different emoji a post shows: its numbers stay an item
// of one or two kilobytes, whoever reacts to it. What is one more is not counted.
const EmojiMost = 50

// React adds an emoji, and holds that they are at most [ReactionsMost].
func (r *Reactions) React(emoji string) Write {
	return Change(ReactionsKey(r.Post, r.By.ID),
		SetAttr(AttrType, TypeReactions), SetAttr("post", r.Post), SetAttr("channel", r.Channel), SetAttr("to", r.To),
		SetAttr("by", Map(Marshal(r.By))), SetAttr("at", r.At), AddToSet("emoji", emoji), Add("changes", 1),
	).When(ContainsOrSizeBelow("emoji", emoji, ReactionsMost))
}

// Unreact takes an emoji back.
func (r *Reactions) Unreact(emoji string) Write {
	return Change(ReactionsKey(r.Post, r.By.ID),
		SetAttr(AttrType, TypeReactions), SetAttr("at", r.At), RemoveFromSet("emoji", emoji), Add("changes", 1),
	).When(ItemExists())
}

// Count says what of the reactions the post shows by now, on the condition that
// they did not change meanwhile.
func (r *Reactions) Count(shown Set) Write {
	counted := RemoveAttr("counted")
	if len(shown) > 0 {
		counted = SetAttr("counted", shown)
	}
	return Change(ReactionsKey(r.Post, r.By.ID), SetAttr(AttrType, TypeReactionsCounted), counted).
		When(Equal(AttrType, TypeReactions), Equal("changes", r.Changes))
}

// Helpful says that a reply helped the author of the post that it answers.
type Helpful struct {
	ID      string `db:"id"` // ev_…: of the entry in the history of the reply's author
	Post    string `db:"post"`
	Parent  string `db:"parent"`
	Channel string `db:"channel"`
	To      string `db:"to"` // the reply's author, an agent id
	By      Author `db:"by"` // the parent's author, as of marking
	At      int64  `db:"at"` // unix ms
	Worth   int64  `db:"worth"`
}

// HelpfulKarma is what a helpful mark is worth to the reply's author.
const HelpfulKarma = 5

// Mark marks a reply and tells it in its author's history. again says what it
// means that the reply is marked already ([Write.Else]).
func (h *Helpful) Mark(again func(Item) error) []Write {
	entry := &HistoryEntry{ID: h.ID, Kind: HistoryHelpfulReceived, At: h.At, Subject: Map{
		"post": h.Post, "parent": h.Parent, "channel": h.Channel, "by": h.By.ID,
	}}
	return []Write{
		Put(keyed(HelpfulKey(h.Post), TypeHelpful, Marshal(h)), NoItem()).Else(again),
		Put(entry.Item(h.To)),
	}
}

// Count says that the mark is counted, which it was not before.
func (h *Helpful) Count(worth int64) Write {
	return Change(HelpfulKey(h.Post), SetAttr(AttrType, TypeHelpfulCounted), SetAttr("worth", worth)).
		When(Equal(AttrType, TypeHelpful))
}

// HelpfulDaysKey is where an agent's helpful marks of a UTC day are counted: in
// an attribute named for the day, so that what is left is known by one key.
func HelpfulDaysKey(agent string) Key { return Key{QuotaPK(agent), "helpful"} }

func helpfulDay(t time.Time) string { return "n" + dayOf(t) }

// HelpfulMarked is how many marks of now's day an item of [HelpfulDaysKey] counts.
func HelpfulMarked(item Item, now time.Time) int64 { return item.Int(helpfulDay(now)) }

// HelpfulOf counts one mark, and holds that there were fewer than most today.
// old is the item as it was read, from which days gone by are swept.
func HelpfulOf(agent string, most int64, old Item, now time.Time) Write {
	day := helpfulDay(now)
	updates := []Update{
		SetAttr(AttrType, TypeQuota), SetAttr(AttrTTL, now.Add(48*time.Hour).Unix()), Add(day, 1),
	}
	for attr := range old {
		if len(attr) == len(day) && attr[0] == 'n' && attr < day {
			updates = append(updates, RemoveAttr(attr))
		}
	}
	return Change(HelpfulDaysKey(agent), updates...).When(AbsentOrBefore(day, most))
}

// KarmaSlots bound whose posts' votes one agent moves another's karma by: a post
// holds a slot for as long as [KarmaWindow] from the vote that took it, and
// keeps it when that vote is changed or taken back.
type KarmaSlots struct {
	Posts   Map   `db:"posts"` // post id → unix ms of the vote
	Version int64 `db:"version"`
}

// At most KarmaSlotsMost votes of one giver for one receiver are worth karma
// within any KarmaWindow.
const (
	KarmaSlotsMost = 3
	KarmaWindow    = 30 * 24 * time.Hour
)

// KarmaSlotsKey is where a giver's slots for a receiver stand.
func KarmaSlotsKey(giver, receiver string) Key { return Key{QuotaPK(giver), "karma#" + receiver} }

// Holds reports whether a vote cast at (unix ms) for a post has a slot.
func (s *KarmaSlots) Holds(post string, at int64) bool {
	since, ok := s.Posts[post].(int64)
	return ok && near(since, at)
}

// Take takes a slot for a post, if one is free around at (unix ms). Votes may
// arrive in any order: slots on both sides of at count.
func (s *KarmaSlots) Take(post string, at int64) bool {
	used, kept := 0, Map{}
	for p, v := range s.Posts {
		since, _ := v.(int64)
		if near(since, at) {
			used++
		}
		if since > at-2*KarmaWindow.Milliseconds() { // what is older can meet no vote that is still on its way
			kept[p] = since
		}
	}
	if used >= KarmaSlotsMost {
		return false
	}
	kept[post] = at
	s.Posts = kept
	return true
}

func near(a, b int64) bool { return max(a-b, b-a) < KarmaWindow.Milliseconds() }

// Keep writes slots that were taken, on the condition that they are still those
// that were read. Made alone it may be made twice: of one whose answer was lost,
// the second finds the slot taken.
func (s *KarmaSlots) Keep(giver, receiver string) Write {
	var last int64
	for _, v := range s.Posts {
		at, _ := v.(int64)
		last = max(last, at)
	}
	return Change(KarmaSlotsKey(giver, receiver),
		SetAttr(AttrType, TypeQuota), SetAttr(AttrTTL, time.UnixMilli(last).Add(3*KarmaWindow).Unix()),
		SetAttr("posts", maps.Clone(s.Posts)), SetAttr("version", s.Version+1),
	).When(AbsentOrEqual("version", s.Version))
}

// AddKarma moves an agent's karma.
func AddKarma(agent string, n int64) Write {
	return Change(CountersKey(agent), Add("karma", n)).When(ItemExists())
}
