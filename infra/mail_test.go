package main

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"agentsocial/shared/app"
)

func TestNoMail(t *testing.T) {
	s := of(t, fake)
	for id, r := range s.Resources {
		if strings.HasPrefix(r.Type, "AWS::SES::") {
			t.Errorf("got %s %s, want none", r.Type, id)
		}
	}
	for name := range s.Outputs {
		if strings.HasPrefix(name, "Mail") {
			t.Errorf("output %s is set, want none", name)
		}
	}
	for _, line := range s.statements(t, "codes") {
		if strings.HasPrefix(line, "ses:") {
			t.Errorf("codes may %s, want no right to SES", line)
		}
	}
}

func TestMail(t *testing.T) {
	for name, c := range map[string]struct {
		which func() (*service, error)
		who   string
	}{"declared": {ours, "access mcp oauth"}, "dev": {dev, "codes"}} {
		t.Run(name, func(t *testing.T) {
			s := of(t, c.which)
			setID, set := s.only(t, "AWS::SES::ConfigurationSet")
			set.expect(t, "configuration set", map[string]string{
				"DeliveryOptions":    `{"TlsPolicy":"REQUIRE"}`,
				"ReputationOptions":  `{"ReputationMetricsEnabled":true}`,
				"SuppressionOptions": `{"SuppressedReasons":[]}`, // it would store addresses
				"Name":               "",
			})
			if got := plain(s.Outputs["MailConfiguration"].Value); got != "${"+setID+"}" {
				t.Errorf("output MailConfiguration is %s, want the configuration set", got)
			}
			_, back := s.named(t, "AWS::SES::ConfigurationSetEventDestination", "ReturnedMail")
			back.expect(t, "bounces and complaints", map[string]string{
				"ConfigurationSetName": "${" + setID + "}",
				"EventDestination": `{"Enabled":true,"EventBridgeDestination":{"EventBusArn":{"Fn::Join":["",["arn:",{"Ref":"AWS::Partition"},":events:",{"Ref":"AWS::Region"},":",{"Ref":"AWS::AccountId"},":event-bus/default"]]}},` +
					`"MatchingEventTypes":["bounce","complaint"]}`,
			})
			_, events := s.named(t, "AWS::SES::ConfigurationSetEventDestination", "MailEvents")
			events.expect(t, "events", map[string]string{
				"ConfigurationSetName": "${" + setID + "}",
				"EventDestination": `{"CloudWatchDestination":{"DimensionConfigurations":[{"DefaultDimensionValue":"none","DimensionName":"ses:configuration-set","DimensionValueSource":"messageTag"}]},` +
					`"Enabled":true,"MatchingEventTypes":["bounce","complaint","reject","deliveryDelay"]}`,
			})
			identityID, identity := s.only(t, "AWS::SES::EmailIdentity")
			identity.expect(t, "identity", map[string]string{
				"EmailIdentity":              "mail.agents.example",
				"ConfigurationSetAttributes": `{"ConfigurationSetName":{"Ref":"` + setID + `"}}`,
				"FeedbackAttributes":         `{"EmailForwardingEnabled":false}`, // else SES mails bounces to mailFrom
				"DkimAttributes":             "",                                 // on by default
				"DkimSigningAttributes":      "",                                 // with SES's own keys
				"MailFromAttributes":         "",
			})
			for i, output := range []string{"MailRecord1", "MailRecord2", "MailRecord3"} {
				n := string(rune('1' + i))
				want := "${" + identityID + ".DkimDNSTokenName" + n + "} CNAME ${" + identityID + ".DkimDNSTokenValue" + n + "}"
				if got := plain(s.Outputs[output].Value); got != want {
					t.Errorf("output %s is %q, want %q", output, got, want)
				}
			}
			if got := plain(s.Outputs["MailPolicy"].Value); got != `_dmarc.mail.agents.example TXT "v=DMARC1; p=quarantine"` {
				t.Errorf("output MailPolicy is %s, want a DMARC record of mail.agents.example with quarantine", got)
			}

			const arn, condition = "arn:${AWS::Partition}:ses:${AWS::Region}:${AWS::AccountId}:", ` if {"StringEquals":{"ses:FromAddress":"` + mailFrom + `"}}`
			var senders []string
			for name, r := range s.rights() {
				var want []string
				if r.Needs.Has(app.Mail) {
					senders = append(senders, name)
					want = []string{
						"ses:SendEmail on " + arn + "configuration-set/${" + setID + "}" + condition,
						"ses:SendEmail on " + arn + "identity/*" + condition,
					}
				}
				got := slices.DeleteFunc(s.statements(t, name), func(line string) bool { return !strings.HasPrefix(line, "ses:") })
				if !slices.Equal(got, want) {
					t.Errorf("%s may\n  %s\nwant\n  %s", name, strings.Join(got, "\n  "), strings.Join(want, "\n  "))
				}
			}
			if slices.Sort(senders); strings.Join(senders, " ") != c.who {
				t.Errorf("got senders %v, want %s", senders, c.who)
			}
		})
	}
}

