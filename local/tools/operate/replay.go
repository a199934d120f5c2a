package main

import (
	"context"
	"errors"
	"slices"
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
	// replayed is how far back changes are replayed. Readers that are further behind have
	// raised an alarm before.
	replayed = time.Hour

	// streamKeeps is the time for which a stream keeps its records.
	streamKeeps = 24 * time.Hour

	// replaySize bounds a batch, in bytes of items: a third of the payload that a function
	// accepts, since JSON is longer.
	replaySize = 2 << 20
)

// replay puts the changes of the hour before AT (or now) among the failed batches,
// for readers that lost them. Records already processed are not processed again.
func replay(ctx context.Context, j job) error {
	if !j.Deployed {
		return errors.New("only a deployed table's stream can be replayed; set TABLE=aws:NAME")
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
	n, err := r.keep(ctx, changes)
	if err != nil {
		return err
	}
	if n == 0 {
		r.say("there is nothing to redrive")
		return nil
	}
	r.say("then run `make redrive`")
	return nil
}

// changes returns the changes of the hour before at. A restored table has a new stream,
// without the changes that the readers had not processed.
func (r recovery) changes(ctx context.Context, at time.Time) ([]tables.StreamRecord, error) {
	if r.Now().Sub(at) > streamKeeps-replayed {
		r.say("replay      the stream no longer has the hour before %s; changes that readers had not processed by then are lost", at.UTC().Format(time.RFC3339))
		return nil, nil
	}
	return r.between(ctx, at.Add(-replayed), at)
}

// keep puts changes among the failed batches of the named readers, or of all readers if
// none is named. It returns the number of batches.
func (r recovery) keep(ctx context.Context, records []tables.StreamRecord, some ...string) (n int, err error) {
	c, err := config.LoadDefaultConfig(ctx)
	if err != nil {
		return 0, err
	}
	m, err := mappingsOf(ctx, r.job, lambda.NewFromConfig(c))
	if err != nil {
		return 0, err
	}
	bucket := newBucket(c, m.bucket)
	for _, declare := range events.All() {
		f := declare(&app.App{})
		if len(some) > 0 && !slices.Contains(some, f.Name) {
			continue
		}
		function, err := m.function(f.Name)
		if err != nil {
			return n, err
		}
		for _, batch := range batchesFor(f, records) {
			b, err := failed.New(f.Name, 0, r.Now(), batch)
			if err != nil {
				return n, err
			}
			b.Request.FunctionARN, b.Request.Condition, b.Place.Stream = function, "Replay", m.stream
			if err := bucket.Put(ctx, b); err != nil {
				return n, err
			}
			n++
		}
	}
	if n == 0 {
		r.say("replay      no changes were found for the readers, so no batch was put into s3://%s", m.bucket)
	} else {
		r.say("replay      %d batches were put into s3://%s", n, m.bucket)
	}
	return n, nil
}

// between reads a table's changes from the time first to the time last.
func (r recovery) between(ctx context.Context, first, last time.Time) ([]tables.StreamRecord, error) {
	c := r.Dynamo
	return r.read(ctx, streams.Open(streams.Config{
		Table: c.Table, Region: c.Region, Endpoint: c.Endpoint, Credentials: c.Credentials,
	}), first, last)
}

// read reads each shard to its end, or to a record after last. An empty page does not end a
// closed shard. An open shard counts as read when nothing came for r.patience.
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
		r.say("shard       %s was read up to %s", s.ID, to)
	}
	return records, nil
}

// unhurried calls the function do again as long as the stream is throttled, so that the
// deployed readers come first.
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

// batchesFor returns the records that match a reader's filters, in batches. The records of
// a batch are of one shard.
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
