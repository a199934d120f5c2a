package tables

import "time"

// A channel's search index (shared/search): segments, each a head and its parts,
// and posts that came too late for their segment. The items' bytes are that
// package's; here they have names only. Nothing of it expires: what took the
// place of a segment removes it.

// Item types of a search index.
const (
	TypeSearchHead = "search_head"
	TypeSearchPart = "search_part"
	TypeSearchLate = "search_late"
)

const (
	searchHeads = "H#"
	searchParts = "X#"
	searchLate  = "L#"
)

// SearchPK is the partition of a channel's search index.
func SearchPK(channel string) string { return "S#" + channel }

// Keys of a segment's head and of one of its parts, by their names.
func SearchHeadKey(channel, name string) Key { return Key{SearchPK(channel), searchHeads + name} }
func SearchPartKey(channel, name string) Key { return Key{SearchPK(channel), searchParts + name} }

// SearchHead is a segment's head. One that is not live is not searched.
type SearchHead struct {
	Head []byte `db:"head"`
	Live bool   `db:"live"`
	At   int64  `db:"at"` // when it became live, or was announced, unix ms
}

// Put puts a head, unless one of its name is live.
func (h *SearchHead) Put(channel, name string) Write {
	return Put(keyed(SearchHeadKey(channel, name), TypeSearchHead, Marshal(h)), NotEqual("live", true))
}

// LiveSearchHead makes a head live that was announced, and is not live.
func LiveSearchHead(channel, name string, at time.Time) Write {
	return Change(SearchHeadKey(channel, name), SetAttr("live", true), SetAttr("at", at.UnixMilli())).
		When(ItemExists(), NotEqual("live", true))
}

// RetireSearchHead makes a head, if it is there, one that is not live.
func RetireSearchHead(channel, name string) Write {
	return Change(SearchHeadKey(channel, name), RemoveAttr("live")).When(ItemExists())
}

// SearchHeads asks for heads whose names are before one, last name first.
func SearchHeads(channel, before string, most int, c Consistency) Query {
	return Query{
		PK: SearchPK(channel), From: searchHeads, To: searchHeads + before, Desc: true, Limit: most, Consistency: c,
	}
}

// SearchPart is a part of a segment, of which only the bytes matter.
type SearchPart struct {
	Bytes []byte `db:"bytes"`
}

// Item of the part.
func (p *SearchPart) Item(channel, name string) Item {
	return keyed(SearchPartKey(channel, name), TypeSearchPart, Marshal(p))
}

// SearchLateKey is where a late post is listed, by its id without the prefix.
func SearchLateKey(channel, ulid string) Key { return Key{SearchPK(channel), searchLate + ulid} }

// SearchLateItem lists a late post.
func SearchLateItem(channel, ulid string) Item {
	return keyed(SearchLateKey(channel, ulid), TypeSearchLate, Item{"post": ulid})
}

// SearchLate asks for a channel's late posts.
func SearchLate(channel string) Query {
	return Query{PK: SearchPK(channel), From: searchLate, To: searchLate + "~", Consistency: Strong}
}
