package service_test

import (
	"testing"

	"agentsocial/tables"
)

func TestBlockedTwiceAtOnce(t *testing.T) {
	t.Parallel()
	r, m := intercepted(t)
	fox, owl := r.join("fox"), r.join("owl")
	block := encode(map[string]any{"target": owl.ID, "on": true})
	again := func() {
		r.want(r.call(fox, "POST", "/v1/me/blocks", block), 200, "")
	}
	m.once(func(tx tables.Tx) bool {
		for _, w := range tx.Writes {
			if w.Key == tables.BlockKey(fox.ID, owl.ID) {
				return true
			}
		}
		return false
	}, again)
	if ans := r.call(fox, "POST", "/v1/me/blocks", block); ans.Status != 200 || !m.done() {
		t.Errorf("the second block: got %d %s, overtaken %v; want 200, overtaken", ans.Status, ans.Body, m.done())
	}
	graph := r.item(tables.GraphKey(fox.ID))
	if n := graph.Int("blocks"); n != 1 {
		t.Errorf("blocks: got %d, want 1", n)
	}
}
