package service

import (
	"context"
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/aws/aws-lambda-go/events"

	"agentsocial/local/service/delivery"
	"agentsocial/local/service/failed"
	"agentsocial/shared/app"
	"agentsocial/shared/lambda/host"
	"agentsocial/shared/lambda/stream"
	"agentsocial/tables"
	"agentsocial/tables/embedded"
)

// pump stands in for Lambda's event source mappings. For each reader it reads the
// shards of the table's stream, filters records, delivers batches, retries a batch
// from the record that failed, and sets aside a record that keeps failing.
type pump struct {
	app         *app.App
	feed        tables.Feed
	lag         time.Duration // the longest delay until the feed has a commit
	readers     []reader
	checkpoints *checkpoints
	faults      *streamFaults
	dead        *deadLetters
	background  *background

	work       atomic.Int64 // incremented when a batch begins and ends, for drained
	mu         sync.Mutex
	kick       chan struct{}         // closed and replaced to end waits for changes
	idle       map[string]int64      // by reader and shard: the number of the newest drain during which it found no records
	unfinished map[string]time.Time  // by reader and shard: the time of the oldest change that it has read, but not finished
	since      time.Time             // lagging counts no time before this
	readings   map[question]*reading // under way
	chunks     map[string]chunk      // by shard: the newest chunk
	drain      int64                 // the number of the newest drain
	done       sync.WaitGroup
	cancel     context.CancelFunc
}

// chunk holds the changes of a shard after a position. The first reader at that position
// reads them from the feed. The other readers share them, so nobody may modify their items.
type chunk struct {
	after   string
	records []tables.StreamRecord
}

// from returns the changes after a position, or nil if the chunk does not contain that
// position.
func (c chunk) from(after string) []tables.StreamRecord {
	if after == c.after {
		return c.records
	}
	if i := slices.IndexFunc(c.records, func(r tables.StreamRecord) bool { return r.Seq == after }); i >= 0 {
		return c.records[i+1:]
	}
	return nil
}

// reader is a reader of the stream and its handler.
type reader struct {
	stream.Function
	handle host.BatchHandler
}

// id identifies the reader's position in a shard.
func (r reader) id(shard string) string { return r.Name + " " + shard }

// readerIDs returns the ids of all readers of a feed.
func readerIDs(ctx context.Context, feed tables.Feed, readers []reader) (ids []string, err error) {
	shards, err := feed.Shards(ctx)
	for _, r := range readers {
		for _, s := range shards {
			ids = append(ids, r.id(s.ID))
		}
	}
	return ids, err
}

const (
	pumpPause  = 20 * time.Millisecond
	shardsEach = 2 * time.Second // the period of listing shards
	idleWait   = time.Second     // bounds the wait of a read for a change

	// gatherFor is the minimum time between two reads that find changes, once changes have
	// come for gatherAfter without a pause. It stands in for the batching window of Lambda,
	// which is a second. Under load a batch then has many changes, and a reader writes their
	// sums once.
	gatherFor   = 100 * time.Millisecond
	gatherAfter = time.Second
)

func startPump(a *app.App, feed tables.Feed, lag time.Duration, readers []reader, p *checkpoints, m *streamFaults, d *deadLetters, b *background) *pump {
	ctx, cancel := context.WithCancel(context.Background())
	u := &pump{
		app: a, feed: feed, lag: lag, readers: readers, checkpoints: p, faults: m, dead: d, background: b,
		kick: make(chan struct{}), idle: map[string]int64{}, unfinished: map[string]time.Time{}, readings: map[question]*reading{}, chunks: map[string]chunk{}, since: a.Now(), cancel: cancel,
	}
	for _, r := range readers {
		u.done.Go(func() { u.readShards(ctx, r) })
	}
	return u
}

// stop ends the pump at once.
func (u *pump) stop() { u.cancel(); u.done.Wait() }

// readShards reads every shard, children after their parents.
func (u *pump) readShards(ctx context.Context, r reader) {
	running, finished := map[string]bool{}, map[string]bool{}
	var mu sync.Mutex
	for ctx.Err() == nil {
		shards, err := u.feed.Shards(ctx)
		if err != nil && ctx.Err() == nil {
			u.app.Log.Warn("shards of the stream cannot be listed", "error", err.Error())
		}
		known := map[string]bool{}
		for _, s := range shards {
			known[s.ID] = true
		}
		mu.Lock()
		for _, s := range shards {
			if running[s.ID] || s.Parent != "" && known[s.Parent] && !finished[s.Parent] {
				continue
			}
			running[s.ID] = true
			u.done.Go(func() {
				u.readShard(ctx, r, s.ID)
				mu.Lock()
				finished[s.ID] = true
				mu.Unlock()
			})
		}
		mu.Unlock()
		pause(ctx, shardsEach)
	}
}

