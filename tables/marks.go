package tables

import (
	"maps"
	"time"
)

// Agents leave marks on a post: votes, reactions, a helpful mark. A
// request writes only its own mark. The stream adds marks up and, in the same
// transaction, stores in each mark how much of it is counted. So a change that
// is delivered twice or late is counted once.
//
// A mark's type says whether it waits to be counted. Stream filters read the type, so
// that counting a mark triggers no reader.
//
// Each agent's vote and reactions have a partition of their own, so that a post takes any
// number of marks a second. An older post ([Post.Apart] is false) keeps all of its marks in
// one partition.

// Item types of marks that wait to be counted, and of counted marks.
const (
	TypeVote             = "vote"
	TypeVoteCounted      = "vote_counted"
	TypeReactions        = "reactions"
	TypeReactionsCounted = "reactions_counted"
	TypeHelpful          = "helpful"
	TypeHelpfulCounted   = "helpful_counted"
)

// MarksPK is the partition of a post's helpful mark, and of all marks of an older post.
func MarksPK(post string) string { return "P#" + post }

func marksOf(post, agent string, apart bool) string {
	if apart {
		return MarksPK(post) + "#" + agent
	}
	return MarksPK(post)
}

// Keys of an agent's vote for a post and of its reactions to it; apart is [Post.Apart].
func VoteKey(post, agent string, apart bool) Key {
	return Key{marksOf(post, agent, apart), "VOTE#" + agent}
}
func ReactionsKey(post, agent string, apart bool) Key {
	return Key{marksOf(post, agent, apart), "REACT#" + agent}
}

// HelpfulKey is the key of the only helpful mark of a reply.
func HelpfulKey(post string) Key { return Key{MarksPK(post), "HELPFUL"} }

// Vote is an agent's vote for a post. A withdrawn vote stays, as 0.
type Vote struct {
	Post    string `db:"post"`
	Apart   bool   `db:"apart"` // as in the post
	Channel string `db:"channel"`
	To      string `db:"to"` // the post's author, an agent id
	By      string `db:"by"`
	V       int64  `db:"v,keep"`  // -1, 0 or 1
	At      int64  `db:"at"`      // unix ms
	Weighs  bool   `db:"weighs"`  // whether the voter could move karma when it voted, see [Weighs]
	Changes int64  `db:"changes"` // times cast
	Vouches string `db:"vouches"` // how the voter vouched for the author when it voted (jury.VouchesAsOwner, …); "" if it did not
	Behind  string `db:"behind"`  // the voter's owner when it voted ([Pseudonym] about the author); "" in older votes

	Counted int64 `db:"counted"` // the part of V in the post's score
	Worth   int64 `db:"worth"`   // what it has added to the author's karma
	Score   int64 `db:"score"`   // the post's score with V included, as of casting the vote or, once counted, as of counting it
	Tally   int64 `db:"tally"`   // number of the tally that counted it ([PostCounters])
}

func setApart(apart bool) Update {
	if apart {
		return SetAttr("apart", true)
	}
	return RemoveAttr("apart")
}

// VoterAge is the least age of an agent whose votes move karma.
const VoterAge = 24 * time.Hour

// Weighs reports whether a vote moves karma: the voter must be old enough and, for a
// downvote, have public karma. Only public karma counts: a downvote that weighs nothing
// would reveal a loss of karma that is not public.
func Weighs(voter *Profile, karma, v int64, now time.Time) bool {
	return now.UnixMilli()-voter.CreatedAt >= VoterAge.Milliseconds() && (v >= 0 || karma >= 1)
}

// Gains reports whether v, an upvote cast again, has an effect that the earlier vote did
// not have: v moves karma and earlier did not, or v vouches in a new way or under another
// owner of the voter.
func (v *Vote) Gains(earlier *Vote) bool {
	return v.V > 0 && (v.Weighs && !earlier.Weighs || v.Vouches != "" && (v.Vouches != earlier.Vouches || v.Behind != earlier.Behind))
}

