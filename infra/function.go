package main

import (
	"path/filepath"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsiam"
	"github.com/aws/aws-cdk-go/awscdk/v2/awslambda"
	"github.com/aws/aws-cdk-go/awscdk/v2/awslogs"
	"github.com/aws/aws-cdk-go/awscdk/v2/awssns"
	"github.com/aws/aws-cdk-go/awscdk/v2/awssqs"
	"github.com/aws/constructs-go/constructs/v10"
	"github.com/aws/jsii-runtime-go"

	"agentsocial/shared/api"
	"agentsocial/shared/lambda/host"
	"agentsocial/shared/lambda/mailevent"
	"agentsocial/shared/lambda/schedule"
	"agentsocial/shared/lambda/stream"
)

// function is a Lambda function: a group of endpoints, a reader of the stream, a schedule,
// or a function that handles events about mail.
type function struct {
	Name   string
	Doc    string
	Size   host.Size
	Rights rights
	Dead   awssqs.Queue // used only if Rights.Dead is true

	// Waited is true if callers wait for the function. Reader is true if it reads the
	// stream. [Settings.reservation] depends on them.
	Waited, Reader bool
}

func functionOf(g api.Group) function {
	return function{Name: g.Name, Doc: g.Doc, Size: host.GroupSize, Rights: rightsOf(g), Waited: true}
}
func functionOfReader(r stream.Function) function {
	return function{Name: r.Name, Doc: r.Doc, Size: host.ReaderSize, Rights: rightsOfReader(r), Reader: true}
}
func functionOfSchedule(s schedule.Function, dead awssqs.Queue) function {
	return function{Name: s.Name, Doc: s.Doc, Size: host.ScheduleSize(s), Rights: rightsOfSchedule(s), Dead: dead}
}
func functionOfMail(m mailevent.Function) function {
	return function{Name: m.Name, Doc: m.Doc, Size: host.MailSize, Rights: rightsOfMail(m)}
}

// deployment holds what all functions share.
type deployment struct {
	Settings
	store   store
	mail    *mailing // nil if no mail is sent
	edge    *edge    // nil if callers reach the API directly
	baseURL *string
	assets  string

	operators awssns.Topic
	rings     *[]*string // ARNs of the alarms so far
	logs      *logs      // of the functions so far
}

// newFunction builds a function, its role and its log group. The log has all lines of the
// function itself (TRACE). Of Lambda's own lines it has only those about failed calls
// (WARN), because the three lines for each call would be as large as all others.
// https://docs.aws.amazon.com/lambda/latest/dg/monitoring-cloudwatchlogs-log-level.html
func (d deployment) newFunction(stack awscdk.Stack, f function) awslambda.Function {
	scope := constructs.NewConstruct(stack, jsii.String(f.Name))
	awscdk.Tags_Of(scope).Add(jsii.String("part"), jsii.String(f.Name), nil) // for the bill
	log := newLog(scope, "Log", d.Settings)
	d.logs.add(f, log.LogGroupName())
	f.Rights.Trace = d.XRay
	role := awsiam.NewRole(scope, jsii.String("Role"), &awsiam.RoleProps{
		Description:    jsii.String("What the function " + f.Name + " may do"),
		AssumedBy:      awsiam.NewServicePrincipal(jsii.String("lambda.amazonaws.com"), nil),
		InlinePolicies: &map[string]awsiam.PolicyDocument{"own": f.Rights.policy(d, log, f.Dead)},
	})
	env := map[string]*string{}
	for name, value := range d.environment().Variables(f.Rights.Needs) {
		env[name] = &value
	}
	function := awslambda.NewFunction(scope, jsii.String("Function"), &awslambda.FunctionProps{
		Description:      jsii.String(f.Doc),
		Code:             awslambda.Code_FromAsset(jsii.String(filepath.Join(d.assets, f.Name)), nil),
		Architecture:     awslambda.Architecture_ARM_64(),
		Runtime:          awslambda.Runtime_PROVIDED_AL2023(),
		Handler:          jsii.String("bootstrap"),
		MemorySize:       jsii.Number(float64(f.Size.Memory)),
		Timeout:          awscdk.Duration_Seconds(jsii.Number(f.Size.Timeout.Seconds())),
		Role:             role,
		LogGroup:         log,
		LoggingFormat:    awslambda.LoggingFormat_JSON,
		SystemLogLevelV2: awslambda.SystemLogLevel_WARN, ApplicationLogLevelV2: awslambda.ApplicationLogLevel_TRACE,
		Environment: &env,

		ReservedConcurrentExecutions: unlessZero(d.reservation(f)),
	})
	plain := function.Node().DefaultChild().(awslambda.CfnFunction)
	if d.Version != "" { // not on the construct: its alarms and the clock's role would have the tag, too
		plain.Tags().SetTag(jsii.String("version"), jsii.String(d.Version), nil, nil)
	}
	if d.XRay { // not on the construct: its tracing adds a policy
		plain.SetTracingConfig(&awslambda.CfnFunction_TracingConfigProperty{Mode: jsii.String("Active")})
	}
	return function
}

// environment returns all variables; each function gets those it needs.
//
// The version is a variable, so a deployment of another commit starts all functions anew.
// In the binary (-ldflags) it would change every zip, and two builds of the same source
// would differ.
func (d deployment) environment() host.Env {
	e := host.Env{
		Table: *d.store.table.TableName(), BaseURL: *d.baseURL, Stage: d.Stage,
		SecretARN: *d.store.secret.SecretArn(), PepperARN: *d.store.pepper.SecretArn(), PaymentsARN: *d.store.payments.SecretArn(), EdgeSecretARN: d.edge.arn(),
		PowBits: d.PowBits, PageBits: d.PageBits, MicroUSDPerChar: int64(d.MicroUSDPerChar),
		WebOrigins: d.WebOrigins, Contact: d.Contact, Index: d.Index, Limits: d.Limits, NoEndpointMetrics: !d.EndpointMetrics, LogReads: int64(d.LogReads),
		Version: d.Version,
	}
	if d.mail != nil {
		e.MailFrom, e.MailSet = d.mail.from, *d.mail.set.ConfigurationSetName()
	}
	return e
}

func newLog(scope constructs.Construct, id string, s Settings) awslogs.LogGroup {
	return awslogs.NewLogGroup(scope, jsii.String(id), &awslogs.LogGroupProps{
		Retention:     retentions[s.LogDays],
		RemovalPolicy: s.removal(),
	})
}
