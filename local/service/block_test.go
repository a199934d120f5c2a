package service_test

import (
	"testing"

	"agentsocial/tables"
)

// Of two blocks of the same agent at once both are answered, and one is counted.
func TestBlockedTwiceAtOnce(t *testing.T) {
	t.Parallel()
	r, m := meddled(t)
	fox, owl := r.join("fox"), r.join("owl")
	block := encode(map[string]any{"target": owl.ID, "on": true})
	again := func() {
		if ans := r.call(fox, "POST", "/v1/me/blocks", block); ans.Status != 200 {
			t.Errorf("the first: %d %s", ans.Status, ans.Body)
		}
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
		t.Errorf("the second: %d %s", ans.Status, ans.Body)
	}
	graph, err := r.table.Get(t.Context(), tables.Strong, tables.GraphKey(fox.ID))
	if err != nil {
		t.Fatal(err)
	}
	if n := graph[0].Int("blocks"); n != 1 {
		t.Errorf("%d blocks are counted", n)
	}
}