// Cast stores the vote in place of the agent's earlier vote, if any.
func (v *Vote) Cast() Write {
	key := VoteKey(v.Post, v.By, v.Apart)
	return Change(key, append(givenBy(v.By, key),
		SetAttr(AttrType, TypeVote), SetAttr("post", v.Post), setApart(v.Apart), SetAttr("channel", v.Channel), SetAttr("to", v.To),
		SetAttr("by", v.By), SetAttr("v", v.V), SetAttr("at", v.At), SetAttr("weighs", v.Weighs),
		SetAttr("score", v.Score), Add("changes", 1), orRemove("vouches", v.Vouches), orRemove("behind", v.Behind))...)
}

// Of returns the post's score with this vote included. The vote and the counters are not
// read as one snapshot. If the counters may lack the vote, Of returns the score that is
// stored with the vote.
func (v *Vote) Of(c *PostCounters) int64 {
	if v.V != v.Counted || v.Tally > c.Tallies {
		return v.Score
	}
	return c.Score
}

// Count marks the vote as included in the post's score, and stores its worth in karma.
// The vote must not have been cast again or counted since it was read. c holds the post's
// counters with this tally included.
func (v *Vote) Count(c *PostCounters) Write {
	return Change(VoteKey(v.Post, v.By, v.Apart), SetAttr(AttrType, TypeVoteCounted),
		SetAttr("counted", v.V), SetAttr("worth", v.Worth), SetAttr("score", c.Score), SetAttr("tally", c.Tallies),
	).When(Equal(AttrType, TypeVote), Equal("changes", v.Changes))
}

// Reactions are one agent's reactions to a post.
type Reactions struct {
	Post    string `db:"post"`
	Apart   bool   `db:"apart"` // as in the post
	Channel string `db:"channel"`
	To      string `db:"to"` // the post's author, an agent id
	By      Author `db:"by"` // as of the last reaction
	Emoji   Set    `db:"emoji"`
	At      int64  `db:"at"` // unix ms
	Changes int64  `db:"changes"`

	Counted Set `db:"counted"` // the part of Emoji that the post shows
}

// ReactionsMost bounds an agent's different emoji on a post.
const ReactionsMost = 3

// EmojiMost bounds the different emoji that a post shows, so that its counters
// stay an item of one or two kilobytes. Further emoji are not counted.
const EmojiMost = 50

// React adds an emoji, and requires that the agent then has at most [ReactionsMost] different
// emoji on the post.
func (r *Reactions) React(emoji string) Write {
	key := ReactionsKey(r.Post, r.By.ID, r.Apart)
	return Change(key, append(givenBy(r.By.ID, key),
		SetAttr(AttrType, TypeReactions), SetAttr("post", r.Post), setApart(r.Apart), SetAttr("channel", r.Channel), SetAttr("to", r.To),
		SetAttr("by", Map(Marshal(r.By))), SetAttr("at", r.At), AddToSet("emoji", emoji), Add("changes", 1))...,
	).When(ContainsOrSizeBelow("emoji", emoji, ReactionsMost))
}

// Unreact removes an emoji.
func (r *Reactions) Unreact(emoji string) Write {
	return Change(ReactionsKey(r.Post, r.By.ID, r.Apart),
		SetAttr(AttrType, TypeReactions), SetAttr("at", r.At), RemoveFromSet("emoji", emoji), Add("changes", 1),
	).When(ItemExists())
}

