package main

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"agentsocial/events/audit"
	"agentsocial/shared/api"
)

func TestOperators(t *testing.T) {
	production(t, func(t *testing.T, s *service) {
		id, topic := s.only(t, "AWS::SNS::Topic")
		topic.expect(t, "topic", map[string]string{"KmsMasterKeyId": "", "TopicName": "", "FifoTopic": ""})
		_, policy := s.only(t, "AWS::SNS::TopicPolicy")
		policy.expect(t, "topic policy", map[string]string{
			"Topics": `[{"Ref":"` + id + `"}]`,
			"PolicyDocument": `{"Statement":[` +
				`{"Action":"sns:Publish","Condition":{"Bool":{"aws:SecureTransport":"false"}},"Effect":"Deny","Principal":"*","Resource":{"Ref":"` + id + `"},"Sid":"AllowPublishThroughSSLOnly"},` +
				`{"Action":"sns:Publish","Condition":{"StringEquals":{"aws:SourceAccount":{"Ref":"AWS::AccountId"}}},"Effect":"Allow","Principal":{"Service":"cloudwatch.amazonaws.com"},"Resource":{"Ref":"` + id + `"},"Sid":"Alarms"}` +
				`],"Version":"2012-10-17"}`,
		})
		if n := s.all("AWS::SNS::Subscription"); len(n) != 0 {
			t.Errorf("no alarmMail: got subscriptions %v, want none", keys(n))
		}
	})
	s := of(t, dev)
	id, _ := s.only(t, "AWS::SNS::Topic")
	_, mail := s.only(t, "AWS::SNS::Subscription")
	mail.expect(t, "subscription", map[string]string{"TopicArn": "${" + id + "}", "Protocol": "email", "Endpoint": alarmMail})
}

func (r resource) rings() string {
	p := r.Properties
	var of string
	period := p["Period"]
	if all, several := p["Metrics"].([]any); several {
		var parts []string
		for i, q := range all {
			q := q.(map[string]any)
			if i == 0 {
				of = q["Expression"].(string)
				continue
			}
			st := q["MetricStat"].(map[string]any)
			m := st["Metric"].(map[string]any)
			period = st["Period"]
			parts = append(parts, fmt.Sprintf("%s=%s", q["Id"], told(m, st["Stat"])))
		}
		of += " of " + strings.Join(parts, ", ")
	} else {
		of = told(p, p["Statistic"])
	}
	return fmt.Sprintf("%s in %v s %v %v, %v times, missing is %v", of, period, p["ComparisonOperator"], p["Threshold"], p["EvaluationPeriods"], p["TreatMissingData"])
}

// told describes a metric of the template.
func told(m map[string]any, statistic any) string {
	s := fmt.Sprintf("%v of %v %v", statistic, m["Namespace"], m["MetricName"])
	dimensions, _ := m["Dimensions"].([]any)
	for _, d := range dimensions {
		d := d.(map[string]any)
		s += fmt.Sprintf(" %v=%s", d["Name"], plain(d["Value"]))
	}
	return s
}

// kindOf returns an alarm's kind, the last part of its logical id.
func kindOf(id string) string {
	id = strings.TrimRight(id, "0123456789ABCDEF") // the digest of an alarm below a function
	if i := strings.LastIndex(id, "Function"); i >= 0 && i+len("Function") < len(id) && !strings.HasPrefix(id, "Function") {
		return id[i+len("Function"):]
	}
	return id
}

