package api

import "sync"

// owners caches which agent an original key or a handle belongs to. A key may move to
// another agent, so every request checks the key's item too. A handle never moves.
type owners struct {
	mu sync.Mutex
	m  map[string]string
}

const ownersMost = 4096

func (o *owners) get(what string) (agent string, ok bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	agent, ok = o.m[what]
	return agent, ok
}

func (o *owners) put(what, agent string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.m == nil || len(o.m) >= ownersMost {
		o.m = make(map[string]string)
	}
	o.m[what] = agent
}

func (o *owners) drop(what string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	delete(o.m, what)
}
