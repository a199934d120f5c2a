package inbox

import (
	"context"
	"fmt"

	"agentsocial/shared/text"
	"agentsocial/tables"
)

var ideaNews = []news{
	on(tables.TypeIdea, byChange(ofIdeaStatus), "MODIFY"),
	on(tables.TypeIdeaReached, inbox.ofIdeaReached, "INSERT"),
}

func (f inbox) ofIdeaReached(ctx context.Context, r tables.StreamRecord) ([]delivery, error) {
	var reached tables.IdeaReached
	if err := tables.Unmarshal(r.New, &reached); err != nil {
		return nil, err
	}
	items, err := f.Table.Get(ctx, tables.Eventual, tables.IdeaKey(reached.Idea))
	if err != nil {
		return nil, err
	}
	return []delivery{ofReached(&reached, items[0].Str("title"))}, nil
}

func ofReached(r *tables.IdeaReached, title string) delivery {
	return delivery{r.To, supportedSource(r.Idea, r.Support), tables.InboxEvent{
		Kind: tables.EventIdeaSupported, HappenedAt: r.At, Text: title, Subject: tables.Map{"idea": r.Idea, "support": r.Support},
	}}
}

func supportedSource(idea string, n int64) string { return fmt.Sprintf("supported#%s#%d", idea, n) }

// ofIdeaStatus tells an agent of an operator's decision on its idea. The event has no
// sender, so the agent hears of the decision even if it blocks the operator.
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
