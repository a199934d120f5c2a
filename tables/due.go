package tables

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// What is due at a time stands in a partition of by_rank for each kind of work,
// by that time: a schedule sweeps it.

// DueSK orders what is due by time, then by name.
func DueSK(at time.Time, name string) string { return fmt.Sprintf("%013d#%s", at.UnixMilli(), name) }

// DueAt is when an item of a sweep was due, as its key in by_rank says.
func DueAt(item Item) time.Time {
	ms, _, _ := strings.Cut(item.Str("rank_sk"), "#")
	at, err := strconv.ParseInt(ms, 10, 64)
	if err != nil {
		panic("tables: an item that is not due: " + item.Str("rank_sk"))
	}
	return time.UnixMilli(at)
}

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
	At      int64  `db:"at"`    // unix ms; 0 if nothing is due
	Taken   bool   `db:"taken"` // a sweep is at it; should it never end, it is due again at At
}

// SealDueKey is where it stands when a channel's index is due.
func SealDueKey(channel string) Key { return Key{SearchPK(channel), "DUE"} }

// Move makes it due at another time, or no more if that is zero, on the condition
// that it stands as it was read.
func (d SealDue) Move(to time.Time) Write {
	if to.IsZero() {
		return Delete(SealDueKey(d.Channel), d.stands()...)
	}
	return d.put(SealDue{d.Channel, to.UnixMilli(), false})
}

// Take is Move by a sweep that begins, to when it has surely ended: what it cannot
// do, or dies of, thus comes behind all else that is due.
func (d SealDue) Take(until time.Time) (taken SealDue, w Write) {
	taken = SealDue{d.Channel, until.UnixMilli(), true}
	return taken, d.put(taken)
}

func (d SealDue) put(to SealDue) Write {
	item := keyed(SealDueKey(d.Channel), TypeSealDue, Marshal(&to))
	item["rank_pk"], item["rank_sk"] = duePK, DueSK(time.UnixMilli(to.At), d.Channel)
	return Put(item, d.stands()...)
}

// stands holds if nobody moved or took it since it was read.
func (d SealDue) stands() []Cond {
	switch {
	case d.At == 0:
		return []Cond{NoItem()}
	case d.Taken:
		return []Cond{Equal("at", d.At), Equal("taken", true)}
	}
	return []Cond{Equal("at", d.At)}
}

// SealsDue asks for the channels that are due by a time, longest due first.
func SealsDue(by time.Time, most int) Query {
	return Query{Index: ByRank, PK: duePK, To: dueBy(by), Limit: most}
}
