package tally

import (
	"context"
	"errors"
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

// countMarks counts the current state of the marks in records. Marks for one author are
// counted in consecutive transactions, because all of them change that author's karma.
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
				if err := f.countChunk(ctx, to, chunk); err != nil {
					return fmt.Errorf("tally: %w", err)
				}
			}
			return nil
		})
	}
	return work.Wait()
}

// countChunk counts marks for one author's posts. If other writers keep conflicting,
// votes go to lanes. Other marks cannot, because what they add depends on the post's
// state; the stream delivers them again.
func (f reader) countChunk(ctx context.Context, to string, marks []tables.Item) error {
	return f.orAside(ctx, tables.CountersKey(to),
		func(ctx context.Context) error { return f.tryCount(ctx, to, marks, false) },
		func(ctx context.Context) error {
			isVote := func(m tables.Item) bool { return m.Str(tables.AttrType) == tables.TypeVote }
			votes := slices.DeleteFunc(slices.Clone(marks), func(m tables.Item) bool { return !isVote(m) })
			others := slices.DeleteFunc(slices.Clone(marks), isVote)
			if err := f.tryCount(ctx, to, votes, true); err != nil {
				return err
			}
			err := f.thrice(ctx, func(ctx context.Context) error { return f.tryCount(ctx, to, others, false) })
			if !contended(err) {
				return err
			}
			return f.wait(ctx, others, err)
		})
}

// wait makes the stream deliver marks or support again. If one of them has waited too
// often, wait returns reason, the error that kept it from being counted.
func (f reader) wait(ctx context.Context, marks []tables.Item, reason error) error {
	work := app.Together(ctx)
	work.SetLimit(sideBySide)
	for _, m := range marks {
		work.Go(func() error {
			if m.Int("waits") >= waitsMost {
				return reason
			}
			err := f.Once(ctx, tables.WaitMark(m))
			if errors.Is(err, tables.ErrOvertaken) { // the mark is counted, or gone
				return nil
			}
			return err
		})
	}
	return work.Wait()
}

// tryCount counts the current state of marks for one author's posts. One transaction
// updates posts' counters and the author's karma, and stores in each mark that it is
// counted. It fails if the marks or the posts' counters have changed.
//
// If aside is true, all marks are votes, and their sums go to lanes. Then a change of the
// posts' counters does not make it fail.
func (f reader) tryCount(ctx context.Context, to string, marks []tables.Item, aside bool) error {
	if len(marks) == 0 {
		return nil
	}
	t, err := f.readMarks(ctx, to, marks)
	if err != nil {
		return err
	}
	// Removals come first: an emoji that nobody uses any more makes room for another.
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
		switch p := t.posts[post]; {
		case !p.found:
		case aside:
			t.writes = append(t.writes, f.setAside(scoreTarget(p.channel, p.id), p.added)...)
			p.counters.Tallies++ // the votes belong to the next tally, which may include the lane
		default:
			t.writes = append(t.writes, p.counters.Retally(p.channel, p.id, p.item))
		}
	}
	for _, v := range t.votes {
		t.writes = append(t.writes, v.Count(&t.posts[v.Post].counters))
	}
	if aside {
		t.writes = append(t.writes, f.setAside(karmaTarget(to), t.karma)...)
		t.karma = 0
	}
	switch karma := tables.AddKarmaOf(to, t.karma, f.Now(), t.vouched...); {
	case len(t.vouched) > 0: // the author's origin must be as read, because no owner may vouch for its own agent
		t.writes = append(t.writes, karma, tables.Check(tables.OriginKey(to), tables.AbsentOrEqual("verified_at", t.verified)))
	case t.karma != 0:
		t.writes = append(t.writes, karma)
	}
	return f.Transact(ctx, t.writes...)
}

// keepSlots writes the karma slots ([tables.KarmaSlots]) that votes took. It runs before
// the votes take effect: after a crash, a redelivered vote finds its slot. Single writes
// cost half as much as a transaction.
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
