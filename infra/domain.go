package main

import (
	"github.com/aws/aws-cdk-go/awscdk/v2/awsapigatewayv2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsroute53"
	"github.com/aws/jsii-runtime-go"
)

// baseURL returns the service's address without a trailing slash. It has no stage,
// since that is $default.
func (g *gateway) baseURL(s Settings) *string {
	if s.Domain == "" {
		return g.api.AttrApiEndpoint()
	}
	return jsii.String("https://" + s.Domain)
}

// name lets the API answer only under the domain of the settings, with TLS 1.2 or 1.3;
// AWS's own address is disabled. Signatures, links and the issuer of tokens contain
// the base URL, so there must be exactly one.
func (g *gateway) name(s Settings) {
	if s.Domain == "" {
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
		output(g.stack, "DomainRecord", jsii.String(s.Domain+" CNAME "+*domain.AttrRegionalDomainName()),
			"For the DNS of "+s.Domain+"; until it is there the service cannot be found. Use ALIAS where CNAME is not possible")
		return
	}
	awsroute53.NewCfnRecordSet(g.stack, jsii.String("DomainRecord"), &awsroute53.CfnRecordSetProps{
		HostedZoneId: jsii.String(s.HostedZone), Name: jsii.String(s.Domain), Type: jsii.String("A"),
		AliasTarget: &awsroute53.CfnRecordSet_AliasTargetProperty{
			DnsName: domain.AttrRegionalDomainName(), HostedZoneId: domain.AttrRegionalHostedZoneId(),
		},
	})
}
