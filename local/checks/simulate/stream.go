package simulate

import (
	"context"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/aws/aws-lambda-go/events"

	"agentsocial/local/service"
	"agentsocial/local/service/delivery"
	"agentsocial/shared/lambda/stream"
	"agentsocial/tables"
)

// reader is a reader of the stream with its position.
type reader struct {
	*service.PartReader
	at      string    // position of the last record that was read
	stalled time.Time // reads nothing until this time
	runs    int
	job     *job // delivers to this reader; may be nil or have ended
}

const shard = "shard-0"

// records bounds the records that a reader reads at once.
const records = 200

// due returns the changes after a position of the stream. The parameter most bounds their
// number.
func (w *world) due(after string, most int) []tables.StreamRecord {
	all, _, err := w.table.Changes(context.Background(), shard, after, most, 0)
	if err != nil {
		w.violate("stream", "%v", err)
	}
	return all
}

// read starts a job that delivers a reader's next changes. It returns nil if the reader is
// busy or stalled, or has no changes.
func (w *world) read(r *reader, calm bool) *job {
	if r.job != nil && r.job.Runs() || !calm && time.Now().Before(r.stalled) {
		return nil
	}
	all := w.due(r.at, records)
	if len(all) == 0 {
		return nil
	}
	r.runs++
	name := fmt.Sprintf("%s %d", r.Name, r.runs)
	rng := w.dice.Source("batch " + name)
	if !calm && rng.Float64() < w.c.Rates.Stall {
		r.stalled = time.Now().Add(time.Duration(rng.Int64N(int64(10 * time.Minute))))
		return nil
	}
	r.at = all[len(all)-1].Seq
	var wanted []tables.StreamRecord
	for _, rec := range all {
		if r.Match(rec) {
			wanted = append(wanted, rec)
		}
	}
	if len(wanted) == 0 {
		return nil
	}
	if !calm && rng.Float64() < w.c.Rates.Shuffle {
		wanted = shuffled(rng, wanted)
	}
	r.job = w.start(name, calm, func(ctx context.Context) {
		for len(wanted) > 0 {
			n := min(r.Batch, len(wanted))
			if !calm && n > 1 && rng.Float64() < w.c.Rates.Split {
				n = 1 + rng.IntN(n-1)
			}
			w.deliver(ctx, r, rng, wanted[:n])
			wanted = wanted[n:]
		}
	})
	return r.job
}

// shuffled reorders records, but keeps the records of each item in order.
func shuffled(rng *rand.Rand, all []tables.StreamRecord) (out []tables.StreamRecord) {
	by := map[tables.Key][]tables.StreamRecord{}
	var slots []tables.Key
	for _, r := range all {
		by[r.Key] = append(by[r.Key], r)
		slots = append(slots, r.Key)
	}
	rng.Shuffle(len(slots), func(i, j int) { slots[i], slots[j] = slots[j], slots[i] })
	for _, k := range slots {
		out = append(out, by[k][0])
		by[k] = by[k][1:]
	}
	return out
}

// calmTries is the number of deliveries without faults before a record is given up. A
// record that fails in all of them cannot be processed.
const calmTries = 3

func (w *world) deliver(ctx context.Context, r *reader, rng *rand.Rand, batch []tables.StreamRecord) {
	j := jobOf(ctx)
	calm, tries := j.calm, 0
	var failure error
	defer func() { j.calm = calm }()
	delivery.Mapping{
		Tries: stream.Retries,
		Invoke: func(records []tables.StreamRecord) (events.DynamoDBEventResponse, error) {
			j.calm = calm || tries >= stream.Retries-calmTries
			tries = 0 // Pause sets it again if this call fails
			res, err := r.Invoke(ctx, stream.ToLambda(records))
			if err == nil && len(res.BatchItemFailures) == 0 && !j.calm && rng.Float64() < w.c.Rates.Redeliver {
				return res, delivery.ErrAgain
			}
			failure = err
			return res, err
		},
		Pause: func(n int) {
			tries = n
			time.Sleep(20 * time.Millisecond << n)
		},
		GiveUp: func(_ int, records []tables.StreamRecord) {
			w.violate("stream", "%s gives up a record of %s: %v", r.Name, typeOf(records[0]), failure)
		},
	}.Deliver(batch)
}

