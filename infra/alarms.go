package main

import (
	"cmp"
	"fmt"
	"time"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awscloudwatch"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsiam"
	"github.com/aws/aws-cdk-go/awscdk/v2/awssns"
	"github.com/aws/constructs-go/constructs/v10"
	"github.com/aws/jsii-runtime-go"

	"agentsocial/shared/lambda/metrics"
)

// newOperators makes the topic that every alarm goes to. The topic mails the operators once
// the owner of alarmMail has confirmed the subscription.
//
// The topic has no encryption key, because CloudWatch cannot use SNS's own key. The topic's
// policy replaces SNS's default policy, so it says who may publish.
func newOperators(stack awscdk.Stack, s Settings) awssns.Topic {
	topic := awssns.NewTopic(stack, jsii.String("Operators"), &awssns.TopicProps{EnforceSSL: jsii.Bool(true)})
	topic.AddToResourcePolicy(awsiam.NewPolicyStatement(&awsiam.PolicyStatementProps{
		Sid:        jsii.String("Alarms"),
		Principals: &[]awsiam.IPrincipal{awsiam.NewServicePrincipal(jsii.String("cloudwatch.amazonaws.com"), nil)},
		Actions:    jsii.Strings("sns:Publish"),
		Resources:  &[]*string{topic.TopicArn()},
		Conditions: &map[string]any{"StringEquals": map[string]any{"aws:SourceAccount": awscdk.Aws_ACCOUNT_ID()}},
	}))
	if s.AlarmMail != "" {
		awssns.NewCfnSubscription(stack, jsii.String("OperatorsMail"), &awssns.CfnSubscriptionProps{
			TopicArn: topic.TopicArn(), Protocol: jsii.String("email"), Endpoint: jsii.String(s.AlarmMail),
		})
	}
	output(stack, "OperatorsTopic", topic.TopicArn(), "Where alarms go")
	return topic
}

// metric is a metric in CloudWatch.
type metric struct {
	Namespace string
	Name      string
	By        []by   // its dimensions, if any
	Statistic string // "" is "Sum"
}

// by is a dimension of a metric.
type by struct {
	Name  string
	Value *string
}

// own returns a metric in the stage's own namespace.
func (d deployment) own(name, dimension, value string) metric {
	m := metric{Namespace: metrics.Namespace(d.Stage), Name: name}
	if dimension != "" {
		m.By = []by{{dimension, jsii.String(value)}}
	}
	return m
}

// alarm describes an alarm. The runbook has a section for each kind of alarm.
type alarm struct {
	What  string        // what is wrong, and what to do first
	Of    []metric      // m1, m2, …
	Math  string        // an expression of m1, m2, …; "" is their sum
	Above float64       // rings above this
	Every time.Duration // the period of the metric
	Times int           // periods in a row before it rings; 0 is 1
	// Silent rings when the metric is below 1 or missing.
	Silent bool
	// Missing rings when the metric is missing, too.
	Missing bool
	// Once sends no OK, because the operators must act even if the event does not happen
	// again.
	Once bool
}

// alarm makes an alarm that notifies the operators when it rings and, unless it is Once,
// when it ends.
//
// Unless it is Once, a new alarm mails the operators within minutes, when it turns from
// INSUFFICIENT_DATA to OK. A Silent or Missing alarm may ring until its metric first
// arrives.
func (d deployment) alarm(scope constructs.Construct, kind string, a alarm) awscloudwatch.CfnAlarm {
	operators := []*string{d.operators.TopicArn()}
	props := &awscloudwatch.CfnAlarmProps{
		AlarmDescription:   jsii.String(d.Stage + ": " + a.What + " See infra/RUNBOOK.md, \"" + runbookHeading(kind) + "\"."),
		EvaluationPeriods:  jsii.Number(float64(max(1, a.Times))),
		ComparisonOperator: jsii.String("GreaterThanThreshold"), Threshold: jsii.Number(a.Above), TreatMissingData: jsii.String("notBreaching"),
		AlarmActions: &operators,
	}
	if !a.Once {
		props.OkActions = &operators
	}
	if a.Missing {
		props.TreatMissingData = jsii.String("breaching")
	}
	if a.Silent {
		props.ComparisonOperator, props.Threshold, props.TreatMissingData = jsii.String("LessThanThreshold"), jsii.Number(1), jsii.String("breaching")
	}
	period := jsii.Number(a.Every.Seconds())
	if len(a.Of) == 1 {
		a.Of[0].alone(props, period)
	} else {
		props.Metrics = a.combined(period)
	}
	made := awscloudwatch.NewCfnAlarm(scope, jsii.String(kind), props)
	*d.rings = append(*d.rings, made.AttrArn())
	return made
}

// inWords returns a duration as an alarm's description says it, such as "30 minutes".
func inWords(d time.Duration) string {
	switch {
	case d >= 2*time.Hour && d%time.Hour == 0:
		return fmt.Sprintf("%d hours", d/time.Hour)
	case d >= 2*time.Minute && d%time.Minute == 0:
		return fmt.Sprintf("%d minutes", d/time.Minute)
	}
	return fmt.Sprintf("%g seconds", d.Seconds())
}

func runbookHeading(kind string) string { return "Alarm: " + kind }

func (m metric) alone(props *awscloudwatch.CfnAlarmProps, period *float64) {
	props.Namespace, props.MetricName, props.Dimensions, props.Period = jsii.String(m.Namespace), jsii.String(m.Name), m.dimensions(), period
	props.Statistic = jsii.String(cmp.Or(m.Statistic, "Sum"))
}

func (m metric) dimensions() any {
	if m.By == nil {
		return nil
	}
	var all []any
	for _, b := range m.By {
		all = append(all, &awscloudwatch.CfnAlarm_DimensionProperty{Name: jsii.String(b.Name), Value: b.Value})
	}
	return all
}

// combined returns the alarm's metrics and the expression that it watches.
func (a alarm) combined(period *float64) *[]any {
	queries := []any{&awscloudwatch.CfnAlarm_MetricDataQueryProperty{
		Id: jsii.String("number"), Expression: jsii.String(cmp.Or(a.Math, "SUM(METRICS())")), ReturnData: jsii.Bool(true),
	}}
	for i, m := range a.Of {
		queries = append(queries, &awscloudwatch.CfnAlarm_MetricDataQueryProperty{
			Id: jsii.String(fmt.Sprintf("m%d", i+1)), ReturnData: jsii.Bool(false),
			MetricStat: &awscloudwatch.CfnAlarm_MetricStatProperty{
				Metric: &awscloudwatch.CfnAlarm_MetricProperty{Namespace: jsii.String(m.Namespace), MetricName: jsii.String(m.Name), Dimensions: m.dimensions()},
				Period: period, Stat: jsii.String(cmp.Or(m.Statistic, "Sum")),
			},
		})
	}
	return &queries
}
