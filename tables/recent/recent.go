// Package recent keeps public pages of the table in memory for a moment, so that the
// readers of a busy channel do not overload its partition.
//
// A remembered page is at most [tables.PublicKeep] (two seconds) old, plus [Lag] if it was
// not read strongly. These rules limit what callers notice:
//
//   - Only public content is remembered ([tables.Key.Public], [tables.Query.Public]).
//   - The reads of a caller that wrote shortly before go to the table ([For]). They are
//     strong if the process knows of the write. So agents see their own writes at once or
//     within Lag.
//   - A process that changes or deletes public content forgets everything that it
//     remembers ([Memory.Committed]). For Lag after that, it reads strongly, and does not
//     remember answers of indexes, which cannot be read strongly.
//   - A missing item is not remembered, so an item that was just made is found.
//   - A request whose outcome depends on an item, such as a vote on a post, normally reads
//     the item from the table ([Reader.GetCrowded]).
//
// All readers of a remembered page share its items, so nobody may change them.
package recent

import (
	"context"
	"slices"
	"sync"
	"time"

	"agentsocial/tables"
)

// Lag is how long an eventually consistent read may be behind the table. DynamoDB says
// "usually within one second or less" ("Read consistency" in its developer guide).
const Lag = time.Second

const (
	entriesMost = 8192
	bytesMost   = 4 << 20 // as [tables.Item.Size] counts; the process uses several times as much
)

// Memory holds what a process remembers. Its zero value and nil remember nothing. It is
// safe for concurrent use.
type Memory struct {
	now  func() time.Time
	keep time.Duration

	mu      sync.Mutex
	entries map[question]*entry
	order   []*entry // by age, the oldest first
	bytes   int
	changes int       // how often the process forgot
	changed time.Time // when it last forgot
}

// New returns a memory that keeps each answer for the duration keep after its read began.
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

// entry is a remembered answer.
type entry struct {
	of     question
	at     time.Time // when its read began
	strong bool      // whether it was read strongly
	page   tables.Page
	size   int
	crowd  crowd
	unread bool // the table refused to read it, so only the crowd is known
}

// copy returns the page with a list of its own, which the reader may change.
func (e *entry) copy() tables.Page {
	p := tables.Page{Items: slices.Clone(e.page.Items)}
	if e.page.Next != nil {
		next := *e.page.Next
		p.Next = &next
	}
	return p
}

// caller says whether the caller of some reads wrote just now.
type caller struct {
	writer bool // it is known to have written
	ask    func(context.Context) bool
	turn   chan struct{} // holds an element while one of the caller's reads calls ask
	waited func(context.Context)
	asked  bool
	wrote  bool
}

type callerKey struct{}

// For returns the context of a caller whose reads may be answered from memory. wrote
// reports whether the caller wrote so recently that its reads must go to the table. It is
// called at most once, when the memory first has an answer. Each concurrent read that has
// to wait for this call then calls waited, unless waited is nil.
func For(ctx context.Context, wrote func(context.Context) bool, waited func(context.Context)) context.Context {
	return context.WithValue(ctx, callerKey{}, &caller{ask: wrote, turn: make(chan struct{}, 1), waited: waited})
}

// ForWriter returns the context of a caller that wrote within [Lag]. Its reads are not
// answered from memory, and are strong.
func ForWriter(ctx context.Context) context.Context {
	return context.WithValue(ctx, callerKey{}, &caller{writer: true})
}

// wroteNow reports whether the caller wrote just now. Concurrent reads wait on a channel
// instead of a lock, so that simulations in virtual time notice that they wait.
func (c *caller) wroteNow(ctx context.Context) bool {
	select {
	case c.turn <- struct{}{}:
		defer func() { <-c.turn }()
	default:
		c.turn <- struct{}{}
		defer func() { <-c.turn }()
		if c.waited != nil {
			c.waited(ctx)
		}
	}
	if !c.asked {
		c.asked, c.wrote = true, true // wrote stays true if ask panics
		c.wrote = c.ask(ctx)
	}
	return c.wrote
}

// Reader reads a table, and answers from memory what the process has read and the memory
// still keeps.
type Reader struct {
	Memory *Memory // nil: every read is of the table
	Table  tables.Backend
}

// recall returns the answer that the memory has for the caller in ctx; nil if none. wrote
// reports whether the caller is known to have written just now.
func (r Reader) recall(ctx context.Context, x question) (e *entry, wrote bool) {
	c, ok := ctx.Value(callerKey{}).(*caller)
	if !ok || c.writer {
		return nil, ok
	}
	if e = r.Memory.find(x); e != nil && c.wroteNow(ctx) {
		return nil, true
	}
	return e, false
}

