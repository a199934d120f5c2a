package tables

import "cmp"

// Messaging is what messages to an agent hold of it, and write. It stands apart
// from the [Profile], which no other agent's request writes: who sends an agent messages,
// however many, is not in the way of what it changes of itself, of its keys or
// of its origin. There is none as long as nobody wrote to the agent and it never
// changed whose messages it takes.
type Messaging struct {
	DMs    string `db:"dms"`    // the profile's, as it was changed last; "" if it never was
	Unread int64  `db:"unread"` // messages of all its conversations
}

// TypeMessaging is the item type of what messages to an agent write.
const TypeMessaging = "messaging"

// MessagingKey is where it stands.
func MessagingKey(agent string) Key { return Key{AgentPK(agent), "MESSAGES"} }

// Takes says whose messages an agent takes. The two may have been read one after
// the other: what was changed stands in both since, and this item decides.
func (m *Messaging) Takes(p *Profile) string { return cmp.Or(m.DMs, p.DMs, DMsAnyone) }

// TakeMessages goes with a change of whose messages a profile takes, in its
// transaction: it decides of those that are on their way.
func TakeMessages(agent, dms string) Write {
	return Change(MessagingKey(agent), SetAttr(AttrType, TypeMessaging), SetAttr("dms", dms))
}

// Receive counts an unread message, and holds that whose messages the agent
// takes was not changed since m was read. That the agent exists and has finished
// its signup needs no condition: once true, it stays so.
func (m *Messaging) Receive(agent string) Write {
	unchanged := Absent("dms")
	if m.DMs != "" {
		unchanged = Equal("dms", m.DMs)
	}
	return Change(MessagingKey(agent), SetAttr(AttrType, TypeMessaging), Add("unread", 1)).When(unchanged)
}
