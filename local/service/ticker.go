package service

import (
	"context"
	"log/slog"
	"strings"
	"sync"
	"time"

	"agentsocial/events"
)

// ticker is what EventBridge Scheduler is to the deployed service, and
// DynamoDB's TTL: it has things done when it is time. What is being done is not
// done once more meanwhile.
type ticker struct {
	ticks  []*tick
	cancel context.CancelFunc
	done   sync.WaitGroup
}

// tick is something that is done again and again.
type tick struct {
	name  string
	clock func() time.Time
	every time.Duration // 0: only by hand
	do    func(context.Context) error
	mu    sync.Mutex // held while it is done
	next  time.Time
}

// sweepEach is how often what TTL would remove is removed, and the feed trimmed.
const sweepEach = time.Minute

// ticks are the sweep, in real time as TTL is, and the schedules, by the
// service's clock. Those of a deployed table are called elsewhere.
func (s *Service) ticks(from handlers) ([]*tick, error) {
	all := []*tick{{name: "sweep", clock: time.Now, every: sweepEach, do: s.table.sweep}}
	for _, declare := range events.Schedules() {
		f := declare(s.App)
		f = declare(confined(s.App, f.Name, f.Reads, f.Writes))
		do, err := from.Schedule(f)
		if err != nil {
			return nil, err
		}
		t := &tick{name: f.Name, clock: s.clock.Now, every: f.Every, next: s.clock.Now().Add(f.Every), do: do}
		if s.table.deployed {
			t.every = 0
		}
		all = append(all, t)
	}
	return all, nil
}

// look is how often the clock is looked at, which may have been moved.
const look = time.Second

func startTicker(ticks []*tick, log *slog.Logger) *ticker {
	ctx, cancel := context.WithCancel(context.Background())
	k := &ticker{ticks: ticks, cancel: cancel}
	for _, t := range ticks {
		if t.every > 0 {
			k.done.Go(func() { t.run(ctx, log) })
		}
	}
	return k
}

// run does it whenever it is time, until ctx ends.
func (t *tick) run(ctx context.Context, log *slog.Logger) {
	for ; ctx.Err() == nil; pause(ctx, look) {
		if err := t.due(ctx); err != nil && ctx.Err() == nil {
			log.Warn("tick failed", "name", t.name, "error", err.Error())
		}
	}
}

// due does it if it is time.
func (t *tick) due(ctx context.Context) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.clock().Before(t.next) {
		return nil
	}
	return t.did(ctx)
}

// now does it, time or not: it is time again that much later, or who moved the
// clock and did it by hand would see it done once more some moments later.
func (t *tick) now(ctx context.Context) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.did(ctx)
}

func (t *tick) did(ctx context.Context) error {
	err := t.do(ctx)
	t.next = t.clock().Add(t.every)
	return err
}

// stop ends the ticker, and what it is doing.
func (k *ticker) stop() { k.cancel(); k.done.Wait() }

// named is what has a name, nil if nothing has.
func (k *ticker) named(name string) *tick {
	for _, t := range k.ticks {
		if t.name == name {
			return t
		}
	}
	return nil
}

// names of what there is to do, for people.
func (k *ticker) names() string {
	var names []string
	for _, t := range k.ticks {
		names = append(names, `{"name": "`+t.name+`"}`)
	}
	return strings.Join(names, " or ")
}
