package embedded

import (
	"context"
	"sync"

	"github.com/tidwall/btree"

	"agentsocial/tables"
)

// memory is an engine without a file. It holds decoded items, because a commit of bbolt
// alone takes three times the processor time of a signed request that uses no table. A
// write changes the trees in place, under a lock, in microseconds. It cannot fail,
// because trees in memory do not fail, so nothing need be undone.
type memory struct {
	mu  sync.RWMutex
	now *trees // nil after close
	seq uint64 // the feed's last
}

func openMemory() *memory {
	m := &memory{}
	m.now = &trees{
		items: newLeaves[*stored](), feed: newLeaves[*record](), tokens: newLeaves[token](),
		expiry: newLeaves[nothing](), tokenExpiry: newLeaves[nothing](),
		checkpoints: newLeaves[string](),
		nextSeq:     func() (uint64, error) { m.seq++; return m.seq, nil },
		lastSeq:     func() uint64 { return m.seq },
	}
	for range tables.Indexes {
		m.now.indexes = append(m.now.indexes, newLeaves[nothing]())
	}
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

// hold copies the trees. The copies share nodes until one changes.
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

// leaves is a tree in memory.
type leaves[V any] struct{ m btree.Map[string, V] }

func newLeaves[V any]() tree[V] { return &leaves[V]{} }

func copyOf[V any](t tree[V]) tree[V] { return &leaves[V]{*t.(*leaves[V]).m.Copy()} }

func (l *leaves[V]) get(key string) (v V, found bool, err error) {
	v, found = l.m.Get(key)
	return v, found, nil
}

func (l *leaves[V]) put(key string, v V) error { l.m.Set(key, v); return nil }

func (l *leaves[V]) remove(key string) error { l.m.Delete(key); return nil }

func (l *leaves[V]) walk(from, to string, desc bool, visit func(string, V) (bool, error)) (err error) {
	within := func(key string, v V) (more bool) {
		if desc && key >= to { // where the descent begins
			return true
		}
		if key < from || !desc && key >= to {
			return false
		}
		more, err = visit(key, v)
		return more && err == nil
	}
	if desc {
		l.m.Descend(to, within)
	} else {
		l.m.Ascend(from, within)
	}
	return err
}
