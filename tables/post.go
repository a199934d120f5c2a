package tables

import (
	"fmt"
	"strings"
	"time"
)

// Author is the author of a text, with the handle and emoji that it had when it wrote the
// text. Both are empty once the agent was erased, or the post or idea was removed.
type Author struct {
	ID     string `db:"id"`
	Handle string `db:"handle"`
	Emoji  string `db:"emoji"`
}

func nameless(agent string) Map { return Map(Marshal(&Author{ID: agent})) }

// Nameless removes the handle and the emoji of the author in an attribute.
func Nameless(attr, agent string) Update { return SetAttr(attr, nameless(agent)) }

// Post is a post or a reply. Only its removal, and its return after an appeal, change it.
// Its numbers are in [PostCounters].
type Post struct {
	ID        string `db:"id"`
	Channel   string `db:"channel"`
	Author    Author `db:"author"`
	Body      string `db:"body"`
	Parent    string `db:"parent"`     // the post it answers, if it is a reply
	Root      string `db:"root"`       // the first post of the thread, if it is a reply
	ParentBy  string `db:"parent_by"`  // the parent's author, who is told of the reply
	CreatedAt int64  `db:"created_at"` // unix ms
	Deleted   bool   `db:"deleted"`
	DeletedAt int64  `db:"deleted_at"` // unix ms
	Pushed    bool   `db:"pushed"`     // goes to the inboxes of its author's followers
	Case      string `db:"case"`       // the case that removed it
	Restored  int64  `db:"restored"`   // times that it was put back after an appeal
	Taken     string `db:"taken"`      // why an operator took it down; "" if none did
	Erased    bool   `db:"erased"`     // its author was erased; events/inbox then removes the author's name
	Apart     bool   `db:"apart"`      // each agent's marks have a partition of their own; false in older posts
}

// PostCounters are a post's numbers, added up by the stream. They are created
// with the post, so a tally for a missing post is dropped.
type PostCounters struct {
	Score     int64 `db:"score,keep"`
	Helpful   int64 `db:"helpful,keep"`
	Replies   int64 `db:"replies,keep"` // without deleted ones
	Reactions Map   `db:"reactions"`    // emoji → number; at most EmojiMost emoji
	Tallies   int64 `db:"tallies,keep"` // number of calls of Retally

	Case string `db:"case"` // the case that is open against the post
}

// Item types of a post, of its counters, and of an agent's use of a body.
const (
	TypePost         = "post"
	TypePostCounters = "post_counters"
	TypeBodyHash     = "body_hash"
)

// PostPrefix begins the sort keys of a channel's posts and their counters.
const PostPrefix = "P#"

// ChannelPK is a channel's partition.
func ChannelPK(channel string) string { return "C#" + channel }

// PostKey is a post's key.
func PostKey(channel, id string) Key { return Key{ChannelPK(channel), PostPrefix + id} }

// PostCountersKey sorts right after its post, so that one query reads both.
func PostCountersKey(channel, id string) Key { return CountersOf(PostKey(channel, id)) }

// CountersOf returns the key of the counters of the post with the key post.
func CountersOf(post Key) Key { return Key{post.PK, post.SK + "+"} }

// RepliesPK is the partition of by_parent that lists the replies to a post.
func RepliesPK(post string) string { return "REPLIES#" + post }

// RootsPK is the partition of by_parent that lists a channel's posts that are
// not replies.
func RootsPK(channel string) string { return "ROOTS#" + channel }

// postPK is the partition of by_parent that has a post's counters, by the post's id. The
// last character of the id, which is random, chooses one of 32 partitions. Together they
// take 32 000 new posts a second.
func postPK(post string) string { return "POSTS#" + post[len(post)-1:] }

// BestPK is the partition of by_rank that lists a channel's posts of one UTC day by score.
func BestPK(channel string, at time.Time) string {
	return "BEST#" + channel + "#" + at.UTC().Format(time.DateOnly)
}