func TestAlarms(t *testing.T) {
	production(t, func(t *testing.T, s *service) {
		table, api := "${TableCD117FA1}", "${Api}"
		const above, silent = "in %d s GreaterThanThreshold %v, %d times, missing is notBreaching", "in %d s LessThanThreshold 1, %d times, missing is breaching"
		want := map[string]string{}
		for _, x := range s.schedules {
			every := int(x.Every.Seconds())
			function, _ := s.function(t, x.Name)
			if x.Outside {
				want[x.Name+"FunctionUnreachable"] = fmt.Sprintf("Sum of AWS/Lambda Errors FunctionName=${%s} in %d s GreaterThanThreshold 0, 2 times, missing is breaching", function, every)
				continue
			}
			want[x.Name+"FunctionStopped"] = fmt.Sprintf("Sum of AWS/Lambda Invocations FunctionName=${%s} "+silent, function, every, max(2, 1800/every))
		}
		queue, _ := s.only(t, "AWS::SQS::Queue")
		want["Fails"] = fmt.Sprintf("Sum of AWS/SQS NumberOfMessagesSent QueueName=${%s.QueueName} "+above, queue, 300, 0, 1)
		want["Unfinished"] = fmt.Sprintf("Sum of agentsocial/prod unfinished "+above, 1800, 4, 1)
		for _, r := range s.readers {
			function, _ := s.function(t, r.Name)
			mapping, _ := s.named(t, "AWS::Lambda::EventSourceMapping", r.Name+"FunctionMapping")
			want[r.Name+"FunctionGivesUp"] = fmt.Sprintf("Sum of AWS/Lambda OnFailureDestinationDeliveredEventCount EventSourceMappingUUID=${%s} "+above, mapping, 300, 0, 1)
			want[r.Name+"FunctionLoses"] = fmt.Sprintf("SUM(METRICS()) of m1=Sum of AWS/Lambda DroppedEventCount EventSourceMappingUUID=${%s}, "+
				"m2=Sum of AWS/Lambda DestinationDeliveryFailures FunctionName=${%s} "+above, mapping, function, 300, 0, 1)
			want[r.Name+"FunctionUnread"] = fmt.Sprintf("IF(FILL(m1, 0) > 0 AND FILL(m2, 0) == 0, 1, 0) of m1=Sum of AWS/DynamoDB ConsumedWriteCapacityUnits TableName=%s, "+
				"m2=Sum of AWS/Lambda PolledEventCount EventSourceMappingUUID=${%s} "+above, table, mapping, 900, 0, 2)
			want[r.Name+"FunctionBehind"] = fmt.Sprintf("Maximum of AWS/Lambda IteratorAge FunctionName=${%s} "+above, function, 300, 600000, 3)
		}
		sum := func(metrics ...string) string {
			for i := range metrics {
				metrics[i] = fmt.Sprintf("m%d=Sum of %s", i+1, metrics[i])
			}
			return "SUM(METRICS()) of " + strings.Join(metrics, ", ") + " " + above
		}
		want["ServerErrors"] = fmt.Sprintf("IF(m1 >= 5 OR 2 * m1 >= m2, 100 * m1 / m2, 0) of m1=Sum of AWS/ApiGateway 5xx ApiId=%s, m2=Sum of AWS/ApiGateway Count ApiId=%[1]s "+above, api, 300, 1, 2)
		want["Slow"] = fmt.Sprintf("IF(m2 >= 20, m1, 0) of m1=p99 of AWS/ApiGateway Latency ApiId=%s, m2=Sum of AWS/ApiGateway Count ApiId=%[1]s "+above, api, 300, 3000, 3)
		want["RequestsThrottled"] = fmt.Sprintf("Sum of agentsocial/prod throttled "+above, 300, 100, 1)
		want["FunctionsThrottled"] = fmt.Sprintf("Sum of AWS/Lambda Throttles "+above, 300, 10, 1)
		want["TableThrottled"] = fmt.Sprintf(strings.ReplaceAll(strings.ReplaceAll("MAX([FILL(m1, 0), FILL(m3, 0)]) + MAX([FILL(m2, 0), FILL(m4, 0)]) of "+
			"m1=Sum of AWS/DynamoDB ReadThrottleEvents TableName=T, m2=Sum of AWS/DynamoDB WriteThrottleEvents TableName=T, "+
			"m3=Sum of AWS/DynamoDB ThrottledRequests TableName=T Operation=Query, m4=Sum of AWS/DynamoDB ThrottledRequests TableName=T Operation=TransactWriteItems ", "=T,", "="+table+","), "=T ", "="+table+" ")+above, 300, 50, 1)
		want["BooksWrong"] = fmt.Sprintf("Sum of agentsocial/prod logged msg=books wrong "+above, 2*6*3600, 0, 1) // two periods of the audit
		want["BooksUnproved"] = fmt.Sprintf("Sum of agentsocial/prod logged msg=books not proved "+above, 86400, 2, 1)
		want["PaymentsUnheard"] = fmt.Sprintf(sum("agentsocial/prod logged msg=notification failed",
			"agentsocial/prod logged msg=notification unclear: an operator must decide",
			"agentsocial/prod logged msg=payment not credited: it belongs to no agent of this stage"), 300, 0, 1)
		bucket, _ := s.only(t, "AWS::S3::Bucket")
		want["NotRedriven"] = fmt.Sprintf("Average of AWS/S3 NumberOfObjects BucketName=${%s} StorageType=AllStorageTypes "+above, bucket, 86400, 0, 1)
		if sets := s.all("AWS::SES::ConfigurationSet"); len(sets) > 0 {
			set := keys(sets)[0]
			want["RecoveryFull"] = fmt.Sprintf("Sum of agentsocial/prod logged msg=reconnections used up "+above, 300, 0, 1)
			want["MailUnsent"] = fmt.Sprintf(sum("agentsocial/prod logged msg=recovery not mailed", "agentsocial/prod logged msg=recovery code not checked"), 3600, 2, 1)
			want["MailFlood"] = fmt.Sprintf("Sum of AWS/SES Send "+above, 3600, 500, 1)
			several := "IF(m2 >= 3, m1, 0) of m1=Maximum of AWS/SES Reputation.%sRate ses:configuration-set=${%s}, m2=Sum of AWS/SES %[1]s ses:configuration-set=${%[2]s} " + above
			want["MailBounces"] = fmt.Sprintf(several, "Bounce", set, 21600, 0.02, 1)
			want["MailBack"] = fmt.Sprintf("Sum of agentsocial/prod returned reason=bounce "+above, 86400, 20, 1)
			want["MailUsedUp"] = fmt.Sprintf("Sum of agentsocial/prod logged msg=link mails used up "+above, 3600, 0, 1)
			want["MailComplaints"] = fmt.Sprintf(several, "Complaint", set, 86400, 0.0005, 1)
		}
		for _, m := range s.mail {
			function, _ := s.function(t, m.Name)
			rule, _ := s.named(t, "AWS::Events::Rule", m.Name+"Function")
			want[m.Name+"FunctionDropped"] = fmt.Sprintf(sum("AWS/Events FailedInvocations RuleName=${"+rule+"}", "AWS/Lambda AsyncEventsDropped FunctionName=${"+function+"}"), 300, 0, 1)
		}
		if n := len(s.all("AWS::CloudWatch::Alarm")); n != len(want) {
			t.Errorf("got %d alarms, want %d", n, len(want))
		}
		topic, _ := s.only(t, "AWS::SNS::Topic")
		for begins, rings := range want {
			id, a := s.named(t, "AWS::CloudWatch::Alarm", begins)
			if got := a.rings(); got != rings {
				t.Errorf("%s:\n  %s, want\n  %s", begins, got, rings)
			}
			operators := `[{"Ref":"` + topic + `"}]`
			over := operators
			if slices.Contains([]string{"GivesUp", "Loses", "Dropped", "PaymentsUnheard"}, kindOf(id)) { // events, which do not end
				over = ""
			}
			a.expect(t, begins, map[string]string{"AlarmActions": operators, "OKActions": over, "InsufficientDataActions": "", "ActionsEnabled": "", "AlarmName": ""})
			what := plain(a.Properties["AlarmDescription"])
			if !strings.HasPrefix(what, "prod: ") || !strings.HasSuffix(what, `. See infra/RUNBOOK.md, "Alarm: `+kindOf(id)+`".`) || len(what) > 1024 {
				t.Errorf("%s: got the description %q, want one of at most 1024 bytes that begins with prod: and ends with the runbook's section", begins, what)
			}
		}
	})
}

