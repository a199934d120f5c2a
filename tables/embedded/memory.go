package embedded

import (
	"context"
	"sync"

	"github.com/tidwall/btree"
)

// memory is an engine without a file. It does not use bbolt, since one commit of bbolt
// takes three times the processor time of a signed request that uses no table. It holds
// items encoded, since a decoded item takes several times the memory.
//
// A write changes the trees in place, under a lock. It cannot fail, so nothing need be
// undone.
type memory struct {
	mu  sync.RWMutex
	now *trees // nil after close
	seq uint64 // the feed's newest sequence number
}

func openMemory() *memory {
	m := &memory{now: treesIn(func(string) shelf { return &leaves{} })}
	m.now.nextSeq = func() (uint64, error) { m.seq++; return m.seq, nil }
	m.now.lastSeq = func() uint64 { return m.seq }
	return m
}

func (m *memory) read() (now *trees, end func(), err error) {
	m.mu.RLock()
	if m.now == nil {
		m.mu.RUnlock()
		return nil, nil, ErrClosed
	}
	return m.now, m.mu.RUnlock, nil
}

// hold copies the items, the feed and the indexes. A copy shares its nodes until it or the
// original changes.
func (m *memory) hold() (before *trees, end func(), err error) {
	before = &trees{items: copyOf(m.now.items), feed: copyOf(m.now.feed)}
	for _, index := range m.now.indexes {
		before.indexes = append(before.indexes, copyOf(index))
	}
	return before, func() {}, nil
}

func (m *memory) write(ctx context.Context, work func(*trees) error) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.now == nil {
		return ErrClosed
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	return work(m.now)
}

func (m *memory) close() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.now = nil
	return nil
}

type leaves struct{ m btree.Map[string, string] }

func copyOf[V any](t *tree[V]) *tree[V] {
	return &tree[V]{&leaves{*t.shelf.(*leaves).m.Copy()}, t.encode, t.decode}
}

func (l *leaves) get(key string) (value string, found bool) { return l.m.Get(key) }

func (l *leaves) lend(key string) (value string, found bool) { return l.m.Get(key) }

func (l *leaves) put(key, value string) error { l.m.Set(key, value); return nil }

func (l *leaves) remove(key string) error { l.m.Delete(key); return nil }

func (l *leaves) keys(from, to string, visit func(string) bool) {
	l.walk(from, to, false, func(key, _ string) bool { return visit(key) })
}

func (l *leaves) walk(from, to string, desc bool, visit func(string, string) bool) {
	within := func(key, value string) (more bool) {
		if desc && key >= to { // Descend begins at to
			return true
		}
		if key < from || !desc && key >= to {
			return false
		}
		return visit(key, value)
	}
	if desc {
		l.m.Descend(to, within)
	} else {
		l.m.Ascend(from, within)
	}
}
