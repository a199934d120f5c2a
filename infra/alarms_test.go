package main

import (
	"fmt"
	"strings"
	"testing"
)

// CloudWatch publishes to the operators' topic, over TLS, for this account alone;
// nobody else does.
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
			t.Errorf("no address is set, and there is %v", keys(n))
		}
	})
	s := of(t, dev)
	id, _ := s.only(t, "AWS::SNS::Topic")
	_, mail := s.only(t, "AWS::SNS::Subscription")
	mail.expect(t, "subscription", map[string]string{"TopicArn": "${" + id + "}", "Protocol": "email", "Endpoint": alarmMail})
}

// rings is what an alarm says of itself, in one line.
func (r resource) rings() string {
	p := r.Properties
	dimension := p["Dimensions"].([]any)[0].(map[string]any)
	return fmt.Sprintf("%v %v by %v %s: %v of %v s %v %v, %v times, missing is %v",
		p["Namespace"], p["MetricName"], dimension["Name"], plain(dimension["Value"]),
		p["Statistic"], p["Period"], p["ComparisonOperator"], p["Threshold"], p["EvaluationPeriods"], p["TreatMissingData"])
}

// Every alarm there is, that it goes to the operators, and that there is none
// beside.
func TestAlarms(t *testing.T) {
	production(t, func(t *testing.T, s *service) {
		want := map[string]string{}
		for _, x := range s.schedules {
			every := int(x.Every.Seconds())
			function, _ := s.function(t, x.Name)
			queue, _ := s.named(t, "AWS::SQS::Queue", x.Name+"DeadLetters")
			want[x.Name+"FunctionFails"] = fmt.Sprintf(
				"AWS/Lambda Errors by FunctionName ${%s}: Sum of %d s GreaterThanThreshold 0, 1 times, missing is notBreaching", function, every)
			want[x.Name+"FunctionUnfinished"] = fmt.Sprintf(
				"agentsocial/prod SweepsFinished by function %s: Sum of %d s LessThanThreshold 1, %d times, missing is breaching", x.Name, every, 1800/every)
			want[x.Name+"FunctionDead"] = fmt.Sprintf(
				"AWS/SQS ApproximateNumberOfMessagesVisible by QueueName ${%s.QueueName}: Maximum of 300 s GreaterThanThreshold 0, 1 times, missing is notBreaching", queue)
		}
		for _, r := range s.readers {
			mapping, _ := s.named(t, "AWS::Lambda::EventSourceMapping", r.Name+"FunctionMapping")
			for id, metric := range map[string]string{"GivesUp": "OnFailureDestinationDeliveredEventCount", "Loses": "DroppedEventCount"} {
				want[r.Name+"Function"+id] = fmt.Sprintf(
					"AWS/Lambda %s by EventSourceMappingUUID ${%s}: Sum of 300 s GreaterThanThreshold 0, 1 times, missing is notBreaching", metric, mapping)
			}
		}
		if n := len(s.all("AWS::CloudWatch::Alarm")); n != len(want) {
			t.Errorf("%d alarms, want %d", n, len(want))
		}
		topic, _ := s.only(t, "AWS::SNS::Topic")
		for begins, rings := range want {
			_, a := s.named(t, "AWS::CloudWatch::Alarm", begins)
			if got := a.rings(); got != rings {
				t.Errorf("%s:\n  %s, want\n  %s", begins, got, rings)
			}
			a.expect(t, begins, map[string]string{
				"AlarmActions": `[{"Ref":"` + topic + `"}]`, "OKActions": `[{"Ref":"` + topic + `"}]`, "ActionsEnabled": "", "AlarmName": "",
			})
			if what := plain(a.Properties["AlarmDescription"]); !strings.HasPrefix(what, "prod: ") {
				t.Errorf("%s says %q", begins, what)
			}
		}
	})
}

// What a schedule's function logs for a tick that came to its end is counted.
func TestFinishedTicks(t *testing.T) {
	production(t, func(t *testing.T, s *service) {
		if n := len(s.all("AWS::Logs::MetricFilter")); n != len(s.schedules) {
			t.Errorf("%d filters of logs for %d schedules", n, len(s.schedules))
		}
		for _, x := range s.schedules {
			log, _ := s.named(t, "AWS::Logs::LogGroup", x.Name+"Log")
			_, filter := s.named(t, "AWS::Logs::MetricFilter", x.Name+"FunctionFinished")
			filter.expect(t, x.Name, map[string]string{
				"LogGroupName":          "${" + log + "}",
				"FilterPattern":         `{ $.msg = "tick" && $.finished IS TRUE }`, // as shared/host writes it
				"MetricTransformations": `[{"Dimensions":[{"Key":"function","Value":"$.function"}],"MetricName":"SweepsFinished","MetricNamespace":"agentsocial/prod","MetricValue":"1"}]`,
			})
		}
	})
}