func TestThrottledRequests(t *testing.T) {
	production(t, func(t *testing.T, s *service) {
		log, _ := s.named(t, "AWS::Logs::LogGroup", "AccessLog")
		_, filter := s.only(t, "AWS::Logs::MetricFilter")
		filter.expect(t, "throttled", map[string]string{
			"LogGroupName":          "${" + log + "}",
			"FilterPattern":         `{ $.status = "429" && $.integrationStatus = "-" }`,
			"MetricTransformations": `[{"MetricName":"throttled","MetricNamespace":"agentsocial/prod","MetricValue":"1","Unit":"Count"}]`,
		})
		for _, name := range []string{"status", "integrationStatus"} {
			if accessLog[name] == "" {
				t.Errorf("the access log has no %s", name)
			}
		}
	})
}

// sources returns the source code of the functions, without tests.
var sources = sync.OnceValues(func() (string, error) {
	var all strings.Builder
	for _, folder := range []string{"../functions", "../shared", "../events"} {
		err := filepath.WalkDir(folder, func(path string, d fs.DirEntry, err error) error {
			if err != nil || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
				return err
			}
			b, err := os.ReadFile(path)
			all.Write(b)
			return err
		})
		if err != nil {
			return "", err
		}
	}
	return all.String(), nil
})

