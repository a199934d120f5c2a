package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// fixtureResources belong to the stage beta.
var fixtureResources = []struct{ ID, Physical, Type string }{
	{"tallyFunctionMapping0A1B2C3D", "11111111-2222-4333-8444-555555555555", "AWS::Lambda::EventSourceMapping"},
	{"inboxFunctionMapping0A1B2C3D", "22222222-2222-4333-8444-555555555555", "AWS::Lambda::EventSourceMapping"},
	{"probeFunctionClock0A1B2C3D", "agentsocial-beta-probeFunctionClock-x", "AWS::Scheduler::Schedule"},
	{"auditFunctionClock0A1B2C3D", "agentsocial-beta-auditFunctionClock-x", "AWS::Scheduler::Schedule"},
	{"DeadLetters0A1B2C3D", "https://sqs.eu-central-1.amazonaws.com/123456789012/dead", "AWS::SQS::Queue"},
	{"Slow", "agentsocial-beta-Slow-x", "AWS::CloudWatch::Alarm"},
	{"Unreachable", "agentsocial-beta-Unreachable-x", "AWS::CloudWatch::Alarm"},
	{"MailDomain0A1B2C3D", "agents.example", "AWS::SES::EmailIdentity"},
}

var fixtureOutputs = map[string]string{
	"BaseUrl": "https://agents.example", "Version": "v1.2.0", "FailedBatchesBucket": "failed", "MailConfiguration": "set1",
	"OperatorsTopic": "arn:aws:sns:eu-central-1:123456789012:operators",
}

// healthy holds the CLI's output by command, for a stage beta without faults. An alarm of
// another stage, beta-two, rings.
var healthy = map[string]string{
	"lambda list-event-source-mappings": `{"EventSourceMappings": [{"UUID": "11111111-2222-4333-8444-555555555555", "State": "Enabled", "LastProcessingResult": "OK"},
		{"UUID": "22222222-2222-4333-8444-555555555555", "State": "Enabled", "LastProcessingResult": "No records processed"},
		{"UUID": "33333333-2222-4333-8444-555555555555", "State": "Disabled"}]}`,
	"scheduler list-schedules": `{"Schedules": [{"Name": "agentsocial-beta-probeFunctionClock-x", "State": "ENABLED"},
		{"Name": "agentsocial-beta-auditFunctionClock-x", "State": "ENABLED"}, {"Name": "of-others", "State": "DISABLED"}]}`,
	"sqs get-queue-attributes": `{"Attributes": {"ApproximateNumberOfMessages": "0", "ApproximateNumberOfMessagesNotVisible": "0"}}`,
	"s3api list-objects-v2":    `{"RequestCharged": null}`,
	"cloudwatch describe-alarms": `{"MetricAlarms": [{"AlarmName": "agentsocial-beta-Slow-x", "StateValue": "INSUFFICIENT_DATA"},
		{"AlarmName": "agentsocial-beta-Unreachable-x", "StateValue": "OK"}, {"AlarmName": "agentsocial-beta-two-Slow-x", "StateValue": "ALARM"}]}`,
	"sns list-subscriptions-by-topic": `{"Subscriptions": [{"SubscriptionArn": "arn:aws:sns:eu-central-1:123456789012:operators:0", "Protocol": "email", "Endpoint": "ops@agents.example"}]}`,
	"sesv2 get-account":               `{"ProductionAccessEnabled": true, "SendingEnabled": true}`,
	"sesv2 get-email-identity":        `{"VerifiedForSendingStatus": true}`,
	"cloudformation describe-stacks":  described("UPDATE_COMPLETE", fixtureOutputs),
	"cloudformation list-stack-resources": func() string {
		var all []map[string]string
		for _, r := range fixtureResources {
			all = append(all, map[string]string{"LogicalResourceId": r.ID, "PhysicalResourceId": r.Physical, "ResourceType": r.Type})
		}
		return encoded(map[string]any{"StackResourceSummaries": all})
	}(),
}

func described(status string, outputs map[string]string) string {
	var all []map[string]string
	for k, v := range outputs {
		all = append(all, map[string]string{"OutputKey": k, "OutputValue": v})
	}
	return encoded(map[string]any{"Stacks": []any{map[string]any{"StackName": "agentsocial-beta", "StackStatus": status, "Outputs": all}}})
}

func encoded(v any) string {
	b, _ := json.Marshal(v)
	return string(b)
}