func (u *pump) readShard(ctx context.Context, r reader, shard string) {
	id := r.id(shard)
	u.mu.Lock()
	u.idle[id] = 0
	u.mu.Unlock()
	defer func() {
		u.mu.Lock()
		delete(u.idle, id)
		delete(u.unfinished, id)
		u.mu.Unlock()
	}()
	var steady, last time.Time // when changes began to come without a pause; when the last ones were handled
	for ctx.Err() == nil {
		begun := time.Now()
		records, done, drain, err := u.read(ctx, id, shard)
		switch {
		case err != nil:
			u.app.Log.Warn("stream cannot be read", "reader", r.Name, "error", err.Error())
			pause(ctx, 100*pumpPause)
		case len(records) == 0:
			u.mu.Lock()
			u.idle[id] = max(u.idle[id], drain)
			u.mu.Unlock()
		default:
			if time.Since(last) > 2*gatherFor {
				steady = time.Now()
			}
			u.deliver(u.paced(ctx, id, records), r, id, records)
			if ctx.Err() == nil {
				u.checkpoints.set(id, records[len(records)-1].Seq)
			}
			last = time.Now()
			if age := u.app.Now().Sub(records[len(records)-1].At); age < 5*gatherFor && last.Sub(steady) >= gatherAfter { // else the reader is behind, or changes are few
				u.gather(ctx, id, time.Until(begun.Add(gatherFor)))
			}
		}
		if done && err == nil {
			return
		}
	}
}

// reading is a read of a shard after a position. All readers at that position share it.
type reading struct {
	records []tables.StreamRecord
	done    bool
	drain   int64
	err     error
	over    chan struct{} // closed when the read has ended
}

// question says what to read. Readers with the same question share one reading.
type question struct {
	shard, after string
	wait         time.Duration
}

// read reads the next records of a shard. It also returns the number of the drain that
// was the newest when the read began. While that drain waits for this reader, read does
// not wait for new records.
func (u *pump) read(ctx context.Context, id, shard string) (records []tables.StreamRecord, done bool, drain int64, err error) {
	q := question{shard, u.checkpoints.get(id), u.lag}
	u.mu.Lock()
	if u.idle[id] >= u.drain {
		q.wait = idleWait
	}
	if records = u.chunks[shard].from(q.after); len(records) > 0 {
		drain = u.drain
		u.mu.Unlock()
		return records, false, drain, nil
	}
	l := u.readings[q]
	if l == nil {
		l = &reading{drain: u.drain, over: make(chan struct{})}
		u.readings[q] = l
		kick := u.kick
		u.done.Go(func() { u.ask(ctx, q, l, kick) })
	}
	u.mu.Unlock()
	<-l.over
	return l.records, l.done, l.drain, l.err
}

// ask reads the feed into l, for all readers with the question q. It returns early if a
// drain closes kick or the pump ends.
func (u *pump) ask(ctx context.Context, q question, l *reading, kick chan struct{}) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	go func() {
		select {
		case <-kick:
			cancel()
		case <-ctx.Done():
		}
	}()
	l.records, l.done, l.err = u.feed.Changes(ctx, q.shard, q.after, 1000, q.wait)
	if ctx.Err() != nil {
		l.records, l.done, l.drain, l.err = nil, false, 0, nil
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	switch delete(u.readings, q); {
	case len(l.records) > 0:
		u.chunks[q.shard] = chunk{q.after, l.records}
	default:
		delete(u.chunks, q.shard)
	}
	close(l.over)
}

// gather waits while changes collect, unless a drain waits for this reader.
func (u *pump) gather(ctx context.Context, id string, wait time.Duration) {
	u.mu.Lock()
	kick, drains := u.kick, u.idle[id] < u.drain
	u.mu.Unlock()
	if drains || wait <= 0 {
		return
	}
	t := time.NewTimer(wait)
	defer t.Stop()
	select {
	case <-t.C:
	case <-kick:
	case <-ctx.Done():
	}
}

// behind is the age of a change at which its reader begins to hurry.
const behind = time.Second

// paced returns the context in which a reader handles records. Its writes share the next
// fsync of the requests, unless it is behind or a drain waits for it.
func (u *pump) paced(ctx context.Context, id string, records []tables.StreamRecord) context.Context {
	u.mu.Lock()
	awaited := u.idle[id] < u.drain
	u.mu.Unlock()
	if awaited || u.app.Now().Sub(records[0].At) >= behind {
		return ctx
	}
	return embedded.Unhurried(ctx)
}

