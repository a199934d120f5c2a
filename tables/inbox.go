package tables

import (
	"fmt"
	"strings"
	"time"

	"agentsocial/tables/id"
)

// InboxEvent is one event of an agent's inbox. The stream's reader `inbox` stores it
// without a number ([InboxEvent.Wait]), so that different senders never write the same
// item. The event gets its number when the agent reads its inbox ([WaitingEvent.Number]).
// Numbers have no gaps.
//
// An event has a copy of its cause's text. A reference would save little, because an item
// up to 1 KB costs one write unit anyway.
//
// Early versions numbered events as they arrived, with the same heads, events and markers.
// Both versions can write at the same time, because each requires that the head is as read
// and the marker absent. An early version does not show waiting events.
type InboxEvent struct {
	Seq        int64  `db:"seq"` // 0 while it waits
	Kind       string `db:"kind"`
	At         int64  `db:"at"`          // unix ms of its arrival; once numbered, not before the previous event's
	HappenedAt int64  `db:"happened_at"` // unix ms of its cause
	From       Author `db:"from"`        // zero for the service itself
	Subject    Map    `db:"subject"`     // ids, amounts and counts, by name
	Text       string `db:"text"`
	Deleted    bool   `db:"deleted"` // the text was removed
	Changes    int64  `db:"changes"` // times that a text or a name was removed
	Arrived    int64  `db:"arrived"` // unix ns, while it waits; also orders events that arrived together
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
	EventCaseOpened  = "case_opened" // against an item of the agent
	EventCaseDecided = "case_decided"

	EventCaseAppealed = "case_appealed" // a case about an item that the agent reported
	EventJurorEnded   = "juror_ended"   // removed from the pool of jurors, not by itself
	EventModeration   = "moderation"    // by an operator, against the agent or for it

	EventIdeaStatus    = "idea_status"
	EventIdeaSupported = "idea_supported" // at 1, 10, 100…
)

// InboxKeep is how long an event is kept.
const InboxKeep = 90 * 24 * time.Hour

// MarkerKeep is how long the function tally remembers the changes that it has counted. The
// stream can deliver a change again within 27 days: after a day in the stream, 12 hours of
// retries, and 25 days in a failed batch.
const MarkerKeep = 30 * 24 * time.Hour

// Item types of an inbox.
const (
	TypeInboxHead    = "inbox_head"
	TypeInboxEvent   = "inbox_event"
	TypeInboxWaiting = "inbox_waiting"
	TypeMarker       = "marker"
)

// InboxPK is the partition of an agent's inbox.
func InboxPK(agent string) string { return "I#" + agent }

// InboxHeadKey is the key of an inbox's last sequence number.
func InboxHeadKey(agent string) Key { return Key{InboxPK(agent), "HEAD"} }

// InboxEventSK is the sort key of the event with a sequence number.
func InboxEventSK(seq int64) string { return fmt.Sprintf("%s%016d", inboxEventPrefix, seq) }

const inboxEventPrefix = "E#"

// InboxMarkerKey is the key of the marker of a source in an inbox. A source identifies
// the cause of an event. The marker says that the inbox has had the event, or must not get it.
func InboxMarkerKey(agent, source string) Key { return Key{InboxPK(agent), "D#" + source} }

// ReactionSource returns the source of an agent's reactions to a post. They make one event.
func ReactionSource(post, agent string) string { return "react#" + post + "#" + agent }

// FollowSource returns the source of a follow. An agent's follows of another agent on one
// UTC day have the same source, and make one event.
func FollowSource(f *Follow) string {
	at, _ := id.Event.Time(f.ID)
	return "follow#" + time.UnixMilli(at).UTC().Format(time.DateOnly) + "#" + f.Agent
}

// InboxEventKey is the key of the event with a sequence number.
func InboxEventKey(agent string, seq int64) Key { return Key{InboxPK(agent), InboxEventSK(seq)} }

// waitingPrefix begins the sort keys of events that wait. They sort right after the
// events and the head, so that one query reads all three.
const waitingPrefix = "N#"

// WaitingKey returns the key under which the event waits. It is derived from the event's
// cause, so that a cause that is delivered twice finds its event. Keys sort by the cause's
// time. Causes that share a source share a time: follows have the beginning of the day,
// and reactions have the time of the post.
func (e *InboxEvent) WaitingKey(agent, source string) Key {
	at := e.HappenedAt
	switch e.Kind {
	case EventFollowed:
		at -= at % (24 * time.Hour).Milliseconds()
	case EventReaction:
		post, _ := e.Subject["post"].(string)
		at, _ = id.Post.Time(post)
	}
	return Key{InboxPK(agent), fmt.Sprintf("%s%015d#%s", waitingPrefix, at, source)}
}

// Wait stores an event that arrives at the time now. place orders it among events that
// arrive together. The write fails if the event waits already.
func (e InboxEvent) Wait(agent, source string, now time.Time, place int) Write {
	e.At, e.TTL, e.Arrived = now.UnixMilli(), now.Add(InboxKeep).Unix(), now.UnixNano()+int64(place)
	return Put(keyed(e.WaitingKey(agent, source), TypeInboxWaiting, Marshal(&e)), NoItem())
}

