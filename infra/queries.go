package main

import (
	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awslogs"
	"github.com/aws/constructs-go/constructs/v10"
	"github.com/aws/jsii-runtime-go"
)

// logs holds the names of the log groups, for the saved queries.
type logs struct {
	groups []*string // of the functions that callers wait for
	behind []*string // of the readers, the schedules and the mail functions
	access *string   // of the gateway
}

func (l *logs) add(f function, log *string) {
	if f.Waited {
		l.groups = append(l.groups, log)
	} else {
		l.behind = append(l.behind, log)
	}
}

func (l logs) all() []*string { return append(append([]*string(nil), l.groups...), l.behind...) }

// query is a saved query of CloudWatch Logs Insights.
type query struct {
	ID   string // part of the logical id
	Name string // without the stack's name and a slash, which come before it
	Of   func(logs) []*string
	Text string
}

// queries lists the saved queries. They are free; a run costs by the data that it reads.
// The field one_in of a line says how many requests the line stands for.
var queries = []query{
	{"Endpoints", "requests by endpoint", ofGroups, `filter msg = "request"
| fields coalesce(one_in, 1) as n
| stats sum(n) as requests, sum(n * failed) as failed, sum(n * refused) as refused, pct(ms, 99) as p99, sum(n * read_units) as reads, sum(n * write_units) as writes, sum(n * bytes) as bytes by route
| sort requests desc
| limit 40`},
	{"Failures", "failed requests and their causes", ofGroups, `filter msg = "request" and failed = 1
| stats count(*) as requests, latest(request_id) as example by route, code, cause, version
| sort requests desc
| limit 40`},
	{"Slowest", "slowest requests", ofGroups, `filter msg = "request" and ms > 1000
| fields timestamp, ms, trips, read_units, write_units, route, request_id
| sort ms desc
| limit 40`},
	{"Refusals", "refused requests by code", ofGroups, `filter msg = "request" and refused = 1
| stats count(*) as requests by code, route
| sort requests desc
| limit 40`},
	{"Problems", "warnings and errors by message", logs.all, `filter level = "ERROR" or level = "WARN"
| stats count(*) as lines, latest(timestamp) as newest by msg, level, version
| sort lines desc
| limit 40`},
	{"CutOff", "calls that Lambda cut off", logs.all, `filter type = "platform.report" or ispresent(record.status)
| filter record.status != "success"
| stats count(*) as calls by record.status, record.errorType, @log
| limit 40`},
	{"Readers", "lag of readers and schedules", ofBehind, `filter msg = "batch" or msg = "tick"
| stats max(lag_ms) as lag, max(ms) as took, sum(unfinished) as unfinished, count(*) as lines by function, bin(5m) as at
| sort at desc
| limit 100`},
	{"Turned", "what the gateway turned away", func(l logs) []*string { return []*string{l.access} }, `filter integrationStatus = "-" or integrationError != "-"
| stats count(*) as requests by status, routeKey, integrationError
| sort requests desc
| limit 40`},
	{"Versions", "lines by version", logs.all, `filter ispresent(version)
| stats count(*) as lines, earliest(timestamp) as first, latest(timestamp) as newest by version
| sort newest desc`},
}

func ofGroups(l logs) []*string { return l.groups }
func ofBehind(l logs) []*string { return l.behind }

// saveQueries puts the queries into the console, in a folder of the stack's name.
func saveQueries(stack awscdk.Stack, l logs) {
	scope := constructs.NewConstruct(stack, jsii.String("Queries"))
	for _, q := range queries {
		of := q.Of(l)
		if len(of) == 0 {
			continue
		}
		awslogs.NewCfnQueryDefinition(scope, jsii.String(q.ID), &awslogs.CfnQueryDefinitionProps{
			Name: jsii.String(*stack.StackName() + "/" + q.Name), QueryString: jsii.String(q.Text), LogGroupNames: &of,
		})
	}
}
