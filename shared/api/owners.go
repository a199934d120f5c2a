package api

import "sync"

// owners remembers which agent something belongs to that does not change hands:
// an original key while it lives, and the key itself is read with every
// request; a handle for ever.
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
