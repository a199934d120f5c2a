package retry

import (
	"errors"
	"sync"
	"time"

	"agentsocial/tables"
)

// place is a part of the table that is throttled by itself: the reads or the writes of a
// partition, in the table or in an index.
type place struct {
	index tables.Index
	pk    string
	write bool
}

// HotFor is the longest time for which a throttled place is remembered. The shortest is
// half of it.
const HotFor = time.Second

const hotMost = 1 << 12

// hot remembers the places that stayed throttled through the last attempt.
type hot struct {
	mu    sync.Mutex
	until map[place]time.Time
}

// any reports whether h.until has a place, even an expired one.
func (h *hot) any() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return len(h.until) > 0
}

// refuse returns an error that names the keys whose places are remembered; nil if there are
// none. places and keys have the same order.
func (h *hot) refuse(places []place, keys []tables.Key) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	now := time.Now()
	var refused []tables.Key
	for i, p := range places {
		if until, ok := h.until[p]; ok && now.Before(until) {
			refused = append(refused, keys[i])
		}
	}
	if refused == nil {
		return nil
	}
	return &tables.Throttled{Keys: refused, Cause: errRemembered}
}

var errRemembered = errors.New("retry: the table throttled this partition a moment ago")

// add remembers a place until the given time, unless hotMost places are remembered.
func (h *hot) add(p place, until time.Time) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if len(h.until) >= hotMost {
		now := time.Now()
		for old, end := range h.until {
			if !now.Before(end) {
				delete(h.until, old)
			}
		}
	}
	if h.until == nil {
		h.until = map[place]time.Time{}
	}
	if len(h.until) < hotMost {
		h.until[p] = until
	}
}
