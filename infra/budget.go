package main

import (
	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsbudgets"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsiam"
	"github.com/aws/aws-cdk-go/awscdk/v2/awssns"
	"github.com/aws/jsii-runtime-go"
)

// newBudget makes a budget that notifies the operators when the account's monthly bill
// passes it or is forecast to. It covers the whole account, since AWS separates stages by
// tags only if the bill's owner enabled that. It stops nothing.
func newBudget(stack awscdk.Stack, s Settings, operators awssns.Topic) {
	if s.BudgetUSD == 0 {
		return
	}
	allowed := operators.AddToResourcePolicy(awsiam.NewPolicyStatement(&awsiam.PolicyStatementProps{
		Sid:        jsii.String("Budget"),
		Principals: &[]awsiam.IPrincipal{awsiam.NewServicePrincipal(jsii.String("budgets.amazonaws.com"), nil)},
		Actions:    jsii.Strings("sns:Publish"),
		Resources:  &[]*string{operators.TopicArn()},
		Conditions: &map[string]any{"StringEquals": map[string]any{"aws:SourceAccount": awscdk.Aws_ACCOUNT_ID()}},
	}))
	above := func(kind string) *awsbudgets.CfnBudget_NotificationWithSubscribersProperty {
		return &awsbudgets.CfnBudget_NotificationWithSubscribersProperty{
			Notification: &awsbudgets.CfnBudget_NotificationProperty{
				NotificationType: jsii.String(kind), ComparisonOperator: jsii.String("GREATER_THAN"),
				Threshold: jsii.Number(100), ThresholdType: jsii.String("PERCENTAGE"),
			},
			Subscribers: []any{&awsbudgets.CfnBudget_SubscriberProperty{
				SubscriptionType: jsii.String("SNS"), Address: operators.TopicArn(),
			}},
		}
	}
	budget := awsbudgets.NewCfnBudget(stack, jsii.String("Budget"), &awsbudgets.CfnBudgetProps{
		Budget: &awsbudgets.CfnBudget_BudgetDataProperty{
			BudgetType: jsii.String("COST"), TimeUnit: jsii.String("MONTHLY"),
			BudgetLimit: &awsbudgets.CfnBudget_SpendProperty{Amount: jsii.Number(float64(s.BudgetUSD)), Unit: jsii.String("USD")},
		},
		NotificationsWithSubscribers: []any{above("ACTUAL"), above("FORECASTED")},
	})
	budget.Node().AddDependency(allowed.PolicyDependable) // AWS checks the permission
}