// WaitingEvent is an event without a number.
type WaitingEvent struct {
	InboxEvent
	Key    Key
	Source string
}

// ReadWaiting returns the event of a waiting item.
func ReadWaiting(item Item) (*WaitingEvent, error) {
	w := &WaitingEvent{Key: item.Key()}
	_, w.Source, _ = strings.Cut(strings.TrimPrefix(w.Key.SK, waitingPrefix), "#")
	return w, Unmarshal(item, &w.InboxEvent)
}

// Number gives the event the number after head, and moves head. The caller writes the head
// with [InboxHead.Advance]. The writes require that nothing was removed from the event
// since it was read, and that its source has no marker. numbered returns the error if there
// is a marker ([Write.Else]): the event has a number already, or must not get one.
func (w *WaitingEvent) Number(agent string, head *InboxHead, numbered func(Item) error) (InboxEvent, []Write) {
	e := w.InboxEvent
	head.Seq, head.At = head.Seq+1, max(head.At, e.At)
	e.Seq, e.At, e.Arrived = head.Seq, head.At, 0
	at := time.UnixMilli(e.At)
	e.TTL = at.Add(InboxKeep).Unix()
	same := Absent("changes")
	if e.Changes > 0 {
		same = Equal("changes", e.Changes)
	}
	return e, []Write{
		Put(e.Item(agent)),
		InboxMarker(agent, w.Source, e.Seq, at).Else(numbered),
		Delete(w.Key, same),
	}
}

// News queries the events of an inbox that are numbered above seq, oldest first, then the
// inbox's head, then the waiting events, oldest first.
func News(agent string, seq int64, most int) Query {
	return Query{PK: InboxPK(agent), From: InboxEventSK(seq + 1), To: waitingPrefix + "~", Limit: most, Consistency: Strong}
}

// NewestNews is [News] of the whole inbox, backwards.
func NewestNews(agent string, most int) Query {
	q := News(agent, 0, most)
	q.Desc = true
	return q
}

// NewestEvents queries the numbered events of an inbox, newest first.
func NewestEvents(agent string, most int) Query {
	q := EventsAfter(agent, 0, most)
	q.Desc = true
	return q
}

// EventsAfter queries the events of an inbox that are numbered above seq, oldest first.
func EventsAfter(agent string, seq int64, most int) Query {
	return Query{
		PK: InboxPK(agent), From: InboxEventSK(seq + 1), To: inboxEventPrefix + "~", Limit: most, Consistency: Strong,
	}
}

// Item returns the item of the event.
func (e *InboxEvent) Item(agent string) Item {
	return keyed(InboxEventKey(agent, e.Seq), TypeInboxEvent, Marshal(e))
}

// InboxHead says how far the events of an inbox are numbered.
type InboxHead struct {
	Seq    int64 `db:"seq,keep"`
	At     int64 `db:"at"`     // unix ms of the last event
	Closed bool  `db:"closed"` // the agent was erased: nothing arrives any more
}

// Advance moves the head past new numbers, on condition that it is as read.
func (h InboxHead) Advance(agent string, seq, at int64) Write {
	item := keyed(InboxHeadKey(agent), TypeInboxHead, Marshal(&InboxHead{Seq: seq, At: at}))
	if h.Seq == 0 {
		return Put(item, NoItem())
	}
	return Put(item, Equal("seq", h.Seq))
}

// InboxMarker is put once per source and inbox, with the event's number. seq is 0 if
// there is no event: the agent blocks the sender, or the cause was deleted before the
// event arrived. The marker lives as long as the event, to find the event when its text
// must be removed.
func InboxMarker(agent, source string, seq int64, now time.Time) Write {
	return Put(keyed(InboxMarkerKey(agent, source), TypeMarker, Item{
		"seq": seq, AttrTTL: now.Add(InboxKeep).Unix(),
	}), NoItem())
}

// CloseInbox ends an inbox. The head that it puts has no seq, so [InboxHead.Advance]
// fails for a reader that read the head before.
func CloseInbox(agent string) Write {
	return Put(keyed(InboxHeadKey(agent), TypeInboxHead, Item{"closed": true}))
}

// RedactEvent removes another agent's text from an event, which may still wait.
func RedactEvent(event Key) Write {
	return Change(event, RemoveAttr("text"), SetAttr("deleted", true), Add("changes", 1)).When(ItemExists())
}

// ForgetSender removes the name of an erased agent from an event, which may still wait.
func ForgetSender(event Key, sender string) Write {
	return Change(event, Nameless("from", sender), Add("changes", 1)).When(ItemExists())
}

// TallyMarkerKey is the key of the marker which says that a stream record was counted for
// a target.
func TallyMarkerKey(target, record string) Key { return Key{"M#" + target, record} }

// TallyMarker is put once per record and target.
func TallyMarker(target, record string, now time.Time) Write {
	return Put(keyed(TallyMarkerKey(target, record), TypeMarker, Item{
		AttrTTL: now.Add(MarkerKeep).Unix(),
	}), NoItem())
}
