// Package recent remembers public pages of the table in a process for a moment, so that
// the readers of a busy channel do not use up what its partition can serve.
//
// A page that is remembered may be as old as the memory's keep (two seconds). These rules
// bound what that can show:
//
//   - Only public content is remembered ([tables.Key.Public], [tables.Query.Public]), and
//     only by reads that go through a [Reader]. Reads of the table do not know the memory.
//   - A caller that wrote shortly before reads the table ([For]), so agents see their own
//     writes. What such a read finds is remembered for others.
//   - A process that changes or deletes something public forgets all that it remembers
//     ([Memory.Committed]). A new post does not make it forget: others see it within keep.
//   - What is missing is not remembered, so what was just made is found.
package recent

import (
	"context"
	"slices"
	"sync"
	"time"

	"agentsocial/tables"
)

// Bounds of what a process remembers.
const (
	entriesMost = 8192
	bytesMost   = 4 << 20 // as [tables.Item.Size] counts; a few times that in the process
)

// Memory is what a process remembers. Its zero value and nil remember nothing. It is safe
// for concurrent use.
type Memory struct {
	now  func() time.Time
	keep time.Duration

	mu      sync.Mutex
	entries map[question]*entry
	order   []*entry // the same by age, the oldest first
	bytes   int
	changes int // how often the process forgot
}

// New returns a memory that keeps each answer for so long after its question.
func New(now func() time.Time, keep time.Duration) *Memory {
	return &Memory{now: now, keep: keep, entries: map[question]*entry{}}
}

// question is a key, or a query without its consistency.
type question struct {
	key   tables.Key
	query tables.Query
	after tables.Position
}

func ask(q tables.Query) question {
	x := question{query: q}
	if q.After != nil {
		x.after = *q.After
	}
	x.query.After, x.query.Consistency = nil, tables.Eventual
	return x
}

// entry is an answer. Nobody changes its items: readers get copies.
type entry struct {
	of   question
	at   time.Time // before it was read
	page tables.Page
	size int
}

func (e *entry) copy() tables.Page {
	p := tables.Page{Items: make([]tables.Item, len(e.page.Items))}
	for i, item := range e.page.Items {
		p.Items[i] = item.Clone()
	}
	if e.page.Next != nil {
		next := *e.page.Next
		p.Next = &next
	}
	return p
}

// caller knows whether it may be answered from memory, once it was asked.
type caller struct {
	wrote func(context.Context) bool

	mu    sync.Mutex
	asked chan struct{} // closed once fresh is known; nil before the question
	fresh bool
}

type callerKey struct{}

// For returns the context of a caller whose reads may be answered from memory. wrote
// reports whether the caller wrote so recently that they may not. It is called at most
// once, when the memory first has an answer. Without For, nothing is answered from memory.
func For(ctx context.Context, wrote func(context.Context) bool) context.Context {
	return context.WithValue(ctx, callerKey{}, &caller{wrote: wrote})
}

// may reports whether the caller in ctx may be answered from memory. Reads side by side
// wait on a channel, and not for a lock, so that simulations in virtual time see them wait.
func may(ctx context.Context) bool {
	c, ok := ctx.Value(callerKey{}).(*caller)
	if !ok {
		return false
	}
	c.mu.Lock()
	first := c.asked == nil
	if first {
		c.asked = make(chan struct{})
	}
	c.mu.Unlock()
	if first {
		c.fresh = true
		defer close(c.asked)
		c.fresh = c.wrote(ctx)
		return !c.fresh
	}
	<-c.asked
	return !c.fresh
}

// Reader reads a table, and answers from memory what the process has read within the
// memory's keep. The consistency of a read is that of reading the table.
type Reader struct {
	Memory *Memory // nil: every read is of the table
	Table  tables.Backend
}

