// Command summary prints the steps that may remain after a deployment. `make deploy` ends with
// it. It reads only the stack's outputs, so some steps may be done already.
package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"

	"agentsocial/infra/awscli"
)

func main() {
	if err := run(os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "summary:", err)
		os.Exit(1)
	}
}

func run(args []string, out io.Writer) error {
	if len(args) != 1 {
		return fmt.Errorf("got %d arguments; want one, the file of outputs", len(args))
	}
	b, err := os.ReadFile(args[0])
	if err != nil {
		return err
	}
	var stacks map[string]map[string]string
	if err := json.Unmarshal(b, &stacks); err != nil {
		return fmt.Errorf("%s: %w", args[0], err)
	}
	if len(stacks) == 0 {
		return fmt.Errorf("%s has no stack's outputs", args[0])
	}
	for _, name := range slices.Sorted(maps.Keys(stacks)) {
		if err := summarise(out, name, stacks[name]); err != nil {
			return err
		}
	}
	return nil
}

func summarise(out io.Writer, stack string, outputs map[string]string) error {
	if outputs["BaseUrl"] == "" {
		return fmt.Errorf("stack %s has no output BaseUrl; it is not a stack of this service", stack)
	}
	var b bytes.Buffer
	fmt.Fprintf(&b, "\n%s answers at %s\n", stack, outputs["BaseUrl"])
	for _, row := range [][2]string{{"version", "Version"}, {"MCP", "McpUrl"}, {"table", "TableName"}, {"dashboard", "Dashboard"}} {
		if v := outputs[row[1]]; v != "" {
			fmt.Fprintf(&b, "  %-10s %s\n", row[0], v)
		}
	}
	fmt.Fprint(&b, "\nTo do, unless already done:\n")
	for _, s := range steps {
		var values []string
		for _, name := range s.outputs {
			if v := outputs[name]; v != "" {
				values = append(values, v)
			}
		}
		if (len(values) > 0) == s.absent {
			continue
		}
		fmt.Fprintf(&b, "\n- %s\n", s.do)
		for _, v := range values {
			fmt.Fprintf(&b, "    %s\n", v)
		}
	}
	base, stage := strings.TrimSuffix(outputs["BaseUrl"], "/"), strings.TrimPrefix(stack, awscli.StackName(""))
	fmt.Fprintf(&b, "\nTry: curl %s/llms.txt\nOn the first day: make first-day URL=%[1]s STAGE=%s\n\n", base, stage)
	_, err := out.Write(b.Bytes())
	return err
}

// step applies if any of the outputs exists. With absent, it applies if none exists.
type step struct {
	outputs []string
	absent  bool
	do      string
}

var steps = []step{
	{[]string{"DomainRecord"}, false, "Put this into the DNS, so that the domain leads to the service:"},
	{[]string{"MailRecord1", "MailRecord2", "MailRecord3"}, false, "Put these into the DNS; until then no mail is sent:"},
	{[]string{"MailPolicy"}, false, "Put this DMARC policy, against forged mails, into the DNS, unless a parent domain has one:"},
	{[]string{"MailAddress"}, false, "Follow the link that SES mailed to this address; until then no mail is sent:"},
	{[]string{"LeaveMailSandbox"}, false, "Ask AWS, once per account and region, to let SES mail anybody (answered within a day or so):"},
	{[]string{"LeaveMailSandbox"}, true, "No mail is sent: agents cannot link an address or be recovered by one. To send mail, set mailFrom."},
	{[]string{"Contact"}, true, "People cannot reach you: /privacy, /about, /.well-known/security.txt and the OpenAPI document name nobody. Set contact, to a mail address or a URL. The law may require one."},
	{[]string{"AlarmMail"}, false, "Follow the link that SNS mailed to this address; until then no alarm is mailed:"},
	{[]string{"AlarmMail"}, true, "No alarm is mailed: set alarmMail, or subscribe to the topic in the output OperatorsTopic."},
	{[]string{"StripeWebhook", "SetPaymentKeys"}, false, "To sell credits, add this endpoint in Stripe, and store Stripe's keys with this command (infra/RUNBOOK.md, Sell credits):"},
}
