package main

import (
	"fmt"
	"time"

	"github.com/aws/aws-cdk-go/awscdk/v2/awslambda"
	"github.com/aws/jsii-runtime-go"

	"agentsocial/shared/lambda/stream"
)

const (
	// retries of a batch, beyond those that halve it: a conflict or a throttle
	// passes in fewer, and a record that will never pass holds up its shard for
	// no longer.
	retries = 10

	// recordAge is after how long a record is put aside whatever became of it.
	// The stream itself forgets after 24 h, without a trace; half of that
	// leaves time to switch a broken reader off and look at it.
	recordAge = 12 * time.Hour

	// parallel batches of one shard. Events of one agent, and counts of one
	// post, are gathered within a batch, and two batches would meet on the same
	// items: one, until the age of records says otherwise.
	parallel = 1

	// behindMost is many batches that fail and are halved, and a small part of what
	// the stream keeps.
	behindMost = 10 * time.Minute

	// unreadFor is how long a reader may read nothing of a table that is written.
	unreadFor = 30 * time.Minute
)

// subscribe has a reader called with the table's changes, from the oldest the
// stream has: what was written between the table and its readers is not lost.
//
// The mapping is a plain CloudFormation resource because the construct above
// it grants more than it uses, see [rights].
func (d deployment) subscribe(r stream.Function, f awslambda.Function) awslambda.CfnEventSourceMapping {
	patterns, err := patternsOf(r)
	if err != nil {
		panic(err) // newPlan has made them before
	}
	var filters []any
	for _, p := range patterns {
		filters = append(filters, &awslambda.CfnEventSourceMapping_FilterProperty{Pattern: jsii.String(p)})
	}
	m := awslambda.NewCfnEventSourceMapping(f, jsii.String("Mapping"), &awslambda.CfnEventSourceMappingProps{
		FunctionName:                   f.FunctionArn(),
		EventSourceArn:                 d.store.table.TableStreamArn(),
		StartingPosition:               jsii.String("TRIM_HORIZON"),
		FilterCriteria:                 &awslambda.CfnEventSourceMapping_FilterCriteriaProperty{Filters: &filters},
		BatchSize:                      jsii.Number(float64(r.Batch)),
		MaximumBatchingWindowInSeconds: jsii.Number(r.Window.Seconds()),
		ParallelizationFactor:          jsii.Number(float64(parallel)),
		BisectBatchOnFunctionError:     jsii.Bool(true),
		FunctionResponseTypes:          jsii.Strings("ReportBatchItemFailures"),
		MaximumRetryAttempts:           jsii.Number(float64(retries)),
		MaximumRecordAgeInSeconds:      jsii.Number(recordAge.Seconds()),
		DestinationConfig: &awslambda.CfnEventSourceMapping_DestinationConfigProperty{
			OnFailure: &awslambda.CfnEventSourceMapping_OnFailureProperty{Destination: d.store.failed.BucketArn()},
		},
		MetricsConfig: &awslambda.CfnEventSourceMapping_MetricsConfigProperty{Metrics: jsii.Strings("EventCount")}, // else there is nothing to ring for
	})
	ofMapping := func(name string) metric {
		return metric{Namespace: "AWS/Lambda", Name: name, By: []by{{"EventSourceMappingUUID", m.Ref()}}}
	}
	ofFunction := func(name, statistic string) metric {
		return metric{Namespace: "AWS/Lambda", Name: name, By: []by{{"FunctionName", f.FunctionName()}}, Statistic: statistic}
	}
	d.alarm(f, "GivesUp", alarm{
		What: fmt.Sprintf("%s gave records up. They lie in the bucket of failed batches, for %d days: find in its log why, then redrive them.", r.Name, failedBatchesKeepDays),
		Of:   []metric{ofMapping("OnFailureDestinationDeliveredEventCount")}, Every: 5 * time.Minute, Once: true,
	})
	d.alarm(f, "Loses", alarm{
		What: r.Name + " lost records: they could not be worked off, nor left in the bucket. See whether the bucket is there, and who may write to it.",
		Of:   []metric{ofMapping("DroppedEventCount"), ofFunction("DestinationDeliveryFailures", "Sum")}, Every: 5 * time.Minute, Once: true,
	})
	d.alarm(f, "Behind", alarm{
		What:  fmt.Sprintf("%s is more than %s behind the table. See in its log whether a record holds it up, or whether there are too many.", r.Name, behindMost),
		Of:    []metric{ofFunction("IteratorAge", "Maximum")},
		Above: float64(behindMost.Milliseconds()), Every: 5 * time.Minute, Times: 3,
	})
	d.alarm(f, "Unread", alarm{ // who is not called has no age; twice, as what is written last is read a moment later
		What: fmt.Sprintf("%s reads nothing, and the table has been written for %s. See whether its mapping is enabled, and of which stream it is.", r.Name, unreadFor),
		Of: []metric{
			{Namespace: "AWS/DynamoDB", Name: "ConsumedWriteCapacityUnits", By: []by{{"TableName", d.store.table.TableName()}}},
			ofMapping("PolledEventCount"),
		},
		Math: "IF(FILL(m1, 0) > 0 AND FILL(m2, 0) == 0, 1, 0)", Every: unreadFor / 2, Times: 2,
	})
	return m
}

// after has a function that writes deployed once the readers and their filters
// are. A filter drops a record for good: what new code wrote under filters that
// do not know it yet (a first vote, say) would never be counted. There is no
// circle: a reader waits for the table, and no reader for a function that writes.
func after(f awslambda.Function, readers []awslambda.CfnEventSourceMapping) {
	own := f.Node().DefaultChild().(awslambda.CfnFunction) // alone: what stands below it need not wait
	for _, m := range readers {
		own.AddDependency(m)
	}
}
