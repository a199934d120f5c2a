package simulate

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"strings"
	"sync/atomic"
	"time"

	"agentsocial/local/service"
	"agentsocial/tables"
	"agentsocial/tables/embedded"
)

var errUnreachable = errors.New("simulate: the table cannot be reached")

// table is the embedded table as the jobs see it: they take turns, and calls fail. Calls
// outside of a job have neither turns nor faults.
type table struct {
	*embedded.Table
	w     *world
	stale atomic.Bool // the call under way is stale
}

type change struct {
	op  tables.Op
	key tables.Key
}

func openTable(w *world) (*table, error) {
	t := &table{w: w}
	below, err := embedded.Open(embedded.Config{Path: embedded.Memory, Now: time.Now})
	if err != nil {
		return nil, err
	}
	t.Table = below
	if w.c.Rates.Stale > 0 {
		below.SetFaults(func(string, []tables.Key) embedded.Fault {
			if t.stale.Load() {
				return embedded.Stale
			}
			return embedded.None
		})
	}
	return t, nil
}

type fault int

const (
	none fault = iota
	unreachable
	throttled
	conflict
	lostRequest
	lostAnswer
	stale
	killed
	killedAfter
)

func (f fault) String() string {
	return [...]string{"", "unreachable", "throttled", "conflict", "lost request", "lost answer", "stale", "killed", "killed after"}[f]
}

type chance struct {
	fault fault
	p     float64
}

// begin waits for the turn of a call, and draws its fault. In a dead process it does not
// return.
func (t *table) begin(ctx context.Context, kind, what string, chances ...chance) fault {
	j := jobOf(ctx)
	if j == nil {
		return none
	}
	dieIfDead(ctx)
	call := kind + " " + what
	n, of := j.Call(call), " "+j.Name+" "+call
	f := none
	if !j.calm {
		x := t.w.dice.Chance("fault"+of, n)
		for _, c := range chances {
			if x < c.p {
				f = c.fault
				break
			}
			x -= c.p
		}
		r := &t.w.c.Rates
		switch y := t.w.dice.Chance("late"+of, n); {
		case y < r.Stuck:
			time.Sleep(time.Duration(t.w.dice.N("stuck"+of, n) % uint64(3*time.Second)))
		case y < r.Stuck+r.Late:
			time.Sleep(time.Duration(t.w.dice.N("lag"+of, n) % uint64(8*time.Millisecond)))
		}
	}
	t.w.turns.Wait(j.Job, call)
	dieIfDead(ctx)
	if f != none {
		t.w.tracef("  fault %s: %s", j.Name, f)
		t.w.faults[f]++
	}
	if f == killed {
		if immortal(j) {
			return unreachable
		}
		service.Die(ctx)
	}
	return f
}

func dieIfDead(ctx context.Context) {
	if service.Dead(ctx) {
		service.Die(ctx)
	}
}

// immortal reports whether a job's process cannot die. MCP's library would leave goroutines
// behind. The operator's commands run in no process of the service.
func immortal(j *job) bool {
	return strings.HasSuffix(j.Name, " POST /mcp") || strings.Contains(j.Name, " operator ")
}

func failed(f fault) error {
	switch f {
	case unreachable:
		return errUnreachable
	case throttled:
		return fmt.Errorf("simulate: %w", tables.ErrThrottled)
	case conflict:
		return fmt.Errorf("simulate: %w", tables.ErrConflict)
	case lostRequest:
		return fmt.Errorf("simulate: not made: %w", tables.ErrUnknownOutcome)
	}
	return nil
}

func (t *table) reads(c tables.Consistency) []chance {
	r := &t.w.c.Rates
	all := []chance{{unreachable, r.Unreachable}, {throttled, r.Throttled}, {killed, r.Killed}}
	if c == tables.Eventual {
		all = append(all, chance{stale, r.Stale})
	}
	return all
}

// Get implements [tables.Backend].
func (t *table) Get(ctx context.Context, c tables.Consistency, keys ...tables.Key) ([]tables.Item, error) {
	f := t.begin(ctx, "get", digest(keys...), t.reads(c)...)
	if err := failed(f); err != nil {
		return nil, err
	}
	t.stale.Store(f == stale)
	defer t.stale.Store(false)
	return t.Table.Get(ctx, c, keys...)
}

// Query implements [tables.Backend].
func (t *table) Query(ctx context.Context, q tables.Query) (tables.Page, error) {
	f := t.begin(ctx, "query", string(q.Index)+" "+digest(tables.Key{PK: q.PK, SK: q.From}), t.reads(q.Consistency)...)
	if err := failed(f); err != nil {
		return tables.Page{}, err
	}
	t.stale.Store(f == stale)
	defer t.stale.Store(false)
	return t.Table.Query(ctx, q)
}

// Commit implements [tables.Backend].
func (t *table) Commit(ctx context.Context, tx tables.Tx) error {
	keys := make([]tables.Key, len(tx.Writes))
	for i, w := range tx.Writes {
		keys[i] = w.Key
	}
	r := &t.w.c.Rates
	f := t.begin(ctx, "commit", digest(keys...),
		chance{unreachable, r.Unreachable}, chance{throttled, r.Throttled}, chance{conflict, r.Conflict}, chance{lostRequest, r.LostRequest},
		chance{lostAnswer, r.LostAnswer}, chance{killed, r.Killed}, chance{killedAfter, r.KilledAfter})
	if err := failed(f); err != nil {
		return err
	}
	err := t.Table.Commit(ctx, tx)
	if j := jobOf(ctx); j != nil && err == nil {
		j.mu.Lock()
		for _, w := range tx.Writes {
			if w.Op != tables.OpCheck {
				j.wrote = append(j.wrote, change{w.Op, w.Key})
			}
		}
		j.mu.Unlock()
	}
	switch {
	case f == killedAfter && !immortal(jobOf(ctx)):
		service.Die(ctx)
	case f == lostAnswer:
		return fmt.Errorf("simulate: perhaps made: %w", tables.ErrUnknownOutcome)
	}
	return err
}

// digest returns a hash that stands for keys in the name of a call.
func digest(keys ...tables.Key) string {
	h := fnv.New64a()
	for _, k := range keys {
		h.Write([]byte(k.PK))
		h.Write([]byte{0})
		h.Write([]byte(k.SK))
		h.Write([]byte{1})
	}
	return fmt.Sprintf("%016x", h.Sum64())
}
