package main

import (
	"fmt"
	"time"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsiam"
	"github.com/aws/aws-cdk-go/awscdk/v2/awslambda"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsscheduler"
	"github.com/aws/aws-cdk-go/awscdk/v2/awssqs"
	"github.com/aws/jsii-runtime-go"

	"agentsocial/shared/lambda/host"
	"agentsocial/shared/lambda/metrics"
	"agentsocial/shared/lambda/schedule"
)

// A tick that is lost or fails is no harm by itself: what was due is due at the
// next. It is kept as a dead letter, for whoever looks why.
const (
	// tickTries is how often a tick that Lambda did not take is sent again.
	tickTries = 2

	// sweepTries is how often Lambda calls the function again for a tick that it
	// took and that failed: a second sweep would do the work of the next tick,
	// beside it.
	sweepTries = 0

	// timeoutMost is what Lambda gives a call.
	timeoutMost = 15 * time.Minute

	// oldestTick is how long Lambda keeps a call, at most.
	oldestTick = 6 * time.Hour

	// deadLettersKeepDays is as long as SQS keeps anything.
	deadLettersKeepDays = 14

	// unfinishedFor is how long no sweep may come to its end, or two of them where
	// that is longer.
	unfinishedFor = 30 * time.Minute
)

// tickAge is after how long a tick is forgotten: by then the next one is there.
func tickAge(s schedule.Function) *float64 {
	return jsii.Number(min(s.Every, oldestTick).Seconds())
}

// rateOf is how often a function is called, as EventBridge Scheduler says it.
func rateOf(s schedule.Function) (string, error) {
	n, most := int(s.Every/time.Minute), host.ScheduleSize(s).Timeout
	switch {
	case n < 1 || s.Every%time.Minute != 0:
		return "", fmt.Errorf("schedule %s: every %s; whole minutes are possible", s.Name, s.Every)
	case most > timeoutMost:
		return "", fmt.Errorf("schedule %s: it may take %s; Lambda gives %s", s.Name, most, timeoutMost)
	case s.Every <= most:
		return "", fmt.Errorf("schedule %s: every %s, and it may take %s", s.Name, s.Every, most)
	}
	return fmt.Sprintf("rate(%d minutes)", n), nil
}

// newDeadLetters is where a schedule's ticks go that came to nothing, of both
// kinds: those that the clock could not have Lambda take, and those that Lambda
// took and whose call failed, or never was made. Each says which, and why.
func newDeadLetters(stack awscdk.Stack, name string) awssqs.Queue {
	return awssqs.NewQueue(stack, jsii.String(name+"DeadLetters"), &awssqs.QueueProps{
		Encryption:      awssqs.QueueEncryption_SQS_MANAGED, // neither the clock nor Lambda needs a right to a key
		EnforceSSL:      jsii.Bool(true),
		RetentionPeriod: awscdk.Duration_Days(jsii.Number(deadLettersKeepDays)),
	})
}

// schedule has the clock call a function, by a role that may do nothing else.
func (d deployment) schedule(s schedule.Function, f awslambda.Function, dead awssqs.Queue) {
	rate, err := rateOf(s)
	if err != nil {
		panic(err) // newPlan has made it before
	}
	may := func(sid, action string, resource *string) awsiam.PolicyStatement {
		return awsiam.NewPolicyStatement(&awsiam.PolicyStatementProps{
			Sid: jsii.String(sid), Actions: jsii.Strings(action), Resources: &[]*string{resource},
		})
	}
	role := awsiam.NewRole(f, jsii.String("ClockRole"), &awsiam.RoleProps{
		Description: jsii.String("What the clock may do for the function " + s.Name),
		AssumedBy: awsiam.NewServicePrincipal(jsii.String("scheduler.amazonaws.com"), &awsiam.ServicePrincipalOpts{
			// Nobody else's schedule may use it.
			Conditions: &map[string]any{"StringEquals": map[string]any{"aws:SourceAccount": awscdk.Aws_ACCOUNT_ID()}},
		}),
		InlinePolicies: &map[string]awsiam.PolicyDocument{"own": awsiam.NewPolicyDocument(&awsiam.PolicyDocumentProps{
			Statements: &[]awsiam.PolicyStatement{
				may("Call", "lambda:InvokeFunction", f.FunctionArn()),
				may("DeadLetter", "sqs:SendMessage", dead.QueueArn()),
			},
		})},
	})
	awsscheduler.NewCfnSchedule(f, jsii.String("Clock"), &awsscheduler.CfnScheduleProps{
		Description:        jsii.String(s.Doc),
		ScheduleExpression: jsii.String(rate),
		FlexibleTimeWindow: &awsscheduler.CfnSchedule_FlexibleTimeWindowProperty{Mode: jsii.String("OFF")},
		Target: &awsscheduler.CfnSchedule_TargetProperty{
			Arn: f.FunctionArn(), RoleArn: role.RoleArn(),
			DeadLetterConfig: &awsscheduler.CfnSchedule_DeadLetterConfigProperty{Arn: dead.QueueArn()},
			RetryPolicy: &awsscheduler.CfnSchedule_RetryPolicyProperty{
				MaximumRetryAttempts: jsii.Number(float64(tickTries)), MaximumEventAgeInSeconds: tickAge(s),
			},
		},
	})
	// The clock does not wait for an answer: Lambda queues the call, and of itself
	// would make it three times within six hours, and then forget it.
	awslambda.NewCfnEventInvokeConfig(f, jsii.String("Calls"), &awslambda.CfnEventInvokeConfigProps{
		FunctionName: f.FunctionName(), Qualifier: jsii.String("$LATEST"),
		MaximumRetryAttempts: jsii.Number(float64(sweepTries)), MaximumEventAgeInSeconds: tickAge(s),
		DestinationConfig: &awslambda.CfnEventInvokeConfig_DestinationConfigProperty{
			OnFailure: &awslambda.CfnEventInvokeConfig_OnFailureProperty{Destination: dead.QueueArn()},
		},
	})
	d.watch(s, f, dead)
}

// watch has the operators told when a schedule's function fails, when ticks come
// to nothing, and when, for whatever reason, no sweep comes to its end: the clock
// stands still, each fails, or there is more to do than time to do it.
func (d deployment) watch(s schedule.Function, f awslambda.Function, dead awssqs.Queue) {
	d.alarm(f, "Fails", alarm{
		What: s.Name + " fails. Its log says why, in the lines with an error.",
		Of:   []metric{{Namespace: "AWS/Lambda", Name: "Errors", By: []by{{"FunctionName", f.FunctionName()}}}}, Every: s.Every,
	})
	times := max(2, int(unfinishedFor/s.Every))
	d.alarm(f, "Unfinished", alarm{
		What: fmt.Sprintf("%s has not come to its end for %s: it is not called, fails, or is out of time. See in its log which.", s.Name, time.Duration(times)*s.Every),
		Of:   []metric{d.own(metrics.Finished, metrics.ByFunction, s.Name)}, Every: s.Every,
		Times: times, Silent: true,
	})
	d.alarm(f, "Dead", alarm{
		What:  s.Name + " has dead letters. Each says why; the next tick did the work. Purge the queue once they are understood.",
		Of:    []metric{{Namespace: "AWS/SQS", Name: "ApproximateNumberOfMessagesVisible", By: []by{{"QueueName", dead.QueueName()}}, Statistic: "Maximum"}},
		Every: 5 * time.Minute,
	})
}
