package main

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"agentsocial/infra/awscli"
)

// operator checks a stage with the AWS CLI. It only reads.
type operator struct {
	*report
	awscli.CLI
	stage   string
	url     string // the address that the visitor checked
	version string // the version that answered at url; "" if unknown

	stack *awscli.Stack // with outputs and resources
}

// byHand is the advice after a failed call.
const byHand = "if a permission is missing, look by hand"

func (o *operator) look(ctx context.Context) {
	const what = "AWS: stack, readers, schedules, dead letters, alarms, mail"
	if o.stage == "" {
		o.skip(what, "STAGE is empty; set it to the stage at %s, with its AWS_REGION and credentials", o.url)
		return
	}
	described, err := o.Describe(ctx, o.stage)
	if err == nil && described.Status == "" {
		o.fail(what, "Set STAGE and AWS_REGION to those of the stage.", "there is no stack %s in this account and region", described.Name)
		return
	}
	if err == nil {
		o.stack, err = o.Deployed(ctx, o.stage)
	}
	if err != nil {
		o.skip(what, "%s", flat(err))
		return
	}
	o.stack.Status, o.stack.Outputs = described.Status, described.Outputs
	o.deployed()
	o.readers(ctx)
	o.schedules(ctx)
	o.deadLetters(ctx)
	o.failedBatches(ctx)
	o.alarms(ctx)
	o.subscriptions(ctx)
	o.mail(ctx)
}

// flat returns the error on one line, since the CLI writes several.
func flat(err error) string {
	if errors.Is(err, awscli.ErrMissing) {
		return err.Error()
	}
	return strings.Join(strings.Fields(err.Error()), " ")
}

// ask runs a command of the AWS CLI and reports whether it succeeded. It reports a failed
// command as not looked at.
func (o *operator) ask(ctx context.Context, what string, into any, args ...string) bool {
	err := o.Do(ctx, into, args...)
	if err != nil {
		o.skip(what, "%s: %s", byHand, flat(err))
	}
	return err == nil
}

// deployed checks the stack's status, and compares its address and version with those that the
// visitor saw.
func (o *operator) deployed() {
	const what = "the stack"
	base, version := o.stack.Outputs["BaseUrl"], o.stack.Outputs["Version"]
	switch {
	case !strings.HasSuffix(o.stack.Status, "_COMPLETE") || strings.HasPrefix(o.stack.Status, "ROLLBACK") || strings.HasPrefix(o.stack.Status, "DELETE"):
		o.fail(what, `infra/RUNBOOK.md, "The first deployment failed".`, "%s is %s", o.stack.Name, o.stack.Status)
	case strings.TrimSuffix(base, "/") != o.url:
		o.fail(what, "Give URL the output BaseUrl, or STAGE the stage of URL.", "%s answers at %s, not at %s", o.stack.Name, base, o.url)
	case o.version != "" && version != o.version:
		o.fail(what, "Wait for the deployment's end. Does the edge or the DNS lead to another stage?", "its version is %s; %s answers with %s", version, o.url, o.version)
	default:
		o.ok(what, "%s is %s, version %s", o.stack.Name, o.stack.Status, version)
	}
}

// mapping is Lambda's description of an event source mapping.
type mapping struct {
	UUID, State, StateTransitionReason, LastProcessingResult string
}

// readers checks the event source mappings. A mapping works only if the function's role may
// read the stream and call dynamodb:ListStreams.
func (o *operator) readers(ctx context.Context) {
	var list struct{ EventSourceMappings []mapping }
	if !o.ask(ctx, "readers of the stream", &list, "lambda", "list-event-source-mappings") {
		return
	}
	for _, r := range o.stack.All(awscli.TypeMapping) {
		reader, _, _ := strings.Cut(r.LogicalResourceId, "FunctionMapping")
		what := "the reader " + reader
		i := slices.IndexFunc(list.EventSourceMappings, func(m mapping) bool { return m.UUID == r.PhysicalResourceId })
		if i < 0 {
			o.fail(what, "Run make deploy REVERT_DRIFT=1.", "it has no event source mapping")
			continue
		}
		switch m := list.EventSourceMappings[i]; {
		case m.State == "Creating" || m.State == "Enabling" || m.State == "Updating":
			o.skip(what, "its mapping is %s; look again in a minute", m.State)
		case m.State != "Enabled":
			o.fail(what, "Run make start-reader NAME="+reader+".", "its mapping is %s: %s", m.State, m.StateTransitionReason)
		case strings.HasPrefix(m.LastProcessingResult, "PROBLEM"):
			o.fail(what, `infra/RUNBOOK.md, "Alarm: Unread". Permissions: infra/rights.go, policy.`, "%s", m.LastProcessingResult)
		default:
			o.ok(what, "its mapping is Enabled; last result: %s", m.LastProcessingResult)
		}
	}
}

