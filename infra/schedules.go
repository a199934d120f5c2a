package main

import (
	"fmt"
	"time"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsiam"
	"github.com/aws/aws-cdk-go/awscdk/v2/awslambda"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsscheduler"
	"github.com/aws/jsii-runtime-go"

	"agentsocial/shared/schedule"
)

// A tick that is lost or fails is no harm, and needs no dead letter: what was due
// is due at the next.
const (
	// tickTries is how often a tick that Lambda did not take is sent again.
	tickTries = 2

	// sweepTries is how often Lambda calls the function again for a tick that it
	// took and that failed: a second sweep would do the work of the next tick,
	// beside it.
	sweepTries = 0

	// oldestTick is how long Lambda keeps a call, at most.
	oldestTick = 6 * time.Hour
)

// tickAge is after how long a tick is forgotten: by then the next one is there.
func tickAge(s schedule.Function) *float64 {
	return jsii.Number(min(s.Every, oldestTick).Seconds())
}

// rateOf is how often a function is called, as EventBridge Scheduler says it.
func rateOf(s schedule.Function) (string, error) {
	n := int(s.Every / time.Minute)
	switch {
	case n < 1 || s.Every%time.Minute != 0:
		return "", fmt.Errorf("schedule %s: every %s; whole minutes are possible", s.Name, s.Every)
	case s.Every <= scheduleTimeout:
		return "", fmt.Errorf("schedule %s: every %s, and it may take %s", s.Name, s.Every, scheduleTimeout)
	}
	return fmt.Sprintf("rate(%d minutes)", n), nil
}

// schedule has the clock call a function, by a role that may do nothing else.
func (d deployment) schedule(s schedule.Function, f awslambda.Function) {
	rate, err := rateOf(s)
	if err != nil {
		panic(err) // newPlan has made it before
	}
	role := awsiam.NewRole(f, jsii.String("ClockRole"), &awsiam.RoleProps{
		AssumedBy: awsiam.NewServicePrincipal(jsii.String("scheduler.amazonaws.com"), &awsiam.ServicePrincipalOpts{
			// Nobody else's schedule may use it.
			Conditions: &map[string]any{"StringEquals": map[string]any{"aws:SourceAccount": awscdk.Aws_ACCOUNT_ID()}},
		}),
		InlinePolicies: &map[string]awsiam.PolicyDocument{"own": awsiam.NewPolicyDocument(&awsiam.PolicyDocumentProps{
			Statements: &[]awsiam.PolicyStatement{awsiam.NewPolicyStatement(&awsiam.PolicyStatementProps{
				Sid: jsii.String("Call"), Actions: jsii.Strings("lambda:InvokeFunction"), Resources: &[]*string{f.FunctionArn()},
			})},
		})},
	})
	awsscheduler.NewCfnSchedule(f, jsii.String("Clock"), &awsscheduler.CfnScheduleProps{
		Description:        jsii.String(s.Doc),
		ScheduleExpression: jsii.String(rate),
		FlexibleTimeWindow: &awsscheduler.CfnSchedule_FlexibleTimeWindowProperty{Mode: jsii.String("OFF")},
		Target: &awsscheduler.CfnSchedule_TargetProperty{
			Arn: f.FunctionArn(), RoleArn: role.RoleArn(),
			RetryPolicy: &awsscheduler.CfnSchedule_RetryPolicyProperty{
				MaximumRetryAttempts: jsii.Number(float64(tickTries)), MaximumEventAgeInSeconds: tickAge(s),
			},
		},
	})
	// The clock does not wait for an answer: Lambda queues the call, and of itself
	// would make it three times within six hours.
	awslambda.NewCfnEventInvokeConfig(f, jsii.String("Calls"), &awslambda.CfnEventInvokeConfigProps{
		FunctionName: f.FunctionName(), Qualifier: jsii.String("$LATEST"),
		MaximumRetryAttempts: jsii.Number(float64(sweepTries)), MaximumEventAgeInSeconds: tickAge(s),
	})
}
