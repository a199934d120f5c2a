package main

import (
	"fmt"
	"time"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awscloudwatch"
	"github.com/aws/aws-cdk-go/awscdk/v2/awscodedeploy"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsiam"
	"github.com/aws/aws-cdk-go/awscdk/v2/awslambda"
	"github.com/aws/jsii-runtime-go"
)

// canary lets CodeDeploy move the requests of each group to its new code: first a tenth of
// them, for five minutes, then all. If requests fail or get slow meanwhile, the group's
// requests go back to the old code, and CloudFormation restores everything else.
//
// CloudFormation's own rollback triggers would need no aliases. But they watch a deployment
// that has already moved all callers, and the CDK cannot set them.
type canary struct {
	app    awscodedeploy.CfnApplication
	role   awsiam.Role
	alarms []any      // in CodeDeploy's form
	moves  *[]*string // ARNs of the functions behind aliases
	policy awsiam.PolicyDocument
}

// canaryStep names the way in which CodeDeploy moves requests.
const canaryStep = "CodeDeployDefault.LambdaCanary10Percent5Minutes"

// Bounds of the alarms that stop a canary. They look at each minute of all requests. Only a
// tenth of a group's requests reaches new code, so few failures are enough.
const (
	canaryFailures = 3 // at least so many failed requests in a minute
	canaryPercent  = 1 // and more than this percentage of the requests
	canarySlow     = 2 // minutes in a row
)

// newCanary returns nil unless the setting canary is on.
func (d deployment) newCanary(stack awscdk.Stack, g *gateway) *canary {
	if !d.Canary {
		return nil
	}
	ofGateway := func(name, statistic string) metric {
		return metric{"AWS/ApiGateway", name, []by{{"ApiId", g.api.Ref()}}, statistic}
	}
	c := &canary{moves: new([]*string)}
	for _, a := range []awscloudwatch.CfnAlarm{
		d.alarm(stack, "CanaryFails", alarm{
			What: fmt.Sprintf("In a minute, more than %d %% of requests, and at least %d of them, failed with 5xx. If a deployment is under way, CodeDeploy takes it back. Otherwise wait for ServerErrors.", canaryPercent, canaryFailures),
			Of:   []metric{ofGateway("5xx", "Sum"), ofGateway("Count", "Sum")},
			Math: fmt.Sprintf("IF(m1 >= %d, 100 * m1 / m2, 0)", canaryFailures), Above: canaryPercent, Every: time.Minute,
		}),
		d.alarm(stack, "CanarySlow", alarm{
			What: fmt.Sprintf("For %d minutes, one request in a hundred took more than %s. If a deployment is under way, CodeDeploy takes it back. Otherwise wait for Slow.", canarySlow, inWords(slowest)),
			Of:   []metric{ofGateway("Latency", "p99"), ofGateway("Count", "Sum")},
			Math: fmt.Sprintf("IF(m2 >= %d, m1, 0)", slowOf), Above: float64(slowest.Milliseconds()), Every: time.Minute, Times: canarySlow,
		}),
	} {
		c.alarms = append(c.alarms, &awscodedeploy.CfnDeploymentGroup_AlarmProperty{Name: a.Ref()})
	}
	c.app = awscodedeploy.NewCfnApplication(stack, jsii.String("Canary"), &awscodedeploy.CfnApplicationProps{ComputePlatform: jsii.String("Lambda")})
	c.policy = awsiam.NewPolicyDocument(nil)
	c.role = awsiam.NewRole(stack, jsii.String("CanaryRole"), &awsiam.RoleProps{
		Description:    jsii.String("What CodeDeploy may do to move requests to new code"),
		AssumedBy:      awsiam.NewServicePrincipal(jsii.String("codedeploy.amazonaws.com"), nil),
		InlinePolicies: &map[string]awsiam.PolicyDocument{"own": c.policy},
	})
	return c
}

// liveAlias names the version of a function that gets the requests.
const liveAlias = "live"

// move lets requests reach a group's function through an alias. It returns the ARN that
// callers call: the alias's or, without a canary, the function's.
func (c *canary) move(f awslambda.Function) *string {
	if c == nil {
		return f.FunctionArn()
	}
	*c.moves = append(*c.moves, f.FunctionArn())
	group := awscodedeploy.NewCfnDeploymentGroup(f, jsii.String("Canary"), &awscodedeploy.CfnDeploymentGroupProps{
		ApplicationName: c.app.Ref(), ServiceRoleArn: c.role.RoleArn(), DeploymentConfigName: jsii.String(canaryStep),
		DeploymentStyle: &awscodedeploy.CfnDeploymentGroup_DeploymentStyleProperty{
			DeploymentType: jsii.String("BLUE_GREEN"), DeploymentOption: jsii.String("WITH_TRAFFIC_CONTROL"),
		},
		AlarmConfiguration:        &awscodedeploy.CfnDeploymentGroup_AlarmConfigurationProperty{Enabled: jsii.Bool(true), Alarms: c.alarms},
		AutoRollbackConfiguration: &awscodedeploy.CfnDeploymentGroup_AutoRollbackConfigurationProperty{Enabled: jsii.Bool(true), Events: jsii.Strings("DEPLOYMENT_FAILURE", "DEPLOYMENT_STOP_ON_ALARM", "DEPLOYMENT_STOP_ON_REQUEST")},
	})
	alias := awslambda.NewCfnAlias(f, jsii.String("Live"), &awslambda.CfnAliasProps{
		Name: jsii.String(liveAlias), Description: jsii.String("What callers reach"),
		FunctionName: f.FunctionName(), FunctionVersion: f.CurrentVersion().Version(),
	})
	alias.CfnOptions().SetUpdatePolicy(&awscdk.CfnUpdatePolicy{CodeDeployLambdaAliasUpdate: &awscdk.CfnCodeDeployLambdaAliasUpdate{
		ApplicationName: c.app.Ref(), DeploymentGroupName: group.Ref(),
	}})
	return alias.Ref()
}

func (c *canary) permit() {
	if c == nil {
		return
	}
	c.policy.AddStatements(
		awsiam.NewPolicyStatement(&awsiam.PolicyStatementProps{
			Sid: jsii.String("Move"), Actions: jsii.Strings("lambda:GetAlias", "lambda:UpdateAlias", "lambda:GetProvisionedConcurrencyConfig"), Resources: c.moves,
		}),
		awsiam.NewPolicyStatement(&awsiam.PolicyStatementProps{ // the action lists alarms, so it is granted on all of them
			Sid: jsii.String("Watch"), Actions: jsii.Strings("cloudwatch:DescribeAlarms"), Resources: jsii.Strings("*"),
		}),
	)
}
