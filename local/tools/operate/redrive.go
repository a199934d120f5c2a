package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"slices"
	"time"

	"agentsocial/local/service/failed"
)

// reader gives a batch to a function, and returns how many records the function processed,
// counted from the first. An error means that the call itself failed.
type reader func(ctx context.Context, b *failed.Batch, records []record) (n int, err error)

// errStay means that some batches were not processed, or failed again.
var errStay = errors.New("some batches stay")

// redrive processes again the batches that readers gave up, the oldest first. No effect
// happens twice: the markers of processed records live longer than a batch is kept
// (tables.MarkerKeep).
//
// After a restore one bucket holds the batches of two tables. Without AT, the other table's
// batches stay. With AT, records of both tables are processed if they were written by AT.
// Later records stay, in case the operator goes back to the other table.
//
// The dead letters of schedules are not redriven, since the next tick did their work.
func redrive(ctx context.Context, j job) error {
	at, err := j.at(time.Time{})
	if err != nil {
		return err
	}
	store, call, err := j.failures(ctx)
	if err != nil {
		return err
	}
	keys, err := store.Keys(ctx)
	if err != nil {
		return err
	}
	slices.SortFunc(keys, func(a, b string) int { return cmp.Or(cmp.Compare(path.Base(a), path.Base(b)), cmp.Compare(a, b)) })
	stay, later := 0, 0
	for _, key := range keys {
		o, err := j.again(ctx, store, call, key, at)
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case err != nil:
			j.say("stays       %s: %v", key, err)
			stay++
		case o.failed > 0:
			j.say("stays       %s: %d of its %d records failed again", key, o.failed, o.size)
			stay++
		case o.later > 0:
			j.say("stays       %s: %d of its %d records were written after AT", key, o.later, o.size)
			later++
		default:
			j.say("passed      %s: %d records", key, o.size)
		}
	}
	j.say("%d of %d failed batches passed and were removed", len(keys)-stay-later, len(keys))
	if stay > 0 {
		return fmt.Errorf("%w: %d of %d; the lines above say why. If records failed again, see the function's log", errStay, stay, len(keys))
	}
	return nil
}

// failures returns the store of a table's failed batches, and a reader to call with them.
func (j job) failures(ctx context.Context) (failed.Store, reader, error) {
	if j.Deployed {
		return deployedFailures(ctx, j)
	}
	j.say("batches     %s", j.Failed)
	call, err := inProcess(j)
	return j.Failed, call, err
}

type outcome struct {
	size   int
	later  int // left out, since they were written after AT
	failed int // failed again
}

// again processes one batch, and removes it if all its records passed.
func (j job) again(ctx context.Context, store failed.Store, call reader, key string, at time.Time) (o outcome, err error) {
	text, err := store.Get(ctx, key)
	if err != nil {
		return o, err
	}
	b, err := failed.Read(text)
	if err != nil {
		return o, err
	}
	if at.IsZero() && b.Table() != "" && b.Table() != j.Dynamo.Table {
		return o, fmt.Errorf("it belongs to another table, %s: redrive it only in a restore, with AT", b.Table())
	}
	records, err := recordsOf(b.Event)
	if err != nil {
		return o, err
	}
	o.size = len(records)
	records = slices.DeleteFunc(records, func(r record) bool { return !at.IsZero() && r.at.After(at) })
	o.later = o.size - len(records)
	o.failed, err = through(ctx, b, records, call)
	if err == nil && o.failed+o.later == 0 {
		err = store.Delete(ctx, key)
	}
	return o, err
}

// through handles failures as Lambda does, but without retries: it halves a batch whose
// first record fails. It returns how many records failed alone.
func through(ctx context.Context, b *failed.Batch, records []record, call reader) (left int, err error) {
	for len(records) > 0 {
		n, err := call(ctx, b, records)
		switch half := len(records) / 2; {
		case err != nil:
			return left, err
		case n > 0:
			records = records[n:]
		case half == 0:
			return left + 1, nil
		default:
			first, err := through(ctx, b, records[:half], call)
			if left += first; err != nil {
				return left, err
			}
			records = records[half:]
		}
	}
	return left, nil
}

// record is a record of a batch, byte for byte as it was written.
type record struct {
	seq  string
	at   time.Time // to the second
	text json.RawMessage
}

func recordsOf(event []byte) ([]record, error) {
	var e struct{ Records []json.RawMessage }
	if err := json.Unmarshal(event, &e); err != nil {
		return nil, fmt.Errorf("reading its payload: %w", err)
	}
	if len(e.Records) == 0 {
		return nil, errors.New("its payload has no records")
	}
	var records []record
	for _, text := range e.Records {
		var r struct {
			Change struct {
				SequenceNumber              string
				ApproximateCreationDateTime float64
			} `json:"dynamodb"`
		}
		if err := json.Unmarshal(text, &r); err != nil {
			return nil, fmt.Errorf("reading its payload: %w", err)
		}
		records = append(records, record{r.Change.SequenceNumber, time.Unix(int64(r.Change.ApproximateCreationDateTime), 0), text})
	}
	return records, nil
}

// eventOf returns the event to call a function with. It copies each record byte for byte,
// since json.Marshal would escape <, > and & to six bytes each.
func eventOf(records []record) []byte {
	texts := make([][]byte, len(records))
	for i, r := range records {
		texts[i] = r.text
	}
	return slices.Concat([]byte(`{"Records":[`), bytes.Join(texts, []byte(",")), []byte("]}"))
}

// done returns how many records a function processed: those before the first that
// its answer names as failed. An unknown name makes it 0.
func done(records []record, failures []string) int {
	n := len(records)
	for _, seq := range failures {
		n = min(n, max(0, slices.IndexFunc(records, func(r record) bool { return r.seq == seq })))
	}
	return n
}
