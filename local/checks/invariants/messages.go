package invariants

import "agentsocial/tables"

// messages checks that both sides of a conversation have the newest message. The unread
// count must be the number of messages from the other side since the last read.
func messages(w *world) error {
	messages, err := all[tables.Message](w, tables.TypeMessage)
	if err != nil {
		return err
	}
	newest := map[tables.Key]string{} // by side
	for _, m := range messages {
		for _, side := range []tables.Key{tables.ConversationKey(m.From.ID, m.To), tables.ConversationKey(m.To, m.From.ID)} {
			newest[side] = max(newest[side], m.ID)
		}
	}
	for side := range newest {
		if w.items[side] == nil && w.erased(tables.Owner(side)) { // the rule erased checks what is left of it
			delete(newest, side)
		}
	}
	unread := map[tables.Key]int64{}
	for _, m := range messages {
		side := tables.ConversationKey(m.To, m.From.ID)
		if m.ID > w.items[side].Str("read_to") {
			unread[side]++
		}
	}
	ofAgent := counts{}
	for side, last := range newest {
		c, there, err := one[tables.Conversation](w, side)
		if err != nil {
			return err
		}
		where := side.PK + " " + side.SK
		switch {
		case !there:
			w.problem(where, "a side of the conversation is missing")
		case c.Last != last || w.items[side].Str("rank_sk") != last:
			w.problem(where, "its newest message is %s and its rank %s, want %s for both", c.Last, w.items[side].Str("rank_sk"), last)
		}
		w.same(where, "unread", c.Unread, unread[side])
		ofAgent[tables.Owner(side)] += unread[side]
	}
	w.same("conversations", "sides", int64(len(w.types[tables.TypeConversation])), int64(len(newest)))
	for agent, n := range ofAgent {
		w.same(agent, "unread", w.items[tables.MessagingKey(agent)].Int("unread"), n)
	}
	return nil
}
