package api

import "sync"

// owners caches the agents of names that rarely change hands: original keys, whose
// item is checked again with every request, and handles, which never change hands.
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
