package main

import (
	"encoding/json"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsapigatewayv2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awslambda"
	"github.com/aws/aws-cdk-go/awscdk/v2/awslogs"
	"github.com/aws/constructs-go/constructs/v10"
	"github.com/aws/jsii-runtime-go"

	"agentsocial/shared/api"
)

// gateway is the HTTP API. It uses plain CloudFormation resources, since the CDK's
// constructs make a permission for each route, and 80 of them fill a function's policy.
//
// An Application Load Balancer would cost a tenth as much for a large network. But it has
// no throttle, and it loses the order of the query's parameters, which signatures cover.
type gateway struct {
	stack        awscdk.Stack
	api          awsapigatewayv2.CfnApi
	stage        awsapigatewayv2.CfnStage
	log          awslogs.LogGroup
	integrations map[string]awsapigatewayv2.CfnIntegration // by group
	last         awscdk.CfnResource                        // see inTurn
}

// accessLog is the format of the gateway's line per request. It has what the function's
// line cannot have: what the gateway turned away, and what callers got if the function did
// not answer. It has no address, agent or path.
var accessLog = map[string]string{
	"requestId":         "$context.requestId",
	"routeKey":          "$context.routeKey",
	"status":            "$context.status",
	"responseLatency":   "$context.responseLatency",
	"integrationStatus": "$context.integration.integrationStatus",
	"integrationError":  "$context.integrationErrorMessage",
}

func newGateway(stack awscdk.Stack, s Settings) *gateway {
	api := awsapigatewayv2.NewCfnApi(stack, jsii.String("Api"), &awsapigatewayv2.CfnApiProps{
		Name:         stack.StackName(),
		ProtocolType: jsii.String("HTTP"),
		Description:  jsii.String("Routes are read from the endpoints' declarations"),
	})
	log := newLog(stack, "AccessLog", s)
	format, _ := json.Marshal(accessLog) // cannot fail: strings only
	stage := awsapigatewayv2.NewCfnStage(stack, jsii.String("Stage"), &awsapigatewayv2.CfnStageProps{
		ApiId:       api.Ref(),
		StageName:   jsii.String("$default"), // any other name would become part of every path
		AutoDeploy:  jsii.Bool(true),
		Description: jsii.String("Throttles, and logs each request"),
		DefaultRouteSettings: &awsapigatewayv2.CfnStage_RouteSettingsProperty{
			ThrottlingRateLimit:  jsii.Number(float64(s.ThrottleRate)),
			ThrottlingBurstLimit: jsii.Number(float64(s.ThrottleBurst)),
		},
		AccessLogSettings: &awsapigatewayv2.CfnStage_AccessLogSettingsProperty{
			DestinationArn: log.LogGroupArn(),
			Format:         jsii.String(string(format)),
		},
	})
	return &gateway{stack, api, stage, log, map[string]awsapigatewayv2.CfnIntegration{}, nil}
}

// attach connects the API to a group's function, which only this API may call. called is
// the ARN of the function or of its alias.
func (g *gateway) attach(group string, f awslambda.Function, called *string) {
	integration := awsapigatewayv2.NewCfnIntegration(f, jsii.String("Integration"), &awsapigatewayv2.CfnIntegrationProps{
		ApiId:                g.api.Ref(),
		Description:          jsii.String("To the function " + group),
		IntegrationType:      jsii.String("AWS_PROXY"),
		IntegrationUri:       called,
		PayloadFormatVersion: jsii.String("2.0"),
	})
	g.integrations[group] = integration
	g.inTurn(integration)
	permission := awslambda.NewCfnPermission(f, jsii.String("Permission"), &awslambda.CfnPermissionProps{
		Action:       jsii.String("lambda:InvokeFunction"),
		FunctionName: called,
		Principal:    jsii.String("apigateway.amazonaws.com"),
		SourceArn: g.stack.FormatArn(&awscdk.ArnComponents{
			Service: jsii.String("execute-api"), Resource: g.api.Ref(), ResourceName: jsii.String("*"),
		}),
	})
	integration.AddDependency(permission) // if the ARN changes, the new permission must exist first
}

// inTurn makes CloudFormation change the API's integrations and routes one after another.
// API Gateway refuses concurrent changes ("Unable to complete operation due to concurrent
// modification"), and more than about ten changes a second. CloudFormation retries only
// some of these failures. After the others it rolls everything back.
//
// Importing an OpenAPI document would need only one change. But every import replaces all
// routes of the API in use.
func (g *gateway) inTurn(part awscdk.CfnResource) {
	if g.last != nil {
		part.AddDependency(g.last)
	}
	g.last = part
}

// open makes the routes. Their logical ids contain neither the group nor the names of
// parameters. A change of either updates a route in place; API Gateway would refuse a new
// route beside the old one.
//
// A route's own throttle replaces the stage's, so it must not be higher. The gateway keeps
// it even when it is no longer in the template; the runbook ("Upgrade") says how to delete
// it.
func (g *gateway) open(routes []route, s Settings) {
	scope := constructs.NewConstruct(g.stack, jsii.String("Routes"))
	slow := map[string]any{}
	whole := api.Throttle{Rate: s.ThrottleRate, Burst: s.ThrottleBurst}
	for _, r := range routes {
		if r.Rate > 0 {
			own := whole.Route(r.Rate)
			slow[r.Key] = map[string]any{"ThrottlingRateLimit": own.Rate, "ThrottlingBurstLimit": own.Burst}
		}
		route := awsapigatewayv2.NewCfnRoute(scope, jsii.String(r.ID), &awsapigatewayv2.CfnRouteProps{
			ApiId:    g.api.Ref(),
			RouteKey: jsii.String(r.Key),
			Target:   jsii.String("integrations/" + *g.integrations[r.Group].Ref()),
		})
		g.inTurn(route)
		g.stage.AddDependency(route)
	}
	g.stage.SetRouteSettings(slow)
}
