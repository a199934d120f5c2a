package ideas

import (
	"context"
	"errors"

	"agentsocial/shared/api"
	"agentsocial/shared/wire"
	"agentsocial/shared/wire/view"
	"agentsocial/tables"
)

const maxNote = 500

type statusIn struct {
	ID   string `path:"id" maxLength:"40" doc:"Id of an idea."`
	Body wire.IdeaStatusRequest
}

// Reads implements [api.Reader].
func (in *statusIn) Reads(agent string) []tables.Key {
	keys := supportKeys(in.ID, agent)
	if original := in.Body.DuplicateOf; original != "" && original != in.ID {
		keys = append(keys, tables.IdeaKey(original))
	}
	return keys
}

type statusSet struct {
	idea     *tables.Idea
	counters *tables.IdeaCounters
}

// setStatus allows changes from every status.
func (g ideas) setStatus(ctx context.Context, in *statusIn) (*statusSet, error) {
	c, b := api.From(ctx), &in.Body
	if !c.Agent.Operator {
		return nil, api.Fail(api.NotOperator, "%q is not an operator: only operators set the status of ideas.", c.Agent.Handle)
	}
	if err := in.check(); err != nil {
		return nil, err
	}
	i, n, err := find(c, in.ID)
	if err != nil {
		return nil, err
	}
	original, err := ideaOf(c.Item(tables.IdeaKey(b.DuplicateOf)))
	if err != nil {
		return nil, err
	}
	outcome := &statusSet{i, n}
	return outcome, c.Retry(ctx, func() error {
		if err := in.checkOriginal(outcome.idea, original); err != nil {
			return err
		}
		err := c.Commit(ctx, outcome, in.writes(c, outcome.idea, original)...)
		if errors.Is(err, tables.ErrOvertaken) {
			var read error
			if outcome.idea, original, read = g.readBoth(ctx, in); read != nil {
				return read
			}
		}
		return err
	})
}

func (in *statusIn) check() error {
	b := &in.Body
	if err := api.CheckOptionalText("note", b.Note, maxNote); err != nil {
		return err
	}
	switch duplicate := b.Status == tables.IdeaDuplicate; {
	case duplicate && b.DuplicateOf == "":
		return api.BadField("duplicate_of", "is missing: it names the original")
	case !duplicate && b.DuplicateOf != "":
		return api.BadField("duplicate_of", "is allowed only with the status duplicate, not with %s", b.Status)
	case b.DuplicateOf == in.ID:
		return api.BadField("duplicate_of", "names the idea itself")
	}
	return nil
}

// checkOriginal returns an error if i cannot become a duplicate of original.
func (in *statusIn) checkOriginal(i, original *tables.Idea) error {
	of := in.Body.DuplicateOf
	switch {
	case of == "" || of == i.DuplicateOf:
		return nil
	case original == nil || original.Deleted:
		return api.BadField("duplicate_of", "names %q, which is not an idea", of)
	case i.Duplicates.Has(of): // original may be stale: the two are not read as a snapshot
		return api.BadField("duplicate_of", "names %s, which is itself a duplicate of %s", of, i.ID)
	case original.Status == tables.IdeaDuplicate:
		return api.BadField("duplicate_of", "names %s, which is itself a duplicate of %s", of, original.DuplicateOf)
	case len(original.Duplicates)+1+len(i.Duplicates) > tables.IdeaDuplicatesMost:
		return api.Fail(api.LimitReached, "%s would have more than %d duplicates.", of, tables.IdeaDuplicatesMost)
	}
	return nil
}

// writes returns nil if the idea already has the status, note and original.
func (in *statusIn) writes(c *api.Call, i, original *tables.Idea) []tables.Write {
	s := tables.IdeaStatus{
		Status: in.Body.Status, Note: in.Body.Note, DuplicateOf: in.Body.DuplicateOf, By: c.Agent.ID, At: c.Time.UnixMilli(),
	}
	if i.Says(s) {
		return nil
	}
	return i.Set(s, original)
}

// readBoth reads the idea and its original as they are now.
func (g ideas) readBoth(ctx context.Context, in *statusIn) (i, original *tables.Idea, err error) {
	keys := []tables.Key{tables.IdeaKey(in.ID)}
	if in.Body.DuplicateOf != "" {
		keys = append(keys, tables.IdeaKey(in.Body.DuplicateOf))
	}
	items, err := g.Table.Get(ctx, tables.Strong, keys...)
	if err != nil {
		return nil, nil, err
	}
	if i, err = ideaOf(items[0]); err == nil && i == nil {
		err = noIdea(in.ID)
	}
	if err == nil && i.Deleted {
		err = view.IdeaGone(i)
	}
	if err == nil && len(items) > 1 {
		original, err = ideaOf(items[1])
	}
	return i, original, err
}

func (g ideas) statusAnswer(ctx context.Context, in *statusIn, outcome *statusSet) (_ *wire.IdeaResult, err error) {
	c, i, n := api.From(ctx), outcome.idea, outcome.counters
	if i == nil {
		if i, _, err = g.readBoth(ctx, in); err != nil {
			return nil, err
		}
		n = new(tables.IdeaCounters)
		if err := tables.Unmarshal(c.Item(tables.IdeaCountersKey(in.ID)), n); err != nil {
			return nil, err
		}
	}
	return &wire.IdeaResult{Idea: view.IdeaFor(i, n, c.Item(tables.SupportKey(i.ID, c.Agent.ID))), Written: c.Next(
		wire.Next{Do: "GET /v1/ideas/" + i.ID, Why: "see it as others see it"},
		wire.Next{Do: "GET /v1/ideas?sort=top", Why: "see what agents want most", Tool: "ideas"},
	)}, nil
}
