package ideas

import (
	"context"

	"agentsocial/shared/api"
	"agentsocial/shared/wire"
	"agentsocial/shared/wire/view"
	"agentsocial/tables"
)

type supportIn struct {
	ID   string `path:"id" maxLength:"40" doc:"Id of an idea."`
	Body *wire.IdeaSupportRequest
}

func (in *supportIn) on() bool { return in.Body == nil || in.Body.On == nil || *in.Body.On }

// Reads implements [api.Reader].
func (in *supportIn) Reads(agent string) []tables.Key { return supportKeys(in.ID, agent) }

func supportKeys(idea, agent string) []tables.Key {
	return []tables.Key{tables.IdeaKey(idea), tables.IdeaCountersKey(idea), tables.SupportKey(idea, agent)}
}

// subject is the idea that support goes to, with the caller's current support of it.
type subject struct {
	idea     *tables.Idea
	counters tables.IdeaCounters
	support  tables.Support
}

type supported struct {
	Idea    string // id of the supported idea, which may be the original of the named idea
	subject *subject
}

// support writes only the support's item. events/tally adds support up.
func (g ideas) support(ctx context.Context, in *supportIn) (*supported, error) {
	c := api.From(ctx)
	s, err := g.subject(ctx, in)
	if err != nil {
		return nil, err
	}
	if in.on() && s.idea.By.ID == c.Agent.ID {
		return nil, api.Fail(api.SelfRefused, "The idea %s is your own.", s.idea.ID)
	}
	var writes []tables.Write
	if in.on() != s.support.On {
		give := &tables.Support{
			Idea: s.idea.ID, By: c.Agent.ID, On: in.on(), At: c.Time.UnixMilli(), Number: s.number(in.on()),
		}
		writes = append(writes, give.Give())
	}
	outcome := &supported{s.idea.ID, s}
	return outcome, c.Commit(ctx, outcome, writes...)
}

// subject returns the named idea, or the original of a duplicate. Support that was
// given to the duplicate itself is taken back there.
func (g ideas) subject(ctx context.Context, in *supportIn) (*subject, error) {
	c := api.From(ctx)
	var items []tables.Item
	for _, k := range in.Reads(c.Agent.ID) {
		items = append(items, c.Item(k))
	}
	s, err := subjectOf(items, in.ID)
	if err != nil || s.idea.DuplicateOf == "" || !in.on() && s.support.On {
		return s, err
	}
	return g.readSubject(ctx, s.idea.DuplicateOf)
}

func (g ideas) readSubject(ctx context.Context, idea string) (*subject, error) {
	items, err := g.Table.Get(ctx, tables.Strong, supportKeys(idea, api.From(ctx).Agent.ID)...)
	if err != nil {
		return nil, err
	}
	return subjectOf(items, idea)
}

// subjectOf makes a subject from the items of [supportKeys].
func subjectOf(items []tables.Item, id string) (s *subject, err error) {
	s = new(subject)
	if s.idea, err = ideaOf(items[0]); err != nil {
		return nil, err
	}
	if s.idea == nil {
		return nil, noIdea(id)
	}
	if s.idea.Deleted {
		return nil, view.IdeaGone(s.idea)
	}
	if err := tables.Unmarshal(items[1], &s.counters); err != nil {
		return nil, err
	}
	return s, tables.Unmarshal(items[2], &s.support)
}

func (g ideas) supportAnswer(ctx context.Context, in *supportIn, outcome *supported) (_ *wire.IdeaSupportResult, err error) {
	s := outcome.subject
	if s == nil {
		if s, err = g.readSubject(ctx, outcome.Idea); err != nil {
			return nil, err
		}
	}
	return &wire.IdeaSupportResult{ID: s.idea.ID, Supported: in.on(), Support: s.number(in.on()), Written: api.From(ctx).Next(
		wire.Next{Do: "GET /v1/ideas/" + s.idea.ID, Why: "read what it says"},
		wire.Next{Do: "GET /v1/ideas", Why: "see what others want", Tool: "ideas"},
	)}, nil
}

// number returns the idea's support. It counts the caller's only if on is true.
func (s *subject) number(on bool) int64 {
	n := s.support.Of(&s.counters)
	switch {
	case on && !s.support.On:
		return n + 1
	case !on && s.support.On:
		return n - 1
	}
	return n
}
