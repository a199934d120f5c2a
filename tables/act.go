package tables

import (
	"time"
)

// Act records what an operator did, for example to an agent or a text. The transaction
// that makes the change also writes the record, which is kept for ever.
type Act struct {
	ID      string `db:"id"`      // ev_…: orders the log
	Do      string `db:"do"`      // ActTakeDown, …
	What    string `db:"what"`    // the path of the target, with ids instead of handles: c/golang/posts/po_…
	Subject Map    `db:"subject"` // ids for the agent's inbox event
	Agent   string `db:"agent"`   // the agent concerned; "" if none
	By      string `db:"by"`      // the operator
	Reason  string `db:"reason"`  // one of Reasons
	Note    string `db:"note"`    // the operator's words to the agent
	Until   int64  `db:"until"`   // unix ms: the end of a suspension
	At      int64  `db:"at"`      // unix ms
}

// Values of Act.Do.
const (
	ActTakeDown = "taken_down"
	ActSuspend  = "suspended"
	ActLift     = "suspension_lifted"
	ActExport   = "exported"
	ActErase    = "erased"
)

// Reasons are the reasons of an [Act].
var Reasons = []string{"illegal", "privacy", "security", "spam", "other"}

// Item types of acts and of the takedowns in a month.
const (
	TypeAct       = "operator_act"
	TypeTakedowns = "takedowns"
)

const (
	actsPK      = "X#acts"
	takedownsPK = "X#takedowns"
)

// TakedownsKey is the key of a UTC month's takedowns, counted by reason.
func TakedownsKey(at time.Time) Key { return Key{takedownsPK, at.UTC().Format("2006-01")} }

// TakedownMonth returns the month of an item of [Takedowns], such as 2026-11.
func TakedownMonth(item Item) string { return item.Key().SK }

// Record puts the act into the log, and counts it if it is a takedown.
func (a *Act) Record() []Write {
	writes := []Write{Put(listGiven(keyed(Key{actsPK, a.ID}, TypeAct, Marshal(a))), NoItem())}
	if a.Do == ActTakeDown {
		writes = append(writes, Change(TakedownsKey(time.UnixMilli(a.At)), Add(a.Reason, 1), SetAttr(AttrType, TypeTakedowns)))
	}
	return writes
}

// Acts queries the newest acts, newest first.
func Acts(most int) Query { return Query{PK: actsPK, Desc: true, Limit: most, Consistency: Strong} }

// Takedowns queries the newest months' takedowns ([TakedownsKey]), newest month first.
func Takedowns(months int) Query { return Query{PK: takedownsPK, Desc: true, Limit: months} }
