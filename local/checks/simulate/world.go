// Package simulate runs the whole service in virtual time, in a synctest bubble. Agents use
// it for weeks, while calls fail, batches are delivered again, schedules are late and
// processes die. A model predicts what each request does, and the table must agree. At rest,
// the invariants of the whole table must hold.
//
// One seed gives one run, byte for byte: `make simulate OPS=20000 SEED=7`.
package simulate

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash"
	"io"
	"log/slog"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"agentsocial/local/checks/turns"
	"agentsocial/local/service"
	"agentsocial/shared/app"
	"agentsocial/tables"
	"agentsocial/tables/retry"
)

// Config configures a run.
type Config struct {
	Seed    uint64
	Ops     int // operations
	Rates   Rates
	Trace   io.Writer // gets the trace, unless nil
	Without []Span    // operations to leave out
}

// Span names operations from From up to, but not including, To.
type Span struct{ From, To int }

// Result is the outcome of a run.
type Result struct {
	Seed     uint64
	Ops      int // the number of the last operation
	Digest   string
	Turns    uint64
	For      time.Duration  // of virtual time
	Counts   map[string]int // requests by route, and other events
	Accepted map[string]int // accepted requests by route
	Faults   map[string]int
	Found    *Violation // nil if nothing was found
}

// Violation is a broken rule.
type Violation struct {
	Op   int // the operation after which it was found
	Rule string
	What string
}

func (v *Violation) String() string { return fmt.Sprintf("operation %d: %s: %s", v.Op, v.Rule, v.What) }

type world struct {
	t     *testing.T
	c     Config
	dice  turns.Dice
	turns *turns.Turns
	table *table
	parts *service.Parts
	began time.Time

	op       int
	unmarked int // the newest operation that failed to mark messages as read
	sum      hash.Hash
	counts   map[string]int // see [Result.Counts]
	accepted map[string]int // see [Result.Accepted]
	faults   [killedAfter + 1]int
	found    *Violation

	readers   []*reader
	schedules []*timetable
	swept     time.Time
	mails     *post
	notices   []*notice
	running   []*job // in the background

	*model
}

const base = "https://social.example"

// settings returns a deployment's settings without proofs of work, which only cost time.
func settings() app.Settings {
	s := app.DefaultSettings()
	s.BaseURL, s.PowBits, s.PageBits = base, 0, 0
	s.ViewSample = 2 // so that views are counted in a run
	return s
}

// Run runs a simulation in the bubble of t.
func Run(t *testing.T, c Config) *Result {
	w := &world{
		t: t, c: c, dice: turns.Dice(c.Seed), sum: sha256.New(), counts: map[string]int{}, accepted: map[string]int{}, model: newModel(), began: time.Now(),
	}
	w.turns = turns.New(w.dice, func(job, what string) { w.tracef("  %s: %s", job, what) })
	w.turns.Alive = dieIfDead
	if err := w.open(); err != nil {
		t.Fatal(err)
	}
	defer w.table.Close()
	w.live()
	r := &Result{
		Seed: c.Seed, Ops: w.op, Digest: hex.EncodeToString(w.sum.Sum(nil))[:16], Turns: w.turns.Taken(), For: time.Since(w.began),
		Counts: w.counts, Accepted: w.accepted, Faults: map[string]int{}, Found: w.found,
	}
	for f, n := range w.faults {
		if n > 0 {
			r.Faults[fault(f).String()] = n
		}
	}
	return r
}

func (w *world) open() error {
	var err error
	if w.table, err = openTable(w); err != nil {
		return err
	}
	w.mails = &post{w: w}
	a := &app.App{
		Now: time.Now, Rand: w.dice.Random(), Log: slog.New(&journal{w: w}), Settings: settings(),
		Mail: w.mails, Fetch: w.fetch,
	}
	a.Table = retry.Over(w.table, a.Intn)
	ahead := func(function string) time.Duration {
		return time.Duration(w.dice.Chance("ahead "+function) * float64(w.c.Rates.Ahead))
	}
	if w.parts, err = service.Assemble(a, ahead, w.charge); err != nil {
		return err
	}
	for i := range w.parts.Readers {
		w.readers = append(w.readers, &reader{PartReader: &w.parts.Readers[i]})
	}
	for i := range w.parts.Schedules {
		s := &w.parts.Schedules[i]
		w.schedules = append(w.schedules, &timetable{PartSchedule: s, next: time.Now().Add(s.Every)})
	}
	w.swept = time.Now()
	return nil
}

// checkEach is the number of operations between two checks of the whole table.
const checkEach = 2500

func (w *world) live() {
	w.begin()
	for w.op = 1; w.op <= w.c.Ops && w.found == nil; w.op++ {
		if slices.ContainsFunc(w.c.Without, func(s Span) bool { return s.From <= w.op && w.op < s.To }) {
			continue
		}
		r := w.dice.Source("op", uint64(w.op))
		w.pass(gap(r))
		w.step(r)
		w.watch()
		if w.op%checkEach == 0 && w.op < w.c.Ops {
			w.rest()
		}
	}
	w.op--
	if w.found == nil {
		w.rest()
	}
	for _, j := range w.running { // a bubble ends only after its goroutines
		j.calm = true
	}
	w.finish(w.running...)
	w.turns.Pass(time.Now().Add(30 * time.Minute)) // goroutines of dead processes end at their next call
	if w.found != nil {
		w.tracef("VIOLATION %s", w.found)
	}
}

// gap draws the time before an operation. Most operations come in bursts.
func gap(r *rand.Rand) time.Duration {
	switch x := r.Float64(); {
	case x < .75:
		return time.Duration(r.Int64N(int64(2 * time.Second)))
	case x < .97:
		return time.Duration(r.Int64N(int64(5 * time.Minute)))
	default:
		return time.Duration(r.Int64N(int64(4 * time.Hour)))
	}
}

func (w *world) tracef(format string, args ...any) {
	fmt.Fprintf(w.sum, format+"\n", args...)
	if w.c.Trace != nil {
		fmt.Fprintf(w.c.Trace, format+"\n", args...)
	}
}

// violate reports a broken rule, which ends the run. If one operation breaks several,
// violate keeps the first in sorted order, because checks walk maps in any order.
func (w *world) violate(rule, format string, args ...any) {
	v := &Violation{w.op, rule, strings.TrimSpace(fmt.Sprintf(format, args...))}
	if w.found == nil || v.Op == w.found.Op && v.String() < w.found.String() {
		w.found = v
	}
}

// ms returns the time in unix ms.
func ms() int64 { return time.Now().UnixMilli() }

func (w *world) profile(id string) tables.Item { return w.items[tables.ProfileKey(id)] }
