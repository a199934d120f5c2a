package runtime

import (
	"context"
	"errors"
	"maps"
	"sync"
)

// Function has invocations made, each by a process that has no other meanwhile:
// the one that was idle last, or a new one while there are fewer than Most. Its
// methods may be used by any goroutine.
type Function struct {
	slots chan struct{} // as many as processes
	wear  int           // how many invocations a process makes

	mu   sync.Mutex
	c    Config
	age  int // how often it was renewed
	idle []idler
}

// idler is a process that waits for work.
type idler struct {
	*Process
	age  int // the function's, when it was started
	done int // invocations
}

// Most is how many processes of a function there are at once.
const Most = 4

// wear: what a process remembers lasts no longer here than in Lambda, nor does
// what it has written.
const wear = 10_000

// New makes a function. No process is started before it is invoked.
func New(c Config) *Function { return &Function{c: c, slots: make(chan struct{}, Most), wear: wear} }

// Invoke makes an invocation, when a process has time for it.
func (f *Function) Invoke(ctx context.Context, payload []byte) ([]byte, error) {
	select {
	case f.slots <- struct{}{}:
		defer func() { <-f.slots }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	for {
		p, err := f.take(ctx)
		if err != nil {
			return nil, err
		}
		body, err := p.Invoke(ctx, payload)
		p.done++
		f.give(p)
		if errors.Is(err, errNotTaken) && p.done > 1 {
			continue // it ended while it was idle
		}
		return body, err
	}
}

// take answers an idle process, or a new one.
func (f *Function) take(ctx context.Context) (idler, error) {
	f.mu.Lock()
	if n := len(f.idle); n > 0 {
		p := f.idle[n-1]
		f.idle = f.idle[:n-1]
		f.mu.Unlock()
		return p, nil
	}
	c, age := f.c, f.age
	f.mu.Unlock()
	p, err := Start(ctx, c)
	return idler{Process: p, age: age}, err
}

// give takes a process back, if it is of further use.
func (f *Function) give(p idler) {
	f.mu.Lock()
	keep := p.age == f.age && p.done < f.wear && !p.gone()
	if keep {
		f.idle = append(f.idle, p)
	}
	f.mu.Unlock()
	if !keep {
		p.Stop()
	}
}

// Renew has all further invocations made by new processes, in whose environment
// env takes the place of what had its names.
func (f *Function) Renew(env map[string]string) {
	f.mu.Lock()
	f.c.Env = maps.Clone(f.c.Env)
	maps.Copy(f.c.Env, env)
	f.mu.Unlock()
	f.retire()
}

// retire ends the processes that are idle now, and has the others end after
// what they are doing.
func (f *Function) retire() {
	f.mu.Lock()
	old := f.idle
	f.idle = nil
	f.age++
	f.mu.Unlock()
	for _, p := range old {
		p.Stop()
	}
}

// Close ends its processes, once they have done what they are doing. What is
// invoked afterwards waits until its context is over.
func (f *Function) Close() {
	for range Most {
		f.slots <- struct{}{} // for good
	}
	f.retire()
}
