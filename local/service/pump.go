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

// pump stands in for Lambda's event source mappings. It reads the stream's shards for each
// reader, filters records and delivers batches. It retries a batch from the record that failed.
// If that record keeps failing, the pump sets aside the rest of the batch.
type pump struct {
	app         *app.App
	feed        tables.Feed
	lag         time.Duration // the longest delay until the feed has a commit
	exact       bool          // the feed has the exact times of changes
	readers     []reader
	matches     func(tables.StreamRecord) bool // whether any reader's filter matches
	checkpoints *checkpoints
	faults      *streamFaults
	dead        *deadLetters
	background  *background

	work       atomic.Int64 // incremented when a batch begins and ends, for drained
	mu         sync.Mutex
	kick       chan struct{}         // closed and replaced to end waits for changes
	idle       map[string]int64      // by reader and shard: the newest drain in which the reader found no records
	unfinished map[string]time.Time  // by reader and shard: all changes before this time are finished
	caughtUp   map[string]time.Time  // by reader and shard: when the reader last had nothing to do, by the process's clock
	since      time.Time             // lagging counts no time before this
	readings   map[question]*reading // under way
	chunks     map[string][]chunk    // by shard: the newest chunks
	drain      int64                 // the number of the newest drain
	done       sync.WaitGroup
	cancel     context.CancelFunc
}

// chunk holds the changes of a shard between two positions, without those that no reader's
// filter matches. The readers share a chunk, so nobody may modify its items.
type chunk struct {
	after, end string // positions
	records    []tables.StreamRecord
	newest     time.Time // the time of the change at end
}

// chunksMost bounds the chunks of a shard that are kept for readers that are behind.
const chunksMost = 32

// from returns the part of a chunk that follows a position. ok is false if no chunk
// contains that position.
func from(chunks []chunk, after string) (_ chunk, ok bool) {
	for _, c := range chunks {
		if after == c.after {
			return c, true
		}
		if i := slices.IndexFunc(c.records, func(r tables.StreamRecord) bool { return r.Seq == after }); i >= 0 && after != c.end {
			return chunk{after, c.end, c.records[i+1:], c.newest}, true
		}
	}
	return chunk{}, false
}

type reader struct {
	stream.Function
	handle host.BatchHandler
}

// matcher returns a function that reports whether a filter of any reader matches a record.
func matcher(readers []reader) func(tables.StreamRecord) bool {
	var functions []stream.Function
	for _, r := range readers {
		functions = append(functions, r.Function)
	}
	return stream.Matcher(functions...)
}

// id identifies the reader's position in a shard.
func (r reader) id(shard string) string { return r.Name + " " + shard }

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

	// gatherFor is the minimum time between two reads that find changes, once changes have come
	// for gatherAfter without a pause. It stands in for Lambda's batching window of a second. A
	// reader then writes the sums of many changes at once.
	gatherFor   = 100 * time.Millisecond
	gatherAfter = time.Second
)

