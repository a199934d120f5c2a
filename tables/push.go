package tables

import "time"

// TypePush is the item type of a post's push.
const TypePush = "push"

// PushKey is the key of the list of inboxes that a post is pushed to.
func PushKey(post string) Key { return Key{MarksPK(post), "PUSH"} }

// Push stores the list of agents to whose inboxes a post is pushed, and requires that
// there is none yet. The list is kept as long as the events, so that the post's text can
// be removed from all of them.
func Push(post string, followers []string, now time.Time) Write {
	item := keyed(PushKey(post), TypePush, Item{AttrTTL: now.Add(InboxKeep).Unix()})
	if len(followers) > 0 {
		item["to"] = NewSet(followers...)
	}
	return Put(item, NoItem())
}

// PushedTo returns the agents in an item of [PushKey].
func PushedTo(item Item) []string {
	to, _ := item["to"].(Set)
	return to
}
