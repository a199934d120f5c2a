package main

import (
	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsapigatewayv2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsroute53"
	"github.com/aws/jsii-runtime-go"
)

// baseURL returns the service's address without a trailing slash.
func (g *gateway) baseURL(s Settings, e *edge) *string {
	switch {
	case s.Domain != "":
		return jsii.String("https://" + s.Domain)
	case e != nil:
		return e.address()
	}
	return g.api.AttrApiEndpoint()
}

// name lets the API answer only under the domain, if one is set, and disables AWS's own
// address. Links and the issuer of tokens contain the base URL, so there must be exactly
// one. AWS's address stays enabled with an edge, because the edge calls it.
func (g *gateway) name(s Settings) {
	if s.Domain == "" || s.Edge {
		return
	}
	g.api.SetDisableExecuteApiEndpoint(jsii.Bool(true))
	domain := awsapigatewayv2.NewCfnDomainName(g.stack, jsii.String("Domain"), &awsapigatewayv2.CfnDomainNameProps{
		DomainName: jsii.String(s.Domain),
		DomainNameConfigurations: []any{&awsapigatewayv2.CfnDomainName_DomainNameConfigurationProperty{
			CertificateArn: jsii.String(s.CertificateARN), EndpointType: jsii.String("REGIONAL"), SecurityPolicy: jsii.String("TLS_1_2"),
		}},
	})
	awsapigatewayv2.NewCfnApiMapping(g.stack, jsii.String("DomainMapping"), &awsapigatewayv2.CfnApiMappingProps{
		ApiId: g.api.Ref(), DomainName: domain.Ref(), Stage: g.stage.Ref(),
	})
	if s.HostedZone == "" {
		askForRecord(g.stack, s, domain.AttrRegionalDomainName())
		return
	}
	newRecord(g.stack, s, "DomainRecord", "A", domain.AttrRegionalDomainName(), domain.AttrRegionalHostedZoneId())
}

// newRecord points the domain's DNS record to the service's name at AWS.
func newRecord(stack awscdk.Stack, s Settings, id, kind string, name, zone *string) awsroute53.CfnRecordSet {
	return awsroute53.NewCfnRecordSet(stack, jsii.String(id), &awsroute53.CfnRecordSetProps{
		HostedZoneId: jsii.String(s.HostedZone), Name: jsii.String(s.Domain), Type: jsii.String(kind),
		AliasTarget: &awsroute53.CfnRecordSet_AliasTargetProperty{DnsName: name, HostedZoneId: zone},
	})
}

// askForRecord outputs the DNS record that the operator must add.
func askForRecord(stack awscdk.Stack, s Settings, name *string) {
	output(stack, "DomainRecord", jsii.String(s.Domain+" CNAME "+*name),
		"For the DNS of "+s.Domain+"; until it is there the service cannot be found. Use ALIAS where CNAME is not possible")
}
