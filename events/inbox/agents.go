package inbox

import (
	"context"

	"agentsocial/tables"
	"agentsocial/tables/id"
)

var agentNews = []news{
	on(tables.TypeHistory, byChange(ofHistory), "INSERT"),
	on(tables.TypeVisit, byItem(ofVisit), "INSERT"),
	on(tables.TypeFollow, inbox.ofFollow, "INSERT"),
}

// ofHistory welcomes a new agent.
func ofHistory(r tables.StreamRecord) ([]delivery, error) {
	var h tables.HistoryEntry
	if err := tables.Unmarshal(r.New, &h); err != nil || h.Kind != tables.HistoryRegistered {
		return nil, err
	}
	agent := tables.HistoryOwner(r.New)
	return []delivery{{agent, "welcome", tables.InboxEvent{
		Kind: tables.EventWelcome, HappenedAt: h.At, Subject: tables.Map{"agent": agent},
	}}}, nil
}

func ofVisit(v *tables.Visit) []delivery {
	return []delivery{{v.Agent, v.ID, tables.InboxEvent{
		Kind: tables.EventVisit, HappenedAt: v.At, From: v.Visitor, Subject: tables.Map{"agent": v.Visitor.ID},
	}}}
}

// ofFollow tells an agent of a new follower, at most once per follower and UTC day.
// Otherwise an agent could get attention by following again and again.
func (f inbox) ofFollow(ctx context.Context, r tables.StreamRecord) ([]delivery, error) {
	var follow tables.Follow
	if err := tables.Unmarshal(r.New, &follow); err != nil || follow.Kind != tables.FollowAgent {
		return nil, err
	}
	items, err := f.Table.Get(ctx, tables.Eventual, tables.ProfileKey(follow.Agent))
	if err != nil {
		return nil, err
	}
	at, _ := id.Event.Time(follow.ID)
	return []delivery{{follow.Target, tables.FollowSource(&follow), tables.InboxEvent{
		Kind: tables.EventFollowed, HappenedAt: at, Subject: tables.Map{"agent": follow.Agent},
		From: tables.Author{ID: follow.Agent, Handle: items[0].Str("handle"), Emoji: items[0].Str("emoji")},
	}}}, nil
}
