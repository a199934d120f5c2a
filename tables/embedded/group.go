package embedded

import (
	"context"
	"fmt"
	"runtime"

	"agentsocial/tables"
)

// maxGroup bounds the commits that one fsync covers. It allows for all concurrent
// requests of a laptop, and keeps waits short.
const maxGroup = 128

// request is work for the committer: one commit, or one step of a sweep.
type request struct {
	work func(*trees) error
	err  error         // set before done is closed
	done chan struct{} // closed when the work is durable, or undone
}

func (f *file) write(ctx context.Context, work func(*trees) error) error {
	r := &request{work: work, done: make(chan struct{})}
	select {
	case f.requests <- r:
	case <-ctx.Done():
		return ctx.Err()
	case <-f.closing:
		return ErrClosed
	}
	<-r.done
	return r.err
}

// commitGroups is the committer's loop.
func (f *file) commitGroups() {
	defer close(f.stopped)
	for {
		select {
		case r := <-f.requests:
			// Writers whose commits have just finished are about to make more:
			// letting them run first makes groups larger.
			runtime.Gosched()
			group := f.gather(r)
			err := f.commitGroup(group)
			for _, r := range group {
				r.err = err
				close(r.done)
			}
		case <-f.closing:
			return
		}
	}
}

// gather returns a request and those waiting after it.
func (f *file) gather(first *request) []*request {
	group := []*request{first}
	for len(group) < maxGroup {
		select {
		case r := <-f.requests:
			group = append(group, r)
		default:
			return group
		}
	}
	return group
}

// commitGroup runs a group in one transaction of the file. A commit that is
// refused (a failed condition, an invalid write) has written nothing and is not
// an error here. An error comes from the file, and undoes the group.
func (f *file) commitGroup(group []*request) error {
	tx, err := f.db.Begin(true)
	if err != nil {
		return fmt.Errorf("embedded: %w", err)
	}
	defer tx.Rollback() // does nothing after a commit
	s := &session{tx: tx}
	now := treesOf(s)
	for _, r := range group {
		if err := r.work(now); err != nil {
			return err
		}
	}
	if !s.dirty {
		return nil // nothing to write to the disk
	}
	f.clean = false
	f.db.NoFreelistSync = f.free() > maxListed*f.db.Info().PageSize
	if err := tx.Commit(); err != nil {
		// It may have reached the disk anyway.
		return fmt.Errorf("embedded: %w: %w", tables.ErrUnknownOutcome, err)
	}
	return nil
}
