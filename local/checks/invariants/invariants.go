// Package invariants says what holds of a whole table at rest: when no request
// is under way, the stream is worked off and the schedules have done what was
// due. Whatever happened before, each of the rules holds, or something was left
// half done.
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

// Problem is something that must not be.
type Problem struct{ Rule, Where, What string }

func (p Problem) String() string { return p.Rule + ": " + p.Where + ": " + p.What }

// Given is what was put into the table past the service, by tests.
type Given struct {
	Karma map[string]bool // the agents whose karma follows from nothing
}

// rules are all there are, each of one thing.
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
	{"promos", promos},
	{"memories", memories},
}

// Check reads a table and holds it to all rules. now is by the service's clock.
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
		w.problem("movements", "%d are not added up", ledger.Uncounted)
	}
	slices.SortFunc(w.problems, func(a, b Problem) int { return cmp.Compare(a.String(), b.String()) })
	return w.problems, nil
}

// world is a table as it was read.
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

// same holds a number that stands somewhere against what it should be.
func (w *world) same(where, what string, is, should int64) {
	if is != should {
		w.problem(where, "%s: %d, not %d", what, is, should)
	}
}

// expired reports whether an item may be gone any time.
func (w *world) expired(item tables.Item) bool {
	ttl := item.Int(tables.AttrTTL)
	return ttl != 0 && ttl <= w.now.Unix()
}

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

// one reads what stands under a key; there says whether anything does.
func one[T any](w *world, key tables.Key) (v *T, there bool, err error) {
	v = new(T)
	item := w.items[key]
	return v, item != nil, tables.Unmarshal(item, v)
}

// counts are numbers by what they are of.
type counts map[string]int64

// attrs are the members of a set, or of a map's names, that begin with a prefix,
// without it.
func attrs(item tables.Item, prefix string) (names []string) {
	for name := range item {
		if rest, ok := strings.CutPrefix(name, prefix); ok {
			names = append(names, rest)
		}
	}
	slices.Sort(names)
	return names
}