func TestMailIdentities(t *testing.T) {
	for identity, c := range map[string]struct{ made, says, silent string }{
		identityAddress:  {mailFrom, "MailAddress", "MailRecord1 MailPolicy"},
		identityExisting: {"", "", "MailRecord1 MailPolicy MailAddress"},
	} {
		t.Run(identity, func(t *testing.T) {
			s := of(t, func() (*service, error) {
				return synthesise(identity, fakes, map[string]any{"mailFrom": mailFrom, "mailIdentity": identity})
			})
			var made []string
			for _, r := range s.all("AWS::SES::EmailIdentity") {
				made = append(made, plain(r.Properties["EmailIdentity"]))
				r.expect(t, identity, map[string]string{"FeedbackAttributes": `{"EmailForwardingEnabled":false}`})
			}
			if got := strings.Join(made, " "); got != c.made {
				t.Errorf("the stack makes the identity %q, want %q", got, c.made)
			}
			for _, name := range append(strings.Fields(c.says), "LeaveMailSandbox") {
				if s.Outputs[name].Value == nil {
					t.Errorf("output %s is missing", name)
				}
			}
			for _, name := range strings.Fields(c.silent) {
				if s.Outputs[name].Value != nil {
					t.Errorf("output %s is set, want none", name)
				}
			}
		})
	}
}

func TestMailEvents(t *testing.T) {
	s := of(t, ours)
	if len(s.mail) == 0 {
		t.Fatal("no function handles mail events")
	}
	set, _ := s.only(t, "AWS::SES::ConfigurationSet")
	for _, m := range s.mail {
		function, _ := s.function(t, m.Name)
		id, rule := s.named(t, "AWS::Events::Rule", m.Name+"Function")
		rule.expect(t, m.Name, map[string]string{
			"EventPattern": `{"detail":{"mail":{"tags":{"ses:configuration-set":[{"Ref":"` + set + `"}]}}},"detail-type":["Email Bounced","Email Complaint Received"],"source":["aws.ses"]}`,
			"Targets": `[{"Arn":{"Fn::GetAtt":["` + function + `","Arn"]},"Id":"function",` +
				`"RetryPolicy":{"MaximumEventAgeInSeconds":21600,"MaximumRetryAttempts":2}}]`,
			"EventBusName": "", // SES sends to the default bus only
		})
		_, may := s.named(t, "AWS::Lambda::Permission", m.Name+"FunctionEventsPermission")
		may.expect(t, m.Name, map[string]string{
			"Action": "lambda:InvokeFunction", "Principal": "events.amazonaws.com", "SourceArn": "${" + id + ".Arn}", "FunctionName": "${" + function + ".Arn}",
		})
		_, calls := s.named(t, "AWS::Lambda::EventInvokeConfig", m.Name+"Function")
		calls.expect(t, m.Name, map[string]string{
			"FunctionName": "${" + function + "}", "Qualifier": "$LATEST",
			"MaximumRetryAttempts": "2", "MaximumEventAgeInSeconds": "21600", "DestinationConfig": "",
		})
		_, f := s.function(t, m.Name)
		if letters := plain(f.Properties["DeadLetterConfig"]); letters != "" {
			t.Errorf("%s has the dead letters %s, want none", m.Name, letters)
		}
		var shown strings.Builder
		for _, w := range s.page(t).Widgets {
			for _, row := range w.Properties.Metrics {
				fmt.Fprintln(&shown, row...)
			}
		}
		for _, dropped := range []string{"AWS/Events FailedInvocations RuleName ${" + id + "}", "AWS/Lambda AsyncEventsDropped FunctionName ${" + function + "}"} {
			if !strings.Contains(shown.String(), dropped) {
				t.Errorf("the dashboard does not show %s", dropped)
			}
		}
	}
	if rules := of(t, fake).all("AWS::Events::Rule"); len(rules) != 0 {
		t.Errorf("without mailFrom: got rules %v, want none", keys(rules))
	}
}
