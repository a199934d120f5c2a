package main

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"agentsocial/shared/lambda/schedule"
)

func TestSchedules(t *testing.T) {
	production(t, func(t *testing.T, s *service) {
		clocks := s.all("AWS::Scheduler::Schedule")
		calls := s.all("AWS::Lambda::EventInvokeConfig")
		if len(clocks) != len(s.schedules) || len(calls) != len(s.schedules)+len(s.mail) {
			t.Errorf("got %d schedules and %d invocation settings, want %d of each, and %d more invocation settings for mail", len(clocks), len(calls), len(s.schedules), len(s.mail))
		}
		for _, x := range s.schedules {
			function, _ := s.function(t, x.Name)
			i := slices.IndexFunc(keys(clocks), func(id string) bool { return strings.HasPrefix(id, x.Name+"Function") })
			if i < 0 {
				t.Errorf("%s has no schedule", x.Name)
				continue
			}
			clock := clocks[keys(clocks)[i]]
			rate := fmt.Sprintf("rate(%d minutes)", x.Every/time.Minute)
			if x.Every == time.Minute {
				rate = "rate(1 minute)"
			}
			clock.expect(t, x.Name, map[string]string{
				"ScheduleExpression": rate,
				"FlexibleTimeWindow": `{"Mode":"OFF"}`,
				"State":              "", // enabled by default
			})
			target := clock.Properties["Target"].(map[string]any)
			if got := plain(target["Arn"]); got != "${"+function+".Arn}" {
				t.Errorf("the schedule of %s calls %s, want %s", x.Name, got, function)
			}
			want := fmt.Sprintf(`{"MaximumEventAgeInSeconds":%d,"MaximumRetryAttempts":2}`, int(x.Every.Seconds()))
			dead, _ := s.only(t, "AWS::SQS::Queue")
			letters := `{"Fn::GetAtt":["` + dead + `","Arn"]}`
			if got := plain(target["RetryPolicy"]); got != want || plain(target["DeadLetterConfig"]) != `{"Arn":`+letters+`}` || target["Input"] != nil {
				t.Errorf("%s: the schedule's target is %v, want the retry policy %s, the dead letters %s and no input", x.Name, target, want, letters)
			}
			i = slices.IndexFunc(keys(calls), func(id string) bool { return strings.HasPrefix(id, x.Name+"Function") })
			if i < 0 {
				t.Errorf("%s has no invocation settings, want some: by default Lambda retries", x.Name)
				continue
			}
			failures := `{"OnFailure":{"Destination":` + letters + `}}`
			if x.Outside { // its failures have an alarm of their own
				failures = ""
			}
			calls[keys(calls)[i]].expect(t, x.Name, map[string]string{
				"FunctionName":             "${" + function + "}",
				"Qualifier":                "$LATEST",
				"MaximumRetryAttempts":     "0",
				"MaximumEventAgeInSeconds": fmt.Sprint(int(x.Every.Seconds())),
				"DestinationConfig":        failures,
			})
			role := s.Resources[strings.TrimSuffix(strings.TrimPrefix(plain(target["RoleArn"]), "${"), ".Arn}")]
			role.expect(t, x.Name, map[string]string{
				"ManagedPolicyArns": "",
				"AssumeRolePolicyDocument": `{"Statement":[{"Action":"sts:AssumeRole","Condition":{"StringEquals":{"aws:SourceAccount":{"Ref":"AWS::AccountId"}}},` +
					`"Effect":"Allow","Principal":{"Service":"scheduler.amazonaws.com"}}],"Version":"2012-10-17"}`,
				"Policies": `[{"PolicyDocument":{"Statement":[{"Action":"lambda:InvokeFunction","Effect":"Allow","Resource":{"Fn::GetAtt":["` + function +
					`","Arn"]},"Sid":"Call"},{"Action":"sqs:SendMessage","Effect":"Allow","Resource":` + letters + `,"Sid":"DeadLetter"}],"Version":"2012-10-17"},"PolicyName":"own"}]`,
			})
		}
	})
}

func TestDeadLetters(t *testing.T) {
	production(t, func(t *testing.T, s *service) {
		id, queue := s.only(t, "AWS::SQS::Queue")
		queue.expect(t, "queue", map[string]string{
			"SqsManagedSseEnabled":   "true",
			"KmsMasterKeyId":         "",
			"MessageRetentionPeriod": "1209600",
			"FifoQueue":              "", // the scheduler supports no FIFO queue
			"QueueName":              "",
		})
		_, policy := s.only(t, "AWS::SQS::QueuePolicy")
		policy.expect(t, "queue policy", map[string]string{
			"Queues": `[{"Ref":"` + id + `"}]`,
			"PolicyDocument": `{"Statement":[{"Action":"sqs:*","Condition":{"Bool":{"aws:SecureTransport":"false"}},"Effect":"Deny","Principal":{"AWS":"*"},` +
				`"Resource":{"Fn::GetAtt":["` + id + `","Arn"]}}],"Version":"2012-10-17"}`,
		})
	})
}

func TestTickAge(t *testing.T) {
	for every, want := range map[time.Duration]float64{5 * time.Minute: 300, 24 * time.Hour: 21600} {
		if got := *tickAge(schedule.Function{Every: every}); got != want {
			t.Errorf("tickAge with period %s is %v seconds, want %v", every, got, want)
		}
	}
}

func TestRate(t *testing.T) {
	const m = time.Minute
	for _, c := range []struct {
		every, timeout time.Duration
		want           string // a rate, or part of the error
	}{
		{5 * m, 0, "rate(5 minutes)"}, {6 * time.Hour, 15 * m, "rate(360 minutes)"}, {2 * m, m, "rate(2 minutes)"},
		{2 * m, 0, "may take 2m0s"}, {10 * m, 10 * m, "may take 10m0s"}, {time.Hour, 16 * m, "Lambda allows at most 15m0s"},
		{90 * time.Second, m, "whole minutes"}, {0, 0, "whole minutes"},
	} {
		rate, err := rateOf(schedule.Function{Name: "x", Every: c.every, Timeout: c.timeout})
		if err == nil && rate != c.want || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("period %s, timeout %s: got %q, %v; want %q", c.every, c.timeout, rate, err, c.want)
		}
	}
}
