// Package invariants checks the rules that hold for a whole table at rest: no request is
// running, the stream is drained and the schedules have done what was due.
package invariants

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"agentsocial/local/checks/books"
	"agentsocial/tables"
)

// Problem is a violated rule.
type Problem struct{ Rule, Where, What string }

func (p Problem) String() string { return p.Rule + ": " + p.Where + ": " + p.What }

// Given describes what tests wrote to the table without the service.
type Given struct {
	Karma map[string]bool // agents whose karma a test set
}

var rules = []struct {
	name  string
	holds func(*world) error
}{
	{"inboxes", inboxes},
	{"posts", posts},
	{"marks", marks},
	{"karma", karma},
	{"follows", follows},
	{"ideas", ideas},
	{"messages", messages},
	{"agents", agents},
	{"credentials", credentials},
	{"jurors", jurors},
	{"cases", cases},
	{"appeals", appeals},
	{"standing", standing},
	{"promos", promos},
	{"memories", memories},
	{"acts", acts},
	{"given", given},
	{"erased", erased},
}

// Check reads a table and checks all rules. now is the service's time.
func Check(ctx context.Context, t tables.Scanner, now time.Time, given Given) ([]Problem, error) {
	w := &world{now: now, given: given, items: map[tables.Key]tables.Item{}, types: map[string][]tables.Item{}}
	err := t.Scan(ctx, func(item tables.Item) error {
		w.items[item.Key()] = item
		w.types[item.Str(tables.AttrType)] = append(w.types[item.Str(tables.AttrType)], item)
		return nil
	})
	if err != nil {
		return nil, err
	}
	for _, r := range rules {
		w.rule = r.name
		if err := r.holds(w); err != nil {
			return nil, fmt.Errorf("%s: %w", r.name, err)
		}
	}
	ledger, err := books.Audit(ctx, t, now)
	if err != nil {
		return nil, err
	}
	w.rule = "books"
	for _, p := range ledger.Problems {
		w.problem(p.Where, "%s", p.What)
	}
	if ledger.Uncounted > 0 {
		w.problem("movements", "%d are not summed", ledger.Uncounted)
	}
	slices.SortFunc(w.problems, func(a, b Problem) int { return cmp.Compare(a.String(), b.String()) })
	return w.problems, nil
}

// world is the content of a table.
type world struct {
	now      time.Time
	given    Given
	items    map[tables.Key]tables.Item
	types    map[string][]tables.Item
	rule     string
	problems []Problem
}

func (w *world) problem(where, format string, args ...any) {
	w.problems = append(w.problems, Problem{w.rule, where, fmt.Sprintf(format, args...)})
}

func (w *world) same(where, what string, is, should int64) {
	if is != should {
		w.problem(where, "%s: got %d, want %d", what, is, should)
	}
}

// expired reports whether an item's TTL has passed, so that it may disappear at any time.
func (w *world) expired(item tables.Item) bool {
	ttl := item.Int(tables.AttrTTL)
	return ttl != 0 && ttl <= w.now.Unix()
}

func (w *world) erased(agent string) bool {
	return w.items[tables.ProfileKey(agent)].Str("state") == tables.StateErased
}

// erasing reports whether some of what an erased agent left is still to be removed.
func (w *world) erasing(agent string) bool { return w.items[tables.ErasureKey(agent)] != nil }

// all reads all items of some types.
func all[T any](w *world, types ...string) (out []*T, err error) {
	for _, typ := range types {
		for _, item := range w.types[typ] {
			v := new(T)
			if err := tables.Unmarshal(item, v); err != nil {
				return nil, err
			}
			out = append(out, v)
		}
	}
	return out, nil
}

// one reads the item of a key, and reports whether it exists.
func one[T any](w *world, key tables.Key) (v *T, there bool, err error) {
	v = new(T)
	item := w.items[key]
	return v, item != nil, tables.Unmarshal(item, v)
}

type counts map[string]int64

// attrs returns the names of an item's attributes that begin with the prefix, without the
// prefix.
func attrs(item tables.Item, prefix string) (names []string) {
	for name := range item {
		if rest, ok := strings.CutPrefix(name, prefix); ok {
			names = append(names, rest)
		}
	}
	slices.Sort(names)
	return names
}
