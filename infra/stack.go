package main

import (
	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awslambda"
	"github.com/aws/constructs-go/constructs/v10"
	"github.com/aws/jsii-runtime-go"
)

// newStack is the service, in one stack: it stands and falls together, and is
// far from CloudFormation's 500 resources (one per route, four or five per
// function). Account and region are those of whoever deploys it.
//
// Only the secrets have names of their own. All else is named by
// CloudFormation: what a stage retains must not be in the way of the next
// stack of that name.
func newStack(scope constructs.Construct, s Settings, p *plan) awscdk.Stack {
	stack := awscdk.NewStack(scope, jsii.String("agentsocial-"+s.Stage), &awscdk.StackProps{
		Description:           jsii.String("Agent Social Network, stage " + s.Stage),
		TerminationProtection: jsii.Bool(!s.Disposable()),
		AnalyticsReporting:    jsii.Bool(false),
	})
	awscdk.Tags_Of(stack).Add(jsii.String("project"), jsii.String("agentsocial"), nil)
	awscdk.Tags_Of(stack).Add(jsii.String("stage"), jsii.String(s.Stage), nil)
	store := newStore(stack, s)
	gateway := newGateway(stack, s)

	d := deployment{Settings: s, store: store, mail: newMailing(stack, s), baseURL: jsii.String(s.BaseURL), operators: newOperators(stack, s), assets: p.assets}
	if s.BaseURL == "" {
		d.baseURL = gateway.api.AttrApiEndpoint() // no trailing slash, and no stage: it is $default
	}
	var readers []awslambda.CfnEventSourceMapping
	for _, r := range p.readers {
		readers = append(readers, d.subscribe(r, d.newFunction(stack, functionOfReader(r))))
	}
	for _, g := range p.groups {
		f := d.newFunction(stack, functionOf(g))
		after(f, readers)
		gateway.attach(g.Name, f)
	}
	gateway.open(p.routes)
	for _, s := range p.schedules {
		dead := newDeadLetters(stack, s.Name)
		f := d.newFunction(stack, functionOfSchedule(s, dead))
		after(f, readers)
		d.schedule(s, f, dead)
	}

	output(stack, "BaseUrl", d.baseURL, "Where the service answers")
	output(stack, "TableName", store.table.TableName(), "The single table")
	output(stack, "FailedBatchesBucket", store.failed.BucketName(), "Stream records that could not be worked off")
	return stack
}

func output(stack awscdk.Stack, name string, value *string, doc string) {
	awscdk.NewCfnOutput(stack, jsii.String(name), &awscdk.CfnOutputProps{Value: value, Description: jsii.String(doc)})
}

// removal is what becomes of data when its resource leaves the stack.
func (s Settings) removal() awscdk.RemovalPolicy {
	if s.Disposable() {
		return awscdk.RemovalPolicy_DESTROY
	}
	return awscdk.RemovalPolicy_RETAIN
}
