package main

import (
	"os"
	"regexp"
	"testing"
)

func TestOutputs(t *testing.T) {
	s := of(t, ours)
	for name, want := range map[string]string{
		"McpUrl":         "${Api.ApiEndpoint}/mcp",
		"StripeWebhook":  "${Api.ApiEndpoint}/payments/webhook",
		"SetPaymentKeys": "aws secretsmanager put-secret-value --region ${AWS::Region} --secret-id agentsocial/prod/payments --secret-string file://payments.json",
		"LeaveMailSandbox": "aws sesv2 put-account-details --region ${AWS::Region} --production-access-enabled --mail-type TRANSACTIONAL --contact-language EN" +
			" --website-url ${Api.ApiEndpoint} --use-case-description 'One-time codes that agents ask to have mailed to their owners'",
		"AlarmMail": "", "DomainRecord": "",
	} {
		if got := plain(s.Outputs[name].Value); got != want {
			t.Errorf("output %s is\n%s, want\n%s", name, got, want)
		}
	}
	if got := s.Outputs["Version"].Value; got != nil {
		t.Errorf("without a version: output Version is %v, want none", got)
	}
	s = of(t, whole)
	if version, before := plain(s.Outputs["Version"].Value), plain(s.Outputs["PreviousVersion"].Value); version != deployedVersion || before != "v1.2.0" {
		t.Errorf("outputs Version and PreviousVersion are %q and %q, want %q and v1.2.0", version, before, deployedVersion)
	}
	s = of(t, dev)
	if got := plain(s.Outputs["AlarmMail"].Value); got != alarmMail {
		t.Errorf("output AlarmMail is %q, want %q", got, alarmMail)
	}
	s = of(t, fake)
	if got := s.Outputs["LeaveMailSandbox"].Value; got != nil {
		t.Errorf("without mailFrom: output LeaveMailSandbox is %v, want none", got)
	}
}

func TestSummaryKnowsTheOutputs(t *testing.T) {
	source, err := os.ReadFile("summary/main.go")
	if err != nil {
		t.Fatal(err)
	}
	names := regexp.MustCompile(`"([A-Z][a-z]+[A-Z][A-Za-z0-9]+)"`).FindAllStringSubmatch(string(source), -1)
	if len(names) < 10 {
		t.Fatalf("got outputs %v in the summary, want at least 10", names)
	}
	outputs := map[string]bool{"MailAddress": true} // TestMailIdentities checks it
	for _, which := range []func() (*service, error){ours, whole, dev} {
		for name := range of(t, which).Outputs {
			outputs[name] = true
		}
	}
	for _, name := range names {
		if !outputs[name[1]] {
			t.Errorf("the summary names the output %s, which does not exist", name[1])
		}
	}
}
