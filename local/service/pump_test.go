package service

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-lambda-go/events"

	"agentsocial/shared/app"
	"agentsocial/shared/lambda/stream"
	"agentsocial/tables"
)

// slowFeed is a feed of one shard. A read takes look(), or several if it waits.
type slowFeed struct {
	look func() time.Duration

	mu      sync.Mutex
	records []tables.StreamRecord
	found   int // reads that found records
	most    int // bounds the records of a read; 0: no bound

	ahead atomic.Int64 // ns by which the pump's clock is ahead of the process's
}

// add adds a record for each letter, the type of its item. They come together.
func (f *slowFeed) add(itemTypes string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, itemType := range strings.Split(itemTypes, "") {
		f.records = append(f.records, tables.StreamRecord{
			At: f.now(), Seq: strconv.Itoa(len(f.records) + 1), Event: "INSERT", New: tables.Item{tables.AttrType: itemType},
		})
	}
}

func (f *slowFeed) now() time.Time { return time.Now().Add(time.Duration(f.ahead.Load())) }

func (f *slowFeed) reads() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.found
}

func (f *slowFeed) Shards(context.Context) ([]tables.Shard, error) {
	return []tables.Shard{{ID: "s"}}, nil
}

func (f *slowFeed) Changes(ctx context.Context, _, after string, _ int, wait time.Duration) ([]tables.StreamRecord, bool, error) {
	for end := time.Now().Add(wait); ; {
		if pause(ctx, f.look()); ctx.Err() != nil {
			return nil, false, ctx.Err()
		}
		n, _ := strconv.Atoi(after) // "": 0
		f.mu.Lock()
		rest := f.records[n:]
		if len(rest) > 0 {
			f.found++
		}
		if f.most > 0 {
			rest = rest[:min(f.most, len(rest))]
		}
		f.mu.Unlock()
		if len(rest) > 0 || !time.Now().Before(end) {
			return rest, false, nil
		}
	}
}

// pumping starts a pump over a feed that delivers a commit at most lag later. A key of handle is
// a reader's item types, one letter each.
func pumping(t *testing.T, f *slowFeed, lag time.Duration, handle map[string]func()) *pump {
	t.Helper()
	var readers []reader
	for types, h := range handle {
		readers = append(readers, readerOf(types, h))
	}
	return pumpingTo(t, f, lag, readers)
}

func readerOf(types string, handle func()) reader {
	var filters []stream.Filter
	for _, itemType := range types {
		filters = append(filters, stream.Filter{Type: string(itemType), Events: []string{"INSERT"}})
	}
	return reader{
		Function: stream.Function{Name: types, Batch: 10, Filters: filters},
		handle: func(_ context.Context, e events.DynamoDBEvent) (events.DynamoDBEventResponse, error) {
			for range e.Records {
				handle()
			}
			return events.DynamoDBEventResponse{}, nil
		},
	}
}

func pumpingTo(t *testing.T, f *slowFeed, lag time.Duration, readers []reader) *pump {
	t.Helper()
	log := slog.New(slog.NewTextHandler(io.Discard, nil))
	p, err := openCheckpoints(t.Context(), nil, log)
	if err != nil {
		t.Fatal(err)
	}
	b := newBackground(time.Now, log)
	u := startPump(&app.App{Log: log, Now: f.now}, f, lag, true, readers, p, newStreamFaults(StreamFaults{}), &deadLetters{}, b)
	t.Cleanup(func() { u.stop(); b.stop() })
	return u
}

func TestPump_DrainedAfterASlowRead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		handled := 0
		f := &slowFeed{look: func() time.Duration { return 10 * time.Second }}
		u := pumping(t, f, 0, map[string]func(){"x": func() { handled++ }})
		time.Sleep(15 * time.Second) // in the middle of a read
		f.add("x")
		if err := u.drained(t.Context()); err != nil || handled != 1 {
			t.Errorf("drained: got %d records handled, want 1; %v", handled, err)
		}
	})
}

// A drain waits for the records that a slow batch causes, even if their reader has just
// found nothing.
func TestPump_DrainedAfterASlowBatch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var slow atomic.Bool
		f := &slowFeed{look: func() time.Duration {
			if slow.Load() {
				return 10 * time.Second
			}
			return time.Millisecond
		}}
		handled := 0
		u := pumping(t, f, 0, map[string]func(){
			"y": func() { handled++ },
			"x": func() {
				slow.Store(true)
				time.Sleep(time.Minute)
				f.add("y")
				slow.Store(false)
			},
		})
		f.add("x")
		time.Sleep(time.Second) // the batch is being processed
		if err := u.drained(t.Context()); err != nil || handled != 1 {
			t.Errorf("drained: got %d records handled, want 1; %v", handled, err)
		}
	})
}

