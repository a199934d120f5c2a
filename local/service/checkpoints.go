package service

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"sync"
	"time"

	"agentsocial/tables"
	"agentsocial/tables/embedded"
)

// checkpoints holds each reader's position in each shard, and stores it in the table's
// database. Positions are stored with a delay, so after a crash readers get some records
// again.
type checkpoints struct {
	store tables.Checkpoints // nil: not stored
	log   *slog.Logger

	mu      sync.Mutex
	m       map[string]string
	changed map[string]string // not stored yet

	stop  chan struct{}
	ended chan struct{}
}

const (
	checkpointsEach   = 500 * time.Millisecond
	checkpointsWithin = 10 * time.Second // bounds one call to the store
)

func openCheckpoints(ctx context.Context, store tables.Checkpoints, log *slog.Logger) (*checkpoints, error) {
	p := &checkpoints{
		store: store, log: log, m: map[string]string{}, changed: map[string]string{},
		stop: make(chan struct{}), ended: make(chan struct{}),
	}
	if store == nil {
		close(p.ended)
		return p, nil
	}
	var err error
	if p.m, err = store.Checkpoints(ctx); err != nil {
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
	p.m[id] = seq
	if p.store != nil {
		p.changed[id] = seq
	}
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
		ctx := context.Background()
		if !stopping {
			ctx = embedded.Unhurried(ctx)
		}
		if err := p.saveChanged(ctx); err != nil {
			p.log.Warn("the stream's checkpoints cannot be saved", "error", err.Error())
		}
		if stopping {
			return
		}
	}
}

func (p *checkpoints) saveChanged(ctx context.Context) error {
	p.mu.Lock()
	changed := p.changed
	p.changed = map[string]string{}
	p.mu.Unlock()
	if len(changed) == 0 {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, checkpointsWithin)
	defer cancel()
	err := p.store.SetCheckpoints(ctx, changed)
	if err != nil { // the next save tries again
		p.mu.Lock()
		maps.Copy(changed, p.changed) // p.changed is newer
		p.changed = changed
		p.mu.Unlock()
	}
	return err
}

func (p *checkpoints) close() { close(p.stop); <-p.ended }

// formerCheckpoints returns the files of earlier versions, the newest first.
func formerCheckpoints(dir, kind string) []string {
	return []string{filepath.Join(dir, "checkpoints-"+kind+".json"), filepath.Join(dir, "places-"+kind+".json")}
}

var errUnchecked = fmt.Errorf("%w: this kind of table cannot tell whether checkpoints belong to its feed", tables.ErrInvalid)

// adopt moves the checkpoints of an earlier version from its file into the table, unless
// the table has some. Unless adopt fails, it removes the file. If the checkpoints might
// not fit the feed, readers begin at the oldest change.
func adopt(ctx context.Context, t *openTable, file string, log *slog.Logger) error {
	text, err := os.ReadFile(file)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	stored, err := t.checkpoints.Checkpoints(ctx)
	if err != nil {
		return err
	}
	if len(stored) == 0 {
		var former map[string]string
		switch err = json.Unmarshal(text, &former); {
		case err != nil:
			err = fmt.Errorf("%w: %w", tables.ErrInvalid, err)
		case !t.knowsFeed:
			err = errUnchecked
		default:
			err = t.checkpoints.SetCheckpoints(ctx, former)
		}
		switch {
		case err == nil:
			log.Info("the checkpoints of an earlier version are now in the table", "file", file)
		case errors.Is(err, tables.ErrInvalid):
			log.Warn("checkpoints cannot be used: the stream is read again from its oldest change", "file", file, "error", err.Error())
		default:
			return err
		}
	}
	return os.Remove(file)
}

// checkpointItems stores checkpoints as items of a table of their own, in the same
// database as the table of the feed.
type checkpointItems struct {
	tables.Backend
	tables.Scanner
}

const (
	checkpointSK  = "CHECKPOINT"
	checkpointSeq = "seq"
)

// Checkpoints implements [tables.Checkpoints].
func (c checkpointItems) Checkpoints(ctx context.Context) (map[string]string, error) {
	all := map[string]string{}
	err := c.Scan(ctx, func(i tables.Item) error {
		all[i.Key().PK] = i.Str(checkpointSeq)
		return nil
	})
	return all, err
}

// SetCheckpoints implements [tables.Checkpoints]. It does not know the feed, so it
// accepts any position.
func (c checkpointItems) SetCheckpoints(ctx context.Context, changed map[string]string) error {
	for reader, seq := range changed {
		i := tables.Item{tables.AttrPK: reader, tables.AttrSK: checkpointSK, checkpointSeq: seq}
		if err := c.Commit(ctx, tables.Tx{Writes: []tables.Write{tables.Put(i)}}); err != nil {
			return err
		}
	}
	return nil
}