var logged = regexp.MustCompile(`\.(?:Error|Warn)\(("(?:[^"\\]|\\.)*"|[A-Z]\w*)`)

// messages returns the messages of all warnings and errors that the program may log.
func messages(t *testing.T) (all []string) {
	t.Helper()
	text, err := sources()
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range logged.FindAllStringSubmatch(text, -1) {
		message, err := strconv.Unquote(m[1])
		if err != nil {
			message = map[string]string{"Wrong": audit.Wrong, "Unproved": audit.Unproved, "EdgeUnknown": api.EdgeUnknown, "EdgeAddressed": api.EdgeAddressed}[m[1]]
		}
		if message == "" {
			t.Errorf("the message of the log line with %s is unknown", m[1])
		}
		all = append(all, message)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

func TestMessagesAreLogged(t *testing.T) {
	all := messages(t)
	for _, m := range slices.Concat(unheard, unsent, usedUp, full, []string{audit.Wrong, audit.Unproved, api.EdgeUnknown, api.EdgeAddressed}) {
		if !slices.Contains(all, m) {
			t.Errorf("the program logs %[2]q, want also %[1]q", m, all)
		}
	}
}

func TestOperations(t *testing.T) {
	want := []string{"TransactWriteItems"} // transactions have no IAM action of their own
	for _, action := range slices.Concat(readActions, writeActions) {
		if name := strings.TrimPrefix(action, "dynamodb:"); name != "ConditionCheckItem" { // not an operation: only part of a transaction
			want = append(want, name)
		}
	}
	if got := slices.Sorted(slices.Values(operations)); !slices.Equal(got, slices.Sorted(slices.Values(want))) {
		t.Errorf("operations: got %q, want %q", got, want)
	}
}

func TestInWords(t *testing.T) {
	for d, want := range map[time.Duration]string{
		3 * time.Second: "3 seconds", time.Minute: "60 seconds", 30 * time.Minute: "30 minutes",
		time.Hour: "60 minutes", 90 * time.Minute: "90 minutes", 12 * time.Hour: "12 hours",
	} {
		if got := inWords(d); got != want {
			t.Errorf("%v: got %q, want %q", d, got, want)
		}
	}
}

func runbook(t *testing.T) string {
	t.Helper()
	b, err := os.ReadFile("RUNBOOK.md")
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

var alarmSection = regexp.MustCompile(`(?m)^## Alarm: ([A-Z]\w+)$`)

func TestRunbookKnowsAlarms(t *testing.T) {
	kinds := map[string]bool{}
	for _, which := range []func() (*service, error){ours, edged, whole} {
		for id := range of(t, which).all("AWS::CloudWatch::Alarm") {
			kinds[kindOf(id)] = true
		}
	}
	book := runbook(t)
	for _, at := range alarmSection.FindAllStringSubmatchIndex(book, -1) {
		kind := book[at[2]:at[3]]
		text, _, _ := strings.Cut(book[at[1]:], "\n## ")
		for _, step := range []string{"\n1. ", "\n2. ", "\n3. "} {
			if !strings.Contains(text, step) {
				t.Errorf("the runbook's section on %s has no step %q", kind, strings.TrimSpace(step))
			}
		}
		if !kinds[kind] {
			t.Errorf("got a runbook section on %s, want one section for each alarm", kind)
		}
		delete(kinds, kind)
	}
	for kind := range kinds {
		t.Errorf("the runbook has no section %q", "## "+runbookHeading(kind))
	}
}
