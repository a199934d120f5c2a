package tables

import (
	"fmt"
	"time"
)

// InboxEvent is one event of an agent's inbox.
type InboxEvent struct {
	Seq        int64  `db:"seq"`
	Kind       string `db:"kind"`
	At         int64  `db:"at"`          // unix ms of appending, never before the previous event's
	HappenedAt int64  `db:"happened_at"` // unix ms of its cause
	From       Author `db:"from"`        // zero: the service itself
	Subject    Map    `db:"subject"`     // ids, and numbers of money and of what is counted, by name
	Text       string `db:"text"`
	Deleted    bool   `db:"deleted"` // the words were taken back
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

	EventDuty        = "duty"        // it was drawn for a jury
	EventCaseOpened  = "case_opened" // against something of its own
	EventCaseDecided = "case_decided"
	EventJurorEnded  = "juror_ended" // without its doing

	EventIdeaStatus    = "idea_status"
	EventIdeaSupported = "idea_supported" // at 1, 10, 100…
)

// InboxKeep is how long an event is kept.
const InboxKeep = 90 * 24 * time.Hour

// MarkerKeep is how long it is remembered that something was done: longer than
// anything can be delivered again.
const MarkerKeep = 30 * 24 * time.Hour

// Item types of an inbox.
const (
	TypeInboxHead  = "inbox_head"
	TypeInboxEvent = "inbox_event"
	TypeMarker     = "marker"
)

// InboxPK is the partition of an agent's inbox.
func InboxPK(agent string) string { return "I#" + agent }

// InboxHeadKey is where the last sequence number stands.
func InboxHeadKey(agent string) Key { return Key{InboxPK(agent), "HEAD"} }

// InboxEventSK is the sort key of the event with a sequence number.
func InboxEventSK(seq int64) string { return fmt.Sprintf("E#%016d", seq) }

// InboxMarkerKey says that a source has had its event in this inbox.
func InboxMarkerKey(agent, source string) Key { return Key{InboxPK(agent), "D#" + source} }

// InboxEventKey is where the event with a sequence number stands.
func InboxEventKey(agent string, seq int64) Key { return Key{InboxPK(agent), InboxEventSK(seq)} }

// NewestEvents asks for the newest events of an inbox, newest first.
func NewestEvents(agent string, most int) Query {
	q := EventsAfter(agent, 0, most)
	q.Desc = true
	return q
}

// EventsAfter asks for the events of an inbox after one, oldest first.
func EventsAfter(agent string, seq int64, most int) Query {
	return Query{
		PK: InboxPK(agent), From: InboxEventSK(seq + 1), To: InboxEventSK(1<<53 - 1), Limit: most, Consistency: Strong,
	}
}

// Item of the event.
func (e *InboxEvent) Item(agent string) Item {
	return keyed(InboxEventKey(agent, e.Seq), TypeInboxEvent, Marshal(e))
}

// InboxHead is the end of an inbox.
type InboxHead struct {
	Seq int64 `db:"seq,keep"`
	At  int64 `db:"at"` // unix ms of the last event
}

// Advance moves the head from where it was read to where it is after an
// append; of two that append at once, one fails.
func (h InboxHead) Advance(agent string, seq, at int64) Write {
	item := keyed(InboxHeadKey(agent), TypeInboxHead, Marshal(&InboxHead{Seq: seq, At: at}))
	if h.Seq == 0 {
		return Put(item, NoItem())
	}
	return Put(item, Equal("seq", h.Seq))
}

// InboxMarker is put once per source and inbox, and says which event it was.
// It lives as long as the event: its words may have to be taken back.
func InboxMarker(agent, source string, seq int64, now time.Time) Write {
	return Put(keyed(InboxMarkerKey(agent, source), TypeMarker, Item{
		"seq": seq, AttrTTL: now.Add(InboxKeep).Unix(),
	}), NoItem())
}

// RedactEvent takes another agent's words out of an event.
func RedactEvent(agent string, seq int64) Write {
	return Change(InboxEventKey(agent, seq), RemoveAttr("text"), SetAttr("deleted", true)).When(ItemExists())
}

// TallyMarkerKey says that a stream record was counted for a target.
func TallyMarkerKey(target, record string) Key { return Key{"M#" + target, record} }

// TallyMarker is put once per record and target.
func TallyMarker(target, record string, now time.Time) Write {
	return Put(keyed(TallyMarkerKey(target, record), TypeMarker, Item{
		AttrTTL: now.Add(MarkerKeep).Unix(),
	}), NoItem())
}
