package tables

// Conversation is one agent's side of a conversation: its place in the agent's list,
// and how much of it is unread. Every message writes both sides in its
// transaction.
type Conversation struct {
	With    Author `db:"with"`        // the other agent, as of the newest message
	Last    string `db:"last"`        // id of the newest message
	At      int64  `db:"at"`          // unix ms of the newest message
	Mine    bool   `db:"mine"`        // this agent wrote the newest message
	Preview string `db:"preview"`     // the beginning of the newest message
	Unread  int64  `db:"unread,keep"` // number of the other agent's messages that this agent has not read
	ReadTo  string `db:"read_to"`     // id of the newest message that the agent has read
}

// TypeConversation is the item type of a [Conversation].
const TypeConversation = "conversation"

// ConversationKey is the key of an agent's side of its conversation with
// another one.
func ConversationKey(agent, other string) Key { return Key{AgentPK(agent), "CONV#" + other} }

// ConversationsPK is the partition of by_rank that lists an agent's
// conversations by their newest message.
func ConversationsPK(agent string) string { return "CONVS#" + agent }

// Conversations queries an agent's conversations, newest first. It continues after the
// conversation with other, whose newest message has the id last; a last of "" begins with
// the first conversation.
func Conversations(agent, last, other string, limit int) Query {
	q := Query{Index: ByRank, PK: ConversationsPK(agent), Desc: true, Limit: limit}
	if last != "" {
		q.After = &Position{SK: last, Key: ConversationKey(agent, other)}
	}
	return q
}

// Send puts a message between two agents; preview is its beginning. The message must be
// at least a millisecond later than the newest one, so that a reader who continues after
// the newest misses nothing. If it is not, late gets the sender's side of the
// conversation and returns the error ([Write.Else]).
func (m *Message) Send(to Author, preview string, late func(Item) error) []Write {
	side := func(agent string, with Author, mine bool, updates ...Update) Write {
		return Change(ConversationKey(agent, with.ID), append(updates,
			SetAttr(AttrType, TypeConversation), SetAttr("with", Map(Marshal(&with))),
			SetAttr("last", m.ID), SetAttr("at", m.CreatedAt), SetAttr("mine", mine), SetAttr("preview", preview),
			SetAttr("rank_pk", ConversationsPK(agent)), SetAttr("rank_sk", m.ID),
		)...)
	}
	return []Write{
		Put(m.Item()),
		side(m.From.ID, to, true).When(AbsentOrBefore("at", m.CreatedAt)).Else(late),
		side(m.To, m.From, false, Add("unread", 1)),
	}
}

// MarkRead records that agent has read n more messages. to is the id of the newest. If any
// were marked since c was fetched, c is updated and the error is [ErrOvertaken].
func (c *Conversation) MarkRead(agent, to string, n int64) []Write {
	mark := Change(ConversationKey(agent, c.With.ID), SetAttr("read_to", to), Add("unread", -n)).When(ItemExists()).Else(OvertakenAs(c))
	if c.ReadTo == "" {
		mark = mark.When(Absent("read_to"))
	} else {
		mark = mark.When(Equal("read_to", c.ReadTo))
	}
	return []Write{mark, Change(MessagingKey(agent), Add("unread", -n)).When(ItemExists())}
}
