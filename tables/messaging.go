package tables

import "cmp"

// Messaging is the item that messages to an agent check and write. It is separate from the
// [Profile], so that incoming messages do not conflict with the agent's own changes. The
// first message to the agent, or the first change of its setting, creates it.
type Messaging struct {
	DMs    string `db:"dms"`    // a copy of the profile's setting; "" until the setting is changed
	Unread int64  `db:"unread"` // number of unread messages in all its conversations
}

// TypeMessaging is the item type of a [Messaging].
const TypeMessaging = "messaging"

// MessagingKey is the key of an agent's [Messaging].
func MessagingKey(agent string) Key { return Key{AgentPK(agent), "MESSAGES"} }

// Takes returns whose messages an agent accepts. A change is written to both items; if
// they were read at different times, m decides.
func (m *Messaging) Takes(p *Profile) string { return cmp.Or(m.DMs, p.DMs, FromAnyone) }

// TakeMessages changes whose messages an agent accepts, in the transaction that
// changes its profile.
func TakeMessages(agent, dms string) Write {
	return Change(MessagingKey(agent), SetAttr(AttrType, TypeMessaging), SetAttr("dms", dms))
}

// Receive counts an unread message, and requires that the agent's setting is
// unchanged since m was read. That the agent exists and has finished its signup
// needs no condition: once true, it stays true.
func (m *Messaging) Receive(agent string) Write {
	unchanged := Absent("dms")
	if m.DMs != "" {
		unchanged = Equal("dms", m.DMs)
	}
	return Change(MessagingKey(agent), SetAttr(AttrType, TypeMessaging), Add("unread", 1)).When(unchanged)
}