func startPump(a *app.App, feed tables.Feed, lag time.Duration, exact bool, readers []reader, p *checkpoints, m *streamFaults, d *deadLetters, b *background) *pump {
	ctx, cancel := context.WithCancel(context.Background())
	u := &pump{
		app: a, feed: feed, lag: lag, exact: exact, readers: readers, matches: matcher(readers), checkpoints: p, faults: m, dead: d, background: b,
		kick: make(chan struct{}), idle: map[string]int64{}, unfinished: map[string]time.Time{}, caughtUp: map[string]time.Time{}, readings: map[question]*reading{}, chunks: map[string][]chunk{}, since: a.Now(), cancel: cancel,
	}
	for _, r := range readers {
		u.done.Go(func() { u.readShards(ctx, r) })
	}
	return u
}

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
	u.idle[id], u.caughtUp[id] = 0, time.Now()
	u.mu.Unlock()
	defer func() {
		u.mu.Lock()
		delete(u.idle, id)
		delete(u.unfinished, id)
		delete(u.caughtUp, id)
		u.mu.Unlock()
	}()
	var steady, last time.Time // when changes began to come without a pause; when the last ones were handled
	more := false              // whether there are probably more changes
	size := r.Batch            // of a batch
	for ctx.Err() == nil {
		begun := time.Now()
		c, done, drain, err := u.read(ctx, id, shard, u.checkpoints.get(id), more)
		switch {
		case err != nil:
			u.app.Log.Warn("stream cannot be read", "reader", r.Name, "error", err.Error())
			pause(ctx, 100*pumpPause)
		case c.end == "":
			u.finish(id, nil)
			if !more { // if more was set, read did not wait for a late change
				u.mu.Lock()
				u.idle[id] = max(u.idle[id], drain)
				u.mu.Unlock()
			}
			more = false
		default:
			if time.Since(last) > 2*gatherFor {
				steady = time.Now()
			}
			wanted, c := u.fill(ctx, r, id, shard, size, c)
			size = u.deliver(u.paced(ctx, id, wanted), r, id, size, wanted)
			if ctx.Err() == nil {
				u.checkpoints.set(id, c.end)
			}
			last, more = time.Now(), u.behind(c.newest)
			if u.passed(id, c.newest); !more && last.Sub(steady) >= gatherAfter { // changes come steadily: let them collect
				u.gather(ctx, id, time.Until(begun.Add(gatherFor)))
			}
		}
		if done && err == nil {
			return
		}
	}
}

// reading is one read of a shard. Readers with the same question share it.
type reading struct {
	found chunk // its end is "" if there are no changes
	done  bool
	drain int64
	err   error
	over  chan struct{} // closed when the read has ended
}

// question says what to read, and how long to wait for a change.
type question struct {
	shard, after string
	wait         time.Duration
}

