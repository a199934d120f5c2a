package service_test

import (
	"context"
	"sync/atomic"
	"testing"

	"agentsocial/local/service"
	"agentsocial/tables"
)

// interceptor runs a function once, right before a commit, to force a race.
type interceptor struct {
	tables.Backend
	next atomic.Pointer[interception]
}

type interception struct {
	when func(tables.Tx) bool
	do   func()
}

// intercepted starts a service on an interceptor.
func intercepted(t *testing.T) (*running, *interceptor) {
	t.Helper()
	m := &interceptor{}
	r := run(t, service.Config{Settings: generous(), Wrap: func(b tables.Backend) tables.Backend { m.Backend = b; return m }})
	return r, m
}

func (m *interceptor) once(when func(tables.Tx) bool, do func()) {
	m.next.Store(&interception{when, do})
}

func (m *interceptor) done() bool { return m.next.Load() == nil }

func (m *interceptor) Commit(ctx context.Context, tx tables.Tx) error {
	if n := m.next.Load(); n != nil && n.when(tx) && m.next.CompareAndSwap(n, nil) {
		n.do()
	}
	return m.Backend.Commit(ctx, tx)
}
