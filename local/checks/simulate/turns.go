package simulate

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

// job is one run of a function: a request, a batch of a reader, or a schedule.
type job struct {
	name string // unique, and the same in each run of a seed
	calm bool   // meets no faults

	mu    sync.Mutex
	calls map[string]uint64 // so far, by what is called: goroutines that run at once may call in any order
	begun int               // goroutines, so far
	done  bool
	wrote []change // its commits that were made
}

type jobKey struct{}

func jobOf(ctx context.Context) *job { j, _ := ctx.Value(jobKey{}).(*job); return j }

// call returns the number of the job's next call of something.
func (j *job) call(what string) uint64 {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.calls[what]++
	return j.calls[what]
}

// turns lets one goroutine of the jobs run at a time. Each waits for its turn when it
// begins and before each call of the table. When all wait, the seed decides which goes
// on. So the order of the goroutines depends on the seed only, and each seed tries
// another order.
type turns struct {
	dice dice
	step func(*turn) // told of each turn

	mu      sync.Mutex
	waiting []*turn
	taken   uint64
	arrived chan struct{} // has an element after an arrival or an end
}

// turn is a goroutine that waits.
type turn struct {
	job  *job
	what string
	came chan struct{} // closed when it is its turn
}

func newTurns(d dice) *turns { return &turns{dice: d, arrived: make(chan struct{}, 1)} }

// wait waits for the turn of the calling goroutine.
func (t *turns) wait(j *job, what string) {
	w := &turn{job: j, what: what, came: make(chan struct{})}
	t.mu.Lock()
	t.waiting = append(t.waiting, w)
	t.mu.Unlock()
	t.stir()
	<-w.came
}

func (t *turns) stir() {
	select {
	case t.arrived <- struct{}{}:
	default:
	}
}

// start starts a job. It begins when it gets its first turn.
func (t *turns) start(name string, calm bool, do func(context.Context)) *job {
	j := &job{name: name, calm: calm, calls: map[string]uint64{}}
	ctx := context.WithValue(context.Background(), jobKey{}, j)
	ctx = app.WithTurns(ctx, func() func() {
		j.mu.Lock()
		j.begun++
		n := j.begun
		j.mu.Unlock()
		return func() { t.wait(j, fmt.Sprintf("goroutine %d", n)) }
	})
	go func() {
		defer func() {
			j.mu.Lock()
			j.done = true
			j.mu.Unlock()
			t.stir()
		}()
		t.wait(j, "begin")
		do(ctx)
	}()
	return j
}

// finish gives turns until the jobs have ended, also to other jobs. Time passes only
// while nobody waits for a turn.
func (t *turns) finish(jobs ...*job) {
	t.run(time.Time{}, func() bool { return slices.ContainsFunc(jobs, (*job).runs) })
}

// pass gives turns until a time.
func (t *turns) pass(until time.Time) {
	t.run(until, func() bool { return time.Now().Before(until) })
}

// run gives turns while more holds. It waits for others until a time, unless that is
// zero.
func (t *turns) run(until time.Time, more func() bool) {
	var end <-chan time.Time
	if !until.IsZero() {
		timer := time.NewTimer(time.Until(until))
		defer timer.Stop()
		end = timer.C
	}
	for {
		synctest.Wait()
		if w := t.next(); w != nil {
			t.step(w)
			close(w.came)
			continue
		}
		if !more() {
			return
		}
		select {
		case <-t.arrived:
		case <-end:
			end = nil
		}
	}
}

// runs reports whether the job has not ended.
func (j *job) runs() bool { j.mu.Lock(); defer j.mu.Unlock(); return !j.done }

// next takes the goroutine whose turn it is out of those that wait; nil if none does.
func (t *turns) next() *turn {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.waiting) == 0 {
		return nil
	}
	// Goroutines that woke at the same moment arrived in any order.
	slices.SortStableFunc(t.waiting, func(a, b *turn) int {
		if c := strings.Compare(a.job.name, b.job.name); c != 0 {
			return c
		}
		return strings.Compare(a.what, b.what)
	})
	t.taken++
	i := int(t.dice.n("turn", t.taken) % uint64(len(t.waiting)))
	w := t.waiting[i]
	t.waiting = slices.Delete(t.waiting, i, i+1)
	return w
}
