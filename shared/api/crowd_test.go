package api

import (
	"fmt"
	"testing"
	"time"

	"agentsocial/tables"
)

// needs has so many requests need an item, each of which reads it if it must. It returns
// how many did.
func needs(o *crowds, key tables.Key, now time.Time, requests int, item tables.Item) (reads int) {
	for range requests {
		if o.recall(key, now) == nil {
			reads++
			o.remember(key, item, now)
		}
	}
	return reads
}

// Few requests a second each read an item. A crowd reads it once a second.
func TestCrowds(t *testing.T) {
	var o crowds
	key, old, changed := tables.Key{PK: "C#den", SK: "P#1"}, tables.Item{"v": int64(1)}, tables.Item{"v": int64(2)}
	now := time.Date(2026, 11, 23, 9, 0, 0, 0, time.UTC)
	if n := needs(&o, key, now, crowdLeast, old); n != crowdLeast {
		t.Errorf("%d requests: got %d reads, want each to read", crowdLeast, n)
	}
	if n := needs(&o, key, now.Add(crowdFor-1), 100, changed); n != 0 {
		t.Errorf("100 more in the same second: got %d reads, want 0", n)
	}
	now = now.Add(crowdFor)
	if n := needs(&o, key, now, 100, changed); n != 1 {
		t.Errorf("100 in the next second: got %d reads, want 1", n)
	}
	if item := o.recall(key, now); item.Int("v") != 2 {
		t.Errorf("in the next second: got %v, want the item as read then", item)
	}
	o.forget([]tables.Write{tables.Delete(key)})
	if item := o.recall(key, now); item != nil {
		t.Errorf("after a write by this process: got %v, want none", item)
	}
	needs(&o, key, now, 100, changed)
	now = now.Add(2 * crowdFor)
	if n := needs(&o, key, now, crowdLeast, old); n != crowdLeast {
		t.Errorf("after a quiet second: got %d reads, want each of %d to read", n, crowdLeast)
	}
	if item := o.recall(key, now.Add(-time.Minute)); item != nil { // the clock was set back
		t.Errorf("at an earlier time: got %v, want none", item)
	}
	o.recall(key, now)
	o.remember(key, changed, now)
	for age, want := range map[time.Duration]bool{0: true, 2*crowdFor - 1: true, 2 * crowdFor: false, -2 * crowdFor: false} {
		if item := o.latest(key, now.Add(age)); (item != nil) != want {
			t.Errorf("if the table refuses to read what was read %s ago: got %v, want some: %v", age, item, want)
		}
	}
	if n := needs(&o, key, now.Add(crowdFor), 100, changed); n != 1 {
		t.Errorf("100 requests after the table refused: got %d reads, want 1", n)
	}
	for i := range 3 * crowdMost {
		needs(&o, tables.Key{PK: "C#den", SK: fmt.Sprint("P#", i)}, now, 1, old)
	}
	if len(o.m) > crowdMost {
		t.Errorf("got %d items, want %d at most", len(o.m), crowdMost)
	}
	if needs(&o, key, now.Add(time.Minute), 100, old); len(o.m) > crowdMost || o.m[key] == nil {
		t.Errorf("a minute later: got %d items and %v, want room for another", len(o.m), o.m[key])
	}
}
