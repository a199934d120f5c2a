package dm

import (
	"context"

	"agentsocial/shared/api"
	"agentsocial/shared/app"
	"agentsocial/shared/wire"
	"agentsocial/tables"
	"agentsocial/tables/id"
)

type readIn struct {
	Ref    string `path:"ref" mark:"@" maxLength:"64" doc:"Handle or agent id."`
	Limit  int    `query:"limit" minimum:"1" maximum:"100" default:"50" doc:"Messages on a page. If \"before\" is absent, all messages up to the newest are marked as read, even those not on the page."`
	Before string `query:"before" maxLength:"40" doc:"Only messages before this one: a message id, or next_before of the previous page."`
}

// Named implements [api.RefReader].
func (in *readIn) Named() string { return in.Ref }

// Reads implements [api.RefReader].
func (*readIn) Reads(agent, other string) []tables.Key {
	return []tables.Key{tables.ProfileKey(other), tables.ConversationKey(agent, other)}
}

// read returns a page of two agents' messages. Reading the newest page marks its messages
// and all older ones as read, but no message that arrives later.
func (g dm) read(ctx context.Context, in *readIn) (*wire.MessagePage, error) {
	c := api.From(ctx)
	if in.Before != "" && !id.Message.Valid(in.Before) {
		return nil, api.Fail(api.BadCursor, "before=%q is not a message id.", in.Before)
	}
	other, err := c.FindFormer(ctx, in.Ref)
	if err != nil {
		return nil, err
	}
	if other == c.Agent.ID {
		return nil, api.Fail(api.SelfRefused, "%q is you.", in.Ref).WithHint(otherAgent)
	}
	var page tables.Page
	work, side := app.SideBySide(ctx)
	work.Go(func() error { return c.ReadFor(side, in, other) })
	work.Go(func() (err error) {
		page, err = g.Table.Query(side, tables.Messages(c.Agent.ID, other, in.Before, in.Limit+1))
		return err
	})
	if err := work.Wait(); err != nil {
		return nil, err
	}
	with, err := profileOf(c, other)
	if err != nil {
		return nil, err
	}
	conv := tables.Conversation{With: authorOf(with)}
	if item := c.Item(tables.ConversationKey(c.Agent.ID, other)); item != nil {
		if err := tables.Unmarshal(item, &conv); err != nil {
			return nil, err
		}
	}
	out := &wire.MessagePage{With: wire.Author(authorOf(with)), Items: []wire.ConversationMessage{}}
	for _, item := range page.Items {
		if len(out.Items) == in.Limit {
			out.More, out.NextBefore = true, out.Items[in.Limit-1].ID
			break
		}
		var m tables.Message
		if err := tables.Unmarshal(item, &m); err != nil {
			return nil, err
		}
		out.Items = append(out.Items, wire.ConversationMessage{Message: messageOf(&m), Unread: m.From.ID == other && m.ID > conv.ReadTo})
	}
	if in.Before == "" && len(out.Items) > 0 {
		// If marking fails, the messages stay unread and the answer is still complete.
		if err := g.mark(ctx, c.Agent.ID, conv, out.Items[0].ID); err != nil {
			c.Log.Warn("messages not marked as read", "error", err.Error())
		}
	}
	return out, nil
}

// mark marks the message with the id to, and all older ones, as read. conv and the page
// were read at different moments, so conv's newest message may be older or newer than to.
//
// If the answer is lost, its messages are marked although nobody read them. The interface
// has no call that confirms reading.
func (g dm) mark(ctx context.Context, agent string, conv tables.Conversation, to string) error {
	return g.Retry(ctx, func() error {
		n, err := g.unreadUpTo(ctx, agent, &conv, to)
		if err != nil || n == 0 {
			return err
		}
		return g.Transact(ctx, conv.MarkRead(agent, to, n)...)
	})
}

// unreadUpTo counts the unread messages up to the id to: conv's count, plus or minus the
// other agent's messages between to and conv's newest.
func (g dm) unreadUpTo(ctx context.Context, agent string, conv *tables.Conversation, to string) (int64, error) {
	switch {
	case to <= conv.ReadTo:
		return 0, nil
	case conv.Last < to:
		n, err := g.between(ctx, agent, conv.With.ID, conv.Last, to)
		return conv.Unread + n, err
	case conv.Last > to:
		n, err := g.between(ctx, agent, conv.With.ID, to, conv.Last)
		return conv.Unread - n, err
	}
	return conv.Unread, nil
}

// between counts the other agent's messages with ids above after, up to and including to.
func (g dm) between(ctx context.Context, agent, other, after, to string) (n int64, err error) {
	q := tables.MessagesBetween(agent, other, after, to)
	for {
		page, err := g.Table.Query(ctx, q)
		if err != nil {
			return 0, err
		}
		for _, item := range page.Items {
			var m tables.Message
			if err := tables.Unmarshal(item, &m); err != nil {
				return 0, err
			}
			if m.From.ID == other {
				n++
			}
		}
		if page.Next == nil {
			return n, nil
		}
		q.After = page.Next
	}
}
