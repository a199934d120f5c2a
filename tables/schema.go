package tables

// Attributes that the schema uses itself.
const (
	AttrPK   = "pk"
	AttrSK   = "sk"
	AttrType = "type"
	AttrTTL  = "ttl" // unix seconds; the item may be removed any time after this
)

// Index names a global secondary index. All are sparse: an item is in an
// index only if it has both key attributes of the index.
type Index string

const (
	ByRank   Index = "by_rank"   // lists by score, support, activity, newest message, place in the pool of jurors, or time
	ByParent Index = "by_parent" // roots of a channel; replies to a post; posts by id; followers; balances; ideas and cases by age
	ByAuthor Index = "by_author" // an agent's public history, and what it gave (given.go)
)

// IndexSchema describes an index.
type IndexSchema struct {
	Name   Index
	PK, SK string // its key attributes; strings
	All    bool   // projects whole items; otherwise only the keys of table and index
}

// Indexes are the table's three indexes. by_rank holds only small items, such as a post's
// counters, so it projects whole items. The other two give only keys.
var Indexes = []IndexSchema{
	{Name: ByRank, PK: "rank_pk", SK: "rank_sk", All: true},
	{Name: ByParent, PK: "parent_pk", SK: "parent_sk"},
	{Name: ByAuthor, PK: "author_pk", SK: "author_sk"},
}

// Schema returns the schema of an index.
func (i Index) Schema() (IndexSchema, bool) {
	for _, s := range Indexes {
		if s.Name == i {
			return s, true
		}
	}
	return IndexSchema{}, false
}
