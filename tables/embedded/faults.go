package embedded

import (
	"math/rand/v2"
	"sync"

	"agentsocial/tables"
)

// Fault is a failure that DynamoDB allows. A fault that does not apply to a call has no
// effect.
type Fault int

const (
	None        Fault = iota
	Conflict          // a commit ends with ErrConflict, and writes nothing
	Throttled         // any call ends with ErrThrottled, and does nothing
	LostRequest       // a commit ends with ErrUnknownOutcome, and writes nothing
	LostAnswer        // a commit ends with ErrUnknownOutcome, and writes everything unless a condition fails
	Stale             // an eventually consistent read may miss commits of the last 50 ms
)

// Kinds of calls.
const (
	KindGet    = "get"
	KindQuery  = "query" // of the table
	KindIndex  = "index" // a query of an index
	KindCommit = "commit"
)

// Faults chooses the fault of a call from its kind and keys. A query's key is its PK and
// From. Faults must be safe for concurrent use.
type Faults func(kind string, keys []tables.Key) Fault

// SetFaults sets the faults of later calls; nil means none. Stale reads never show a state
// from before this call.
func (t *Table) SetFaults(f Faults) {
	t.past.forget()
	if f == nil {
		t.faults.Store(nil)
		return
	}
	t.faults.Store(&f)
}

func (t *Table) fault(kind string, keys func() []tables.Key) Fault {
	f := t.faults.Load()
	if f == nil {
		return None
	}
	return (*f)(kind, keys())
}

// Probabilities holds the probabilities of faults, each between 0 and 1, for the calls that
// the fault applies to. Their sum for a call must not exceed 1.
type Probabilities struct {
	Conflict, Throttled, LostRequest, LostAnswer, Stale float64
}

// Random returns random faults, the same ones for the same seed and sequence of calls.
func Random(seed uint64, p Probabilities) Faults {
	var mu sync.Mutex
	rng := rand.New(rand.NewPCG(seed, 0))
	type chance struct {
		fault Fault
		p     float64
	}
	commit := []chance{{Throttled, p.Throttled}, {Conflict, p.Conflict}, {LostRequest, p.LostRequest}, {LostAnswer, p.LostAnswer}}
	read := []chance{{Throttled, p.Throttled}, {Stale, p.Stale}}
	return func(kind string, _ []tables.Key) Fault {
		mu.Lock()
		x := rng.Float64()
		mu.Unlock()
		chances := read
		if kind == KindCommit {
			chances = commit
		}
		for _, c := range chances {
			if x < c.p {
				return c.fault
			}
			x -= c.p
		}
		return None
	}
}
