package main

import (
	"github.com/aws/aws-cdk-go/awscdk/v2/awsdynamodb"
	"github.com/aws/jsii-runtime-go"

	"agentsocial/tables"
)

// capacity says how the table and its indexes are paid for. A zero is left out of the
// template.
type capacity struct {
	mode                awsdynamodb.BillingMode
	capReads, capWrites int // the caps of on-demand capacity

	// provisioned
	tableReads, tableWrites, indexReads, indexWrites span
}

// span holds the bounds of a capacity that follows the load.
type span struct{ least, most int }

// chosenCapacity returns the capacity that the settings choose.
//
// On-demand capacity is paid for by the request, provisioned capacity by the hour.
// Autoscaling keeps capacityTarget percent of provisioned capacity in use, and follows the
// load within minutes. A load that rises faster is throttled once it has used up the unused
// capacity of the last five minutes. A throttled index throttles the table's writes, so
// each index may grow as far as the table.
func (s Settings) chosenCapacity() capacity {
	if s.Capacity != capacityProvisioned {
		return capacity{mode: awsdynamodb.BillingMode_PAY_PER_REQUEST, capReads: s.TableReads, capWrites: s.TableWrites}
	}
	return capacity{
		mode:       awsdynamodb.BillingMode_PROVISIONED,
		tableReads: span{s.TableReadsLeast, s.TableReads}, tableWrites: span{s.TableWritesLeast, s.TableWrites},
		indexReads: span{s.IndexReadsLeast, s.TableReads}, indexWrites: span{s.IndexWritesLeast, s.TableWrites},
	}
}

func (s Settings) scale(table awsdynamodb.Table) {
	p := s.chosenCapacity()
	if p.mode != awsdynamodb.BillingMode_PROVISIONED {
		return
	}
	bounds := func(b span) *awsdynamodb.EnableScalingProps {
		return &awsdynamodb.EnableScalingProps{MinCapacity: jsii.Number(float64(b.least)), MaxCapacity: jsii.Number(float64(b.most))}
	}
	target := &awsdynamodb.UtilizationScalingProps{TargetUtilizationPercent: jsii.Number(float64(s.CapacityTarget))}
	table.AutoScaleReadCapacity(bounds(p.tableReads)).ScaleOnUtilization(target)
	table.AutoScaleWriteCapacity(bounds(p.tableWrites)).ScaleOnUtilization(target)
	for _, x := range tables.Indexes {
		name := jsii.String(string(x.Name))
		table.AutoScaleGlobalSecondaryIndexReadCapacity(name, bounds(p.indexReads)).ScaleOnUtilization(target)
		table.AutoScaleGlobalSecondaryIndexWriteCapacity(name, bounds(p.indexWrites)).ScaleOnUtilization(target)
	}
}
