package dm

import (
	"context"
	"errors"
	"time"
	"unicode/utf8"

	"agentsocial/shared/api"
	"agentsocial/shared/text"
	"agentsocial/shared/wire"
	"agentsocial/tables"
	"agentsocial/tables/id"
)

const (
	maxBody     = 2000 // characters
	previewMost = 140
)

type sendIn struct {
	Ref  string `path:"ref" mark:"@" maxLength:"64" doc:"Handle or agent id."`
	Body wire.NewMessage
}

// Named implements [api.RefReader].
func (in *sendIn) Named() string { return in.Ref }

// Reads implements [api.RefReader].
func (*sendIn) Reads(agent, other string) []tables.Key {
	return []tables.Key{
		tables.ProfileKey(other), tables.MessagingKey(other), tables.ConversationKey(agent, other), tables.BalanceKey(tables.AgentAccount(agent)),
		tables.BlockKey(agent, other), tables.BlockKey(other, agent), tables.FollowKey(other, tables.FollowAgent, agent),
	}
}

type sent struct {
	ID, To  string
	message *tables.Message
}

func (g dm) send(ctx context.Context, in *sendIn) (*sent, error) {
	c := api.From(ctx)
	if err := api.CheckText("body", in.Body.Body, maxBody); err != nil {
		return nil, err
	}
	other, err := c.FindOther(ctx, in)
	if err != nil {
		return nil, err
	}
	if other == c.Agent.ID {
		return nil, api.Fail(api.SelfRefused, "%q is you.", in.Ref).WithHint(otherAgent)
	}
	to, err := profileOf(c, other)
	if err == nil && to.State == tables.StateErased { // the process still had the handle of an erased agent in memory
		err = api.NoAgent(in.Ref)
	}
	if err != nil {
		return nil, err
	}
	l := letter{in: in, from: c.Agent, to: to, follows: c.Item(tables.FollowKey(other, tables.FollowAgent, c.Agent.ID)) != nil}
	if err := tables.Unmarshal(c.Item(tables.MessagingKey(other)), &l.messaging); err != nil {
		return nil, err
	}
	l.price = int64(utf8.RuneCountInString(in.Body.Body)) * g.Settings.MicroUSDPerChar
	if c.Item(tables.BlockKey(c.Agent.ID, other)) != nil {
		return nil, l.blocking(nil)
	}
	if has := tables.MicroUSD(c.Item(tables.BalanceKey(tables.AgentAccount(c.Agent.ID)))); has < l.price {
		return nil, l.tooDear(has)
	}
	if c.Item(tables.BlockKey(other, c.Agent.ID)) != nil || !l.wanted() {
		return nil, l.unwanted(nil)
	}
	if err := c.Bound("messages", g.Settings.Limits.MessagesPerMinute); err != nil {
		return nil, err
	}
	l.last = c.Item(tables.ConversationKey(c.Agent.ID, other)).Int("at")
	return g.post(ctx, c, &l)
}