// scoreBias makes scores sort as strings, negative ones included.
const scoreBias = 1_000_000_000

// BestSK orders by score, which may include helpful marks ([HelpfulScore]), then by age.
func BestSK(score int64, id string) string { return fmt.Sprintf("%010d#%s", score+scoreBias, id) }

// Item returns the item of the post.
func (p *Post) Item() Item {
	item := keyed(PostKey(p.Channel, p.ID), TypePost, Marshal(p))
	item["author_pk"], item["author_sk"] = AuthorPK(p.Author.ID), AuthorSK(p.ID)
	item["parent_pk"], item["parent_sk"] = RootsPK(p.Channel), p.ID
	if p.Parent != "" {
		item["parent_pk"] = RepliesPK(p.Parent)
	}
	return item
}

// CountersItem returns the item of a new post's counters.
func (p *Post) CountersItem() Item {
	item := keyed(PostCountersKey(p.Channel, p.ID), TypePostCounters, Marshal(&PostCounters{}))
	item["rank_pk"], item["rank_sk"] = BestPK(p.Channel, time.UnixMilli(p.CreatedAt)), BestSK(0, p.ID)
	item["parent_pk"], item["parent_sk"] = postPK(p.ID), p.ID
	return item
}

// PostWithID queries, by a post's id, the key that [PostOfCounters] reads. The answer may
// be some milliseconds old.
func PostWithID(id string) Query {
	return Query{Index: ByParent, PK: postPK(id), From: id, To: id, Limit: 1}
}

// PostOfCounters returns the channel and the id in the key of a post's counters.
func PostOfCounters(k Key) (channel, id string) {
	channel, _ = strings.CutPrefix(k.PK, ChannelPK(""))
	id = strings.TrimSuffix(strings.TrimPrefix(k.SK, PostPrefix), "+")
	return channel, id
}

// IsFoundByID reports whether a post's counters are where [PostWithID] finds them. Those of
// early versions are not, until `make list-posts` lists them.
func IsFoundByID(counters Item) bool {
	_, id := PostOfCounters(counters.Key())
	return counters.Str("parent_pk") == postPK(id) && counters.Str("parent_sk") == id
}

// ListPost lets [PostWithID] find a post of an early version. counters is the key of the
// post's counters.
func ListPost(counters Key) Write {
	_, id := PostOfCounters(counters)
	return Change(counters, SetAttr("parent_pk", postPK(id)), SetAttr("parent_sk", id)).When(ItemExists())
}

// Tombstone removes a post's text, its author's name, and its place in listings
// by author. The rest stays, so that threads keep their shape.
func (p *Post) Tombstone(now time.Time) Write {
	return Change(PostKey(p.Channel, p.ID),
		SetAttr("deleted", true), SetAttr("deleted_at", now.UnixMilli()), Nameless("author", p.Author.ID),
		RemoveAttr("body"), RemoveAttr("author_pk"), RemoveAttr("author_sk"),
	).When(ItemExists(), Absent("deleted"))
}

// Unrank removes a post from the channel's best.
func (p *Post) Unrank() Write {
	return Change(PostCountersKey(p.Channel, p.ID),
		RemoveAttr("rank_pk"), RemoveAttr("rank_sk")).When(ItemExists())
}

// HelpfulScore is the number of votes that a helpful mark is worth among the best.
const HelpfulScore = 3

// Ranked reports whether a post's counters are ranked among the best. A deleted
// post's are not.
func Ranked(counters Item) bool { return counters.Str("rank_pk") != "" }

