// Package turns makes a run of many goroutines repeatable: one goroutine runs at a time, in
// an order that follows from a seed. It works in a synctest bubble.
package turns

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing/synctest"
	"time"

	"agentsocial/shared/app"
)

// Job is a unit of work, such as a request, a batch of a reader, or a call of a schedule.
type Job struct {
	Name string // unique, and the same in each run of a seed

	mu    sync.Mutex
	calls map[string]uint64 // by what is called, since goroutines may call in any order
	begun int               // goroutines so far
	done  bool
}

// Call counts the job's call of something, and returns its number, from 1.
func (j *Job) Call(what string) uint64 {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.calls[what]++
	return j.calls[what]
}

// Turns lets one goroutine of the jobs run at a time. Each goroutine waits for its turn when
// it begins and in [Turns.Wait]. When all wait, the seed decides which goroutine goes on.
type Turns struct {
	// Alive, unless nil, is called before a goroutine begins others. In a dead process it
	// must not return: its goroutines would take numbers from those of the job's new process.
	Alive func(context.Context)

	dice Dice
	step func(job, what string) // called at each turn, unless nil

	mu      sync.Mutex
	waiting []*turn
	taken   uint64
	arrived chan struct{} // has an element after a goroutine waits or a job ends
}

// turn is a goroutine that waits.
type turn struct {
	job  string
	what string
	came chan struct{} // closed when it is its turn
}

// New returns a Turns that calls step, unless it is nil, at each turn.
func New(d Dice, step func(job, what string)) *Turns {
	return &Turns{dice: d, step: step, arrived: make(chan struct{}, 1)}
}

// Taken returns the number of turns so far.
func (t *Turns) Taken() uint64 { return t.taken }

// Wait waits for the turn of the calling goroutine, which belongs to the job.
func (t *Turns) Wait(j *Job, what string) {
	w := &turn{job: j.Name, what: what, came: make(chan struct{})}
	t.mu.Lock()
	t.waiting = append(t.waiting, w)
	t.mu.Unlock()
	t.stir()
	<-w.came
}

func (t *Turns) stir() {
	select {
	case t.arrived <- struct{}{}:
	default:
	}
}

// Start starts a job, which begins at its first turn. Concurrent functions of the job take
// turns through its context ([app.WithTurns]).
func (t *Turns) Start(name string, do func(context.Context, *Job)) *Job {
	j := &Job{Name: name, calls: map[string]uint64{}}
	ctx := app.WithTurns(context.Background(), func(ctx context.Context) func() {
		if t.Alive != nil {
			t.Alive(ctx)
		}
		j.mu.Lock()
		j.begun++
		n := j.begun
		j.mu.Unlock()
		return func() { t.Wait(j, fmt.Sprintf("goroutine %d", n)) }
	})
	go func() {
		defer func() {
			j.mu.Lock()
			j.done = true
			j.mu.Unlock()
			t.stir()
		}()
		t.Wait(j, "begin")
		do(ctx, j)
	}()
	return j
}

// Finish gives turns, also to other jobs, until the given jobs have ended.
func (t *Turns) Finish(jobs ...*Job) {
	t.run(time.Time{}, func() bool { return slices.ContainsFunc(jobs, (*Job).Runs) })
}

// Pass gives turns until a time.
func (t *Turns) Pass(until time.Time) {
	t.run(until, func() bool { return time.Now().Before(until) })
}

// run gives turns until unfinished returns false. It calls unfinished only while no goroutine
// waits for a turn. Time passes only then. If until is not zero, run also calls unfinished at
// that time.
func (t *Turns) run(until time.Time, unfinished func() bool) {
	var end <-chan time.Time
	if !until.IsZero() {
		timer := time.NewTimer(time.Until(until))
		defer timer.Stop()
		end = timer.C
	}
	for {
		synctest.Wait()
		if w := t.next(); w != nil {
			if t.step != nil {
				t.step(w.job, w.what)
			}
			close(w.came)
			continue
		}
		if !unfinished() {
			return
		}
		select {
		case <-t.arrived:
		case <-end:
			end = nil
		}
	}
}

// Runs reports whether the job has not ended.
func (j *Job) Runs() bool { j.mu.Lock(); defer j.mu.Unlock(); return !j.done }

// next chooses a waiting goroutine, or returns nil.
func (t *Turns) next() *turn {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.waiting) == 0 {
		return nil
	}
	// Goroutines that woke at the same moment may have arrived in any order.
	slices.SortStableFunc(t.waiting, func(a, b *turn) int {
		if c := strings.Compare(a.job, b.job); c != 0 {
			return c
		}
		return strings.Compare(a.what, b.what)
	})
	t.taken++
	i := int(t.dice.N("turn", t.taken) % uint64(len(t.waiting)))
	w := t.waiting[i]
	t.waiting = slices.Delete(t.waiting, i, i+1)
	return w
}
