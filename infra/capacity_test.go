package main

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"agentsocial/tables"
)

func TestProvisionedCapacity(t *testing.T) {
	s := of(t, provisioned)
	_, table := s.only(t, "AWS::DynamoDB::Table")
	table.keeps(t, "Retain")
	table.expect(t, "table", map[string]string{
		"BillingMode":           "", // CloudFormation's default, PROVISIONED
		"ProvisionedThroughput": `{"ReadCapacityUnits":100,"WriteCapacityUnits":200}`, "OnDemandThroughput": "",
	})
	indexes := table.Properties["GlobalSecondaryIndexes"].([]any)
	for _, x := range indexes {
		x := x.(map[string]any)
		if got := plain(x["ProvisionedThroughput"]); got != `{"ReadCapacityUnits":10,"WriteCapacityUnits":20}` || x["OnDemandThroughput"] != nil {
			t.Errorf("index %v: got throughput %s and on demand %v, want 10 reads, 20 writes and none on demand", x["IndexName"], got, x["OnDemandThroughput"])
		}
	}
	var want []string
	for _, unit := range []struct {
		name                string
		least, ofEach, most int
	}{{"Read", 100, 10, 4000}, {"Write", 200, 20, 2000}} {
		want = append(want, fmt.Sprintf("table dynamodb:table:%sCapacityUnits %d-%d", unit.name, unit.least, unit.most))
		for _, x := range tables.Indexes {
			want = append(want, fmt.Sprintf("index/%s dynamodb:index:%sCapacityUnits %d-%d", x.Name, unit.name, unit.ofEach, unit.most))
		}
	}
	var got []string
	targets := s.all("AWS::ApplicationAutoScaling::ScalableTarget")
	for _, r := range targets {
		p := r.Properties
		_, of, isIndex := strings.Cut(plain(p["ResourceId"]), "/index/")
		what := "table"
		if isIndex {
			what = "index/" + of
		}
		got = append(got, fmt.Sprintf("%s %v %v-%v", what, p["ScalableDimension"], p["MinCapacity"], p["MaxCapacity"]))
	}
	slices.Sort(got)
	if slices.Sort(want); !slices.Equal(got, want) {
		t.Errorf("scalable targets are %q, want %q", got, want)
	}
	policies := s.all("AWS::ApplicationAutoScaling::ScalingPolicy")
	for id, r := range policies {
		c := r.Properties["TargetTrackingScalingPolicyConfiguration"].(map[string]any)
		if r.Properties["PolicyType"] != "TargetTrackingScaling" || c["TargetValue"] != 70.0 {
			t.Errorf("%s: got %v, want target tracking at 70 percent", id, r.Properties)
		}
	}
	if len(policies) != len(want) {
		t.Errorf("got %d scaling policies, want %d", len(policies), len(want))
	}
}