// looked returns the report on the stage beta.
func looked(t *testing.T) string {
	t.Helper()
	var out bytes.Buffer
	o := operator{report: &report{out: &out}, stage: "beta", url: "https://agents.example", version: "v1.2.0"}
	o.look(t.Context())
	return out.String()
}

// wantHealthy is the report on the healthy stage.
const wantHealthy = `ok             the stack: agentsocial-beta is UPDATE_COMPLETE, version v1.2.0
ok             the reader tally: its mapping is Enabled; last result: OK
ok             the reader inbox: its mapping is Enabled; last result: No records processed
ok             schedules: 2 are ENABLED
ok             the queue DeadLetters0A1B2C3D: empty
ok             failed batches: none
ok             alarms: none of 2 rings; 1 have no data yet
ok             the probe's alarm: OK: the probe registered, and reaches the service
ok             who gets alarms: email ops@agents.example, confirmed
ok             SES's account: out of the sandbox
ok             SES's identity: agents.example is verified
`

// This test runs the real AWS CLI. Each of its calls takes a second of processor time.
func TestOperator_CLI(t *testing.T) {
	if venv, err := filepath.Abs("../../build/venv/bin"); err == nil { // where make venv puts the AWS CLI
		t.Setenv("PATH", venv+":"+os.Getenv("PATH"))
	}
	program, err := exec.LookPath("aws")
	if err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatal(err)
		}
		t.Skip("SKIPPED, NOT TESTED: ", err, "; run `make venv`")
	}
	aws := httptest.NewServer(http.HandlerFunc(standIn))
	defer aws.Close()
	// Version 1 of the CLI ignores AWS_ENDPOINT_URL for SQS, so the endpoint is set by
	// option.
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "aws"), []byte("#!/bin/sh\nexec "+program+" \"$@\" --endpoint-url "+aws.URL+"\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir+":"+os.Getenv("PATH"))
	for name, value := range map[string]string{
		"AWS_ACCESS_KEY_ID": "of-a-stand-in", "AWS_SECRET_ACCESS_KEY": "of-a-stand-in", "AWS_SESSION_TOKEN": "", "AWS_EC2_METADATA_DISABLED": "true",
		"AWS_REGION": "eu-central-1", "AWS_DEFAULT_REGION": "eu-central-1", "AWS_PROFILE": "", "AWS_CONFIG_FILE": os.DevNull, "AWS_SHARED_CREDENTIALS_FILE": os.DevNull,
	} {
		t.Setenv(name, value)
		if value == "" {
			os.Unsetenv(name) // t.Setenv restores it
		}
	}
	if got := looked(t); got != wantHealthy {
		t.Errorf("report on the stand-in: got\n%s\nwant\n%s", got, wantHealthy)
	}
	os.Unsetenv("AWS_ACCESS_KEY_ID")
	os.Unsetenv("AWS_SECRET_ACCESS_KEY")
	if got := looked(t); !strings.HasPrefix(got, "not looked at  AWS: stack, readers, schedules, dead letters, alarms, mail: aws cloudformation describe-stacks: ") || !strings.Contains(got, "credentials") || strings.Count(got, "\n") != 1 {
		t.Errorf("without credentials: got\n%s\nwant one line, not looked at, that names the credentials", got)
	}
}

