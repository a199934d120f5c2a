package main

import (
	"path/filepath"
	"strconv"
	"time"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsiam"
	"github.com/aws/aws-cdk-go/awscdk/v2/awslambda"
	"github.com/aws/aws-cdk-go/awscdk/v2/awslogs"
	"github.com/aws/aws-cdk-go/awscdk/v2/awssns"
	"github.com/aws/aws-cdk-go/awscdk/v2/awssqs"
	"github.com/aws/constructs-go/constructs/v10"
	"github.com/aws/jsii-runtime-go"

	"agentsocial/shared/api"
	"agentsocial/shared/schedule"
	"agentsocial/shared/stream"
)

const (
	// memory buys CPU: at 512 MB a function has 29 % of one, and from exec to
	// its first poll takes 17 to 37 ms (design: deploy). Half of it doubles
	// that; twice as much is paid for by every request that waits for the table.
	memory = 512

	// scheduleMemory: of search indexes that are due several are built side by
	// side, each whole in memory, and what they wait for is the CPU. A call in
	// five minutes pays for it, where each batch of the karma reader would.
	scheduleMemory = 1024

	// apiTimeout is far beyond any endpoint and well below the gateway's 30 s,
	// so that it is the function that says it was too slow.
	apiTimeout = 10 * time.Second

	// streamTimeout leaves room for a batch that is halved down to one record.
	streamTimeout = time.Minute

	// scheduleTimeout is more than a sweep takes (events/deadlines), and less
	// than the time to the next.
	scheduleTimeout = 2 * time.Minute
)

// function is one Lambda function: a group's, a reader's, or what the clock calls.
type function struct {
	Name    string
	Memory  int // MB
	Timeout time.Duration
	Rights  rights
	Dead    awssqs.Queue // nil where Rights.Dead is false
}

func functionOf(g api.Group) function { return function{g.Name, memory, apiTimeout, rightsOf(g), nil} }
func functionOfReader(r stream.Function) function {
	return function{r.Name, memory, streamTimeout, rightsOfReader(r), nil}
}
func functionOfSchedule(s schedule.Function, dead awssqs.Queue) function {
	return function{s.Name, scheduleMemory, scheduleTimeout, rightsOfSchedule(s), dead}
}

// deployment is what all functions share.
type deployment struct {
	Settings
	store   store
	mail    *mailing // nil where no mail is sent
	baseURL *string
	assets  string

	operators awssns.Topic
}

// newFunction builds a function, its role and its log group. The function
// makes JSON lines itself: Lambda's own JSON format would filter them by a
// level that metrics do not have, and so stays off.
func (d deployment) newFunction(stack awscdk.Stack, f function) awslambda.Function {
	scope := constructs.NewConstruct(stack, jsii.String(f.Name))
	log := newLog(scope, "Log", d.Settings)
	role := awsiam.NewRole(scope, jsii.String("Role"), &awsiam.RoleProps{
		AssumedBy:      awsiam.NewServicePrincipal(jsii.String("lambda.amazonaws.com"), nil),
		InlinePolicies: &map[string]awsiam.PolicyDocument{"own": f.Rights.policy(d.store, d.mail, log, f.Dead)},
	})
	env := map[string]*string{
		"BASE_URL":  d.baseURL,
		"STAGE":     jsii.String(d.Stage),
		"POW_BITS":  jsii.String(strconv.Itoa(d.PowBits)),
		"PAGE_BITS": jsii.String(strconv.Itoa(d.PageBits)),

		"MICRO_USD_PER_CHAR": jsii.String(strconv.Itoa(d.MicroUSDPerChar)),
	}
	if d.WebOrigins != "" {
		env["WEB_ORIGINS"] = jsii.String(d.WebOrigins)
	}
	if f.Rights.Read {
		env["TABLE"] = d.store.table.TableName()
	}
	if f.Rights.Secret {
		env["SECRET_ARN"] = d.store.secret.SecretArn()
	}
	if f.Rights.Pepper {
		env["PEPPER_ARN"] = d.store.pepper.SecretArn()
	}
	if f.Rights.Pay {
		env["PAYMENTS_ARN"] = d.store.payments.SecretArn()
	}
	if f.Rights.Mail && d.mail != nil {
		env["MAIL_FROM"] = jsii.String(d.mail.from)
		env["MAIL_CONFIGURATION_SET"] = d.mail.set.ConfigurationSetName()
	}
	return awslambda.NewFunction(scope, jsii.String("Function"), &awslambda.FunctionProps{
		Code:          awslambda.Code_FromAsset(jsii.String(filepath.Join(d.assets, f.Name)), nil),
		Architecture:  awslambda.Architecture_ARM_64(),
		Runtime:       awslambda.Runtime_PROVIDED_AL2023(),
		Handler:       jsii.String("bootstrap"),
		MemorySize:    jsii.Number(float64(f.Memory)),
		Timeout:       awscdk.Duration_Seconds(jsii.Number(f.Timeout.Seconds())),
		Role:          role,
		LogGroup:      log,
		LoggingFormat: awslambda.LoggingFormat_TEXT,
		Environment:   &env,
	})
}

func newLog(scope constructs.Construct, id string, s Settings) awslogs.LogGroup {
	return awslogs.NewLogGroup(scope, jsii.String(id), &awslogs.LogGroupProps{
		Retention:     retentions[s.LogDays],
		RemovalPolicy: s.removal(),
	})
}
