package scale

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/aws/aws-lambda-go/events"

	evts "agentsocial/events"
	"agentsocial/local/service/delivery"
	"agentsocial/shared/app"
	"agentsocial/shared/lambda/host"
	"agentsocial/shared/lambda/stream"
	"agentsocial/tables"
)

const (
	pollEach   = 250 * time.Millisecond // how often Lambda polls each shard
	busyPause  = time.Second            // after a batch found no free execution
	retryPause = 100 * time.Millisecond // doubled at each failed try of a record, the first included
	retryMost  = 10 * time.Second
	drainMost  = 10 * time.Minute // bounds the readers' time after the last request
)

type reader struct {
	stream.Function
	declare func(*app.App) stream.Function
	lanes   map[lane]*queue

	came     int             // records that arrived
	lags     []time.Duration // of the records that were processed
	batches  int
	failed   int           // batches that failed, as a whole or in part
	given    int           // records given up
	waits    int           // times that a batch found no free execution
	caughtUp time.Duration // from the last request until no record was left

	recovered time.Duration // from the end of its outage until no record was left
}

// lane is a shard, or a part of one: its records are delivered in order.
type lane struct{ shard, part int }

func (l lane) compare(m lane) int {
	return cmp.Or(cmp.Compare(l.shard, m.shard), cmp.Compare(l.part, m.part))
}

// queue holds the waiting records of a lane, and the process that handles them.
type queue struct {
	records []tables.StreamRecord
	handle  host.BatchHandler
	runs    bool
	n       int
}

func (w *world) openReaders() {
	for _, declare := range evts.All() {
		w.readers = append(w.readers, &reader{Function: declare(w.process()), declare: declare, lanes: map[lane]*queue{}})
	}
}

func (r *reader) left() int { return r.came - len(r.lags) - r.given }

// newest returns the position of the stream's newest record.
func (w *world) newest() string {
	seen := w.seen
	for {
		all, _, err := w.model.below.Changes(context.Background(), "shard-0", seen, 1000, 0)
		if err != nil || len(all) == 0 {
			return seen
		}
		seen = all[len(all)-1].Seq
	}
}

// poll gives the readers the stream's new records. A record is in the shard of its item's
// range.
func (w *world) poll() {
	down := w.s.Down.From <= time.Since(w.began) && time.Since(w.began) < w.s.Down.To
	for {
		all, _, err := w.model.below.Changes(context.Background(), "shard-0", w.seen, 1000, 0)
		if err != nil {
			w.log.fail(err)
		}
		if len(all) == 0 {
			break
		}
		w.seen = all[len(all)-1].Seq
		for _, rec := range all {
			at := placeOf(rec.Key.PK, rec.Key.SK)
			shard := w.model.spaces[""].at(at).id
			for _, r := range w.readers {
				if !r.Match(rec) {
					continue
				}
				l := lane{shard, int(placeOf(rec.Key.PK+"/"+rec.Key.SK, "").hash % uint64(max(1, w.model.spaces[""].limits.Parallel)))}
				q := r.lanes[l]
				if q == nil {
					own := w.process()
					q = &queue{handle: host.Batches(own.Only(app.Table), r.declare(own.Only(app.Table)))}
					r.lanes[l] = q
				}
				q.records = append(q.records, rec)
				r.came++
			}
		}
	}
	for _, r := range w.readers {
		if down && r.Name == w.s.Reader {
			continue
		}
		for _, l := range slices.SortedFunc(maps.Keys(r.lanes), lane.compare) {
			w.wake(r, l, r.lanes[l])
		}
		if back := time.Since(w.began) - w.s.Down.To; r.Name == w.s.Reader && back > 0 && r.recovered == 0 && r.left() == 0 {
			r.recovered = back
		}
	}
}

func (w *world) wake(r *reader, l lane, q *queue) {
	if q.runs || len(q.records) == 0 {
		return
	}
	q.runs = true
	q.n++
	w.start(fmt.Sprintf("%s %d.%d %d", r.Name, l.shard, l.part, q.n), func(ctx context.Context, j *job) {
		defer func() { q.runs = false }()
		if len(q.records) < r.Batch {
			w.pause(j, r.Window)
		}
		batch := q.records[:min(r.Batch, len(q.records))]
		q.records = slices.Clone(q.records[len(batch):])
		w.deliver(ctx, j, r, q, batch)
	})
}

func (w *world) deliver(ctx context.Context, j *job, r *reader, q *queue, batch []tables.StreamRecord) {
	delivery.Mapping{
		Tries: stream.Retries,
		Invoke: func(records []tables.StreamRecord) (res events.DynamoDBEventResponse, err error) {
			for !w.pool.enter() {
				r.waits++
				w.pause(j, stretched(busyPause, j.chance()))
				if w.over.Load() {
					return res, delivery.ErrAgain
				}
			}
			r.batches++
			w.execute(j, func() {
				w.pause(j, stretched(ownTime, j.chance()))
				ctx, cancel := context.WithTimeout(ctx, host.ReaderSize.Timeout)
				defer cancel()
				res, err = q.handle(ctx, stream.ToLambda(records))
			})
			if err != nil || len(res.BatchItemFailures) > 0 {
				r.failed++
			}
			return res, err
		},
		Pause: func(tries int) { w.pause(j, stretched(min(retryPause<<tries, retryMost), j.chance())) },
		Done: func(records []tables.StreamRecord) {
			for _, rec := range records {
				r.lags = append(r.lags, time.Since(rec.At))
			}
		},
		GiveUp: func(_ int, records []tables.StreamRecord) { r.given += len(records) },
		Over:   w.over.Load,
	}.Deliver(batch)
}

// drain lets requests and readers finish.
func (w *world) drain() {
	end := time.Now()
	left := func() (n int) {
		for _, r := range w.readers {
			if n += r.left(); r.left() > 0 {
				r.caughtUp = time.Since(end)
			}
		}
		return n
	}
	for time.Since(end) < drainMost {
		w.turns.Pass(time.Now().Add(pollEach))
		w.poll()
		if left() == 0 && w.live.Load() == 0 {
			break
		}
	}
	w.over.Store(true)
	for w.live.Load() > 0 {
		w.turns.Pass(time.Now().Add(time.Second))
	}
}
