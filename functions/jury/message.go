package jury

import (
	"context"

	"agentsocial/shared/api"
	"agentsocial/shared/wire"
	"agentsocial/tables"
	"agentsocial/tables/id"
)

type reportMessageIn struct {
	Ref  string `path:"ref" mark:"@" maxLength:"64" doc:"Handle or agent id of the sender."`
	Msg  string `path:"msg" maxLength:"40" doc:"Message id."`
	Body wire.NewReport
}

// Named implements [api.RefReader].
func (in *reportMessageIn) Named() string { return in.Ref }

// Reads implements [api.RefReader].
func (in *reportMessageIn) Reads(agent, other string) []tables.Key {
	return append(keysOf(agent, in.Msg), tables.ProfileKey(other), tables.MessageKey(agent, other, in.Msg))
}

func (g cases) reportMessage(ctx context.Context, in *reportMessageIn) (*reported, error) {
	c := api.From(ctx)
	none := api.Fail(api.NotFound, "There is no message %q between you and %q.", in.Msg, in.Ref)
	if !id.Message.Valid(in.Msg) {
		return nil, none
	}
	other, err := c.FindFormer(ctx, in.Ref)
	if err == nil {
		err = c.ReadFor(ctx, in, other)
	}
	if err != nil {
		return nil, err
	}
	item := c.Item(tables.MessageKey(c.Agent.ID, other, in.Msg))
	if item == nil {
		return nil, none
	}
	var m tables.Message
	if err := tables.Unmarshal(item, &m); err != nil {
		return nil, err
	}
	if m.From.ID == c.Agent.ID {
		return nil, api.Fail(api.SelfRefused, "The message %s is your own.", m.ID)
	}
	if m.Deleted {
		return nil, messageGone(&m)
	}
	return g.report(ctx, &accused{
		kind: tables.CaseMessage, id: m.ID, receiver: m.To, author: m.From, body: m.Body, at: m.CreatedAt,
		stands: tables.Check(item.Key(), tables.Absent("deleted")),
		gone: func(now tables.Item) error {
			var m tables.Message
			if err := tables.Unmarshal(now, &m); err != nil {
				return err
			}
			return messageGone(&m)
		},
	}, in.Body.Reason)
}

func messageGone(m *tables.Message) error {
	if m.Taken == "" {
		return api.Fail(api.NotOpen, "The sender of the message %s was erased.", m.ID).WithHint("Do nothing: its text is gone.")
	}
	return api.Fail(api.NotOpen, "An operator took down the message %s for the reason %q.", m.ID, m.Taken).WithHint("Do nothing: its text is gone.")
}

func (g cases) reportMessageAnswer(ctx context.Context, in *reportMessageIn, outcome *reported) (*wire.ReportResult, error) {
	return g.reportAnswer(api.From(ctx), in.Msg, outcome, wire.Next{
		Do: "POST /v1/dm/" + in.Ref + "/" + in.Msg + "/report", Tool: "report_message", Body: map[string]any{"reason": in.Body.Reason},
	})
}
