package embedded

import (
	"context"
	"fmt"
	"runtime"

	"agentsocial/tables"
)

// maxGroup is how many commits one fsync may cover: enough for every request
// that a laptop serves at once, and few enough that none waits long.
const maxGroup = 128

// request is work for the committer: one commit, or one step of a sweep.
type request struct {
	work func(*state) error
	err  error         // set before done is closed
	done chan struct{} // closed when the work is durable, or undone
}

// run has work done by the committer and waits until it is durable. Works are
// serial; those that wait while the disk is busy become durable together. If
// ctx ends before the work has begun, it is not done; once begun it takes
// milliseconds, and its outcome is worth more than those.
func (t *Table) run(ctx context.Context, work func(*state) error) error {
	r := &request{work: work, done: make(chan struct{})}
	select {
	case t.requests <- r:
	case <-ctx.Done():
		return ctx.Err()
	case <-t.closing:
		return ErrClosed
	}
	<-r.done
	return r.err
}

// commitGroups is the committer.
func (t *Table) commitGroups() {
	defer close(t.stopped)
	for {
		select {
		case r := <-t.requests:
			// Those whose commits have just been made are about to make more:
			// letting them run first makes groups larger.
			runtime.Gosched()
			group := t.gather(r)
			err := t.commitGroup(group)
			for _, r := range group {
				r.err = err
				close(r.done)
			}
		case <-t.closing:
			return
		}
	}
}

// gather returns a request and those that wait behind it.
func (t *Table) gather(first *request) []*request {
	group := []*request{first}
	for len(group) < maxGroup {
		select {
		case r := <-t.requests:
			group = append(group, r)
		default:
			return group
		}
	}
	return group
}

// commitGroup does a group's work in one transaction of the file. A work that
// only refuses (a condition, a mistake of its caller) has written nothing and
// is no error here; an error is the file's, and undoes the group.
func (t *Table) commitGroup(group []*request) error {
	if t.faults.Load() != nil {
		if err := t.past.remember(t.db); err != nil {
			return fmt.Errorf("embedded: %w", err)
		}
	}
	tx, err := t.db.Begin(true)
	if err != nil {
		return fmt.Errorf("embedded: %w", err)
	}
	defer tx.Rollback() // says only that the transaction has been committed
	s := newState(tx, t.now())
	for _, r := range group {
		if err := r.work(s); err != nil {
			return err
		}
	}
	if !s.dirty {
		return nil // nothing that would need the disk
	}
	if err := tx.Commit(); err != nil {
		// It may have reached the disk all the same.
		return fmt.Errorf("embedded: %w: %w", tables.ErrUnknownOutcome, err)
	}
	if s.fed {
		t.announce()
	}
	return nil
}
