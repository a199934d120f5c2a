package service_test

import (
	"context"
	"sync/atomic"
	"testing"

	"agentsocial/local/service"
	"agentsocial/tables"
)

// meddler does something, once, right before a commit, to show what a race
// does there. It may be told while the stream's functions commit beside it.
type meddler struct {
	tables.Backend
	next atomic.Pointer[meddling]
}

type meddling struct {
	when func(tables.Tx) bool
	do   func()
}

// meddled starts a service over a meddler.
func meddled(t *testing.T) (*running, *meddler) {
	t.Helper()
	m := &meddler{}
	r := run(t, service.Config{Settings: generous(), Wrap: func(b tables.Backend) tables.Backend { m.Backend = b; return m }})
	return r, m
}

func (m *meddler) once(when func(tables.Tx) bool, do func()) { m.next.Store(&meddling{when, do}) }

func (m *meddler) done() bool { return m.next.Load() == nil }

func (m *meddler) Commit(ctx context.Context, tx tables.Tx) error {
	if n := m.next.Load(); n != nil && n.when(tx) && m.next.CompareAndSwap(n, nil) {
		n.do()
	}
	return m.Backend.Commit(ctx, tx)
}
