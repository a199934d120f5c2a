package main

import (
	"context"
	"strings"
	"sync"
	"time"

	"agentsocial/tables"
)

// share is a table that knows how much CPU time passes inside of it while it is
// watched. Calls side by side count once, from the first one's beginning to the
// last one's end: what the handler does between them counts as the table's too.
type share struct {
	tables.Backend
	mu    sync.Mutex
	on    bool
	calls int // under way
	since time.Duration
	used  time.Duration
}

// watch begins, or ends and returns what was used since it began.
func (s *share) watch(on bool) time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	used := s.used
	s.on, s.used = on, 0
	return used
}

func (s *share) enter() (leave func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.on {
		return func() {}
	}
	if s.calls++; s.calls == 1 {
		s.since, _ = cpuTime()
	}
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.calls--; s.calls == 0 {
			now, _ := cpuTime()
			s.used += now - s.since
		}
	}
}

func (s *share) Get(ctx context.Context, c tables.Consistency, keys ...tables.Key) ([]tables.Item, error) {
	defer s.enter()()
	return s.Backend.Get(ctx, c, keys...)
}

func (s *share) Query(ctx context.Context, q tables.Query) (tables.Page, error) {
	defer s.enter()()
	return s.Backend.Query(ctx, q)
}

func (s *share) Commit(ctx context.Context, tx tables.Tx) error {
	defer s.enter()()
	return s.Backend.Commit(ctx, tx)
}

// unnoted is a table without the notes of a credential's first use of a day,
// which a scenario would meet once and never again: see firstUse.
type unnoted struct{ tables.Backend }

func (u unnoted) Commit(ctx context.Context, tx tables.Tx) error {
	if strings.HasPrefix(tx.Writes[0].Key.SK, tables.UsedPrefix) {
		return nil
	}
	return u.Backend.Commit(ctx, tx)
}
