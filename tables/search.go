package tables

import "time"

// A channel's search index (shared/search) has segments and late posts. A segment is a
// head and parts, named by a digest of the contents. A late post was committed so late
// that the segment for its time may lack it. A search reads the post itself until a segment
// has it. Nothing expires: replaced segments are removed.

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

// Keys of a segment's head and of a part, by name.
func SearchHeadKey(channel, name string) Key { return Key{SearchPK(channel), searchHeads + name} }
func SearchPartKey(channel, name string) Key { return Key{SearchPK(channel), searchParts + name} }

// SearchHead is a segment's head. Only live heads are searched. The head of a new segment
// may be announced, which means stored, before it is live.
type SearchHead struct {
	Head []byte `db:"head"`
	Live bool   `db:"live"`
	At   int64  `db:"at"` // when it became live or was announced, unix ms
}

// Put stores a head, unless a live head has its name.
func (h *SearchHead) Put(channel, name string) Write {
	return Put(keyed(SearchHeadKey(channel, name), TypeSearchHead, Marshal(h)), NotEqual("live", true))
}

// LiveSearchHead makes an announced head live, and requires that it is not live yet.
func LiveSearchHead(channel, name string, at time.Time) Write {
	return Change(SearchHeadKey(channel, name), SetAttr("live", true), SetAttr("at", at.UnixMilli())).
		When(ItemExists(), NotEqual("live", true))
}

// RetireSearchHead makes a head not live, and requires that it exists.
func RetireSearchHead(channel, name string) Write {
	return Change(SearchHeadKey(channel, name), RemoveAttr("live")).When(ItemExists())
}

// SearchHeads queries the heads with names up to and including last, in descending order of
// the names.
func SearchHeads(channel, last string, most int, c Consistency) Query {
	return Query{
		PK: SearchPK(channel), From: searchHeads, To: searchHeads + last, Desc: true, Limit: most, Consistency: c,
	}
}

// SearchPart holds the bytes of a segment's part.
type SearchPart struct {
	Bytes []byte `db:"bytes"`
}

// Item returns the item of the part.
func (p *SearchPart) Item(channel, name string) Item {
	return keyed(SearchPartKey(channel, name), TypeSearchPart, Marshal(p))
}

// SearchLateKey is the key of a late post, by its id without the prefix.
func SearchLateKey(channel, ulid string) Key { return Key{SearchPK(channel), searchLate + ulid} }

// SearchLateItem returns the item of a late post.
func SearchLateItem(channel, ulid string) Item {
	return keyed(SearchLateKey(channel, ulid), TypeSearchLate, Item{"post": ulid})
}

// SearchLate queries a channel's late posts.
func SearchLate(channel string) Query {
	return Query{PK: SearchPK(channel), From: searchLate, To: searchLate + "~", Consistency: Strong}
}
