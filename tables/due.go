package tables

import (
	"fmt"
	"time"
)

// What is due at a time stands in a partition of by_rank for each kind of work,
// by that time: a schedule sweeps it.

// DueSK orders what is due by time, then by name.
func DueSK(at time.Time, name string) string { return fmt.Sprintf("%013d#%s", at.UnixMilli(), name) }

// dueBy is the last sort key of what is due by a time.
func dueBy(at time.Time) string { return DueSK(at, "~") }

// TypeSealDue is the item type of a [SealDue].
const TypeSealDue = "seal_due"

// duePK is the partition of by_rank that lists channels whose search index is
// due to be brought up to date.
const duePK = "DUE#seal"

// SealDue is when a channel's search index is due to be brought up to date. It
// is an item of its own: the channel's is written with every post's count.
type SealDue struct {
	Channel string `db:"channel"`
	At      int64  `db:"at"` // unix ms
}

// SealDueKey is where it stands when a channel's index is due.
func SealDueKey(channel string) Key { return Key{SearchPK(channel), "DUE"} }

// Put makes it stand, whatever stood there.
func (d *SealDue) Put() Write {
	item := keyed(SealDueKey(d.Channel), TypeSealDue, Marshal(d))
	item["rank_pk"], item["rank_sk"] = duePK, DueSK(time.UnixMilli(d.At), d.Channel)
	return Put(item)
}

// Move moves it to another time, or removes it if that is zero, on the
// condition that nobody did since it was read.
func (d *SealDue) Move(to time.Time) Write {
	still := Equal("at", d.At)
	if to.IsZero() {
		return Delete(SealDueKey(d.Channel), still)
	}
	w := (&SealDue{d.Channel, to.UnixMilli()}).Put()
	return w.When(still)
}

// SealsDue asks for the channels that are due by a time, longest due first.
func SealsDue(by time.Time, most int) Query {
	return Query{Index: ByRank, PK: duePK, To: dueBy(by), Limit: most}
}
