package tally

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"agentsocial/shared/app"
	"agentsocial/shared/lambda/stream"
	"agentsocial/tables"
)

var changes = []string{"INSERT", "MODIFY"}

// markFilters let through marks that wait to be counted.
var markFilters = []stream.Filter{
	{Type: tables.TypeVote, Events: changes},
	{Type: tables.TypeReactions, Events: changes},
	{Type: tables.TypeHelpful, Events: changes},
}

// countMarks adds up the marks that records tell of, those for one author's
// posts one transaction after another: all of them move that author's karma.
// What a record says of a mark is not looked at, only that there is one: it is
// counted as it stands.
func (f reader) countMarks(ctx context.Context, records []tables.StreamRecord) error {
	byAuthor := map[string][]tables.Item{}
	seen := map[tables.Key]bool{}
	for _, r := range records {
		if to := r.New.Str("to"); !seen[r.Key] {
			seen[r.Key] = true
			byAuthor[to] = append(byAuthor[to], r.New)
		}
	}
	var work app.Group
	work.SetLimit(sideBySide)
	for _, to := range slices.Sorted(maps.Keys(byAuthor)) {
		work.Go(func() error {
			for chunk := range slices.Chunk(byAuthor[to], tallyMost) {
				err := f.Retry(ctx, func() error { return f.tryCount(ctx, to, chunk) })
				if err != nil {
					return fmt.Errorf("tally: %w", err)
				}
			}
			return nil
		})
	}
	return work.Wait()
}

// tryCount counts marks for one author's posts as they stand now: what of them
// was not counted goes into their posts' numbers and the author's karma, and
// what is counted into the marks, on the condition that nobody changed any of
// it meanwhile.
func (f reader) tryCount(ctx context.Context, to string, marks []tables.Item) error {
	t, err := f.readMarks(ctx, to, marks)
	if err != nil {
		return err
	}
	// What makes room comes first: an emoji that nobody is left with gives its
	// place to another, in whatever order the two arrived.
	for _, r := range t.reactions {
		t.takeBack(r)
	}
	for _, r := range t.reactions {
		t.show(r)
	}
	for _, v := range t.votes {
		t.weigh(v)
	}
	for _, h := range t.helpful {
		t.thank(h)
	}
	if len(t.posts) == 0 {
		return nil
	}
	if err := f.keepSlots(ctx, t); err != nil {
		return err
	}
	for _, p := range t.posts {
		if p.found {
			t.writes = append(t.writes, p.counters.Retally(p.channel, p.id, p.item))
		}
	}
	for _, v := range t.votes {
		t.writes = append(t.writes, v.Count(&t.posts[v.Post].counters))
	}
	if t.karma != 0 {
		t.writes = append(t.writes, tables.AddKarma(to, t.karma))
	}
	return f.Transact(ctx, t.writes...)
}

// keepSlots writes the slots that votes took, before the votes are worth
// anything: each alone, which is half the price. A crash in between leaves a
// slot with the post that it was taken for, and that post's vote comes again.
func (f reader) keepSlots(ctx context.Context, t *tally) error {
	var work app.Group
	work.SetLimit(sideBySide)
	for giver, g := range t.givers {
		if g.took {
			work.Go(func() error { return f.Once(ctx, g.slots.Keep(giver, t.to)) })
		}
	}
	return work.Wait()
}
