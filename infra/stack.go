package main

import (
	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awslambda"
	"github.com/aws/constructs-go/constructs/v10"
	"github.com/aws/jsii-runtime-go"

	"agentsocial/shared/lambda/mailevent"
)

// newStack makes the service in one stack. [maxResources] keeps it below CloudFormation's
// 500 resources. If the settings name another account than the credentials, the CDK refuses
// the credentials.
//
// Of the resources that outlive the stack, only the secrets and the backup vault have fixed
// names. CloudFormation names the others, so that they do not block the next stack of the
// same name.
func newStack(scope constructs.Construct, s Settings, p *plan) awscdk.Stack {
	stack := awscdk.NewStack(scope, jsii.String("agentsocial-"+s.Stage), &awscdk.StackProps{
		Description:           jsii.String("Agent Social Network, stage " + s.Stage),
		TerminationProtection: jsii.Bool(s.protected()),
		AnalyticsReporting:    jsii.Bool(false),
		Env:                   s.target(),
	})
	// The bill can be split by these tags once they are activated (runbook, "What it
	// costs").
	awscdk.Tags_Of(stack).Add(jsii.String("project"), jsii.String("agentsocial"), nil)
	awscdk.Tags_Of(stack).Add(jsii.String("stage"), jsii.String(s.Stage), nil)
	store := newStore(stack, s)
	gateway := newGateway(stack, s)
	edge := newEdge(stack, s, gateway)

	d := deployment{Settings: s, store: store, mail: newMailing(stack, s), edge: edge, baseURL: gateway.baseURL(s, edge), operators: newOperators(stack, s), rings: new([]*string), logs: &logs{access: gateway.log.LogGroupName()}, assets: p.assets}
	newBudget(stack, s, d.operators)
	canary := d.newCanary(stack, gateway)
	var readers []awslambda.CfnEventSourceMapping
	var uncalled actors
	for _, r := range p.readers {
		f := d.newFunction(stack, functionOfReader(r))
		readers = append(readers, d.subscribe(r, f))
		uncalled.readers = append(uncalled.readers, named{r.Name, f.FunctionName()})
	}
	for _, g := range p.groups {
		f := d.newFunction(stack, functionOf(g))
		after(f, readers)
		edge.guard(f)
		gateway.attach(g.Name, f, canary.move(f))
	}
	canary.permit()
	gateway.open(p.routes, s)
	gateway.name(s)
	dead := newDeadLetters(stack)
	for _, s := range p.schedules {
		f := d.newFunction(stack, functionOfSchedule(s, dead))
		after(f, readers)
		d.schedule(s, f, dead)
		uncalled.schedules = append(uncalled.schedules, named{s.Name, f.FunctionName()})
	}

	for _, m := range p.mail {
		f := d.newFunction(stack, functionOfMail(m))
		after(f, readers)
		limitCalls(f, mailevent.Retries, mailEventAge, nil)
		if d.mail != nil {
			dropped := d.tellOfMail(f)
			d.watchMailEvents(m, f, dropped)
			uncalled.dropped = append(uncalled.dropped, dropped...)
		}
	}

	d.watchSchedules(stack, dead)
	d.watchAll(stack, gateway)
	d.copyElsewhere(stack)
	saveQueries(stack, *d.logs)
	if d.Dashboard {
		uncalled.dead = dead.QueueName()
		d.newDashboard(stack, gateway, uncalled)
	}
	d.outputs(stack)
	return stack
}

// target returns the account and region to deploy to; nil if neither is set.
func (s Settings) target() *awscdk.Environment {
	if s.Account == "" && s.Region == "" {
		return nil
	}
	e := &awscdk.Environment{}
	if s.Account != "" {
		e.Account = jsii.String(s.Account)
	}
	if s.Region != "" {
		e.Region = jsii.String(s.Region)
	}
	return e
}

// removal returns what happens to data when its resource leaves the stack. A rollback
// deletes the resources that its deployment made. They are still empty, and the names of
// secrets would block the next try.
func (s Settings) removal() awscdk.RemovalPolicy {
	if s.Disposable() {
		return awscdk.RemovalPolicy_DESTROY
	}
	return awscdk.RemovalPolicy_RETAIN_ON_UPDATE_OR_DELETE
}

// protected reports whether the stack and its table are protected from deletion. While
// `make deploy` creates a stage they are not, so that CloudFormation can remove what a
// failed creation leaves. A second deployment then protects both.
func (s Settings) protected() bool { return !s.Disposable() && !s.Unprotected }

// removalOfTable keeps a protected table on a rollback, too. A rollback that tried to
// delete it would fail.
func (s Settings) removalOfTable() awscdk.RemovalPolicy {
	if s.protected() {
		return awscdk.RemovalPolicy_RETAIN
	}
	return s.removal()
}
