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

// reader has a function work a batch off; of its records, n were from the first
// on. An error is the call's: a function that fails has worked off none.
type reader func(ctx context.Context, b *failed.Batch, records []record) (n int, err error)

// errStay is that some could not be worked off this time either.
var errStay = errors.New("some batches stay")

// redrive puts the batches that readers gave up through again, the oldest first:
// from S3 through the deployed functions, which have the rights for it, or from
// the folder beside a table through the same handlers in this process. What was
// worked off before is not done again: it is marked, for longer than a batch is
// kept (tables.MarkerKeep). A batch that passed is removed, one of which a record
// fails again stays as it is.
//
// A stage that was restored has the batches of two tables in one bucket, and one
// of the other table is not put through: it may tell of what this one never held.
// AT, the moment the two have in common, says that it is meant: what was written by
// then is put through. What was written later is left out, and its batch stays, for
// there may be a way back.
//
// The dead letters of schedules are not put through: what they were to do, the
// next tick has done.
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
			j.say("stays       %s: %d of its %d records fail again", key, o.failed, o.size)
			stay++
		case o.later > 0:
			j.say("stays       %s: %d of its %d records were written later", key, o.later, o.size)
			later++
		default:
			j.say("passed      %s: %d records", key, o.size)
		}
	}
	j.say("%d of %d failed batches passed and are removed", len(keys)-stay-later, len(keys))
	if stay > 0 {
		return fmt.Errorf("%w: %d of %d; of those that fail, the function's log says why", errStay, stay, len(keys))
	}
	return nil
}

// failures are where a table's failed batches lie, and what reads them.
func (j job) failures(ctx context.Context) (failed.Store, reader, error) {
	if j.Deployed {
		return deployedFailures(ctx, j)
	}
	j.say("batches     %s", j.Failed)
	call, err := inProcess(j)
	return j.Failed, call, err
}

// outcome is what became of the records of a batch.
type outcome struct {
	size   int
	later  int // than AT, and left out
	failed int // again
}

// again puts one batch through, and removes it if that worked off all of it.
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
		return o, fmt.Errorf("it is of another table, %s: AT, the moment of a restore, puts through what was written by then", b.Table())
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

// through does as Lambda does with a batch that fails, but for trying again: what
// follows a record that failed is given alone, and a batch of which the first
// fails is halved. It says how many records failed alone.
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

// record is one of a batch: as it was written, to the byte.
type record struct {
	seq  string
	at   time.Time // to the second
	text json.RawMessage
}

func recordsOf(event []byte) ([]record, error) {
	var e struct{ Records []json.RawMessage }
	if err := json.Unmarshal(event, &e); err != nil {
		return nil, fmt.Errorf("its payload: %w", err)
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
			return nil, fmt.Errorf("its payload: %w", err)
		}
		records = append(records, record{r.Change.SequenceNumber, time.Unix(int64(r.Change.ApproximateCreationDateTime), 0), text})
	}
	return records, nil
}

// eventOf is the event that a function is called with: each record to the byte, so
// that it is no larger than what the function was called with before. (json.Marshal
// would escape <, > and &, and make six bytes of one.)
func eventOf(records []record) []byte {
	texts := make([][]byte, len(records))
	for i, r := range records {
		texts[i] = r.text
	}
	return slices.Concat([]byte(`{"Records":[`), bytes.Join(texts, []byte(",")), []byte("]}"))
}

// done is how many records a function's answer says to be worked off: those
// before the first that it names. One that it names wrongly is all of them.
func done(records []record, failures []string) int {
	n := len(records)
	for _, seq := range failures {
		n = min(n, max(0, slices.IndexFunc(records, func(r record) bool { return r.seq == seq })))
	}
	return n
}
