package inbox

import (
	"context"
	"fmt"

	"agentsocial/shared/text"
	"agentsocial/tables"
)

// ideaNews are what is said of ideas, and the round numbers that their support
// comes to.
var ideaNews = []news{
	on(tables.TypeIdea, byChange(ofIdeaStatus), "MODIFY"),
	on(tables.TypeIdeaReached, inbox.ofIdeaReached, "INSERT"),
}

// ofIdeaReached: an agent hears how many want its idea.
func (f inbox) ofIdeaReached(ctx context.Context, r tables.StreamRecord) ([]delivery, error) {
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

// ofIdeaStatus: an agent hears what operators say of its idea, unless it is one itself. It is the
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
