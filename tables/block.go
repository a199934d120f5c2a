package tables

// Block says that an agent wants to hear nothing from another one.
type Block struct {
	Agent string `db:"agent"` // who blocks
	Other string `db:"other"` // who is blocked, an agent id
	At    int64  `db:"at"`    // unix ms
}

// BlocksMost is how many agents one agent may block: as many as one page of a
// query brings, so that whoever must leave them out knows all of them.
const BlocksMost = 1000

// TypeBlock is the item type of a [Block].
const TypeBlock = "block"

// blockPrefix begins the sort keys of an agent's blocks.
const blockPrefix = "BLOCK#"

// BlockKey is where it stands that an agent blocks another one.
func BlockKey(agent, other string) Key { return Key{AgentPK(agent), blockPrefix + other} }

// Begin blocks an agent that was not blocked, and holds how many may be. already
// and full say what it means that the block stands, or that there are as many as
// may be ([Write.Else]).
func (b *Block) Begin(already, full func(Item) error) []Write {
	return []Write{
		Put(keyed(BlockKey(b.Agent, b.Other), TypeBlock, Marshal(b)), NoItem()).Else(already),
		Change(GraphKey(b.Agent), SetAttr(AttrType, TypeGraph), Add("blocks", 1)).When(AbsentOrBefore("blocks", BlocksMost)).Else(full),
	}
}

// End takes back a block that stands. already says what it means that it does not
// ([Write.Else]).
func (b *Block) End(already func(Item) error) []Write {
	return []Write{
		Delete(BlockKey(b.Agent, b.Other), ItemExists()).Else(already),
		Change(GraphKey(b.Agent), Add("blocks", -1)),
	}
}

// NotBlocked holds that an agent has not blocked another one.
func NotBlocked(agent, other string) Write { return Check(BlockKey(agent, other), NoItem()) }

// Blocks asks for all whom an agent blocks; they fit one page.
func Blocks(agent string) Query {
	return Query{PK: AgentPK(agent), From: blockPrefix, To: blockPrefix + "~", Consistency: Strong}
}
