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

// A tick is one call of a scheduled function by the clock, EventBridge Scheduler. A tick
// that is lost or fails does no harm, because the next one does the work. A tick that fails
// becomes a dead letter, except the probe's, which has its own alarm.
const (
	// tickTries bounds the retries of a tick that Lambda did not accept.
	tickTries = 2

	// sweepTries bounds Lambda's retries of a failed tick. A retry would run beside the
	// next tick.
	sweepTries = 0

	// timeoutMost is Lambda's longest timeout.
	timeoutMost = 15 * time.Minute

	// oldestTick is the longest time that Lambda queues a call.
	oldestTick = 6 * time.Hour

	// deadLettersKeepDays is SQS's longest retention.
	deadLettersKeepDays = 14

	// stoppedFor is the time without a call after which an alarm rings, or two periods
	// of the schedule if these are longer.
	stoppedFor = 30 * time.Minute

	// unfinishedMost is the number of ticks that may run out of time within stoppedFor. A
	// schedule that is called every five minutes and never finishes exceeds it.
	unfinishedMost = 4
)

// tickAge returns the age in seconds at which a tick expires. The next tick replaces it.
func tickAge(s schedule.Function) *float64 {
	return jsii.Number(min(s.Every, oldestTick).Seconds())
}

// rateOf returns a schedule's rate expression for EventBridge Scheduler.
func rateOf(s schedule.Function) (string, error) {
	n, most := int(s.Every/time.Minute), host.ScheduleSize(s).Timeout
	switch {
	case n < 1 || s.Every%time.Minute != 0:
		return "", fmt.Errorf("schedule %s runs every %s; it must be whole minutes", s.Name, s.Every)
	case most > timeoutMost:
		return "", fmt.Errorf("schedule %s may take %s; Lambda allows at most %s", s.Name, most, timeoutMost)
	case s.Every <= most:
		return "", fmt.Errorf("schedule %s runs every %s but may take %s; a tick must end before the next", s.Name, s.Every, most)
	}
	if n == 1 {
		return "rate(1 minute)", nil
	}
	return fmt.Sprintf("rate(%d minutes)", n), nil
}

// newDeadLetters makes the queue for the failed calls of all schedules. One queue needs
// only one alarm.
func newDeadLetters(stack awscdk.Stack) awssqs.Queue {
	return awssqs.NewQueue(stack, jsii.String("DeadLetters"), &awssqs.QueueProps{
		Encryption:      awssqs.QueueEncryption_SQS_MANAGED, // so the clock and Lambda need no permission for a key
		EnforceSSL:      jsii.Bool(true),
		RetentionPeriod: awscdk.Duration_Days(jsii.Number(deadLettersKeepDays)),
	})
}

// schedule lets the clock call a function, with a role that may do only that and send dead
// letters.
func (d deployment) schedule(s schedule.Function, f awslambda.Function, dead awssqs.Queue) {
	rate, err := rateOf(s)
	if err != nil {
		panic(err) // newPlan has checked it
	}
	may := func(sid, action string, resource *string) awsiam.PolicyStatement {
		return awsiam.NewPolicyStatement(&awsiam.PolicyStatementProps{
			Sid: jsii.String(sid), Actions: jsii.Strings(action), Resources: &[]*string{resource},
		})
	}
	role := awsiam.NewRole(f, jsii.String("ClockRole"), &awsiam.RoleProps{
		Description: jsii.String("What the clock may do for the function " + s.Name),
		AssumedBy: awsiam.NewServicePrincipal(jsii.String("scheduler.amazonaws.com"), &awsiam.ServicePrincipalOpts{
			// Only schedules of this account may use it.
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
	if s.Outside {
		limitCalls(f, sweepTries, min(s.Every, oldestTick), nil)
		d.watchOutside(s, f)
		return
	}
	limitCalls(f, sweepTries, min(s.Every, oldestTick), dead)
	d.watch(s, f)
}

// unreachableTimes is the number of ticks in a row that must fail, or not come, before the
// alarm rings.
const unreachableTimes = 2

// watchOutside makes the alarm of a function that calls the service from outside. Lambda
// reports 0 errors for a call that succeeds, so a missing metric means that nobody called.
func (d deployment) watchOutside(s schedule.Function, f awslambda.Function) {
	d.alarm(f, "Unreachable", alarm{
		What:  fmt.Sprintf("For %s the function %s could not use the service at its public address, or was not called. In its log, the lines with msg \"tick\" have the error. Check the DNS record, the certificate, the domain's mapping and the gateway.", inWords(unreachableTimes*s.Every), s.Name),
		Of:    []metric{{Namespace: "AWS/Lambda", Name: "Errors", By: []by{{"FunctionName", f.FunctionName()}}}},
		Every: s.Every, Times: unreachableTimes, Missing: true,
	})
}

// limitCalls bounds the retries and the age of a function's asynchronous calls. A call that
// fails for good goes to dead. If dead is nil, Lambda drops it.
func limitCalls(f awslambda.Function, retries int, age time.Duration, dead awssqs.Queue) {
	props := &awslambda.CfnEventInvokeConfigProps{
		FunctionName: f.FunctionName(), Qualifier: jsii.String("$LATEST"),
		MaximumRetryAttempts: jsii.Number(float64(retries)), MaximumEventAgeInSeconds: jsii.Number(age.Seconds()),
	}
	if dead != nil {
		props.DestinationConfig = &awslambda.CfnEventInvokeConfig_DestinationConfigProperty{
			OnFailure: &awslambda.CfnEventInvokeConfig_OnFailureProperty{Destination: dead.QueueArn()},
		}
	}
	awslambda.NewCfnEventInvokeConfig(f, jsii.String("Calls"), props)
}

// watch makes the alarm of a schedule that is not called.
func (d deployment) watch(s schedule.Function, f awslambda.Function) {
	times := max(2, int(stoppedFor/s.Every))
	d.alarm(f, "Stopped", alarm{
		What:  fmt.Sprintf("The function %s has not been called for %s. Check that its schedule is enabled and may call it.", s.Name, inWords(time.Duration(times)*s.Every)),
		Of:    []metric{{Namespace: "AWS/Lambda", Name: "Invocations", By: []by{{"FunctionName", f.FunctionName()}}}},
		Every: s.Every, Times: times, Silent: true,
	})
}

func (d deployment) watchSchedules(stack awscdk.Stack, dead awssqs.Queue) {
	d.alarm(stack, "Fails", alarm{
		What: "A scheduled function failed, or could not be called. The dead letter says which and why; the next tick does the work.",
		Of:   []metric{{Namespace: "AWS/SQS", Name: "NumberOfMessagesSent", By: []by{{"QueueName", dead.QueueName()}}}}, Every: 5 * time.Minute,
	})
	d.alarm(stack, "Unfinished", alarm{
		What: "Scheduled functions ran out of time, again and again: there is more work than their ticks can do, or the table is slow. In their logs, lines with msg \"tick\" and unfinished 1 show which function.",
		Of:   []metric{d.own(metrics.Unfinished, "", "")}, Above: unfinishedMost, Every: stoppedFor,
	})
}