func typeOf(r tables.StreamRecord) string {
	if r.New != nil {
		return r.New.Str(tables.AttrType)
	}
	return r.Old.Str(tables.AttrType)
}

type timetable struct {
	*service.PartSchedule
	next time.Time
	runs int
}

// call starts the schedule if it is due, or at once if calm.
func (w *world) call(s *timetable, calm bool) (jobs []*job) {
	if !calm && time.Now().Before(s.next) {
		return nil
	}
	s.runs++
	name := fmt.Sprintf("%s %d", s.Name, s.runs)
	rng := w.dice.Source("schedule " + name)
	r := &w.c.Rates
	s.next = time.Now().Add(s.Every)
	if !calm && rng.Float64() < r.Overdue {
		s.next = s.next.Add(time.Duration(rng.Int64N(int64(20 * time.Minute))))
	}
	n := 1
	if !calm && rng.Float64() < r.Doubled {
		n = 2
	}
	for i := range n {
		cut := time.Duration(0)
		if !calm && rng.Float64() < r.Cut {
			cut = time.Duration(rng.Int64N(int64(100 * time.Millisecond)))
		}
		jobs = append(jobs, w.start(fmt.Sprintf("%s.%d", name, i), calm, func(ctx context.Context) {
			if cut > 0 {
				within, end := context.WithTimeout(ctx, cut)
				defer end()
				ctx = within
			}
			if err := s.Invoke(ctx); err != nil && calm {
				w.violate("schedules", "%s fails although no fault was injected: %v", s.Name, err)
			}
		}))
	}
	return jobs
}

func (w *world) pass(d time.Duration) {
	end := time.Now().Add(d)
	for {
		next := end
		for _, s := range w.schedules {
			if s.next.Before(next) {
				next = s.next
			}
		}
		w.turns.Pass(next)
		for _, s := range w.schedules {
			w.ran(w.call(s, false)...)
		}
		w.ran(w.background()...)
		if !time.Now().Before(end) {
			break
		}
	}
	w.sweep()
}

// ran remembers background jobs. Only settle and the end of a run wait for them.
func (w *world) ran(jobs ...*job) { w.running = append(only(w.running, (*job).Runs), jobs...) }

// sweepEach is the least time between two removals of expired items.
const sweepEach = time.Hour

func (w *world) sweep() {
	if time.Since(w.swept) < sweepEach {
		return
	}
	w.swept = time.Now()
	if _, err := w.table.Sweep(context.Background()); err != nil {
		w.violate("table", "%v", err)
	}
}

// background starts what runs without a caller: readers and notifications.
func (w *world) background() (jobs []*job) {
	for _, r := range w.readers {
		if j := w.read(r, false); j != nil {
			jobs = append(jobs, j)
		}
	}
	return append(jobs, w.notify(false)...)
}

// settle drains the stream and runs the schedules, without faults, until nothing changes.
func (w *world) settle() {
	w.finish(w.running...)
	for range 60 {
		var jobs []*job
		for _, r := range w.readers {
			if j := w.read(r, true); j != nil {
				jobs = append(jobs, j)
			}
		}
		if jobs = append(jobs, w.notify(true)...); len(jobs) > 0 {
			w.finish(jobs...)
			continue
		}
		if w.unread() {
			continue
		}
		before := w.newest()
		for _, s := range w.schedules {
			w.finish(w.call(s, true)...)
		}
		if w.newest() == before {
			w.watch()
			return
		}
	}
	w.violate("rest", "the service does not come to rest")
}

func (w *world) unread() bool {
	for _, r := range w.readers {
		if len(w.due(r.at, 1)) > 0 {
			return true
		}
	}
	return false
}

// newest adds the stream's new changes to the model, and returns the newest position.
func (w *world) newest() string {
	for all := w.due(w.seen, 1000); len(all) > 0; all = w.due(w.seen, 1000) {
		w.take(all)
	}
	return w.seen
}