// standIn gives the answers of [healthy] in each service's protocol.
func standIn(w http.ResponseWriter, r *http.Request) {
	query := func(action, result string) {
		fmt.Fprintf(w, `<%[1]sResponse><%[1]sResult>%[2]s</%[1]sResult><ResponseMetadata><RequestId>1</RequestId></ResponseMetadata></%[1]sResponse>`, action, result)
	}
	object := func(command string) {
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprint(w, healthy[command])
	}
	switch path := r.URL.Path; {
	case path == "/" && strings.HasSuffix(r.Header.Get("X-Amz-Target"), ".GetQueueAttributes"):
		object("sqs get-queue-attributes")
	case path == "/" && strings.HasSuffix(r.Header.Get("X-Amz-Target"), ".DescribeAlarms"):
		object("cloudwatch describe-alarms")
	case path == "/":
		switch action := r.FormValue("Action"); action {
		case "DescribeStacks":
			result := ""
			for k, v := range fixtureOutputs {
				result += "<member><OutputKey>" + k + "</OutputKey><OutputValue>" + v + "</OutputValue></member>"
			}
			query(action, "<Stacks><member><StackName>agentsocial-beta</StackName><CreationTime>2026-11-01T00:00:00Z</CreationTime><StackStatus>UPDATE_COMPLETE</StackStatus><Outputs>"+result+"</Outputs></member></Stacks>")
		case "ListStackResources":
			result := ""
			for _, x := range fixtureResources {
				result += fmt.Sprintf("<member><LogicalResourceId>%s</LogicalResourceId><PhysicalResourceId>%s</PhysicalResourceId><ResourceType>%s</ResourceType></member>", x.ID, x.Physical, x.Type)
			}
			query(action, "<StackResourceSummaries>"+result+"</StackResourceSummaries>")
		case "ListSubscriptionsByTopic":
			if r.FormValue("TopicArn") == fixtureOutputs["OperatorsTopic"] {
				query(action, "<Subscriptions><member><SubscriptionArn>arn:aws:sns:eu-central-1:123456789012:operators:0</SubscriptionArn><Protocol>email</Protocol><Endpoint>ops@agents.example</Endpoint></member></Subscriptions>")
			}
		}
	case strings.Contains(path, "/event-source-mappings"):
		object("lambda list-event-source-mappings")
	case path == "/schedules":
		object("scheduler list-schedules")
	case path == "/failed" && r.URL.Query().Get("list-type") == "2":
		fmt.Fprint(w, `<ListBucketResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/"><Name>failed</Name><KeyCount>0</KeyCount><MaxKeys>1000</MaxKeys><IsTruncated>false</IsTruncated></ListBucketResult>`)
	case path == "/v2/email/account":
		object("sesv2 get-account")
	case path == "/v2/email/identities/agents.example":
		object("sesv2 get-email-identity")
	default:
		http.Error(w, fmt.Sprintf(`{"message": "the stand-in has no %s %s"}`, r.Method, path), http.StatusNotFound)
	}
}

// standInScript replaces the AWS CLI. It prints the file named after the command, such as
// "sqs get-queue-attributes", or fails if the file has an error.
const standInScript = `#!/bin/sh
file="$ANSWERS/$1 $2"
answer=$(cat "$file")
case $answer in *"An error occurred"*) echo "$answer" >&2; exit 254 ;; esac
echo "$answer"
`

