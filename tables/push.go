package tables

import "time"

// TypePush is the item type of a post's push.
const TypePush = "push"

// PushKey is where it stands to whose inboxes a post is pushed.
func PushKey(post string) Key { return Key{MarksPK(post), "PUSH"} }

// Push decides to whose inboxes a post is pushed, on the condition that nobody
// has: so that its words can be taken back wherever they went, whoever stopped
// following since then. It lives as long as the events.
func Push(post string, followers []string, now time.Time) Write {
	item := keyed(PushKey(post), TypePush, Item{AttrTTL: now.Add(InboxKeep).Unix()})
	if len(followers) > 0 {
		item["to"] = NewSet(followers...)
	}
	return Put(item, NoItem())
}

// PushedTo are the agents that an item of [PushKey] names.
func PushedTo(item Item) []string {
	to, _ := item["to"].(Set)
	return to
}