func TestPump_DrainedAfterTheLag(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const lag = 5 * time.Second
		handled := 0
		f := &slowFeed{look: func() time.Duration { return time.Millisecond }}
		u := pumping(t, f, lag, map[string]func(){"x": func() { handled++ }})
		go func() {
			time.Sleep(lag - time.Second)
			f.add("x")
		}()
		if err := u.drained(t.Context()); err != nil || handled != 1 {
			t.Errorf("drained: got %d records handled, want 1; %v", handled, err)
		}
	})
}

// A read that a newer drain cuts short does not show that the stream is empty.
func TestPump_DrainsMeet(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		handled := 0
		f := &slowFeed{look: func() time.Duration { return 10 * time.Second }}
		u := pumping(t, f, 0, map[string]func(){"x": func() { handled++ }})
		time.Sleep(15 * time.Second)
		f.add("x")
		var second sync.WaitGroup
		second.Go(func() {
			time.Sleep(5 * time.Second) // in the middle of the first drain's read
			if err := u.drained(t.Context()); err != nil {
				t.Error(err)
			}
		})
		if err := u.drained(t.Context()); err != nil || handled != 1 {
			t.Errorf("drained: got %d records handled, want 1; %v", handled, err)
		}
		second.Wait()
	})
}

// Changes that come one by one gather before the next read. Readers share what was read.
func TestPump_ReadsFewTimes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var x, y atomic.Int64
		f := &slowFeed{look: func() time.Duration { return time.Millisecond }}
		u := pumping(t, f, 0, map[string]func(){"x": func() { x.Add(1) }, "xy": func() { y.Add(1) }})
		time.Sleep(time.Second)
		second := func() (found int) {
			before := f.reads()
			for i := range 200 {
				f.add("xy"[i%2 : i%2+1])
				time.Sleep(5 * time.Millisecond)
			}
			return f.reads() - before
		}
		if n := second(); n < 150 {
			t.Errorf("reads that found records in the first second: got %d, want at least 150", n)
		}
		if n := second(); n < 8 || n > 15 {
			t.Errorf("reads that found records in the next second: got %d, want 8 to 15", n)
		}
		if err := u.drained(t.Context()); err != nil || x.Load() != 200 || y.Load() != 400 {
			t.Errorf("records handled: got %d and %d, want 200 and 400; %v", x.Load(), y.Load(), err)
		}
	})
}

// -1 means that no chunk has the position. The reader then reads the feed itself.
func TestChunks(t *testing.T) {
	chunks := []chunk{
		{"3", "8", []tables.StreamRecord{{Seq: "4"}, {Seq: "6"}}, time.Time{}},
		{"8", "9", []tables.StreamRecord{{Seq: "9"}}, time.Time{}},
	}
	for after, want := range map[string]int{"": -1, "2": -1, "3": 2, "4": 1, "5": -1, "6": 0, "7": -1, "8": 1, "9": -1} {
		c, ok := from(chunks, after)
		if ok != (want >= 0) || ok && (len(c.records) != want || c.after != after || c.end == after) {
			t.Errorf("after %q: got %v %v, want %d records", after, c, ok, want)
		}
	}
}