func TestOperator_Findings(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "aws"), []byte(standInScript), 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("ANSWERS", dir)
	t.Setenv("PATH", dir+":"+os.Getenv("PATH"))
	play := func(command, answer string) string {
		t.Helper()
		for c, a := range healthy {
			if c == command {
				a = answer
			}
			if err := os.WriteFile(filepath.Join(dir, c), []byte(a), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		return looked(t)
	}
	if got := play("", ""); got != wantHealthy {
		t.Errorf("report on a healthy stage: got\n%s\nwant\n%s", got, wantHealthy)
	}
	swapped := func(command, before, after string) string {
		t.Helper()
		if !strings.Contains(healthy[command], before) {
			t.Fatalf("healthy[%q]: got no %s in it, want one", command, before)
		}
		return strings.Replace(healthy[command], before, after, 1)
	}
	const denied = "An error occurred (AccessDenied) when calling the operation: no"
	for _, c := range []struct{ command, answer, want, remedy string }{
		{"cloudformation describe-stacks", "An error occurred (ValidationError) when calling the DescribeStacks operation: Stack with id agentsocial-beta does not exist", "FAILED         AWS: stack, readers, schedules, dead letters, alarms, mail: there is no stack agentsocial-beta", "Set STAGE and AWS_REGION"},
		{"cloudformation describe-stacks", described("ROLLBACK_COMPLETE", fixtureOutputs), "FAILED         the stack: agentsocial-beta is ROLLBACK_COMPLETE", `"The first deployment failed"`},
		{"cloudformation describe-stacks", swapped("cloudformation describe-stacks", "https://agents.example", "https://other.example"), "FAILED         the stack: agentsocial-beta answers at https://other.example, not at https://agents.example", "Give URL the output BaseUrl"},
		{"cloudformation describe-stacks", swapped("cloudformation describe-stacks", "v1.2.0", "v1.3.0"), "FAILED         the stack: its version is v1.3.0; https://agents.example answers with v1.2.0", "Wait for the deployment's end"},
		{"lambda list-event-source-mappings", swapped("lambda list-event-source-mappings", `"Enabled", "LastProcessingResult": "OK"`, `"Disabled", "StateTransitionReason": "USER_INITIATED"`), "FAILED         the reader tally: its mapping is Disabled: USER_INITIATED", "make start-reader NAME=tally"},
		{"lambda list-event-source-mappings", swapped("lambda list-event-source-mappings", `"Enabled"`, `"Creating"`), "not looked at  the reader tally: its mapping is Creating", ""},
		{"lambda list-event-source-mappings", swapped("lambda list-event-source-mappings", `"OK"`, `"PROBLEM: Function call failed"`), "FAILED         the reader tally: PROBLEM: Function call failed", `"Alarm: Unread"`},
		{"lambda list-event-source-mappings", `{"EventSourceMappings": [{"UUID": "22222222-2222-4333-8444-555555555555", "State": "Enabled"}]}`, "FAILED         the reader tally: it has no event source mapping", "REVERT_DRIFT=1"},
		{"lambda list-event-source-mappings", denied, "not looked at  readers of the stream: if a permission is missing, look by hand: aws lambda list-event-source-mappings: " + denied, ""},
		{"scheduler list-schedules", swapped("scheduler list-schedules", `"ENABLED"`, `"DISABLED"`), `FAILED         schedules: not ENABLED: agentsocial-beta-probeFunctionClock-x ("DISABLED")`, "REVERT_DRIFT=1"},
		{"scheduler list-schedules", `{"Schedules": []}`, `FAILED         schedules: not ENABLED: agentsocial-beta-probeFunctionClock-x (""), agentsocial-beta-auditFunctionClock-x ("")`, "REVERT_DRIFT=1"},
		{"sqs get-queue-attributes", swapped("sqs get-queue-attributes", `"0"`, `"2"`), "FAILED         the queue DeadLetters0A1B2C3D: it has 2 messages", `"Alarm: Fails"`},
		{"s3api list-objects-v2", `{"Contents": [{"Key": "aws/lambda/1"}]}`, "FAILED         failed batches: the bucket has at least one: aws/lambda/1", `"Redrive"`},
		{"cloudwatch describe-alarms", swapped("cloudwatch describe-alarms", `"OK"`, `"ALARM", "AlarmDescription": "beta: No. See infra/RUNBOOK.md, \"Alarm: Unreachable\"."`), "FAILED         alarms: agentsocial-beta-Unreachable-x rings", `infra/RUNBOOK.md, "Alarm: Unreachable".`},
		{"cloudwatch describe-alarms", swapped("cloudwatch describe-alarms", "-Slow-x", "-Slow-y"), "FAILED         alarms: deleted: Slow", "REVERT_DRIFT=1"},
		{"cloudwatch describe-alarms", swapped("cloudwatch describe-alarms", `"OK"`, `"INSUFFICIENT_DATA"`), "not looked at  the probe's alarm: no data yet", ""},
		{"sns list-subscriptions-by-topic", `{"Subscriptions": [{"SubscriptionArn": "PendingConfirmation", "Protocol": "email", "Endpoint": "ops@agents.example"}]}`, "FAILED         who gets alarms: email ops@agents.example: PendingConfirmation", "Follow the link"},
		{"sns list-subscriptions-by-topic", `{"Subscriptions": []}`, "FAILED         who gets alarms: nobody", "Set alarmMail"},
		{"sesv2 get-account", `{"SendingEnabled": true}`, "FAILED         SES's account: it is in the sandbox", "LeaveMailSandbox"},
		{"sesv2 get-account", `{"ProductionAccessEnabled": true}`, "FAILED         SES's account: AWS has paused its mail", "mails from AWS"},
		{"sesv2 get-email-identity", `{"VerifiedForSendingStatus": false}`, "FAILED         SES's identity: agents.example is not verified", "MailRecord1"},
	} {
		out := play(c.command, c.answer)
		wantFailures := 0
		if strings.HasPrefix(c.want, "FAILED") {
			wantFailures = 1
		}
		if !strings.Contains(out, c.want) || !strings.Contains(out, c.remedy) || len(lines(out, "FAILED")) != wantFailures {
			t.Errorf("%s: got\n%s\nwant %s, %s, and %d failures in all", c.command, out, c.want, c.remedy, wantFailures)
		}
	}

	t.Setenv("PATH", t.TempDir())
	if got := looked(t); !strings.Contains(got, "not looked at  AWS: stack, readers, schedules, dead letters, alarms, mail: the AWS CLI is missing") {
		t.Errorf("without the CLI: got\n%s\nwant a line, not looked at, that the CLI is missing", got)
	}
}
