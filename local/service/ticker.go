package service

import (
	"context"
	"log/slog"
	"strings"
	"sync"
	"time"

	"agentsocial/events"
)

// ticker stands in for EventBridge Scheduler and DynamoDB's TTL. It never runs the same
// tick twice at once.
type ticker struct {
	ticks  []*tick
	cancel context.CancelFunc
	done   sync.WaitGroup
}

type tick struct {
	name  string
	clock func() time.Time
	every time.Duration // 0: only on request
	do    func(context.Context) error
	mu    sync.Mutex // held while it runs
	next  time.Time
}

// sweepEach is the period of the sweep, which removes expired items and trims the feed.
const sweepEach = time.Minute

// ticks returns the sweep and the schedules. The sweep follows real time, like TTL. The schedules
// follow the service's clock; those of a deployed table run elsewhere.
func (s *Service) ticks(from handlers, outside bool) ([]*tick, error) {
	all := []*tick{{name: "sweep", clock: time.Now, every: sweepEach, do: s.table.sweep}}
	schedules := events.Schedules()
	if outside {
		schedules = append(schedules, events.Outside()...)
	}
	for _, declare := range schedules {
		f := declare(s.App)
		f = declare(confined(s.App, f.Name, f.Reads, f.Writes).Only(f.Capabilities()))
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

// look is the period of checking the clock, which may have been moved.
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

func (t *tick) run(ctx context.Context, log *slog.Logger) {
	for ; ctx.Err() == nil; pause(ctx, look) {
		if err := t.due(ctx); err != nil && ctx.Err() == nil {
			log.Warn("tick failed", "name", t.name, "error", err.Error())
		}
	}
}

func (t *tick) due(ctx context.Context) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.clock().Before(t.next) {
		return nil
	}
	return t.did(ctx)
}

// now runs the tick at once. The next run is one period later, even if the clock was moved and the
// tick was due.
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

func (k *ticker) stop() { k.cancel(); k.done.Wait() }

func (k *ticker) named(name string) *tick {
	for _, t := range k.ticks {
		if t.name == name {
			return t
		}
	}
	return nil
}

func (k *ticker) names() string {
	var names []string
	for _, t := range k.ticks {
		names = append(names, `{"name": "`+t.name+`"}`)
	}
	return strings.Join(names, " or ")
}
