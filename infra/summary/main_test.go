package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func summaryOf(t *testing.T, outputs string) (string, error) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "outputs.json")
	if err := os.WriteFile(file, []byte(outputs), 0o600); err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	err := run([]string{file}, &out)
	return out.String(), err
}

func TestSummary(t *testing.T) {
	const common = `"BaseUrl": "https://a.example", "McpUrl": "https://a.example/mcp", "TableName": "agentsocial-prod-Table-1",
		"StripeWebhook": "https://a.example/payments/webhook", "SetPaymentKeys": "aws secretsmanager …"`
	for name, c := range map[string]struct{ outputs, want string }{
		"defaults": {`{"agentsocial-prod": {` + common + `}}`, `
agentsocial-prod answers at https://a.example
  MCP        https://a.example/mcp
  table      agentsocial-prod-Table-1

To do, unless already done:

- No mail is sent: agents cannot link an address or be recovered by one. To send mail, set mailFrom.

- People cannot reach you: /privacy, /about, /.well-known/security.txt and the OpenAPI document name nobody. Set contact, to a mail address or a URL. The law may require one.

- No alarm is mailed: set alarmMail, or subscribe to the topic in the output OperatorsTopic.

- To sell credits, add this endpoint in Stripe, and store Stripe's keys with this command (infra/RUNBOOK.md, Sell credits):
    https://a.example/payments/webhook
    aws secretsmanager …

Try: curl https://a.example/llms.txt
On the first day: make first-day URL=https://a.example STAGE=prod

`},
		"with a domain, mail and alarms": {`{"agentsocial-prod": {` + common + `, "Version": "v1.2.0", "Dashboard": "https://console.example", "DomainRecord": "a.example CNAME d-1.example",
			"MailRecord1": "one CNAME 1", "MailRecord2": "two CNAME 2", "MailRecord3": "three CNAME 3", "MailPolicy": "_dmarc.a.example TXT",
			"LeaveMailSandbox": "aws sesv2 …", "AlarmMail": "ops@a.example", "Contact": "ops@a.example"}}`, `
agentsocial-prod answers at https://a.example
  version    v1.2.0
  MCP        https://a.example/mcp
  table      agentsocial-prod-Table-1
  dashboard  https://console.example

To do, unless already done:

- Put this into the DNS, so that the domain leads to the service:
    a.example CNAME d-1.example

- Put these into the DNS; until then no mail is sent:
    one CNAME 1
    two CNAME 2
    three CNAME 3

- Put this DMARC policy, against forged mails, into the DNS, unless a parent domain has one:
    _dmarc.a.example TXT

- Ask AWS, once per account and region, to let SES mail anybody (answered within a day or so):
    aws sesv2 …

- Follow the link that SNS mailed to this address; until then no alarm is mailed:
    ops@a.example

- To sell credits, add this endpoint in Stripe, and store Stripe's keys with this command (infra/RUNBOOK.md, Sell credits):
    https://a.example/payments/webhook
    aws secretsmanager …

Try: curl https://a.example/llms.txt
On the first day: make first-day URL=https://a.example STAGE=prod

`},
	} {
		got, err := summaryOf(t, c.outputs)
		if err != nil || got != c.want {
			t.Errorf("%s: got error %v and\n%s\nwant\n%s", name, err, got, c.want)
		}
	}
}

func TestSummaryOfNothing(t *testing.T) {
	for outputs, want := range map[string]string{
		`{}`:              "no stack's outputs",
		`{"other": {}}`:   "stack other has no output BaseUrl",
		`{"agentsocial":`: "unexpected end of JSON",
	} {
		if _, err := summaryOf(t, outputs); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("summary of %s: got error %v, want %q in it", outputs, err, want)
		}
	}
	var out strings.Builder
	if err := run(nil, &out); err == nil {
		t.Errorf("summary without a file: got no error and output %q, want an error", out.String())
	}
}
