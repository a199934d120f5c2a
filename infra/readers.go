package main

import (
	"fmt"
	"time"

	"github.com/aws/aws-cdk-go/awscdk/v2/awslambda"
	"github.com/aws/jsii-runtime-go"

	"agentsocial/shared/lambda/stream"
)

const (
	// recordAge is the age at which an unprocessed record goes to the failed batches. The
	// stream keeps a record for 24 h, which leaves time to disable a broken reader.
	recordAge = 12 * time.Hour

	// parallel is the number of batches of one shard that a reader handles at a time. With
	// more than one, batches that write to the same inbox or the same counters conflict.
	parallel = 1

	// behindMost is the lag above which the alarm Behind rings. It allows for several
	// failing batches, well within the 24 h that the stream keeps.
	behindMost = 10 * time.Minute

	// unreadFor bounds the time in which a reader reads nothing while the table is written.
	unreadFor = 30 * time.Minute
)

// subscribe maps the table's stream to a reader, from the oldest record on, and makes the
// reader's alarms. The CDK's construct would grant needless rights: see [rights.policy].
func (d deployment) subscribe(r stream.Function, f awslambda.Function) awslambda.CfnEventSourceMapping {
	patterns, err := patternsOf(r)
	if err != nil {
		panic(err) // newPlan has checked them
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
		MaximumRetryAttempts:           jsii.Number(stream.Retries),
		MaximumRecordAgeInSeconds:      jsii.Number(recordAge.Seconds()),
		DestinationConfig: &awslambda.CfnEventSourceMapping_DestinationConfigProperty{
			OnFailure: &awslambda.CfnEventSourceMapping_OnFailureProperty{Destination: d.store.failed.BucketArn()},
		},
		MetricsConfig: &awslambda.CfnEventSourceMapping_MetricsConfigProperty{Metrics: jsii.Strings("EventCount")}, // the alarms below need it
	})
	ofMapping := func(name string) metric {
		return metric{Namespace: "AWS/Lambda", Name: name, By: []by{{"EventSourceMappingUUID", m.Ref()}}}
	}
	ofFunction := func(name, statistic string) metric {
		return metric{Namespace: "AWS/Lambda", Name: name, By: []by{{"FunctionName", f.FunctionName()}}, Statistic: statistic}
	}
	d.alarm(f, "GivesUp", alarm{
		What: fmt.Sprintf("The reader %s gave up on some records. The bucket of failed batches keeps them for %d days. Find the cause in the function's log, then redrive them.", r.Name, failedBatchesKeepDays),
		Of:   []metric{ofMapping("OnFailureDestinationDeliveredEventCount")}, Every: 5 * time.Minute, Once: true,
	})
	d.alarm(f, "Loses", alarm{
		What: "The reader " + r.Name + " could neither process some records nor leave them in the bucket of failed batches. They are lost 24 hours after they were written. Check that the bucket exists and that the function may write to it, then replay the records.",
		Of:   []metric{ofMapping("DroppedEventCount"), ofFunction("DestinationDeliveryFailures", "Sum")}, Every: 5 * time.Minute, Once: true,
	})
	d.alarm(f, "Behind", alarm{
		What:  fmt.Sprintf("The reader %s is more than %s behind the table. See in its log whether one record holds it up, or whether the load is too high.", r.Name, inWords(behindMost)),
		Of:    []metric{ofFunction("IteratorAge", "Maximum")},
		Above: float64(behindMost.Milliseconds()), Every: 5 * time.Minute, Times: 3,
	})
	d.alarm(f, "Unread", alarm{ // a reader that is not called has no age; two periods, since the last write is read a moment later
		What: fmt.Sprintf("The reader %s has read nothing for %s while the table was written. Check that its event source mapping is enabled and reads the right stream.", r.Name, inWords(unreadFor)),
		Of: []metric{
			{Namespace: "AWS/DynamoDB", Name: "ConsumedWriteCapacityUnits", By: []by{{"TableName", d.store.table.TableName()}}},
			ofMapping("PolledEventCount"),
		},
		Math: "IF(FILL(m1, 0) > 0 AND FILL(m2, 0) == 0, 1, 0)", Every: unreadFor / 2, Times: 2,
	})
	return m
}

// after makes the deployment of f wait for the readers and their filters, because old
// filters would drop a new type of record for good.
func after(f awslambda.Function, readers []awslambda.CfnEventSourceMapping) {
	own := f.Node().DefaultChild().(awslambda.CfnFunction) // its children need not wait
	for _, m := range readers {
		own.AddDependency(m)
	}
}
