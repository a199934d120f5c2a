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

// countMarks counts the marks in records. Marks for the same author are counted in
// consecutive transactions, because all of them change that author's karma. It reads each
// mark again, and counts its current state.
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

// countChunk counts marks for one author's posts. If many batches do so at the same time,
// it adds the votes to lanes. It cannot add the other marks to lanes, because what they
// add depends on the post's state. If they keep conflicting, it makes the stream deliver
// them again.
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

// wait makes the stream deliver marks or support again. reason is the error that kept them
// from being counted; wait returns it if one of them has already waited too often.
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

// tryCount counts the current state of marks for one author's posts. In one transaction
// it updates the posts' counters and the author's karma, and stores in each mark that it
// is counted. The transaction fails if the marks or the posts' counters have changed
// meanwhile. If aside is true, the marks are votes, what they add goes to lanes of the
// scores and of the karma, and the posts' counters may change.
func (f reader) tryCount(ctx context.Context, to string, marks []tables.Item, aside bool) error {
	if len(marks) == 0 {
		return nil
	}
	t, err := f.readMarks(ctx, to, marks)
	if err != nil {
		return err
	}
	// Removals come first: an emoji that nobody uses any more makes room for
	// another, whichever of the two changes arrived first.
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
			p.counters.Tallies++ // the votes belong to the next tally, which includes the lane's sum if the lane has been moved by then
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
	case len(t.vouched) > 0: // no owner may vouch for its own agent, so the author's origin must be as read
		t.writes = append(t.writes, karma, tables.Check(tables.OriginKey(to), tables.AbsentOrEqual("verified_at", t.verified)))
	case t.karma != 0:
		t.writes = append(t.writes, karma)
	}
	return f.Transact(ctx, t.writes...)
}

// keepSlots writes the karma slots ([tables.KarmaSlots]) that votes took, before the
// votes take effect. Single writes cost half as much as a transaction. A crash in between
// leaves a slot for a vote that is counted when its record is delivered again.
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
