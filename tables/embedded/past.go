package embedded

import (
	"slices"
	"sync"
	"time"
)

// Bounds of how stale a read may be. maxPastAge uses the real clock: a commit that grows
// the file waits until all snapshots are released.
const (
	maxPast    = 8
	maxPastAge = 50 * time.Millisecond
)

// past holds the table before each of the last writes, while faults are injected.
type past struct {
	mu        sync.Mutex
	snapshots []*snapshot // the oldest first
}

type snapshot struct {
	mu    sync.Mutex
	trees *trees // nil once released
	end   func()
}

func (s *snapshot) release() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.trees != nil {
		s.end()
		s.trees = nil
	}
}

// remember takes a snapshot. It is called within a write, before any change.
func (p *past) remember(e engine) error {
	before, end, err := e.hold()
	if err != nil {
		return err
	}
	s := &snapshot{trees: before, end: end}
	p.mu.Lock()
	p.snapshots = append(p.snapshots, s)
	var dropped *snapshot
	if len(p.snapshots) > maxPast {
		dropped = p.snapshots[0]
		p.snapshots = slices.Delete(p.snapshots, 0, 1)
	}
	p.mu.Unlock()
	if dropped != nil {
		dropped.release()
	}
	time.AfterFunc(maxPastAge, func() { p.drop(s) })
	return nil
}

func (p *past) drop(s *snapshot) {
	p.mu.Lock()
	p.snapshots = slices.DeleteFunc(p.snapshots, func(o *snapshot) bool { return o == s })
	p.mu.Unlock()
	s.release()
}

func (p *past) forget() {
	p.mu.Lock()
	snapshots := p.snapshots
	p.snapshots = nil
	p.mu.Unlock()
	for _, s := range snapshots {
		s.release()
	}
}

// view reads from the oldest snapshot; found is false if there is none.
func (p *past) view(read func(*trees) error) (found bool, err error) {
	p.mu.Lock()
	if len(p.snapshots) == 0 {
		p.mu.Unlock()
		return false, nil
	}
	s := p.snapshots[0]
	p.mu.Unlock()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.trees == nil {
		return false, nil
	}
	return true, read(s.trees)
}
