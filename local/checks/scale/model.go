package scale

import (
	"context"
	"errors"
	"slices"
	"time"

	"agentsocial/tables"
	"agentsocial/tables/embedded"
)

// model is the embedded table with DynamoDB's limits. Its methods take no virtual time;
// [client] adds the trips.
type model struct {
	below  *embedded.Table
	spaces map[string]*space        // by index; "" is the table
	weight func(family string) int  // how many times each unit of a family counts
	closed func(now time.Time) bool // whether everything is refused
	ended  bool                     // all requests were made
	free   bool                     // the world is being furnished: nothing is counted or refused
	locks  map[tables.Key]time.Time // items of transactions under way, with the transactions' ends
	swept  time.Time                // when locks was cleaned
	keys   map[spot]*load           // by partition

	calls counts
}

// spot is a partition of the table or of an index.
type spot struct{ space, pk string }

// load is the load of one partition, in read and write units.
type load struct {
	units   [2]float64 // until the last request
	sum     [2]float64 // until the end of the run
	second  int64      // the newest second with load, in unix time
	now     [2]float64 // in that second
	peak    [2]float64 // in the busiest second
	refused int
}

type counts struct {
	Sent          int // attempts of calls
	Throttled     int
	Conflicts     int
	Reads, Writes float64 // units, of the simulated slice
}

func newModel(below *embedded.Table, ranges int, l *Limits) *model {
	m := &model{
		below: below, spaces: map[string]*space{}, weight: func(string) int { return 1 }, closed: func(time.Time) bool { return false },
		locks: map[tables.Key]time.Time{}, keys: map[spot]*load{},
	}
	m.spaces[""] = newSpace("", ranges, l)
	for _, s := range tables.Indexes {
		m.spaces[string(s.Name)] = newSpace(string(s.Name), ranges, l)
	}
	return m
}

var (
	errThrottled = errors.New("scale: throttled")
	errConflict  = errors.New("scale: conflict")
)

type demand struct {
	at    spot
	sk    string
	kind  kind
	units float64
}

// admits reports whether all ranges of a call have capacity left.
func (m *model) admits(now time.Time, all ...demand) bool {
	if m.free {
		return true
	}
	if m.closed(now) {
		return false
	}
	ok := true
	var full []spot
	for _, d := range all {
		if !m.spaces[d.at.space].admits(placeOf(d.at.pk, d.sk), d.kind, now) {
			ok = false
			if !slices.Contains(full, d.at) {
				full = append(full, d.at)
				m.load(d.at).refused++
			}
		}
	}
	return ok
}

func (m *model) takes(now time.Time, d demand) {
	if m.free {
		return
	}
	k := m.weight(familyOf(d.at))
	m.spaces[d.at.space].takes(placeOf(d.at.pk, d.sk), d.kind, d.units*float64(k), now)
	l := m.load(d.at)
	l.sum[d.kind] += d.units * float64(k)
	if d.kind == reads {
		m.calls.Reads += d.units
	} else {
		m.calls.Writes += d.units
	}
	if m.ended {
		return
	}
	if second := now.Unix(); l.second != second {
		l.second, l.now = second, [2]float64{}
	}
	l.units[d.kind] += d.units * float64(k)
	l.now[d.kind] += d.units * float64(k)
	l.peak[d.kind] = max(l.peak[d.kind], l.now[d.kind])
}

func (m *model) load(at spot) *load {
	l := m.keys[at]
	if l == nil {
		l = &load{}
		m.keys[at] = l
	}
	return l
}

// get reads one item. It returns errThrottled if admits refuses the read.
func (m *model) get(ctx context.Context, c tables.Consistency, key tables.Key, now time.Time) (tables.Item, error) {
	d := demand{spot{"", key.PK}, key.SK, reads, 0}
	if !m.admits(now, d) {
		return nil, errThrottled
	}
	items, err := m.below.Get(ctx, c, key)
	if err != nil {
		return nil, err
	}
	d.units = tables.GetUnits(c, items[0].Size())
	m.takes(now, d)
	return items[0], nil
}

// query reads a page. All units count at the place where the page begins.
func (m *model) query(ctx context.Context, q tables.Query, now time.Time) (tables.Page, error) {
	sk := q.From
	if q.Desc {
		if sk = q.To; sk == "" {
			sk = "\xff"
		}
	}
	if q.After != nil {
		sk = q.After.SK
	}
	d := demand{spot{string(q.Index), q.PK}, sk, reads, 0}
	if !m.admits(now, d) {
		return tables.Page{}, errThrottled
	}
	page, err := m.below.Query(ctx, q)
	if err != nil {
		return page, err
	}
	sizes := make([]int, len(page.Items))
	for i, item := range page.Items {
		sizes[i] = item.Size()
	}
	d.units = tables.QueryUnits(q.Consistency, sizes...)
	m.takes(now, d)
	return page, nil
}

// commit makes a transaction, or a single write. The items of a transaction are locked until
// the time done.
func (m *model) commit(ctx context.Context, tx tables.Tx, now, done time.Time) error {
	if m.free {
		return m.below.Commit(ctx, tx)
	}
	keys := make([]tables.Key, len(tx.Writes))
	for i, w := range tx.Writes {
		keys[i] = w.Key
		if m.locks[w.Key].After(now) {
			return errConflict
		}
	}
	before, err := m.below.Get(context.Background(), tables.Strong, keys...)
	if err != nil {
		return err
	}
	var asked []demand
	for i, w := range tx.Writes {
		asked = append(asked, demand{spot{"", w.Key.PK}, w.Key.SK, writes, 0})
		for _, e := range tables.IndexWrites(before[i], foreseen(before[i], w)) {
			asked = append(asked, demand{spot{string(e.Index), e.PK}, e.SK, writes, 0})
		}
	}
	if !m.admits(now, asked...) {
		return errThrottled
	}
	made := m.below.Commit(ctx, tx)
	after, err := m.below.Get(context.Background(), tables.Strong, keys...)
	if err != nil {
		return err
	}
	transactional := len(tx.Writes) > 1 || tx.Token != ""
	for i, key := range keys {
		m.takes(now, demand{spot{"", key.PK}, key.SK, writes, tables.TableUnits(before[i].Size(), after[i].Size(), transactional)})
		for _, e := range tables.IndexWrites(before[i], after[i]) {
			m.takes(now, demand{spot{string(e.Index), e.PK}, e.SK, writes, e.Units})
		}
		if transactional {
			m.locks[key] = done
		}
	}
	if now.Sub(m.swept) > time.Second {
		m.swept = now
		for key, until := range m.locks {
			if !until.After(now) {
				delete(m.locks, key)
			}
		}
	}
	return made
}

// foreseen returns an item after a write. Only attributes that indexes use are right.
func foreseen(old tables.Item, w tables.Write) tables.Item {
	switch w.Op {
	case tables.OpPut:
		return w.Item
	case tables.OpDelete:
		return nil
	case tables.OpCheck:
		return old
	}
	now := tables.Item{"": w.Key.SK} // makes it differ from old
	for name, v := range old {
		now[name] = v
	}
	for _, u := range w.Updates {
		switch u.Op {
		case tables.UpdSet:
			now[u.Attr] = u.Value
		case tables.UpdRemove:
			delete(now, u.Attr)
		}
	}
	return now
}
