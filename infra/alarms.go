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

// newOperators is the topic that every alarm goes to, and from where mail goes to
// the operators, if an address is set and whoever reads it confirms.
//
// It is not encrypted with a key: the one that SNS has of itself CloudWatch may
// not use, and what alarms say, names and numbers, is worth none of its own. Its
// policy takes the place of SNS's own, and so names who publishes.
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

// metric is a number that CloudWatch has.
type metric struct {
	Namespace string
	Name      string
	By        []by   // what it is told apart by; none for the whole account's
	Statistic string // "Sum" unless it says otherwise
}

// by is a dimension.
type by struct {
	Name  string
	Value *string
}

// own is a metric that functions emit, of which shared/lambda/metrics tells.
func (d deployment) own(name, dimension, value string) metric {
	m := metric{Namespace: metrics.Namespace(d.Stage), Name: name}
	if dimension != "" {
		m.By = []by{{dimension, jsii.String(value)}}
	}
	return m
}

// alarm is what operators want to hear of. Its kind, by which it is made, has a
// section of the runbook.
type alarm struct {
	What  string        // the matter, and what to do first
	Of    []metric      // m1, m2, …
	Math  string        // of those; their sum unless it says otherwise
	Above float64       // which it is not to be
	Every time.Duration // over which the number is taken
	Times int           // in a row that it is out of bounds; 1 unless it says otherwise
	// Silent is a number that is to be there: the alarm is that it is not.
	Silent bool
	// Once is something that happened, which is not over because it does not happen
	// again: nobody is told so.
	Once bool
}

// alarm rings when the number is above what it may be or, where it is to be there,
// when it is not. It says so once more when that is over.
//
// Each begins in a state of CloudWatch's own, INSUFFICIENT_DATA, and finds within
// minutes that all is well: of a new stage the operators hear that, once for each,
// if they have confirmed by then. One that is Silent may ring until the number is
// there for the first time: there is no other way to hear of one that never comes.
func (d deployment) alarm(scope constructs.Construct, kind string, a alarm) {
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
	if a.Silent {
		props.ComparisonOperator, props.Threshold, props.TreatMissingData = jsii.String("LessThanThreshold"), jsii.Number(1), jsii.String("breaching")
	}
	period := jsii.Number(a.Every.Seconds())
	if len(a.Of) == 1 {
		a.Of[0].alone(props, period)
	} else {
		props.Metrics = a.combined(period)
	}
	*d.rings = append(*d.rings, awscloudwatch.NewCfnAlarm(scope, jsii.String(kind), props).AttrArn())
}

// runbookHeading is of the section that tells what to do for an alarm.
func runbookHeading(kind string) string { return "Alarm: " + kind }

// alone makes the metric the alarm's only one.
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

// combined are the alarm's metrics, and the expression of them that it is about.
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