// Query is [tables.Backend]'s.
func (r Reader) Query(ctx context.Context, q tables.Query) (tables.Page, error) {
	if !r.Memory.on() || !q.Public() {
		return r.Table.Query(ctx, q)
	}
	x := ask(q)
	if e := r.Memory.find(x); e != nil && may(ctx) {
		return e.copy(), nil
	}
	began := r.Memory.begin()
	page, err := r.Table.Query(ctx, q)
	if err == nil {
		r.Memory.put(began, x, page)
	}
	return page, err
}

// Get is [tables.Backend]'s. Each item is remembered by itself.
func (r Reader) Get(ctx context.Context, c tables.Consistency, keys ...tables.Key) ([]tables.Item, error) {
	if !r.Memory.on() {
		return r.Table.Get(ctx, c, keys...)
	}
	items := make([]tables.Item, len(keys))
	var missing []tables.Key
	var places []int
	for i, k := range keys {
		if e := r.Memory.find(question{key: k}); e != nil && may(ctx) {
			items[i] = e.copy().Items[0]
		} else {
			missing, places = append(missing, k), append(places, i)
		}
	}
	if len(missing) == 0 {
		return items, nil
	}
	began := r.Memory.begin()
	got, err := r.Table.Get(ctx, c, missing...)
	if err != nil {
		return nil, err
	}
	for i, item := range got {
		items[places[i]] = item
		if item != nil && missing[i].Public() {
			r.Memory.put(began, question{key: missing[i]}, tables.Page{Items: []tables.Item{item}})
		}
	}
	return items, nil
}

// moment is when a read began.
type moment struct {
	at      time.Time
	changes int
}

func (m *Memory) on() bool { return m != nil && m.keep > 0 }

func (m *Memory) begin() moment {
	m.mu.Lock()
	defer m.mu.Unlock()
	return moment{m.now(), m.changes}
}

// fresh reports whether an answer may still be given.
func (m *Memory) fresh(e *entry, now time.Time) bool {
	age := now.Sub(e.at)
	return 0 <= age && age < m.keep
}

func (m *Memory) find(x question) *entry {
	m.mu.Lock()
	defer m.mu.Unlock()
	if e := m.entries[x]; e != nil && m.fresh(e, m.now()) {
		return e
	}
	return nil
}

// put remembers an answer, unless the process has changed something public meanwhile.
func (m *Memory) put(began moment, x question, page tables.Page) {
	e := &entry{of: x, at: began.at, page: page}
	for _, item := range page.Items {
		e.size += item.Size()
	}
	if e.size > bytesMost/4 {
		return
	}
	e.page = e.copy() // the reader may change its own
	m.mu.Lock()
	defer m.mu.Unlock()
	if newer := m.entries[x]; m.changes != began.changes || newer != nil && newer.at.After(e.at) {
		return
	}
	if old := m.entries[x]; old != nil {
		m.drop(old)
	}
	m.entries[x] = e
	m.order = append(m.order, e)
	m.bytes += e.size
	for now := m.now(); len(m.order) > 0; {
		oldest := m.order[0]
		if m.fresh(oldest, now) && len(m.order) <= entriesMost && m.bytes <= bytesMost {
			break
		}
		m.drop(oldest)
	}
}

func (m *Memory) drop(e *entry) {
	m.bytes -= e.size
	delete(m.entries, e.of)
	i := slices.Index(m.order, e)
	m.order = slices.Delete(m.order, i, i+1)
}

// Committed forgets everything if the writes change or delete public content. It is called
// after a commit, whatever its outcome.
func (m *Memory) Committed(writes []tables.Write) {
	if !m.on() || !slices.ContainsFunc(writes, changes) {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	clear(m.entries)
	m.order, m.bytes = nil, 0
	m.changes++
}

// changes reports whether a write changes public content that there was before: all do but
// a new post's.
func changes(w tables.Write) bool {
	if w.Op == tables.OpCheck || !w.Key.Public() {
		return false
	}
	kind := w.Item.Str(tables.AttrType)
	return w.Op != tables.OpPut || kind != tables.TypePost && kind != tables.TypePostCounters
}
