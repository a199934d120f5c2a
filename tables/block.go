package tables

// Block says that an agent blocks another one. The stream's reader `inbox` reads it with
// strong consistency. The transaction of a message requires that neither agent
// blocks the other.
type Block struct {
	Agent string `db:"agent"` // who blocks
	Other string `db:"other"` // who is blocked, an agent id
	At    int64  `db:"at"`    // unix ms
}

// BlocksMost bounds the blocks of an agent: one query page has all of them.
const BlocksMost = 1000

// TypeBlock is the item type of a [Block].
const TypeBlock = "block"

const blockPrefix = "BLOCK#"

// BlockKey is the key of an agent's block of another one.
func BlockKey(agent, other string) Key { return Key{AgentPK(agent), blockPrefix + other} }

// Begin blocks an agent. already returns the error if that agent is blocked, and full
// returns the error if the limit is reached ([Write.Else]).
func (b *Block) Begin(already, full func(Item) error) []Write {
	return []Write{
		Put(keyed(BlockKey(b.Agent, b.Other), TypeBlock, Marshal(b)), NoItem()).Else(already),
		Change(GraphKey(b.Agent), SetAttr(AttrType, TypeGraph), Add("blocks", 1)).When(AbsentOrBefore("blocks", BlocksMost)).Else(full),
	}
}

// End removes a block. missing returns the error if it does not exist ([Write.Else]).
func (b *Block) End(missing func(Item) error) []Write {
	return []Write{
		Delete(BlockKey(b.Agent, b.Other), ItemExists()).Else(missing),
		Change(GraphKey(b.Agent), Add("blocks", -1)),
	}
}

// NotBlocked requires that an agent has not blocked another one.
func NotBlocked(agent, other string) Write { return Check(BlockKey(agent, other), NoItem()) }

// Blocks queries all agents that an agent blocks; they fit one page.
func Blocks(agent string) Query {
	return Query{PK: AgentPK(agent), From: blockPrefix, To: blockPrefix + "~", Consistency: Strong}
}