// read returns the next changes of a shard, and the number of the newest drain when the read
// began. If a drain waits for this reader, read waits only for the feed's lag. With atOnce it does
// not wait.
func (u *pump) read(ctx context.Context, id, shard, after string, atOnce bool) (_ chunk, done bool, drain int64, err error) {
	q := question{shard, after, u.lag}
	u.mu.Lock()
	switch {
	case atOnce:
		q.wait = 0
	case u.idle[id] >= u.drain:
		q.wait = idleWait
	}
	if c, ok := from(u.chunks[shard], after); ok {
		drain = u.drain
		u.mu.Unlock()
		return c, false, drain, nil
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
	return l.found, l.done, l.drain, l.err
}

// ask reads the feed into l. It returns early if a drain closes kick or the pump ends.
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
	records, done, err := u.feed.Changes(ctx, q.shard, q.after, 1000, q.wait)
	if l.done, l.err = done, err; ctx.Err() != nil {
		records, l.done, l.drain, l.err = nil, false, 0, nil
	}
	if len(records) > 0 {
		last := records[len(records)-1]
		l.found = chunk{after: q.after, end: last.Seq, newest: last.At}
		for _, rec := range records {
			if u.matches(rec) {
				l.found.records = append(l.found.records, rec)
			}
		}
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	delete(u.readings, q)
	switch kept := u.chunks[q.shard]; {
	case l.found.end != "":
		u.chunks[q.shard] = append(kept[max(0, len(kept)-chunksMost+1):], l.found)
	case q.wait > 0 && ctx.Err() == nil: // nothing is left, and nothing comes
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

// behindFrom is the age of a change at which its reader begins to hurry.
const behindFrom = 5 * gatherFor

// behind reports whether a reader that has come to a change of this time is behind.
func (u *pump) behind(at time.Time) bool { return u.exact && u.app.Now().Sub(at) >= behindFrom }

// paced returns the context in which a reader handles records. The reader's writes wait briefly to
// share an fsync with requests, unless the reader is behind or a drain waits for it.
func (u *pump) paced(ctx context.Context, id string, records []tables.StreamRecord) context.Context {
	u.mu.Lock()
	awaited := u.idle[id] < u.drain
	u.mu.Unlock()
	if awaited || len(records) > 0 && u.behind(records[0].At) {
		return ctx
	}
	return embedded.Unhurried(ctx)
}

// A reader that is behind mostly waits for commits, so it writes more at once. Its batches are
// larger, so that it writes a sum once for more changes. They grow while handling one takes less
// than batchFor.
const (
	behindWidth = 4  // multiplies the limit on concurrent writes
	largeBatch  = 10 // bounds the growth of batches, as a multiple of the usual size
	batchFor    = 500 * time.Millisecond
	fillMost    = 32 // bounds the reads that fill a batch
)

// fill returns the matching records and the last chunk read. For a reader that is behind, it
// reads on up to a whole batch.
func (u *pump) fill(ctx context.Context, r reader, id, shard string, size int, c chunk) (wanted []tables.StreamRecord, _ chunk) {
	for reads := 1; ; reads++ {
		for _, rec := range c.records {
			if r.Match(rec) {
				wanted = append(wanted, rec)
			}
		}
		if len(wanted) > 0 {
			u.finish(id, wanted)
		}
		if reads == fillMost || len(wanted) >= size || !u.behind(c.newest) {
			return wanted, c
		}
		more, _, _, err := u.read(ctx, id, shard, c.end, true)
		if err != nil || more.end == "" {
			return wanted, c
		}
		c = more
	}
}

// deliver delivers records in batches of about size records, and returns the next size.
func (u *pump) deliver(ctx context.Context, r reader, id string, size int, wanted []tables.StreamRecord) int {
	wanted = u.faults.shuffle(wanted)
	for len(wanted) > 0 && ctx.Err() == nil {
		u.finish(id, wanted)
		n := min(size, len(wanted))
		if size > r.Batch && len(wanted) < n+n/2 { // less than half a batch would be left
			n = len(wanted)
		}
		n = u.faults.batch(n)
		begun, bctx := time.Now(), ctx
		if u.behind(wanted[0].At) {
			bctx = app.Wide(ctx, behindWidth)
		}
		u.batch(bctx, r, wanted[:n])
		switch took := time.Since(begun); {
		case took > 2*batchFor:
			size = max(size/2, r.Batch)
		case took < batchFor && n >= size:
			size = min(2*size, largeBatch*r.Batch)
		}
		wanted = wanted[n:]
	}
	return size
}

// passed notes that a reader has finished all changes up to a time. A reader that is behind
// has more changes to finish.
func (u *pump) passed(id string, at time.Time) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.behind(at) {
		u.unfinished[id] = at
		return
	}
	delete(u.unfinished, id)
	u.caughtUp[id] = time.Now()
}

// finish notes that a reader has yet to finish the changes in left, the oldest first.
func (u *pump) finish(id string, left []tables.StreamRecord) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if len(left) == 0 {
		delete(u.unfinished, id)
		u.caughtUp[id] = time.Now()
	} else {
		u.unfinished[id] = left[0].At
	}
}

// lagging returns the age of the oldest change that a reader has not finished. It does not count
// the time before the start, moves of the clock or the machine's sleep.
func (u *pump) lagging() (most time.Duration) {
	u.mu.Lock()
	defer u.mu.Unlock()
	now := u.app.Now()
	for id, at := range u.unfinished {
		if at.Before(u.since) {
			at = u.since
		}
		most = max(most, min(now.Sub(at), time.Since(u.caughtUp[id])))
	}
	return most
}

// Writes are refused at random, and more of them as the lag grows. The lag still grows while the
// readers work through accepted writes. It stays below half a minute if writers are at most twice
// as fast as the readers.
const (
	slowFrom = 5 * time.Second  // the lag above which some writes are refused
	slowFull = 12 * time.Second // the lag from which all writes are refused
)

// refuses reports whether to refuse a write at a lag. random is from 0 to less than 1.
func refuses(lag time.Duration, random float64) bool {
	return random < float64(lag-slowFrom)/float64(slowFull-slowFrom)
}

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
// is under way. It also waits for the changes and the work that follow from these.
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
