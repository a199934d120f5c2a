// Package faults makes one commit of a running service fail in a chosen way. Tests then
// check what the service leaves behind.
package faults

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"

	"agentsocial/tables"
)

// Kind is a way in which a commit fails.
type Kind int

// The ways in which commits fail.
const (
	Failed    Kind = iota // the commit is not made and returns ErrFailed
	Throttled             // the commit is not made: all its tries are throttled
	Conflict              // the first try meets a conflict; a retry succeeds
	Lost                  // the commit is made, but its first answer is lost
	Unknown               // the commit is made, but the answers of all its tries are lost
	Killed                // the commit is made, and the process dies
	kinds
)

func (k Kind) String() string {
	return [...]string{"failed before", "throttled", "conflict", "answer lost", "never known", "killed after"}[k]
}

// Kinds lists all kinds.
func Kinds() (all []Kind) {
	for k := range kinds {
		all = append(all, k)
	}
	return all
}

// ErrFailed is the error of a Failed commit.
var ErrFailed = errors.New("faults: the table cannot be reached")

// Fault is the failure of one of the commits made at a place.
type Fault struct {
	Place Place
	N     int // which of the commits at the place fails, counted from 1
	Kind  Kind
}

// Table counts commits by place and makes one of them fail.
type Table struct {
	tables.Backend
	places []Place
	fault  *Fault
	kill   func(context.Context)

	mu      sync.Mutex
	count   map[Place]int
	strange map[string]bool // deployed code that committed outside all places, as FILE:LINE
	met     *tables.Write   // the first write of the commit that met the fault; a retry has the same pointer
}

// New makes a table; [Table.Around] sets the wrapped table. If fault is nil, the table only
// counts. kill ends the process of a context, and never returns.
func New(places []Place, fault *Fault, kill func(context.Context)) *Table {
	return &Table{places: places, fault: fault, kill: kill, count: map[Place]int{}, strange: map[string]bool{}}
}

// Around wraps a table. A restarted service has a new table to wrap.
func (t *Table) Around(b tables.Backend) tables.Backend {
	t.Backend = b
	return t
}

// Counts returns the number of commits by place.
func (t *Table) Counts() map[Place]int {
	t.mu.Lock()
	defer t.mu.Unlock()
	counts := map[Place]int{}
	for p, n := range t.count {
		counts[p] = n
	}
	return counts
}

// Strange returns the code that commits outside all places.
func (t *Table) Strange() (code []string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for c := range t.strange {
		code = append(code, c)
	}
	return code
}

// In reports whether the fault is in a folder.
func (t *Table) In(folder string) bool {
	return t.fault != nil && strings.HasPrefix(t.fault.Place.File, folder)
}

// Met reports whether the fault was met.
func (t *Table) Met() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.met != nil
}

// Commit implements [tables.Backend].
func (t *Table) Commit(ctx context.Context, tx tables.Tx) error {
	meets, again := t.meets(tx)
	if !meets || again && t.fault.Kind != Throttled && t.fault.Kind != Unknown {
		return t.Backend.Commit(ctx, tx)
	}
	switch t.fault.Kind {
	case Failed:
		return ErrFailed
	case Throttled:
		return tables.ErrThrottled
	case Conflict:
		return tables.ErrConflict
	}
	if again {
		return tables.ErrUnknownOutcome
	}
	if err := t.Backend.Commit(ctx, tx); err != nil { // nothing was committed: the fault moves to the next commit
		t.mu.Lock()
		defer t.mu.Unlock()
		t.met = nil
		return err
	}
	if t.fault.Kind == Killed {
		t.kill(ctx)
	}
	return tables.ErrUnknownOutcome
}

// meets reports whether a commit meets the fault, and whether it met the fault before.
func (t *Table) meets(tx tables.Tx) (meets, again bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.met != nil && t.met == &tx.Writes[0] {
		return true, true
	}
	file, line := caller()
	if file == "" {
		return false, false
	}
	place, ok := t.at(file, line)
	if !ok {
		t.strange[fmt.Sprintf("%s:%d", file, line)] = true
		return false, false
	}
	t.count[place]++
	if t.fault == nil || t.met != nil || place != t.fault.Place || t.count[place] < t.fault.N {
		return false, false
	}
	t.met = &tx.Writes[0]
	return true, false
}

func (t *Table) at(file string, line int) (Place, bool) {
	for _, p := range t.places {
		if p.has(file, line) {
			return p, true
		}
	}
	return Place{}, false
}
