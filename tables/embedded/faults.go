package embedded

import (
	"math/rand/v2"
	"sync"

	"agentsocial/tables"
)

// Fault is a way in which a call may go wrong, as it may with DynamoDB. One
// that a call cannot suffer has no effect.
type Fault int

const (
	None        Fault = iota
	Conflict          // a commit ends with ErrConflict; nothing was written
	Throttled         // any call ends with ErrThrottled; nothing was done
	LostRequest       // a commit ends with ErrUnknownOutcome; nothing was written
	LostAnswer        // a commit ends with ErrUnknownOutcome; it was done
	Stale             // an eventually consistent read answers as the table was some commits, and at most 50 ms, ago
)

// Kinds of calls.
const (
	KindGet    = "get"
	KindQuery  = "query" // of the table
	KindIndex  = "index" // a query of an index
	KindCommit = "commit"
)

// Faults decides what goes wrong with a call, given its kind and the keys it
// is about; a query's key is its PK and From. It is called by several
// goroutines at once.
type Faults func(kind string, keys []tables.Key) Fault

// SetFaults changes what goes wrong from now on; nil is nothing. Stale answers
// are possible from the first commit after it.
func (t *Table) SetFaults(f Faults) {
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

// Probabilities of faults, between 0 and 1, each for the calls that can suffer
// it. Those of one call add up to at most 1.
type Probabilities struct {
	Conflict, Throttled, LostRequest, LostAnswer, Stale float64
}

// Random makes faults that happen by chance, the same ones for the same seed
// and the same sequence of calls.
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