func (o *operator) schedules(ctx context.Context) {
	const what = "schedules"
	var list struct {
		Schedules []struct{ Name, State string }
	}
	if !o.ask(ctx, what, &list, "scheduler", "list-schedules") {
		return
	}
	states := map[string]string{}
	for _, s := range list.Schedules {
		states[s.Name] = s.State
	}
	var wrong []string
	own := o.stack.All(awscli.TypeSchedule)
	for _, r := range own {
		if state := states[r.PhysicalResourceId]; state != "ENABLED" {
			wrong = append(wrong, fmt.Sprintf("%s (%q)", r.PhysicalResourceId, state))
		}
	}
	if len(wrong) > 0 {
		o.fail(what, "Run make deploy REVERT_DRIFT=1.", "not ENABLED: %s", strings.Join(wrong, ", "))
		return
	}
	o.ok(what, "%d are ENABLED", len(own))
}

func (o *operator) deadLetters(ctx context.Context) {
	for _, r := range o.stack.All(awscli.TypeQueue) {
		what := "the queue " + r.LogicalResourceId
		var answer struct {
			Attributes struct{ ApproximateNumberOfMessages, ApproximateNumberOfMessagesNotVisible string }
		}
		if !o.ask(ctx, what, &answer, "sqs", "get-queue-attributes", "--queue-url", r.PhysicalResourceId, "--attribute-names", "ApproximateNumberOfMessages", "ApproximateNumberOfMessagesNotVisible") {
			continue
		}
		if a := answer.Attributes; a.ApproximateNumberOfMessages != "0" || a.ApproximateNumberOfMessagesNotVisible != "0" {
			o.fail(what, `infra/RUNBOOK.md, "Alarm: Fails".`, "it has %s messages, and %s more that somebody is reading", a.ApproximateNumberOfMessages, a.ApproximateNumberOfMessagesNotVisible)
			continue
		}
		o.ok(what, "empty")
	}
}

// failedBatches checks that no batch waits in the bucket for a redrive.
func (o *operator) failedBatches(ctx context.Context) {
	const what = "failed batches"
	var list struct{ Contents []struct{ Key string } }
	if !o.ask(ctx, what, &list, "s3api", "list-objects-v2", "--bucket", o.stack.Outputs["FailedBatchesBucket"], "--max-items", "1") {
		return
	}
	if len(list.Contents) > 0 {
		o.fail(what, `infra/RUNBOOK.md, "Redrive".`, "the bucket has at least one: %s", list.Contents[0].Key)
		return
	}
	o.ok(what, "none")
}

// heading matches the runbook's section in an alarm's description (infra/alarms.go).
var heading = regexp.MustCompile(`infra/RUNBOOK\.md, "[^"]+"`)

// ofProbe is part of the name of the probe's alarm.
const ofProbe = "Unreachable"