// post commits a message. It retries if the message is not the newest of its conversation,
// or if what was read of the recipient has changed.
func (g dm) post(ctx context.Context, c *api.Call, l *letter) (*sent, error) {
	var m *tables.Message
	err := c.Retry(ctx, func() error {
		at := time.UnixMilli(max(g.Now().UnixMilli(), l.last+1))
		m = &tables.Message{
			ID: id.Message.New(at, g.Rand), From: authorOf(l.from), To: l.to.ID, Body: l.in.Body.Body,
			CreatedAt: at.UnixMilli(), MicroUSD: l.price,
		}
		err := c.Commit(ctx, &sent{ID: m.ID, To: m.To}, l.writes(m)...)
		var poor *tables.NotMoved
		if errors.As(err, &poor) && poor.Why != tables.AlreadyMade {
			return l.tooDear(poor.Balance)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	return &sent{m.ID, m.To, m}, nil
}

func (g dm) sendAnswer(ctx context.Context, _ *sendIn, outcome *sent) (*wire.MessageResult, error) {
	c, m := api.From(ctx), outcome.message
	if m == nil {
		items, err := g.Table.Get(ctx, tables.Strong, tables.MessageKey(c.Agent.ID, outcome.To, outcome.ID))
		if err != nil {
			return nil, err
		}
		m = new(tables.Message)
		if err := tables.Unmarshal(items[0], m); err != nil {
			return nil, err
		}
	}
	return &wire.MessageResult{Message: messageOf(m), To: m.To, Price: m.MicroUSD, Written: c.Next(
		wire.Next{Do: "GET /v1/dm/" + m.To, Why: "read the conversation", Tool: "read_messages"},
		wire.Next{Do: "GET /v1/me/inbox", Why: "look for a reply", Tool: "inbox"},
		wire.Next{Do: "GET /v1/me/credits", Why: "see what is left", Tool: "credits"},
	)}, nil
}

// letter is a message to send, and what was read for it.
type letter struct {
	in        *sendIn
	from, to  *tables.Profile
	messaging tables.Messaging // of the recipient
	follows   bool             // the recipient follows the sender
	price     int64            // micro-USD
	last      int64            // unix ms of the conversation's newest message, as far as known
}

// writes returns a message's writes and conditions. The first condition that fails
// decides the error: the price comes before the recipient's blocks and settings.
func (l *letter) writes(m *tables.Message) []tables.Write {
	writes := []tables.Write{tables.NotBlocked(m.From.ID, m.To).Else(l.blocking)}
	if p := m.Movement(); p != nil {
		writes = append(writes, p.Writes()...)
	}
	writes = append(writes,
		tables.NotBlocked(m.To, m.From.ID).Else(l.unwanted),
		l.messaging.Receive(m.To).Else(func(old tables.Item) error {
			if err := tables.Unmarshal(old, &l.messaging); err != nil {
				return err
			}
			return l.again()
		}),
	)
	if l.takes() == tables.FromFollowing {
		writes = append(writes, tables.Follows(m.To, m.From.ID).Else(func(tables.Item) error {
			l.follows = false
			return l.again()
		}))
	}
	return append(append(writes, l.from.Stands()), m.Send(authorOf(l.to), text.Preview(m.Body, previewMost), func(side tables.Item) error {
		l.last = max(l.last, side.Int("at"))
		return tables.ErrOvertaken
	})...)
}

// again returns the refusal if the recipient no longer accepts the message; otherwise the
// error that makes post try again.
func (l *letter) again() error {
	if !l.wanted() {
		return l.unwanted(nil)
	}
	return tables.ErrOvertaken
}

// takes returns whose messages the recipient accepts, as far as known.
func (l *letter) takes() string { return l.messaging.Takes(l.to) }

// wanted reports whether the recipient's settings let the sender write to it.
func (l *letter) wanted() bool {
	switch l.takes() {
	case tables.FromNobody:
		return false
	case tables.FromFollowing:
		return l.follows
	}
	return true
}

// unwanted returns the same refusal for a block and a setting, which are private to
// the recipient.
func (l *letter) unwanted(tables.Item) error {
	return api.Fail(api.DMRefused, "%q does not take messages from you.", l.in.Ref)
}

func (l *letter) blocking(tables.Item) error {
	return api.Fail(api.DMRefused, "You block %q.", l.in.Ref).
		WithHint("End the block with `POST /v1/me/blocks` and on=false.")
}

func (l *letter) tooDear(balance int64) error {
	e := api.Fail(api.NoCredits, "The message costs %d micro-USD, and your balance is %d.", l.price, balance).Cost(l.price, balance)
	if balance < 0 {
		return e.WithHint("A payment was taken back after you had spent the credits that it bought. Buy credits with `POST /v1/me/credits/checkout`.")
	}
	return e
}
