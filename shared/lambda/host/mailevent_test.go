package host

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"github.com/aws/aws-lambda-go/events"

	"agentsocial/shared/lambda/mailevent"
)

// sesBounce returns a bounce as SES and EventBridge write it.
func sesBounce(kind string) events.EventBridgeEvent {
	return events.EventBridgeEvent{Source: "aws.ses", DetailType: "Email Bounced", Detail: json.RawMessage(`{"eventType":"Bounce",
		"bounce":{"feedbackId":"0107","bounceType":"` + kind + `","bounceSubType":"General","timestamp":"2026-11-22T01:00:00.000Z",
			"bouncedRecipients":[{"emailAddress":"reynard@foxden.example","action":"failed","status":"5.1.1"}]},
		"mail":{"messageId":"m1","destination":["reynard@foxden.example"],"tags":{"ses:configuration-set":["set"]}}}`)}
}

func TestMailEvents(t *testing.T) {
	complaint := events.EventBridgeEvent{Detail: json.RawMessage(`{"eventType":"Complaint","complaint":{"complainedRecipients":[{"emailAddress":"a@foxden.example"},` +
		`{"emailAddress":"b@foxden.example"}]},"mail":{"messageId":"m2"}}`)}
	for name, c := range map[string]struct {
		event events.EventBridgeEvent
		fails error
		want  string // the event that the function gets; "" if it is not called
	}{
		"a permanent bounce":    {sesBounce("Permanent"), nil, "{m1 bounce [reynard@foxden.example]}"},
		"a full mailbox":        {sesBounce("Transient"), nil, ""},
		"an unexplained bounce": {sesBounce("Undetermined"), nil, ""},
		"a complaint":           {complaint, nil, "{m2 complaint [a@foxden.example b@foxden.example]}"},
		"a delay":               {events.EventBridgeEvent{Detail: json.RawMessage(`{"eventType":"DeliveryDelay","mail":{"messageId":"m3"}}`)}, nil, ""},
		"a failure":             {complaint, errors.New("broken"), "{m2 complaint [a@foxden.example b@foxden.example]}"},
	} {
		var out bytes.Buffer
		a, got := quiet(), ""
		a.Log = slog.New(slog.NewJSONHandler(&out, nil))
		f := mailevent.Function{Name: "returns", Handle: func(_ context.Context, e mailevent.Event) error { got = fmt.Sprint(e); return c.fails }}
		if err := MailEvents(a, f)(t.Context(), c.event); !errors.Is(err, c.fails) || got != c.want {
			t.Errorf("%s: handled %q, %v, want %q, %v", name, got, err, c.want, c.fails)
		}
		if strings.Contains(out.String(), "foxden") {
			t.Errorf("%s: the log has an address: %s", name, &out)
		}
	}
	broken := events.EventBridgeEvent{ID: "e1", Detail: json.RawMessage(`"reynard@foxden.example"`)}
	if err := MailEvents(quiet(), mailevent.Function{})(t.Context(), broken); err == nil || strings.Contains(err.Error(), "foxden") {
		t.Errorf("MailEvents of an unreadable event = %v, want an error without the address", err)
	}
}