// deliver delivers the records that match a reader's filters, in batches.
func (u *pump) deliver(ctx context.Context, r reader, id string, records []tables.StreamRecord) {
	defer u.finish(id, nil)
	var wanted []tables.StreamRecord
	for _, rec := range records {
		if r.Match(rec) {
			wanted = append(wanted, rec)
		}
	}
	wanted = u.faults.shuffle(wanted)
	for len(wanted) > 0 && ctx.Err() == nil {
		u.finish(id, wanted)
		n := u.faults.batch(min(r.Batch, len(wanted)))
		u.batch(ctx, r, wanted[:n])
		wanted = wanted[n:]
	}
}

// finish notes that a reader has yet to finish the changes in left, the oldest first.
func (u *pump) finish(id string, left []tables.StreamRecord) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if len(left) == 0 {
		delete(u.unfinished, id)
	} else {
		u.unfinished[id] = left[0].At
	}
}

// lagging returns the age of the oldest change that a reader has not finished. Time in
// which no reader could work does not count: before the start, and when the clock is moved.
func (u *pump) lagging() (most time.Duration) {
	u.mu.Lock()
	defer u.mu.Unlock()
	now := u.app.Now()
	for _, at := range u.unfinished {
		if at.Before(u.since) {
			at = u.since
		}
		most = max(most, now.Sub(at))
	}
	return most
}

// Writes are refused at random, with a probability that grows with the lag. Refused callers
// come back after a random time. Even when all writes are refused, the lag still grows while
// the readers work through what was accepted. If writers are at most twice as fast as the
// readers, the lag stays below a minute.
const (
	slowFrom = 10 * time.Second // the lag above which some writes are refused
	slowFull = 25 * time.Second // the lag from which all writes are refused
)

// refuses reports whether to refuse a write at a lag. random is from 0 to less than 1.
func refuses(lag time.Duration, random float64) bool {
	return random < float64(lag-slowFrom)/float64(slowFull-slowFrom)
}

// moved tells the pump that the clock was moved.
func (u *pump) moved() {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.since = u.app.Now()
}

// batch delivers a batch until it is processed or set aside.
func (u *pump) batch(ctx context.Context, r reader, records []tables.StreamRecord) {
	u.work.Add(1)
	defer u.work.Add(1)
	delivery.Mapping{
		Tries: stream.Retries,
		Invoke: func(records []tables.StreamRecord) (events.DynamoDBEventResponse, error) {
			bctx, over := u.faults.crash(ctx)
			res, err := r.handle(bctx, stream.ToLambda(records))
			if over() {
				return res, delivery.ErrAgain
			}
			if err == nil && len(res.BatchItemFailures) == 0 && u.faults.again() {
				return res, delivery.ErrAgain
			}
			return res, err
		},
		Pause:  func(tries int) { pause(ctx, min(pumpPause<<tries, time.Second)) },
		GiveUp: func(tries int, records []tables.StreamRecord) { u.setAside(r.Name, tries, records) },
		Over:   func() bool { return ctx.Err() != nil },
	}.Deliver(records)
}

// setAside stores a failed batch, as Lambda does in S3. If that fails too, only the log
// names its first record.
func (u *pump) setAside(reader string, tries int, records []tables.StreamRecord) {
	b, err := failed.New(reader, tries, u.app.Now(), records)
	if err == nil {
		err = u.dead.add(b)
	}
	u.app.Log.Error("dead letter", "reader", reader, "seq", records[0].Seq, "records", len(records))
	if err != nil {
		u.app.Log.Error("a dead letter cannot be saved", "reader", reader, "seq", records[0].Seq, "error", err.Error())
	}
}

// drained waits until every reader has read every shard to its end and no background work
// is under way. It also waits for the changes and the work that this causes.
func (u *pump) drained(ctx context.Context) error {
	for {
		work := u.work.Load()
		runs, _ := u.background.quiet()
		u.mu.Lock()
		u.drain++
		want := u.drain
		close(u.kick)
		u.kick = make(chan struct{})
		u.mu.Unlock()
		for {
			u.mu.Lock()
			met := len(u.idle) >= len(u.readers)
			for _, d := range u.idle {
				met = met && d >= want
			}
			u.mu.Unlock()
			if _, quiet := u.background.quiet(); met && quiet {
				break
			}
			if pause(ctx, time.Millisecond); ctx.Err() != nil {
				return errors.New("the stream is not drained yet")
			}
		}
		if after, _ := u.background.quiet(); u.work.Load() == work && after == runs {
			return nil
		}
	}
}

func pause(ctx context.Context, d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-ctx.Done():
	}
}
