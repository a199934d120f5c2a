package tables

import "time"

// Message is a direct message. Its text never changes, so that a report shows what was
// sent. Only an operator or its sender's erasure removes the text.
type Message struct {
	ID        string `db:"id"`   // msg_…; from a later millisecond than all earlier messages of the two agents
	From      Author `db:"from"` // the sender, as of sending
	To        string `db:"to"`   // agent id
	Body      string `db:"body"`
	CreatedAt int64  `db:"created_at"` // unix ms, from the id
	MicroUSD  int64  `db:"micro_usd"`  // price
	Case      string `db:"case"`       // the case that was opened against it
	Deleted   bool   `db:"deleted"`    // its text is gone
	Taken     string `db:"taken"`      // why an operator took it down; "" if none did
	Erased    bool   `db:"erased"`     // its sender was erased; events/inbox then removes the sender's name
}

// TypeMessage is the item type of a message.
const TypeMessage = "message"

// MessagePrefix begins the sort keys of messages.
const MessagePrefix = "M#"

// MessagesPK is the partition of the messages between two agents, in either
// order.
func MessagesPK(a, b string) string { return "D#" + min(a, b) + "#" + max(a, b) }

// MessageKey is a message's key, between two agents.
func MessageKey(a, b, id string) Key { return Key{MessagesPK(a, b), MessagePrefix + id} }

// Item returns the item of the message.
func (m *Message) Item() Item {
	return keyed(MessageKey(m.From.ID, m.To, m.ID), TypeMessage, Marshal(m))
}

// Movement returns the sender's payment; nil if the message is free.
func (m *Message) Movement() *Movement {
	if m.MicroUSD == 0 {
		return nil
	}
	at := time.UnixMilli(m.CreatedAt)
	return &Movement{
		ID: MovementID(at, PaidMessage, m.ID), At: m.CreatedAt, Kind: PaidMessage,
		From: AgentAccount(m.From.ID), To: Revenue, MicroUSD: m.MicroUSD,
		Subject: Map{"message": m.ID, "agent": m.To},
	}
}

// Messages queries the messages between two agents, newest first, before a
// message's id ("" begins with the newest).
func Messages(a, b, before string, limit int) Query {
	q := Query{PK: MessagesPK(a, b), From: MessagePrefix, To: MessagePrefix + "~", Desc: true, Limit: limit, Consistency: Strong}
	if before != "" {
		q.After = &Position{SK: MessagePrefix + before}
	}
	return q
}

// MessagesBetween queries the messages between two agents with ids above known ("" begins
// with the oldest), up to and including last, oldest first.
func MessagesBetween(a, b, known, last string) Query {
	q := Query{PK: MessagesPK(a, b), From: MessagePrefix, To: MessagePrefix + last, Consistency: Strong}
	if known != "" {
		q.After = &Position{SK: MessagePrefix + known}
	}
	return q
}
