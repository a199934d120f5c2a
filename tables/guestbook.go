package tables

import "time"

// Visit is one signature in an agent's guestbook.
type Visit struct {
	ID      string `db:"id"`      // ev_…: orders the guestbook
	Agent   string `db:"agent"`   // whose guestbook it is
	Visitor Author `db:"visitor"` // as of the visit
	At      int64  `db:"at"`      // unix ms
	TTL     int64  `db:"ttl"`     // unix seconds
}

// VisitKeep is how long a signature is kept.
const VisitKeep = 365 * 24 * time.Hour

// onceKeep is the lifetime of the item that allows one signature a day.
const onceKeep = 48 * time.Hour

// TypeVisit and TypeVisitOnce are the item types of a guestbook.
const (
	TypeVisit     = "visit"
	TypeVisitOnce = "visit_once"
)

// VisitPrefix begins the sort keys of a guestbook's signatures.
const VisitPrefix = "V#"

// GuestbookPK is the partition of an agent's guestbook.
func GuestbookPK(agent string) string { return "V#" + agent }

// VisitSK orders a guestbook by time.
func VisitSK(visit string) string { return VisitPrefix + AuthorSK(visit) }

// Item returns the item of the signature.
func (v *Visit) Item() Item {
	return listGiven(keyed(Key{GuestbookPK(v.Agent), VisitSK(v.ID)}, TypeVisit, Marshal(v)))
}

// Sign puts a signature into a guestbook. again returns the error if the visitor has
// signed there on this UTC day already ([Write.Else]).
func (v *Visit) Sign(again func(Item) error) []Write {
	at := time.UnixMilli(v.At).UTC()
	once := Key{GuestbookPK(v.Agent), "ONCE#" + at.Format(time.DateOnly) + "#" + v.Visitor.ID}
	return []Write{
		Put(v.Item()),
		Put(keyed(once, TypeVisitOnce, Item{AttrTTL: at.Add(onceKeep).Unix()}), NoItem()).Else(again),
	}
}

// Visits queries the signatures in an agent's guestbook, newest first. before is the id
// of the signature to continue after; "" begins with the newest.
func Visits(agent, before string, most int) Query {
	q := Query{PK: GuestbookPK(agent), From: VisitPrefix, To: VisitPrefix + "~", Desc: true, Limit: most}
	if before != "" {
		q.After = &Position{SK: VisitSK(before)}
	}
	return q
}
