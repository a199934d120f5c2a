package service

import (
	"encoding/json"
	"log/slog"
	"maps"
	"os"
	"sync"
	"time"
)

// checkpoints stores each reader's position in each shard in a file beside the table,
// so that a start continues where the last run ended. It is written with a delay;
// records in between are delivered again, which readers tolerate.
type checkpoints struct {
	mu    sync.Mutex
	m     map[string]string
	dirty bool
	file  string // "" in memory
	log   *slog.Logger
	stop  chan struct{}
	ended chan struct{}
}

const checkpointsEach = 500 * time.Millisecond

func openCheckpoints(file string, log *slog.Logger) (*checkpoints, error) {
	p := &checkpoints{m: map[string]string{}, file: file, log: log, stop: make(chan struct{}), ended: make(chan struct{})}
	if file == "" {
		close(p.ended)
		return p, nil
	}
	b, err := os.ReadFile(file)
	if err == nil {
		err = json.Unmarshal(b, &p.m)
	}
	if err != nil && !os.IsNotExist(err) {
		return nil, err
	}
	go p.save()
	return p, nil
}

func (p *checkpoints) get(id string) string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.m[id]
}

func (p *checkpoints) set(id, seq string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.m[id], p.dirty = seq, true
}

func (p *checkpoints) save() {
	defer close(p.ended)
	tick := time.NewTicker(checkpointsEach)
	defer tick.Stop()
	for {
		stopping := false
		select {
		case <-tick.C:
		case <-p.stop:
			stopping = true
		}
		p.mu.Lock()
		m, dirty := maps.Clone(p.m), p.dirty
		p.dirty = false
		p.mu.Unlock()
		if dirty {
			if err := p.write(m); err != nil {
				p.log.Warn("the stream's checkpoints cannot be saved", "error", err.Error())
			}
		}
		if stopping {
			return
		}
	}
}

func (p *checkpoints) write(m map[string]string) error {
	b, err := json.Marshal(m)
	if err != nil {
		return err
	}
	if err := os.WriteFile(p.file+".new", b, 0o600); err != nil {
		return err
	}
	return os.Rename(p.file+".new", p.file)
}

func (p *checkpoints) close() { close(p.stop); <-p.ended }
