package main

import (
	"time"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awscloudwatch"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsiam"
	"github.com/aws/aws-cdk-go/awscdk/v2/awssns"
	"github.com/aws/constructs-go/constructs/v10"
	"github.com/aws/jsii-runtime-go"
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

// alarm is a number of which operators want to hear.
type alarm struct {
	What      string // the matter, and what to do
	Namespace string
	Metric    string
	Dimension string // by which the metric is told apart
	Of        *string
	Statistic string        // "Sum" unless it says otherwise
	Every     time.Duration // over which the number is taken
	Times     int           // in a row that it is out of bounds; 1 unless it says otherwise

	// Silent is a number that is to be there: the alarm is that it is not.
	Silent bool
}

// alarm rings when the number is above zero or, where it is to be there, when it
// is not. It says so once more when that is over.
func (d deployment) alarm(scope constructs.Construct, id string, a alarm) {
	is, missing := "GreaterThanThreshold", "notBreaching"
	threshold := 0.0
	if a.Silent {
		is, missing, threshold = "LessThanThreshold", "breaching", 1
	}
	if a.Statistic == "" {
		a.Statistic = "Sum"
	}
	operators := []*string{d.operators.TopicArn()}
	awscloudwatch.NewCfnAlarm(scope, jsii.String(id), &awscloudwatch.CfnAlarmProps{
		AlarmDescription: jsii.String(d.Stage + ": " + a.What),
		Namespace:        jsii.String(a.Namespace), MetricName: jsii.String(a.Metric),
		Dimensions:         []any{&awscloudwatch.CfnAlarm_DimensionProperty{Name: jsii.String(a.Dimension), Value: a.Of}},
		Statistic:          jsii.String(a.Statistic),
		Period:             jsii.Number(a.Every.Seconds()),
		EvaluationPeriods:  jsii.Number(float64(max(1, a.Times))),
		ComparisonOperator: jsii.String(is), Threshold: jsii.Number(threshold), TreatMissingData: jsii.String(missing),
		AlarmActions: &operators, OkActions: &operators,
	})
}
