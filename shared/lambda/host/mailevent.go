package host

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-lambda-go/lambda"

	"agentsocial/shared/app"
	"agentsocial/shared/lambda/mailevent"
	"agentsocial/shared/lambda/metrics"
	"agentsocial/tables"
	"agentsocial/tables/retry"
)

// Mail runs a function for mail events as a Lambda function.
func Mail(function func(*app.App) mailevent.Function, parts ...Part) {
	a := newApp(parts)
	f := function(a)
	mustGive(a, parts, f.Name, mailevent.Needs)
	lambda.Start(MailEvents(a, f))
}

// MailHandler handles an event of Amazon SES, as EventBridge delivers it.
type MailHandler func(context.Context, events.EventBridgeEvent) error

// sesEvent is the part of SES's event that is read.
// https://docs.aws.amazon.com/ses/latest/dg/event-publishing-retrieving-sns-contents.html
type sesEvent struct {
	EventType string `json:"eventType"`
	Mail      struct {
		ID string `json:"messageId"`
	} `json:"mail"`
	Bounce struct {
		Type       string         `json:"bounceType"`
		Recipients []sesRecipient `json:"bouncedRecipients"`
	} `json:"bounce"`
	Complaint struct {
		Recipients []sesRecipient `json:"complainedRecipients"`
	} `json:"complaint"`
}

type sesRecipient struct {
	Address string `json:"emailAddress"`
}

// MailEvents makes a function handle SES's permanent bounces and complaints. It ignores
// other events, such as the bounce of a full mailbox. It logs no address.
func MailEvents(a *app.App, f mailevent.Function) MailHandler {
	return func(ctx context.Context, raw events.EventBridgeEvent) error {
		ctx, cancel := sooner(ctx)
		defer cancel()
		ctx, usage := tables.WithUsage(retry.Patiently(ctx))
		start := a.Now()
		var s sesEvent
		if err := json.Unmarshal(raw.Detail, &s); err != nil {
			return fmt.Errorf("host: the event %s is not SES's: its detail cannot be read", raw.ID) // err may quote an address
		}
		e, of := mailevent.Event{Mail: s.Mail.ID}, []sesRecipient(nil)
		switch {
		case s.EventType == "Bounce" && s.Bounce.Type == "Permanent":
			e.Reason, of = tables.BackBounce, s.Bounce.Recipients
		case s.EventType == "Complaint":
			e.Reason, of = tables.BackComplaint, s.Complaint.Recipients
		default:
			return nil
		}
		for _, r := range of {
			e.Recipients = append(e.Recipients, r.Address)
		}
		err := f.Handle(ctx, e)
		problem := ""
		if err != nil {
			problem = err.Error()
		}
		a.Log.Info(metrics.MailBack, metrics.ByFunction, f.Name, metrics.ByReason, e.Reason, "mail", e.Mail, "error", problem,
			metrics.Returned, len(e.Recipients), "ms", a.Now().Sub(start).Milliseconds(),
			metrics.ReadUnits, usage.ReadUnits(), metrics.WriteUnits, usage.WriteUnits())
		return err
	}
}
