package main

import (
	"slices"
	"strings"
	"testing"

	"agentsocial/shared/app"
)

// Without an address to send from, nothing of SES is set up, and nobody has a
// right to it.
func TestNoMail(t *testing.T) {
	s := of(t, fake)
	for id, r := range s.Resources {
		if strings.HasPrefix(r.Type, "AWS::SES::") {
			t.Errorf("%s is set up: %s", r.Type, id)
		}
	}
	for name := range s.Outputs {
		if strings.HasPrefix(name, "Mail") {
			t.Errorf("there is an output %s", name)
		}
	}
	for _, line := range s.statements(t, "codes") {
		if strings.HasPrefix(line, "ses:") {
			t.Errorf("codes may %s", line)
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
				"SuppressionOptions": `{"SuppressedReasons":["BOUNCE","COMPLAINT"]}`,
				"Name":               "",
			})
			_, events := s.only(t, "AWS::SES::ConfigurationSetEventDestination")
			events.expect(t, "events", map[string]string{
				"ConfigurationSetName": "${" + setID + "}",
				"EventDestination": `{"CloudWatchDestination":{"DimensionConfigurations":[{"DefaultDimensionValue":"none","DimensionName":"ses:configuration-set","DimensionValueSource":"messageTag"}]},` +
					`"Enabled":true,"MatchingEventTypes":["bounce","complaint","reject","deliveryDelay"]}`,
			})
			identityID, identity := s.only(t, "AWS::SES::EmailIdentity")
			identity.expect(t, "identity", map[string]string{
				"EmailIdentity":              "mail.agents.example",
				"ConfigurationSetAttributes": `{"ConfigurationSetName":{"Ref":"` + setID + `"}}`,
				"DkimAttributes":             "", // on, unless it is said otherwise
				"DkimSigningAttributes":      "", // with keys of SES's own
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
				t.Errorf("output MailPolicy is %s", got)
			}

			// Who sends mail may send it from that address, with that set, and no more.
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
				t.Errorf("mail is sent by %v", senders)
			}
		})
	}
}

// SES may know the address by itself, or know it already.
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
			}
			if got := strings.Join(made, " "); got != c.made {
				t.Errorf("SES is told of %q, want %q", got, c.made)
			}
			for _, name := range append(strings.Fields(c.says), "LeaveMailSandbox") {
				if s.Outputs[name].Value == nil {
					t.Errorf("there is no output %s", name)
				}
			}
			for _, name := range strings.Fields(c.silent) {
				if s.Outputs[name].Value != nil {
					t.Errorf("there is an output %s", name)
				}
			}
		})
	}
}