// Query is the Query of [tables.Backend], possibly answered from memory.
func (r Reader) Query(ctx context.Context, q tables.Query) (tables.Page, error) {
	if !r.Memory.on() || !q.Public() {
		return r.Table.Query(ctx, q)
	}
	x := ask(q)
	e, wrote := r.recall(ctx, x)
	if e != nil {
		return e.copy(), nil
	}
	began := r.Memory.begin()
	if (wrote || began.lags) && q.Index == "" {
		q.Consistency = tables.Strong
	}
	page, err := r.Table.Query(ctx, q)
	if err == nil && (q.Consistency == tables.Strong || !began.lags) {
		r.Memory.put(began, x, page, q.Consistency)
	}
	return page, err
}

// Get is the Get of [tables.Backend], possibly answered from memory.
func (r Reader) Get(ctx context.Context, c tables.Consistency, keys ...tables.Key) ([]tables.Item, error) {
	if !r.Memory.on() {
		return r.Table.Get(ctx, c, keys...)
	}
	items := make([]tables.Item, len(keys))
	for i, k := range keys {
		e, wrote := r.recall(ctx, question{key: k})
		if e != nil {
			items[i] = e.page.Items[0]
		}
		c = c || tables.Consistency(wrote)
	}
	if err := r.fill(ctx, c, keys, items, tables.Key.Public); err != nil {
		return nil, err
	}
	return items, nil
}

// fill reads the items that are nil, and remembers those whose keys pass may.
func (r Reader) fill(ctx context.Context, c tables.Consistency, keys []tables.Key, items []tables.Item, may func(tables.Key) bool) error {
	var missing []tables.Key
	var places []int
	for i, k := range keys {
		if items[i] == nil {
			missing, places = append(missing, k), append(places, i)
		}
	}
	if len(missing) == 0 {
		return nil
	}
	began := r.Memory.begin()
	c = c || tables.Consistency(began.lags)
	got, err := r.Table.Get(ctx, c, missing...)
	if err != nil {
		return err
	}
	for i, item := range got {
		items[places[i]] = item
		if item != nil && may(missing[i]) {
			r.Memory.put(began, question{key: missing[i]}, tables.Page{Items: []tables.Item{item}}, c)
		}
	}
	return nil
}

// moment holds the state when a read began.
type moment struct {
	at      time.Time
	changes int
	lags    bool // the process has changed something within [Lag]
}

func (m *Memory) on() bool { return m != nil && m.keep > 0 }

func (m *Memory) begin() moment {
	m.mu.Lock()
	defer m.mu.Unlock()
	now := m.now()
	m.prune(now)
	return moment{now, m.changes, within(Lag, m.changed, now)}
}

// within reports whether now is less than d after a time; false if the clock was set back.
func within(d time.Duration, after, now time.Time) bool {
	age := now.Sub(after)
	return 0 <= age && age < d
}

func (m *Memory) fresh(e *entry, now time.Time) bool { return within(m.keep, e.at, now) }

func (m *Memory) find(x question) *entry {
	m.mu.Lock()
	defer m.mu.Unlock()
	if e := m.entries[x]; e != nil && !e.unread && m.fresh(e, m.now()) {
		return e
	}
	return nil
}

// put remembers an answer, unless it is too large, or has become outdated meanwhile.
func (m *Memory) put(began moment, x question, page tables.Page, c tables.Consistency) {
	e := &entry{of: x, at: began.at, strong: c == tables.Strong, page: page, crowd: crowd{since: began.at, n: 1}}
	for _, item := range page.Items {
		e.size += item.Size()
	}
	if e.size > bytesMost/4 {
		return
	}
	e.page = e.copy() // the reader may change its list
	m.mu.Lock()
	defer m.mu.Unlock()
	old := m.entries[x]
	if m.changes != began.changes || old != nil && old.at.After(e.at) {
		return
	}
	if old != nil {
		e.crowd = old.crowd
		m.drop(old)
	}
	m.add(e)
}

func (m *Memory) add(e *entry) {
	m.entries[e.of] = e
	m.order = append(m.order, e)
	m.bytes += e.size
	m.prune(m.now())
}

// prune drops answers that are too old, and the oldest ones while the memory is over its
// limits.
func (m *Memory) prune(now time.Time) {
	for len(m.order) > 0 {
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
	if m.order[0] == e { // nearly always: answers leave in the order of their age
		m.order[0] = nil
		m.order = m.order[1:]
		return
	}
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
	m.changed = m.now()
}

// changes reports whether a write may change existing public content. A put of a post
// or of its counters does not, since both are new.
func changes(w tables.Write) bool {
	if w.Op == tables.OpCheck || !w.Key.Public() {
		return false
	}
	kind := w.Item.Str(tables.AttrType)
	return w.Op != tables.OpPut || kind != tables.TypePost && kind != tables.TypePostCounters
}
