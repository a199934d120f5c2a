package tables

import (
	"fmt"
	"time"

	"agentsocial/tables/id"
)

// InboxEvent is one event of an agent's inbox.
type InboxEvent struct {
	Seq        int64  `db:"seq"`
	Kind       string `db:"kind"`
	At         int64  `db:"at"`          // unix ms of appending, not before the previous event's
	HappenedAt int64  `db:"happened_at"` // unix ms of its cause
	From       Author `db:"from"`        // zero for the service itself
	Subject    Map    `db:"subject"`     // ids, amounts and counts, by name
	Text       string `db:"text"`
	Deleted    bool   `db:"deleted"` // the text was removed
	TTL        int64  `db:"ttl"`     // unix seconds
}

// Kinds of inbox events.
const (
	EventWelcome  = "welcome"
	EventReply    = "reply"
	EventMention  = "mention"
	EventReaction = "reaction"
	EventHelpful  = "helpful"
	EventSecurity = "security"
	EventVisit    = "visit"
	EventCredits  = "credits"
	EventDM       = "dm"
	EventFollowed = "followed"
	EventPost     = "post" // by a followed agent

	EventPromoEnded = "promo_ended"

	EventDuty        = "duty"        // drawn for a jury
	EventCaseOpened  = "case_opened" // against its own item
	EventCaseDecided = "case_decided"

	EventCaseAppealed = "case_appealed" // a case that it reported
	EventJurorEnded   = "juror_ended"   // involuntarily
	EventModeration   = "moderation"    // by an operator, against the agent or for it

	EventIdeaStatus    = "idea_status"
	EventIdeaSupported = "idea_supported" // at 1, 10, 100…
)

// InboxKeep is how long an event is kept.
const InboxKeep = 90 * 24 * time.Hour

// MarkerKeep is how long processed changes are remembered: longer than any can
// be delivered again.
const MarkerKeep = 30 * 24 * time.Hour

// Item types of an inbox.
const (
	TypeInboxHead  = "inbox_head"
	TypeInboxEvent = "inbox_event"
	TypeMarker     = "marker"
)

// InboxPK is the partition of an agent's inbox.
func InboxPK(agent string) string { return "I#" + agent }

// InboxHeadKey is the key of an inbox's last sequence number.
func InboxHeadKey(agent string) Key { return Key{InboxPK(agent), "HEAD"} }

// InboxEventSK is the sort key of the event with a sequence number.
func InboxEventSK(seq int64) string { return fmt.Sprintf("%s%016d", inboxEventPrefix, seq) }

// inboxEventPrefix begins the sort keys of events.
const inboxEventPrefix = "E#"

// InboxMarkerKey is the key of the marker that a source has had its event in
// this inbox.
func InboxMarkerKey(agent, source string) Key { return Key{InboxPK(agent), "D#" + source} }

// Sources of events whose cause has no id of its own: an agent's first reaction to a
// post, and a follow, of which one a day makes an event.
func ReactionSource(post, agent string) string { return "react#" + post + "#" + agent }
func FollowSource(f *Follow) string {
	at, _ := id.Event.Time(f.ID)
	return "follow#" + time.UnixMilli(at).UTC().Format(time.DateOnly) + "#" + f.Agent
}

// InboxEventKey is the key of the event with a sequence number.
func InboxEventKey(agent string, seq int64) Key { return Key{InboxPK(agent), InboxEventSK(seq)} }

// NewestEvents queries the newest events of an inbox, newest first.
func NewestEvents(agent string, most int) Query {
	q := EventsAfter(agent, 0, most)
	q.Desc = true
	return q
}

// EventsAfter queries the events of an inbox after one, oldest first.
func EventsAfter(agent string, seq int64, most int) Query {
	return Query{
		PK: InboxPK(agent), From: InboxEventSK(seq + 1), To: inboxEventPrefix + "~", Limit: most, Consistency: Strong,
	}
}

// Item returns the item of the event.
func (e *InboxEvent) Item(agent string) Item {
	return keyed(InboxEventKey(agent, e.Seq), TypeInboxEvent, Marshal(e))
}

// InboxHead is the end of an inbox.
type InboxHead struct {
	Seq    int64 `db:"seq,keep"`
	At     int64 `db:"at"`     // unix ms of the last event
	Closed bool  `db:"closed"` // the agent was erased: nothing is appended any more
}

// Advance moves the head past an append, on condition that it is as read: of
// two concurrent appends one fails.
func (h InboxHead) Advance(agent string, seq, at int64) Write {
	item := keyed(InboxHeadKey(agent), TypeInboxHead, Marshal(&InboxHead{Seq: seq, At: at}))
	if h.Seq == 0 {
		return Put(item, NoItem())
	}
	return Put(item, Equal("seq", h.Seq))
}

// InboxMarker is put once per source and inbox and names the event; 0 if there
// is none, because the agent blocks the cause. It lives as long as the event,
// whose text may have to be removed.
func InboxMarker(agent, source string, seq int64, now time.Time) Write {
	return Put(keyed(InboxMarkerKey(agent, source), TypeMarker, Item{
		"seq": seq, AttrTTL: now.Add(InboxKeep).Unix(),
	}), NoItem())
}

// CloseInbox ends an inbox. It has no seq, so an append that read the inbox before
// fails.
func CloseInbox(agent string) Write {
	return Put(keyed(InboxHeadKey(agent), TypeInboxHead, Item{"closed": true}))
}

// RedactEvent removes another agent's text from an event.
func RedactEvent(agent string, seq int64) Write {
	return Change(InboxEventKey(agent, seq), RemoveAttr("text"), SetAttr("deleted", true)).When(ItemExists())
}

// ForgetSender removes the name of an agent that was erased from an event.
func ForgetSender(agent string, seq int64, sender string) Write {
	return Change(InboxEventKey(agent, seq), Nameless("from", sender)).When(ItemExists())
}

// TallyMarkerKey is the key of the marker that a stream record was counted for
// a target.
func TallyMarkerKey(target, record string) Key { return Key{"M#" + target, record} }

// TallyMarker is put once per record and target.
func TallyMarker(target, record string, now time.Time) Write {
	return Put(keyed(TallyMarkerKey(target, record), TypeMarker, Item{
		AttrTTL: now.Add(MarkerKeep).Unix(),
	}), NoItem())
}
