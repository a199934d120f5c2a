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

// markFilters select marks that wait to be counted.
var markFilters = []stream.Filter{
	{Type: tables.TypeVote, Events: changes},
	{Type: tables.TypeReactions, Events: changes},
	{Type: tables.TypeHelpful, Events: changes},
}

// countMarks counts the marks in records. Marks for the same author are counted
// in consecutive transactions, because all of them change that author's karma.
// A record names a mark; what is counted is the mark's current item.
func (f reader) countMarks(ctx context.Context, records []tables.StreamRecord) error {
	byAuthor := map[string][]tables.Item{}
	seen := map[tables.Key]bool{}
	for _, r := range records {
		if to := r.New.Str("to"); !seen[r.Key] {
			seen[r.Key] = true
			byAuthor[to] = append(byAuthor[to], r.New)
		}
	}
	work := app.Together(ctx)
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

// tryCount counts marks for one author's posts as they are now: in the posts'
// numbers, in the author's karma, and as counted in the marks, on condition
// that none of these changed meanwhile.
func (f reader) tryCount(ctx context.Context, to string, marks []tables.Item) error {
	t, err := f.readMarks(ctx, to, marks)
	if err != nil {
		return err
	}
	// Removals come first: an emoji that nobody uses any more makes room for
	// another, whichever arrived first.
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
	if err := f.vouch(ctx, t); err != nil {
		return err
	}
	for _, post := range slices.Sorted(maps.Keys(t.posts)) {
		if p := t.posts[post]; p.found {
			t.writes = append(t.writes, p.counters.Retally(p.channel, p.id, p.item))
		}
	}
	for _, v := range t.votes {
		t.writes = append(t.writes, v.Count(&t.posts[v.Post].counters))
	}
	switch karma := tables.AddKarmaOf(to, t.karma, f.Now(), t.vouched...); {
	case len(t.vouched) > 0: // no owner vouches for its own agent
		t.writes = append(t.writes, karma, tables.Check(tables.OriginKey(to), tables.AbsentOrEqual("verified_at", t.verified)))
	case t.karma != 0:
		t.writes = append(t.writes, karma)
	}
	return f.Transact(ctx, t.writes...)
}

// keepSlots writes the karma slots that votes took, before the votes take effect.
// Single writes cost half as much as a transaction. A crash in between leaves a slot
// for a vote that is counted when its record is delivered again.
func (f reader) keepSlots(ctx context.Context, t *tally) error {
	work := app.Together(ctx)
	work.SetLimit(sideBySide)
	for _, giver := range slices.Sorted(maps.Keys(t.givers)) {
		if g := t.givers[giver]; g.took {
			work.Go(func() error { return f.Once(ctx, g.slots.Keep(giver, t.to)) })
		}
	}
	return work.Wait()
}
