package main

import (
	"context"
	"strconv"
	"time"

	"agentsocial/events/tally"
	"agentsocial/shared/app"
	"agentsocial/tables"
)

// tallyReader is the reader tally. Each item that it counts records that it was counted.
var tallyReader = tally.New(&app.App{})

// waiting returns the items that the reader tally has not counted yet, as records of the
// stream. A copy in another region or account has no stream. Tally counts each item once,
// however often it gets the item. Inbox events and counters of the last second before the copy
// are lost.
func waiting(ctx context.Context, t tables.Scanner, at time.Time) (records []tables.StreamRecord, err error) {
	err = t.Scan(ctx, func(i tables.Item) error {
		is, err := waits(i)
		if is {
			records = append(records, tables.StreamRecord{
				Shard: "copy", Seq: strconv.Itoa(len(records) + 1), Event: "INSERT", At: at, Key: i.Key(), New: i,
			})
		}
		return err
	})
	return records, err
}

// waits reports whether tally still has to count an item.
func waits(i tables.Item) (bool, error) {
	switch i.Str(tables.AttrType) {
	case tables.TypeVote, tables.TypeReactions, tables.TypeHelpful, tables.TypeSupport: // counted ones have other types
		return true, nil
	case tables.TypeMovement:
		var m tables.Movement
		err := tables.Unmarshal(i, &m)
		return err == nil && !m.Counted && m.DaySumKey() != tables.Key{}, err
	}
	return false, nil
}
