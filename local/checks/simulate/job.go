package simulate

import (
	"context"
	"sync"

	"agentsocial/local/checks/turns"
)

// job is a [turns.Job], and what it wrote.
type job struct {
	*turns.Job
	calm bool // meets no faults

	mu    sync.Mutex
	wrote []change // by its successful commits
}

type jobKey struct{}

func jobOf(ctx context.Context) *job { j, _ := ctx.Value(jobKey{}).(*job); return j }

// start starts a job, which begins at its first turn.
func (w *world) start(name string, calm bool, do func(context.Context)) *job {
	j := &job{calm: calm}
	j.Job = w.turns.Start(name, func(ctx context.Context, _ *turns.Job) { do(context.WithValue(ctx, jobKey{}, j)) })
	return j
}

func (w *world) finish(jobs ...*job) {
	all := make([]*turns.Job, len(jobs))
	for i, j := range jobs {
		all[i] = j.Job
	}
	w.turns.Finish(all...)
}
