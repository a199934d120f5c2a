package runtime

import (
	"context"
	"errors"
	"maps"
	"sync"
)

// Function runs invocations, one at a time in each process. It prefers the idle process that
// was used last, and has at most [Most] processes. It is safe for concurrent use.
type Function struct {
	slots chan struct{} // bounds the running invocations; Close fills it
	wear  int           // invocations after which a process is replaced

	mu   sync.Mutex
	c    Config
	age  int // the number of calls of Renew and Close
	idle []idler
}

// idler is a process of a Function.
type idler struct {
	*Process
	age  int // the function's age when the process started
	done int // invocations so far
}

// Most bounds the processes of a function.
const Most = 4

// wear bounds the invocations of a process, and with them the size of its log file.
const wear = 10_000

// New returns a function. Its first process starts with the first invocation.
func New(c Config) *Function { return &Function{c: c, slots: make(chan struct{}, Most), wear: wear} }

// Invoke runs an invocation when a process is free.
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
			continue // the process ended while idle
		}
		return body, err
	}
}

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

// give makes a process idle, or ends it if it must be replaced.
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

// Renew replaces variables of the environment. Later invocations run in new processes.
func (f *Function) Renew(env map[string]string) {
	f.mu.Lock()
	f.c.Env = maps.Clone(f.c.Env)
	maps.Copy(f.c.Env, env)
	f.mu.Unlock()
	f.retire()
}

// retire ends idle processes at once, and busy processes after their invocation.
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

// Close ends the processes after their invocations. Later calls of Invoke wait until their
// context ends.
func (f *Function) Close() {
	for range Most {
		f.slots <- struct{}{} // never released
	}
	f.retire()
}
