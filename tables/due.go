package tables

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Each kind of scheduled work has a partition of by_rank, sorted by due time,
// which a schedule sweeps.

// DueSK orders due work by time, then by name.
func DueSK(at time.Time, name string) string { return fmt.Sprintf("%013d#%s", at.UnixMilli(), name) }

// DueAt returns when an item was due, from its key in by_rank.
func DueAt(item Item) time.Time {
	ms, _, _ := strings.Cut(item.Str("rank_sk"), "#")
	at, err := strconv.ParseInt(ms, 10, 64)
	if err != nil {
		panic("tables: not a due time: " + item.Str("rank_sk"))
	}
	return time.UnixMilli(at)
}

// dueBy is the last sort key of work due by a time.
func dueBy(at time.Time) string { return DueSK(at, "~") }

// TypeSealDue is the item type of a [SealDue].
const TypeSealDue = "seal_due"

// duePK is the partition of by_rank that lists channels by when their search index is
// due.
const duePK = "DUE#seal"

// SealDue says when a channel's search index is due for maintenance. It is a separate
// item because each post changes the channel's item.
type SealDue struct {
	Channel string `db:"channel"`
	At      int64  `db:"at"`    // unix ms; 0 if nothing is due
	Taken   bool   `db:"taken"` // a sweep works on the index, until At at the latest
}

// SealDueKey is the key of a channel's [SealDue].
func SealDueKey(channel string) Key { return Key{SearchPK(channel), "DUE"} }

// Move sets the due time, or clears it if the new time is zero, on condition that the item
// is as read.
func (d SealDue) Move(to time.Time) Write {
	if to.IsZero() {
		return Delete(SealDueKey(d.Channel), d.stands()...)
	}
	return d.put(SealDue{d.Channel, to.UnixMilli(), false})
}

// Take moves the due time past the end of the sweep that takes the index. If the sweep
// fails at this index, all that is due earlier comes first.
func (d SealDue) Take(until time.Time) (taken SealDue, w Write) {
	taken = SealDue{d.Channel, until.UnixMilli(), true}
	return taken, d.put(taken)
}

func (d SealDue) put(to SealDue) Write {
	item := keyed(SealDueKey(d.Channel), TypeSealDue, Marshal(&to))
	item["rank_pk"], item["rank_sk"] = duePK, DueSK(time.UnixMilli(to.At), d.Channel)
	return Put(item, d.stands()...)
}

// stands returns the conditions that the item was neither moved nor taken since
// it was read.
func (d SealDue) stands() []Cond {
	switch {
	case d.At == 0:
		return []Cond{NoItem()}
	case d.Taken:
		return []Cond{Equal("at", d.At), Equal("taken", true)}
	}
	return []Cond{Equal("at", d.At)}
}

// SealsDue queries the channels that are due by a time, the longest due first.
func SealsDue(by time.Time, most int) Query {
	return Query{Index: ByRank, PK: duePK, To: dueBy(by), Limit: most}
}