// alarms checks that all alarms exist and none rings. It also reports on the probe's alarm.
func (o *operator) alarms(ctx context.Context) {
	const what = "alarms"
	var list struct {
		MetricAlarms []struct{ AlarmName, AlarmDescription, StateValue string }
	}
	if !o.ask(ctx, what, &list, "cloudwatch", "describe-alarms", "--alarm-name-prefix", o.stack.Name+"-") {
		return
	}
	states, own := map[string]string{}, o.stack.All(awscli.TypeAlarm)
	rings := false
	for _, a := range list.MetricAlarms {
		if !slices.ContainsFunc(own, func(r awscli.Resource) bool { return r.PhysicalResourceId == a.AlarmName }) {
			continue // another stage's: the prefix agentsocial-a- also matches the stage a-b
		}
		states[a.AlarmName] = a.StateValue
		if a.StateValue == "ALARM" {
			rings = true
			o.fail(what, heading.FindString(a.AlarmDescription)+".", "%s rings", a.AlarmName)
		}
	}
	var missing, silent []string
	probe := ""
	for _, r := range own {
		state, ok := states[r.PhysicalResourceId]
		if !ok {
			missing = append(missing, r.LogicalResourceId)
		} else if state == "INSUFFICIENT_DATA" {
			silent = append(silent, r.LogicalResourceId)
		}
		if strings.Contains(r.LogicalResourceId, ofProbe) {
			probe = state
		}
	}
	if len(missing) > 0 {
		o.fail(what, "Run make deploy REVERT_DRIFT=1.", "deleted: %s", strings.Join(missing, ", "))
	} else if !rings {
		o.ok(what, "none of %d rings; %d have no data yet", len(own), len(silent))
	}
	switch probe {
	case "OK":
		o.ok("the probe's alarm", "OK: the probe registered, and reaches the service")
	case "INSUFFICIENT_DATA":
		o.skip("the probe's alarm", "no data yet; look again in half an hour")
	}
}

func (o *operator) subscriptions(ctx context.Context) {
	const what = "who gets alarms"
	var list struct {
		Subscriptions []struct{ SubscriptionArn, Protocol, Endpoint string }
	}
	if !o.ask(ctx, what, &list, "sns", "list-subscriptions-by-topic", "--topic-arn", o.stack.Outputs["OperatorsTopic"]) {
		return
	}
	if len(list.Subscriptions) == 0 {
		o.fail(what, "Set alarmMail in cdk.json, or subscribe to the output OperatorsTopic.", "nobody")
	}
	for _, s := range list.Subscriptions {
		if !strings.HasPrefix(s.SubscriptionArn, "arn:") { // PendingConfirmation
			o.fail(what, "Follow the link that SNS mailed. It is valid for three days; after that, subscribe anew in SNS's console.", "%s %s: %s", s.Protocol, s.Endpoint, s.SubscriptionArn)
			continue
		}
		o.ok(what, "%s %s, confirmed", s.Protocol, s.Endpoint)
	}
}

// mail checks that SES may send to all addresses.
func (o *operator) mail(ctx context.Context) {
	if o.stack.Outputs["MailConfiguration"] == "" {
		o.skip("mail", "the stage sends none: mailFrom is empty")
		return
	}
	const sandbox = "SES's account"
	var account struct{ ProductionAccessEnabled, SendingEnabled bool }
	if o.ask(ctx, sandbox, &account, "sesv2", "get-account") {
		switch {
		case !account.SendingEnabled:
			o.fail(sandbox, "See the mails from AWS, and SES's console.", "AWS has paused its mail")
		case !account.ProductionAccessEnabled:
			o.fail(sandbox, "Run the command of the output LeaveMailSandbox.", "it is in the sandbox: it mails only verified addresses")
		default:
			o.ok(sandbox, "out of the sandbox")
		}
	}
	const verified = "SES's identity"
	own := o.stack.All(awscli.TypeIdentity)
	if len(own) == 0 {
		o.skip(verified, "it is not the stack's (mailIdentity is existing); make preflight looks at it")
	}
	for _, r := range own {
		var identity struct{ VerifiedForSendingStatus bool }
		if !o.ask(ctx, verified, &identity, "sesv2", "get-email-identity", "--email-identity", r.PhysicalResourceId) {
			continue
		}
		if !identity.VerifiedForSendingStatus {
			o.fail(verified, "Put the outputs MailRecord1 to MailRecord3 into the DNS, or follow the link that SES mailed.", "%s is not verified", r.PhysicalResourceId)
			continue
		}
		o.ok(verified, "%s is verified", r.PhysicalResourceId)
	}
}
