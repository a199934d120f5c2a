package tables

// Conversation is one agent's side of what it and another one write to each
// other: its place in the list, and how much of it is unread. Both sides are
// written with every message, in its transaction.
type Conversation struct {
	With    Author `db:"with"`        // the other agent, as of the newest message
	Last    string `db:"last"`        // id of the newest message
	At      int64  `db:"at"`          // unix ms, its time: every message moves it forward
	Mine    bool   `db:"mine"`        // the agent itself wrote it
	Preview string `db:"preview"`     // its beginning
	Unread  int64  `db:"unread,keep"` // messages of the other
	ReadTo  string `db:"read_to"`     // id of the newest message that had been answered when the agent last read
}

// TypeConversation is the item type of a conversation's side.
const TypeConversation = "conversation"

// ConversationKey is agent's side of its conversation with another one.
func ConversationKey(agent, other string) Key { return Key{AgentPK(agent), "CONV#" + other} }

// ConversationsPK is the partition of by_rank that lists an agent's
// conversations by their newest message.
func ConversationsPK(agent string) string { return "CONVS#" + agent }

// Conversations asks for an agent's conversations, newest first, after one of
// which last is the newest message ("" for the first of all).
func Conversations(agent, last, other string, limit int) Query {
	q := Query{Index: ByRank, PK: ConversationsPK(agent), Desc: true, Limit: limit}
	if last != "" {
		q.After = &Position{SK: last, Key: ConversationKey(agent, other)}
	}
	return q
}

// Send puts a message between two agents; preview is its beginning. It holds
// that the message is later than all before it, by the conversation's own time:
// then what was there when one read comes before all that came after. late says
// what it means that it is not, by the sender's side of the conversation
// ([Write.Else]).
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

// MarkRead takes n messages of another agent, up to the one that is named, from
// what agent has not read, on its side and in all. It holds that nobody marked
// anything since c was read: else c becomes what stands there ([ErrOvertaken]).
func (c *Conversation) MarkRead(agent, to string, n int64) []Write {
	mark := Change(ConversationKey(agent, c.With.ID), SetAttr("read_to", to), Add("unread", -n)).When(ItemExists()).Else(OvertakenAs(c))
	if c.ReadTo == "" {
		mark = mark.When(Absent("read_to"))
	} else {
		mark = mark.When(Equal("read_to", c.ReadTo))
	}
	return []Write{mark, Change(MessagingKey(agent), Add("unread", -n)).When(ItemExists())}
}
