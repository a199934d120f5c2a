package embedded

import (
	"context"
	"fmt"
	"runtime"
	"time"

	"agentsocial/tables"
)

// maxGroup bounds the commits that one fsync covers. It allows for all concurrent requests
// of a laptop, and keeps waits short.
const maxGroup = 128

// linger bounds how long an unhurried write waits for a hurried one.
const linger = 30 * time.Millisecond

type unhurriedKey struct{}

// Unhurried returns a context for writes that nobody waits for. A table in a file delays
// them by up to 30 ms, so that one fsync covers them and other writes.
func Unhurried(ctx context.Context) context.Context {
	return context.WithValue(ctx, unhurriedKey{}, true)
}

// request is work for the committer, such as one commit or one step of a sweep.
type request struct {
	work      func(*trees) error
	unhurried bool
	err       error         // set before done is closed
	done      chan struct{} // closed when the work is durable or failed
}

func (f *file) write(ctx context.Context, work func(*trees) error) error {
	r := &request{work: work, unhurried: ctx.Value(unhurriedKey{}) != nil, done: make(chan struct{})}
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
			group := f.await(r)
			// Writers whose commits have just finished are about to make more. Letting them
			// run first makes groups larger.
			runtime.Gosched()
			group = f.gather(group)
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

// await returns a group that begins with first. If all its requests are unhurried, it waits
// up to linger for more.
func (f *file) await(first *request) []*request {
	group := []*request{first}
	if !first.unhurried {
		return group
	}
	over := time.NewTimer(linger)
	defer over.Stop()
	for len(group) < maxGroup {
		select {
		case r := <-f.requests:
			if group = append(group, r); !r.unhurried {
				return group
			}
		case <-over.C:
			return group
		case <-f.closing:
			return group
		}
	}
	return group
}

// gather adds waiting requests to a group.
func (f *file) gather(group []*request) []*request {
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

// commitGroup runs a group in one transaction of the file. A refused commit has written
// nothing, and is not an error here. An error undoes the group.
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
		return nil
	}
	f.clean = false
	f.db.NoFreelistSync = f.free() > maxListed*f.db.Info().PageSize
	if err := tx.Commit(); err != nil {
		// It may have reached the disk anyway.
		return fmt.Errorf("embedded: %w: %w", tables.ErrUnknownOutcome, err)
	}
	return nil
}
