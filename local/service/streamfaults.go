package service

import (
	"context"
	"math/rand/v2"
	"sync"
	"time"

	"agentsocial/tables"
)

// StreamFaults tells the pump to behave as badly as Lambda and DynamoDB Streams
// are allowed to. Chances are between 0 and 1.
type StreamFaults struct {
	Seed      uint64
	Redeliver float64 // a processed batch is delivered again
	Shuffle   float64 // records of different items are reordered
	Split     float64 // a batch is smaller than it could be
	Crash     float64 // a function dies at some moment before it answers
}

// streamFaults is safe for concurrent use; nil makes no faults.
type streamFaults struct {
	StreamFaults
	mu  sync.Mutex
	rng *rand.Rand
}

func newStreamFaults(m StreamFaults) *streamFaults {
	if m == (StreamFaults{Seed: m.Seed}) {
		return nil
	}
	return &streamFaults{StreamFaults: m, rng: rand.New(rand.NewPCG(m.Seed, 1))}
}

func (m *streamFaults) chance(p float64) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.rng.Float64() < p
}

func (m *streamFaults) intn(n int) int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.rng.IntN(n)
}

// shuffle reorders records, but keeps the order of each item's records.
func (m *streamFaults) shuffle(records []tables.StreamRecord) []tables.StreamRecord {
	if m == nil || len(records) < 2 || !m.chance(m.Shuffle) {
		return records
	}
	byKey := map[tables.Key][]tables.StreamRecord{}
	var slots []tables.Key
	for _, r := range records {
		byKey[r.Key] = append(byKey[r.Key], r)
		slots = append(slots, r.Key)
	}
	m.mu.Lock()
	m.rng.Shuffle(len(slots), func(i, j int) { slots[i], slots[j] = slots[j], slots[i] })
	m.mu.Unlock()
	out := make([]tables.StreamRecord, 0, len(records))
	for _, k := range slots {
		out = append(out, byKey[k][0])
		byKey[k] = byKey[k][1:]
	}
	return out
}

// batch returns how many of n records the next batch has.
func (m *streamFaults) batch(n int) int {
	if m == nil || n < 2 || !m.chance(m.Split) {
		return n
	}
	return 1 + m.intn(n-1)
}

func (m *streamFaults) again() bool { return m != nil && m.chance(m.Redeliver) }

// crash returns a context that may end while a function works, as if its process died. over ends
// the context and reports whether the answer is lost.
func (m *streamFaults) crash(ctx context.Context) (_ context.Context, over func() bool) {
	if m == nil || !m.chance(m.Crash) {
		return ctx, func() bool { return false }
	}
	ctx, cancel := context.WithTimeout(ctx, time.Duration(m.intn(3000))*time.Microsecond)
	return ctx, func() bool { cancel(); return true }
}