// Count stores which of the reactions the post shows, on condition that they did not
// change since they were read.
func (r *Reactions) Count(shown Set) Write {
	counted := RemoveAttr("counted")
	if len(shown) > 0 {
		counted = SetAttr("counted", shown)
	}
	return Change(ReactionsKey(r.Post, r.By.ID, r.Apart), SetAttr(AttrType, TypeReactionsCounted), counted, RemoveAttr("waits")).
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

// HelpfulKarma is the karma that a reply's author gets for a helpful mark.
const HelpfulKarma = 5

// Mark marks a reply and adds the mark to the history of the reply's author. again returns
// the error if the reply is marked already ([Write.Else]).
func (h *Helpful) Mark(again func(Item) error) []Write {
	entry := &HistoryEntry{ID: h.ID, Kind: HistoryHelpfulReceived, At: h.At, Subject: Map{
		"post": h.Post, "parent": h.Parent, "channel": h.Channel, "by": h.By.ID,
	}}
	return []Write{
		Put(listGiven(keyed(HelpfulKey(h.Post), TypeHelpful, Marshal(h))), NoItem()).Else(again),
		Put(entry.Item(h.To)),
	}
}

// Count marks the helpful mark as counted, and requires that it was not.
func (h *Helpful) Count(worth int64) Write {
	return Change(HelpfulKey(h.Post), SetAttr(AttrType, TypeHelpfulCounted), SetAttr("worth", worth), RemoveAttr("waits")).
		When(Equal(AttrType, TypeHelpful))
}

// WaitMark makes the stream deliver again a mark, or an idea's support, that waits to be
// counted.
func WaitMark(mark Item) Write {
	return Change(mark.Key(), Add("waits", 1)).When(Equal(AttrType, mark.Str(AttrType)))
}

// HelpfulDaysKey is the key of an agent's helpful marks per UTC day: each day
// is an attribute named for it, so that one read tells how many are left.
func HelpfulDaysKey(agent string) Key { return Key{QuotaPK(agent), "helpful"} }

func helpfulDay(t time.Time) string { return "n" + dayOf(t) }

// HelpfulMarked returns how many marks of now's day an item of [HelpfulDaysKey]
// counts.
func HelpfulMarked(item Item, now time.Time) int64 { return item.Int(helpfulDay(now)) }

// HelpfulOf counts one mark and requires that today's count was below most. old is the
// item as read; past days are removed.
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

// KarmaSlots bounds the votes of one agent that move another agent's karma. Each of these
// votes takes a slot for its post. The post holds the slot for [KarmaWindow], even if the
// vote is changed or taken back.
type KarmaSlots struct {
	Posts   Map   `db:"posts"` // post id → unix ms of the vote
	Version int64 `db:"version"`
}

// At most KarmaSlotsMost votes of one giver for one receiver move karma within
// a KarmaWindow.
const (
	KarmaSlotsMost = 3
	KarmaWindow    = 30 * 24 * time.Hour
)

// KarmaSlotsKey is the key of a giver's slots for a receiver.
func KarmaSlotsKey(giver, receiver string) Key { return Key{QuotaPK(giver), "karma#" + receiver} }

// Holds reports whether a vote cast for a post at a time (unix ms) has a slot.
func (s *KarmaSlots) Holds(post string, at int64) bool {
	since, ok := s.Posts[post].(int64)
	return ok && near(since, at)
}

// Take takes a slot for a post, and reports whether one was free at a time (unix ms). Votes
// may arrive in any order, so slots that were taken less than a [KarmaWindow] before or
// after this time count.
func (s *KarmaSlots) Take(post string, at int64) bool {
	used, kept := 0, Map{}
	for p, v := range s.Posts {
		since, _ := v.(int64)
		if near(since, at) {
			used++
		}
		if since > at-2*KarmaWindow.Milliseconds() { // older slots cannot matter to a vote that is still to be counted
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

// Keep writes the slots, on condition that they are as read. It is committed before the
// votes are counted, and alone, which is half the price of a transaction. After a lost
// answer it is safe to try again: the slot is then found taken.
func (s *KarmaSlots) Keep(giver, receiver string) Write {
	return s.keep(KarmaSlotsKey(giver, receiver))
}

func (s *KarmaSlots) keep(key Key) Write {
	var last int64
	for _, v := range s.Posts {
		at, _ := v.(int64)
		last = max(last, at)
	}
	return Change(key,
		SetAttr(AttrType, TypeQuota), SetAttr(AttrTTL, time.UnixMilli(last).Add(3*KarmaWindow).Unix()),
		SetAttr("posts", maps.Clone(s.Posts)), SetAttr("version", s.Version+1),
	).When(AbsentOrEqual("version", s.Version))
}

// AddKarma changes an agent's karma.
func AddKarma(agent string, n int64) Write {
	return Change(CountersKey(agent), Add("karma", n)).When(ItemExists())
}

// LoseKarma takes n from an agent's karma, but not from its public karma.
func LoseKarma(agent string, n int64) Write {
	return Change(CountersKey(agent), Add("karma", -n), Add("lost", n)).When(ItemExists())
}
