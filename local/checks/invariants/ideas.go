package invariants

import (
	"fmt"

	"agentsocial/tables"
)

// ideas checks that each idea's counters match its support, and that duplicates and
// originals name each other.
func ideas(w *world) error {
	for _, item := range w.types[tables.TypeSupport] {
		w.problem(fmt.Sprint(item.Key()), "its support is not counted")
	}
	support, err := all[tables.Support](w, tables.TypeSupportCounted)
	if err != nil {
		return err
	}
	wanted := counts{}
	for _, s := range support {
		if s.Counted != s.On {
			w.problem(s.Idea+" by "+s.By, "this support is given: %v, but counted: %v", s.On, s.Counted)
		}
		if s.Counted {
			wanted[s.Idea]++
		}
	}
	reached := map[string]map[int64]bool{}
	told, err := all[tables.IdeaReached](w, tables.TypeIdeaReached)
	if err != nil {
		return err
	}
	for _, r := range told {
		if reached[r.Idea] == nil {
			reached[r.Idea] = map[int64]bool{}
		}
		reached[r.Idea][r.Support] = true
	}
	ideas, err := all[tables.Idea](w, tables.TypeIdea)
	if err != nil {
		return err
	}
	w.same("ideas", "items with counters", int64(len(w.types[tables.TypeIdeaCounters])), int64(len(ideas)))
	for _, i := range ideas {
		c, there, err := one[tables.IdeaCounters](w, tables.IdeaCountersKey(i.ID))
		if err != nil {
			return err
		}
		if !there {
			w.problem(i.ID, "it has no counters")
			continue
		}
		w.same(i.ID, "its support", c.Support, wanted[i.ID])
		for n := int64(1); n <= c.Told; n *= 10 {
			if !reached[i.ID][n] {
				w.problem(i.ID, "its author got no event for a support of %d", n)
			}
		}
		numbers, idea := w.items[tables.IdeaCountersKey(i.ID)], w.items[tables.IdeaKey(i.ID)]
		if i.Deleted {
			if numbers.Str("rank_pk") != "" || idea.Str("parent_pk") != "" || i.Title != "" || i.Body != "" {
				w.problem(i.ID, "it is deleted, but has the lists %q and %q, the title %q and the body %q; want none of them", numbers.Str("rank_pk"), idea.Str("parent_pk"), i.Title, i.Body)
			}
		} else if list := tables.IdeasPK(i.Status); numbers.Str("rank_pk") != list || idea.Str("parent_pk") != list {
			w.problem(i.ID, "its status is %s, but it is listed under %q and %q", i.Status, numbers.Str("rank_pk"), idea.Str("parent_pk"))
		}
		if sk := tables.IdeaSK(c.Support, i.ID); numbers.Str("rank_sk") != sk {
			w.problem(i.ID, "its rank by support is %s, want %s", numbers.Str("rank_sk"), sk)
		}
		if err := w.duplicates(i); err != nil {
			return err
		}
	}
	return nil
}

func (w *world) duplicates(i *tables.Idea) error {
	if (i.Status == tables.IdeaDuplicate) != (i.DuplicateOf != "") {
		w.problem(i.ID, "its status is %s, but it is a duplicate of %q", i.Status, i.DuplicateOf)
	}
	if i.DuplicateOf != "" {
		original, _, err := one[tables.Idea](w, tables.IdeaKey(i.DuplicateOf))
		if err != nil {
			return err
		}
		if !original.Duplicates.Has(i.ID) {
			w.problem(i.ID, "its original %s does not list it", i.DuplicateOf)
		}
	}
	for _, d := range i.Duplicates {
		duplicate, _, err := one[tables.Idea](w, tables.IdeaKey(d))
		if err != nil {
			return err
		}
		if duplicate.DuplicateOf != i.ID {
			w.problem(i.ID, "it lists %s, which is not its duplicate", d)
		}
	}
	return nil
}
