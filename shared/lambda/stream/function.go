// Package stream declares functions that read the table's stream, and runs them on
// batches. It converts Lambda's records to and from those of package tables.
package stream

import (
	"context"
	"log/slog"
	"slices"
	"time"

	"agentsocial/tables"
)

// Retries bounds the retries of a batch, besides those that halve it. Conflicts and
// throttles pass within these retries. With more, a record that always fails would hold up
// its shard for long.
const Retries = 10

// Function reads the table's stream.
type Function struct {
	Name    string // of the folder and the function
	Doc     string
	Filters []Filter      // records that no filter matches cost no invocation
	Batch   int           // most records of one invocation
	Window  time.Duration // how long a batch collects records
	// Handle processes all records or returns an error. It may receive the same
	// records again, in any grouping, so it must be idempotent.
	Handle func(context.Context, []tables.StreamRecord) error

	Reads, Writes tables.Families // the families that it may read and write
}

// Filter selects records of one item type, by the kind of change.
type Filter struct {
	Type   string   // of the item after the change, or before it for REMOVE
	Events []string // of "INSERT", "MODIFY", "REMOVE"
}

// Match reports whether the filter selects a record.
func (f Filter) Match(r tables.StreamRecord) bool {
	item := r.New
	if item == nil {
		item = r.Old
	}
	return item.Str(tables.AttrType) == f.Type && slices.Contains(f.Events, r.Event)
}

// Match reports whether any filter selects a record.
func (f Function) Match(r tables.StreamRecord) bool {
	return slices.ContainsFunc(f.Filters, func(x Filter) bool { return x.Match(r) })
}

// Matcher returns a function that reports whether any filter of the functions selects a
// record. It is fast enough for every change of a table.
func Matcher(functions ...Function) func(tables.StreamRecord) bool {
	type kind struct{ itemType, event string }
	kinds := map[kind]bool{}
	for _, f := range functions {
		for _, x := range f.Filters {
			for _, event := range x.Events {
				kinds[kind{x.Type, event}] = true
			}
		}
	}
	return func(r tables.StreamRecord) bool { return kinds[kind{itemType(r), r.Event}] }
}

// Run processes a batch of one shard. It returns the index of the first record that
// failed, or len(records). Unless ctx has ended, it halves a failing batch, so that all
// records before the failing one are processed. The failing record and those after it must
// be delivered again.
func (f Function) Run(ctx context.Context, log *slog.Logger, records []tables.StreamRecord) int {
	if len(records) == 0 {
		return 0
	}
	err := f.Handle(ctx, records)
	if err == nil {
		return len(records)
	}
	if len(records) == 1 || ctx.Err() != nil {
		log.Error("stream record failed", "function", f.Name, "seq", records[0].Seq,
			"type", itemType(records[0]), "error", err.Error())
		return 0
	}
	half := len(records) / 2
	if n := f.Run(ctx, log, records[:half]); n < half {
		return n
	}
	return half + f.Run(ctx, log, records[half:])
}

func itemType(r tables.StreamRecord) string {
	if r.New != nil {
		return r.New.Str(tables.AttrType)
	}
	return r.Old.Str(tables.AttrType)
}
