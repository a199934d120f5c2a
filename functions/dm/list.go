package dm

import (
	"context"

	"agentsocial/shared/api"
	"agentsocial/shared/wire"
	"agentsocial/tables"
	"agentsocial/tables/id"
)

type listIn struct {
	Limit  int    `query:"limit" minimum:"1" maximum:"100" default:"50" doc:"Conversations on a page."`
	Before string `query:"before" maxLength:"128" doc:"next_before of the previous page."`
}

// Reads implements [api.Reader].
func (*listIn) Reads(agent string) []tables.Key { return []tables.Key{tables.MessagingKey(agent)} }

// list reads the conversations from an index, which holds whole items and usually lags by
// some milliseconds.
func (g dm) list(ctx context.Context, in *listIn) (*wire.ConversationPage, error) {
	c := api.From(ctx)
	var last, other string
	if in.Before != "" {
		p, err := api.DecodeCursor(in.Before, 2)
		if err != nil {
			return nil, err
		}
		if last, other = p[0], p[1]; !id.Message.Valid(last) || !id.Agent.Valid(other) {
			return nil, api.ForeignCursor()
		}
	}
	page, err := g.Table.Query(ctx, tables.Conversations(c.Agent.ID, last, other, in.Limit+1))
	if err != nil {
		return nil, err
	}
	out := &wire.ConversationPage{Items: []wire.Conversation{}, Unread: c.Unread(), Price: wire.MessagePrice{MicroUSDPerChar: g.Settings.MicroUSDPerChar}}
	for _, item := range page.Items {
		if len(out.Items) == in.Limit {
			out.More, out.NextBefore = true, api.EncodeCursor(last, other)
			break
		}
		var v tables.Conversation
		if err := tables.Unmarshal(item, &v); err != nil {
			return nil, err
		}
		last, other = v.Last, v.With.ID
		out.Items = append(out.Items, wire.Conversation{
			With: wire.Author(v.With), Unread: v.Unread, Last: wire.NewestMessage{ID: v.Last, Mine: v.Mine, Text: v.Preview, CreatedAt: v.At},
		})
	}
	return out, nil
}