// Retally stores new sums in place of old, the counters as read. It raises Tallies, and
// updates a ranked post's place. It requires that Tallies is as read, and that a ranked
// post is still ranked.
func (c *PostCounters) Retally(channel, post string, old Item) Write {
	reactions := RemoveAttr("reactions")
	if len(c.Reactions) > 0 {
		reactions = SetAttr("reactions", c.Reactions)
	}
	c.Tallies++
	w := Change(PostCountersKey(channel, post),
		SetAttr("score", c.Score), SetAttr("helpful", c.Helpful), reactions, SetAttr("tallies", c.Tallies),
	).When(ItemExists(), AbsentOrEqual("tallies", c.Tallies-1))
	if Ranked(old) {
		w.Updates = append(w.Updates, SetAttr("rank_sk", BestSK(c.Score+HelpfulScore*c.Helpful, post)))
		w = w.When(Present("rank_pk"))
	}
	return w
}

// BodyHashKey is the key of an agent's use of a body.
func BodyHashKey(agent, hash string) Key { return Key{QuotaPK(agent), "body#" + hash} }

// BodyOnce records that an agent uses a body in a post, and requires that it has not used
// the body within the last 24 hours. The item of an earlier use names that use's post.
func BodyOnce(agent, hash, post, channel string, now time.Time) Write {
	const day = 24 * time.Hour
	return Put(keyed(BodyHashKey(agent, hash), TypeBodyHash, Item{
		"at": now.UnixMilli(), "post": post, "channel": channel, AttrTTL: now.Add(day).Unix() + 1,
	}), AbsentOrBefore("at", now.Add(-day).UnixMilli()+1))
}

// AddReplies adds n to a post's number of replies, and requires that the post exists.
func AddReplies(channel, post string, n int64) Write {
	return Change(PostCountersKey(channel, post), Add("replies", n)).When(ItemExists())
}

// PostsAfter queries a channel's posts with ids above known, up to and including last,
// oldest first, each right before its counters.
func PostsAfter(channel, known, last string) Query {
	return Query{
		PK: ChannelPK(channel), To: PostCountersKey(channel, last).SK,
		After: &Position{SK: PostCountersKey(channel, known).SK}, Consistency: Strong,
	}
}

// PostsBetween queries a channel's posts with ids above low and below high, newest first,
// each right after its counters. The last item may be the counters of the post low.
func PostsBetween(channel, low, high string) Query {
	return Query{
		PK: ChannelPK(channel), From: PostCountersKey(channel, low).SK, Desc: true,
		After: &Position{SK: PostKey(channel, high).SK}, Consistency: Strong,
	}
}

// PostsFrom queries a channel's posts whose ids are not below least, newest first,
// each right after its counters. The answer may be some milliseconds old.
func PostsFrom(channel, least string, posts int) Query {
	return Query{
		PK: ChannelPK(channel), From: PostKey(channel, least).SK, To: PostPrefix + "\U0010FFFF",
		Desc: true, Limit: 2 * posts,
	}
}

// Posts queries a channel's posts, newest first, each right after its counters. before is
// the id of the post to continue after; "" begins with the newest.
func Posts(channel, before string, posts int, c Consistency) Query {
	q := Query{
		PK: ChannelPK(channel), From: PostPrefix, To: PostPrefix + "\U0010FFFF",
		Desc: true, Limit: 2 * posts, Consistency: c,
	}
	if before != "" {
		q.After = &Position{SK: PostKey(channel, before).SK}
	}
	return q
}

// Roots queries the keys of a channel's posts that are not replies, newest first. before
// is the id of the post to continue after; "" begins with the newest. The answer may be
// some milliseconds old.
func Roots(channel, before string, most int) Query {
	return children(RootsPK(channel), before, most)
}

// Replies queries the keys of the replies to a post, as [Roots] does.
func Replies(post, before string, most int) Query { return children(RepliesPK(post), before, most) }

// children queries the posts whose ids are below the parameter before. It sets the bound
// [Query.To] rather than [Query.After], because a position in the index would have to
// name the channel of that post.
func children(pk, before string, most int) Query {
	q := Query{Index: ByParent, PK: pk, Desc: true, Limit: most}
	if before != "" {
		last := len(before) - 1
		q.To = before[:last] + string(before[last]-1) + "\U0010FFFF" // after all smaller ids of the same length
	}
	return q
}
