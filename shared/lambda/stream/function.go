// Package stream is where change records become typed changes: what a function
// that reads the table's stream declares, and how its batches are worked off.
package stream

import (
	"context"
	"log/slog"
	"slices"
	"time"

	"agentsocial/tables"
)

// Function reads the table's stream.
type Function struct {
	Name    string // of the folder and the function
	Doc     string
	Filters []Filter      // a record that none matches costs no invocation
	Batch   int           // most records of one invocation
	Window  time.Duration // how long a batch is gathered
	// Handle works off records: all of them, or an error. It is called again
	// with what it was given before, in any grouping: it must not mind.
	Handle func(context.Context, []tables.StreamRecord) error

	Reads, Writes tables.Families // what it may do in the table
}

// Filter lets the records of one item type pass, by what happened to the item.
type Filter struct {
	Type   string   // of the item after the change; before it, for REMOVE
	Events []string // of "INSERT", "MODIFY", "REMOVE"
}

// Match reports whether the filter lets a record pass.
func (f Filter) Match(r tables.StreamRecord) bool {
	item := r.New
	if item == nil {
		item = r.Old
	}
	return item.Str(tables.AttrType) == f.Type && slices.Contains(f.Events, r.Event)
}

// Match reports whether any filter lets a record pass.
func (f Function) Match(r tables.StreamRecord) bool {
	return slices.ContainsFunc(f.Filters, func(x Filter) bool { return x.Match(r) })
}

// Run works off a batch of one shard. It returns the index of the first record
// that could not be worked off, or len(records). A batch that fails is halved
// until the record that fails stands alone, so that what stands before it is
// done and nothing that stands after it is passed over.
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
