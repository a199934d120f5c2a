package service

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"agentsocial/shared/app"
)

// background runs the work of [app.App.Background].
type background struct {
	now    func() time.Time
	log    *slog.Logger
	ctx    context.Context
	cancel context.CancelFunc
	slots  chan struct{} // holds one value for each job that has a slot
	done   sync.WaitGroup

	mu    sync.Mutex
	jobs  map[string]*job
	under int   // jobs that run or wait for a slot
	runs  int64 // incremented when a run begins and ends
}

// job is work that runs, or waits until it runs again.
type job struct {
	work  func(context.Context) time.Time
	asked bool        // another run was asked for while it ran
	again time.Time   // time of the next run, while it waits
	timer *time.Timer // nil while it runs
}

// atOnce bounds the jobs that run at the same time. Each job may build a search segment of
// 150 MB.
const atOnce = 2

func newBackground(now func() time.Time, log *slog.Logger) *background {
	ctx, cancel := context.WithCancel(context.Background())
	return &background{now: now, log: log, ctx: ctx, cancel: cancel, slots: make(chan struct{}, atOnce), jobs: map[string]*job{}}
}

// run implements [app.App.Background].
func (b *background) run(name string, work func(context.Context) time.Time) {
	b.mu.Lock()
	defer b.mu.Unlock()
	j := b.jobs[name]
	switch {
	case j == nil:
		j = &job{work: work}
		b.jobs[name] = j
		b.start(name, j)
	case j.timer == nil:
		j.asked, j.work = true, work
	case !b.now().Before(j.again) && j.timer.Stop(): // the clock was moved
		j.work = work
		b.start(name, j)
	}
}

// start begins a run. The caller holds b.mu.
func (b *background) start(name string, j *job) {
	if j.timer = nil; b.ctx.Err() != nil {
		return
	}
	work := j.work
	b.under++
	b.runs++
	b.done.Go(func() {
		again := b.work(name, work)
		b.mu.Lock()
		defer b.mu.Unlock()
		b.under--
		b.runs++
		asked := j.asked
		switch j.asked = false; {
		case !again.IsZero() && b.ctx.Err() == nil:
			j.again = again
			j.timer = time.AfterFunc(max(0, again.Sub(b.now())), func() {
				b.mu.Lock()
				defer b.mu.Unlock()
				b.start(name, j)
			})
		case asked:
			b.start(name, j)
		default:
			delete(b.jobs, name)
		}
	})
}

// work waits for a slot, then calls its argument work.
func (b *background) work(name string, work func(context.Context) time.Time) (again time.Time) {
	select {
	case b.slots <- struct{}{}:
		defer func() { <-b.slots }()
	case <-b.ctx.Done():
		return again
	}
	again, err := survive(b.ctx, func(ctx context.Context) (again time.Time, err error) {
		g := app.Together(ctx) // a panic becomes an error
		g.Go(func() error { again = work(ctx); return nil })
		err = g.Wait()
		return again, err
	})
	if err != nil && b.ctx.Err() == nil {
		b.log.Error("background work failed", "name", name, "error", err.Error())
	}
	return again
}

// quiet reports whether no run is under way. runs grows when a run begins and when it ends.
func (b *background) quiet() (runs int64, quiet bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.runs, b.under == 0
}

// stop ends the runs under way, and begins no more.
func (b *background) stop() {
	b.cancel()
	b.mu.Lock()
	for _, j := range b.jobs {
		if j.timer != nil {
			j.timer.Stop()
		}
	}
	b.mu.Unlock()
	b.done.Wait()
}
