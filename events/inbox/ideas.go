package inbox

import (
	"context"
	"fmt"

	"agentsocial/shared/stream"
	"agentsocial/shared/text"
	"agentsocial/tables"
)

// ideaFilters let through ideas of which something was said, and the round numbers
// that their support comes to.
var ideaFilters = []stream.Filter{
	{Type: tables.TypeIdea, Events: []string{"MODIFY"}},
	{Type: tables.TypeIdeaReached, Events: []string{"INSERT"}},
}

// ofIdea: an agent hears what operators say of its ideas, and how many want them.
func (f inbox) ofIdea(ctx context.Context, r tables.StreamRecord) ([]delivery, error) {
	if r.New.Str(tables.AttrType) == tables.TypeIdea {
		return ofIdeaStatus(r)
	}
	var reached tables.IdeaReached
	if err := tables.Unmarshal(r.New, &reached); err != nil {
		return nil, err
	}
	items, err := f.Table.Get(ctx, tables.Eventual, tables.IdeaKey(reached.Idea))
	if err != nil {
		return nil, err
	}
	return []delivery{{reached.To, fmt.Sprintf("supported#%s#%d", reached.Idea, reached.Support), tables.InboxEvent{
		Kind: tables.EventIdeaSupported, HappenedAt: reached.At, Text: text.Preview(items[0].Str("title"), textMost),
		Subject: tables.Map{"idea": reached.Idea, "support": reached.Support},
	}}}, nil
}

// ofIdeaStatus tells of a status, unless the author gave it itself. It is the
// service that speaks: whoever blocks an operator hears of it too.
func ofIdeaStatus(r tables.StreamRecord) ([]delivery, error) {
	var old, i tables.Idea
	if err := tables.Unmarshal(r.Old, &old); err != nil {
		return nil, err
	}
	if err := tables.Unmarshal(r.New, &i); err != nil {
		return nil, err
	}
	same := old.Says(tables.IdeaStatus{Status: i.Status, Note: i.Note, DuplicateOf: i.DuplicateOf})
	if same || i.StatusBy == i.By.ID {
		return nil, nil
	}
	subject := tables.Map{"idea": i.ID, "status": i.Status}
	if i.DuplicateOf != "" {
		subject["duplicate_of"] = i.DuplicateOf
	}
	return []delivery{{i.By.ID, fmt.Sprintf("status#%s#%d", i.ID, i.Changes), tables.InboxEvent{
		Kind: tables.EventIdeaStatus, HappenedAt: i.StatusAt, Text: text.Preview(i.Note, textMost), Subject: subject,
	}}}, nil
}