// A reader that is behind gets larger and larger batches. The other reader's batches do not grow.
func TestPump_FillsBatches(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		batches := make([][]int, 2) // of each reader
		got := func(i int) []int {
			mu.Lock()
			defer mu.Unlock()
			return slices.Clone(batches[i])
		}
		var readers []reader
		for i, types := range []string{"x", "xy"} {
			r := readerOf(types, func() {})
			handle := r.handle
			r.handle = func(ctx context.Context, e events.DynamoDBEvent) (events.DynamoDBEventResponse, error) {
				mu.Lock()
				batches[i] = append(batches[i], len(e.Records))
				mu.Unlock()
				if i == 0 && len(got(i)) == 1 {
					time.Sleep(2 * time.Second) // x falls behind
				}
				return handle(ctx, e)
			}
			readers = append(readers, r)
		}
		f := &slowFeed{look: func() time.Duration { return time.Millisecond }, most: 12}
		f.add("x")
		u := pumpingTo(t, f, 0, readers)
		time.Sleep(100*time.Millisecond + time.Microsecond) // between two reads
		f.add(strings.Repeat("xyzz", 75))
		time.Sleep(time.Second)
		f.add("xy")
		synctest.Wait()
		alone := f.reads()
		if all := got(1); len(all) < 25 || fmt.Sprint(all[:4]) != "[1 6 6 6]" {
			t.Errorf("batches of the reader that was not behind: got %v, want at least 25, beginning with 1 6 6 6", all)
		}
		time.Sleep(time.Second)
		if err := u.drained(t.Context()); err != nil {
			t.Error(err)
		}
		if all := fmt.Sprint(got(0)); all != "[1 10 2 21 42 1]" {
			t.Errorf("batches of the reader that was behind: got %s, want [1 10 2 21 42 1]", all)
		}
		if n := f.reads() - alone; n > 1 {
			t.Errorf("reads that found records while one reader caught up: got %d, want at most 1", n)
		}
	})
}

// Batches grow as long as they are quick, and shrink if they are slow.
func TestPump_SizesBatches(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		u := pumpingTo(t, &slowFeed{look: func() time.Duration { return time.Millisecond }}, 0, nil)
		for each, want := range map[time.Duration]map[int]int{ // by a record's time: size before → after
			time.Millisecond:       {10: 100, 100: 100},
			20 * time.Millisecond:  {10: 40, 100: 50}, // 40 take 800 ms
			200 * time.Millisecond: {10: 10, 100: 10},
		} {
			r := readerOf("x", func() { time.Sleep(each) })
			for size, want := range want {
				records := make([]tables.StreamRecord, 300)
				if got := u.deliver(t.Context(), r, "x", size, records); got != want {
					t.Errorf("%s for a record, batches of %d: got %d in the end, want %d", each, size, got, want)
				}
			}
		}
	})
}

// A reader that is behind may write more at once.
func TestPump_Widens(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &slowFeed{look: func() time.Duration { return time.Millisecond }}
		u := pumpingTo(t, f, 0, nil)
		var took time.Duration
		r := readerOf("x", nil)
		r.handle = func(ctx context.Context, _ events.DynamoDBEvent) (events.DynamoDBEventResponse, error) {
			begun, work := time.Now(), app.Together(ctx)
			work.SetLimit(1)
			for range 2 * behindWidth {
				work.Go(func() error { time.Sleep(time.Second); return nil })
			}
			err := work.Wait()
			took = time.Since(begun)
			return events.DynamoDBEventResponse{}, err
		}
		for age, want := range map[time.Duration]time.Duration{0: 2 * behindWidth * time.Second, behindFrom: 2 * time.Second} {
			u.deliver(t.Context(), r, "x", 10, []tables.StreamRecord{{At: time.Now().Add(-age)}})
			if took != want {
				t.Errorf("time for a batch from %s ago: got %s, want %s", age, took, want)
			}
		}
	})
}

func TestPump_Lagging(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		free := make(chan struct{})
		f := &slowFeed{look: func() time.Duration { return time.Millisecond }}
		f.add("x")
		time.Sleep(time.Hour)
		u := pumping(t, f, 0, map[string]func(){"x": func() { <-free }, "y": func() {}})
		lag := func(want time.Duration) {
			t.Helper()
			synctest.Wait()
			if got := u.lagging().Round(time.Second); got != want {
				t.Errorf("lag: got %s, want %s", got, want)
			}
		}
		lag(0)
		time.Sleep(10 * time.Second)
		f.add("x")
		f.add("y")
		lag(10 * time.Second)
		free <- struct{}{} // the first is finished
		time.Sleep(7 * time.Second)
		lag(7 * time.Second)
		f.ahead.Store(int64(time.Hour))
		u.moved()
		time.Sleep(2 * time.Second)
		lag(2 * time.Second)
		close(free)
		time.Sleep(time.Second)
		lag(0)

		if err := u.drained(t.Context()); err != nil {
			t.Fatal(err)
		}
		free = make(chan struct{}) // x has caught up, and holds a change while the machine sleeps
		f.add("x")
		time.Sleep(2 * time.Second)
		f.ahead.Store(int64(3 * time.Hour))
		lag(2 * time.Second)
		close(free)
	})
}
