package main

import (
	"context"
	"errors"
	"time"

	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/service/lambda"

	"agentsocial/events"
	"agentsocial/local/service/failed"
	"agentsocial/shared/app"
	"agentsocial/shared/lambda/stream"
	"agentsocial/tables"
	"agentsocial/tables/dynamo/streams"
)

const (
	// replayed is how far before a moment changes are worked off again: more than
	// the readers are behind without an alarm.
	replayed = time.Hour

	// streamKeeps is for how long a stream has its records.
	streamKeeps = 24 * time.Hour

	// replaySize bounds a batch, in bytes of items: a third of what a function takes
	// at once, since JSON is longer.
	replaySize = 2 << 20
)

// replay leaves the changes of the hour before a moment, AT or now, among the failed
// batches, for readers that lost them. What they did work off stays as it is.
func replay(ctx context.Context, j job) error {
	if !j.Deployed {
		return errors.New("only a deployed table, TABLE=aws:NAME, has a stream of its own")
	}
	at, err := j.at(j.Now())
	if err != nil {
		return err
	}
	r := newRecovery(j)
	changes, err := r.changes(ctx, at)
	if err != nil {
		return err
	}
	return r.keep(ctx, changes)
}

// changes are those of the hour before a moment. Of a table that is restored to it,
// nobody would work off what the readers had not by then: the other table has a
// stream of its own, which begins empty, and what they did afterwards is not in it.
func (r recovery) changes(ctx context.Context, at time.Time) ([]tables.StreamRecord, error) {
	if r.Now().Sub(at) > streamKeeps-replayed {
		r.say("replay      the stream has forgotten the hour before %s: what readers had not worked off by then will not be", at.UTC().Format(time.RFC3339))
		return nil, nil
	}
	return r.between(ctx, at.Add(-replayed), at)
}

// keep leaves changes among the failed batches, so that `make redrive` has all of
// them worked off; those that were are not again.
func (r recovery) keep(ctx context.Context, records []tables.StreamRecord) error {
	c, err := config.LoadDefaultConfig(ctx)
	if err != nil {
		return err
	}
	m, err := mappingsOf(ctx, r.job, lambda.NewFromConfig(c))
	if err != nil {
		return err
	}
	bucket := newBucket(c, m.bucket)
	n := 0
	for _, declare := range events.All() {
		f := declare(&app.App{})
		function, err := m.function(f.Name)
		if err != nil {
			return err
		}
		for _, batch := range batchesFor(f, records) {
			b, err := failed.New(f.Name, 0, r.Now(), batch)
			if err != nil {
				return err
			}
			b.Request.FunctionARN, b.Request.Condition, b.Place.Stream = function, "Replay", m.stream
			if err := bucket.Put(ctx, b); err != nil {
				return err
			}
			n++
		}
	}
	r.say("replay      %d batches of the hour before lie in s3://%s, for `make redrive`", n, m.bucket)
	return nil
}

// between reads a table's changes of some time.
func (r recovery) between(ctx context.Context, first, last time.Time) ([]tables.StreamRecord, error) {
	c := r.Dynamo
	return r.read(ctx, streams.Open(streams.Config{
		Table: c.Table, Region: c.Region, Endpoint: c.Endpoint, Credentials: c.Credentials,
	}), first, last)
}

// read reads each shard to its end or past last. Any number of pages may be empty
// before one that is not: a shard that has a child is closed and says when it is
// done; of an open one the end is where nothing came for as long as patience is.
func (r recovery) read(ctx context.Context, feed tables.Feed, first, last time.Time) ([]tables.StreamRecord, error) {
	var shards []tables.Shard
	err := r.unhurried(ctx, func() (err error) { shards, err = feed.Shards(ctx); return err })
	if err != nil {
		return nil, err
	}
	closed := map[string]bool{}
	for _, s := range shards {
		closed[s.Parent] = true
	}
	var records []tables.StreamRecord
	for _, s := range shards {
		after, to := "", "its beginning"
		for more := true; more; {
			var changes []tables.StreamRecord
			var done bool
			err := r.unhurried(ctx, func() (err error) { changes, done, err = feed.Changes(ctx, s.ID, after, 1000, r.patience); return err })
			if err != nil {
				return nil, err
			}
			beyond := false
			for _, x := range changes {
				if beyond = x.At.After(last); !beyond && !x.At.Before(first) {
					records = append(records, x)
				}
				after, to = x.Seq, x.At.UTC().Format(time.RFC3339)
			}
			more = !done && !beyond && (closed[s.ID] || len(changes) > 0)
		}
		r.say("shard       %s is read to %s", s.ID, to)
	}
	return records, nil
}

// unhurried does it until the stream has not too many readers: the deployed ones
// come first.
func (r recovery) unhurried(ctx context.Context, do func() error) error {
	for {
		err := do()
		if !errors.Is(err, tables.ErrThrottled) {
			return err
		}
		if err := r.pause(ctx); err != nil {
			return err
		}
	}
}

// batchesFor are the records that a reader's filters let pass, in batches of one
// shard each.
func batchesFor(f stream.Function, records []tables.StreamRecord) [][]tables.StreamRecord {
	var batches [][]tables.StreamRecord
	size := 0
	for _, x := range records {
		if !f.Match(x) {
			continue
		}
		n := len(batches)
		more := x.Old.Size() + x.New.Size()
		if n == 0 || len(batches[n-1]) == f.Batch || size+more > replaySize || batches[n-1][0].Shard != x.Shard {
			batches, size, n = append(batches, nil), 0, n+1
		}
		batches[n-1], size = append(batches[n-1], x), size+more
	}
	return batches
}
