package main

import (
	"fmt"
	"strings"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awscloudfront"
	"github.com/aws/aws-cdk-go/awscdk/v2/awslambda"
	"github.com/aws/aws-cdk-go/awscdk/v2/awssecretsmanager"
	"github.com/aws/aws-cdk-go/awscdk/v2/awswafv2"
	"github.com/aws/jsii-runtime-go"

	"agentsocial/shared/api"
)

// edge is the CloudFront distribution in front of the API (setting edge).
type edge struct {
	distribution awscloudfront.CfnDistribution
	secret       awssecretsmanager.Secret
	ready        []awscdk.CfnResource // resources that functions wait for, see guard
}

// edgeRegion is the region of CloudFront's certificates and web ACLs.
const edgeRegion = "us-east-1"

// allViewerExceptHost is the id of AWS's origin request policy AllViewerExceptHostHeader.
// API Gateway needs its own Host header to find the API.
// https://docs.aws.amazon.com/AmazonCloudFront/latest/DeveloperGuide/using-managed-origin-request-policies.html
const allViewerExceptHost = "b689b0a8-53d0-40ab-baf2-68738e2966ac"

// cloudFrontZone is the hosted zone of all distributions.
const cloudFrontZone = "Z2FDTNDATAQYW2"

// cacheKey lists the headers in the Vary of answers, except Accept-Encoding. Callers with a
// credential send one of the first two, so they get no answer that was stored for others.
var cacheKey = []string{"Authorization", "X-Agent-Key", "Accept"}

// uncachedErrors lists the codes of errors that CloudFront would store for ten seconds,
// even if the answer forbids it.
var uncachedErrors = []float64{400, 403, 404, 405, 414, 416, 500, 501, 502, 503, 504}

// newEdge makes the distribution. It returns nil if the setting edge is false. The edge has
// not been tried in an AWS account.
//
// CloudFront stores public answers for as long as their Cache-Control says. It stores no
// errors, and no answers to callers with a credential. A stored answer has the x-request-id
// of the request that it was made for.
//
// CloudFront's logs are off, because they would contain the callers' addresses. CloudFront
// does not compress, because the service does (shared/api/compress.go). A text longer than
// [api.SharedMost] is stored only compressed.
//
// Functions answer 403 edge_required to callers that go around the edge
// (shared/api/edge.go).
func newEdge(stack awscdk.Stack, s Settings, g *gateway) *edge {
	if !s.Edge {
		return nil
	}
	name := *stack.StackName() + "-" + *stack.Region() // CloudFront's names are unique across regions
	secret := newEdgeSecret(stack)
	cache := awscloudfront.NewCfnCachePolicy(stack, jsii.String("EdgeCache"), &awscloudfront.CfnCachePolicyProps{
		CachePolicyConfig: &awscloudfront.CfnCachePolicy_CachePolicyConfigProperty{
			Name:    jsii.String(name),
			Comment: jsii.String("Stores what Cache-Control allows"),
			MinTtl:  jsii.Number(0), DefaultTtl: jsii.Number(0), MaxTtl: jsii.Number(86_400),
			ParametersInCacheKeyAndForwardedToOrigin: &awscloudfront.CfnCachePolicy_ParametersInCacheKeyAndForwardedToOriginProperty{
				EnableAcceptEncodingGzip: jsii.Bool(true), EnableAcceptEncodingBrotli: jsii.Bool(false), // the service has gzip only
				CookiesConfig:      &awscloudfront.CfnCachePolicy_CookiesConfigProperty{CookieBehavior: jsii.String("none")},
				HeadersConfig:      &awscloudfront.CfnCachePolicy_HeadersConfigProperty{HeaderBehavior: jsii.String("whitelist"), Headers: jsii.Strings(cacheKey...)},
				QueryStringsConfig: &awscloudfront.CfnCachePolicy_QueryStringsConfigProperty{QueryStringBehavior: jsii.String("all")},
			},
		},
	})
	address := awscloudfront.NewCfnFunction(stack, jsii.String("EdgeAddress"), &awscloudfront.CfnFunctionProps{
		Name: jsii.String(name), AutoPublish: jsii.Bool(true), FunctionCode: jsii.String(addressCode),
		FunctionConfig: &awscloudfront.CfnFunction_FunctionConfigProperty{
			Comment: jsii.String("Tells the service the caller's address"), Runtime: jsii.String("cloudfront-js-2.0"),
		},
	})
	var errors []any
	for _, code := range uncachedErrors {
		errors = append(errors, &awscloudfront.CfnDistribution_CustomErrorResponseProperty{ErrorCode: jsii.Number(code), ErrorCachingMinTtl: jsii.Number(0)})
	}
	config := &awscloudfront.CfnDistribution_DistributionConfigProperty{
		Enabled: jsii.Bool(true), Comment: stack.StackName(), HttpVersion: jsii.String("http2and3"), Ipv6Enabled: jsii.Bool(true), PriceClass: jsii.String("PriceClass_All"),
		Origins: []any{&awscloudfront.CfnDistribution_OriginProperty{
			Id:         jsii.String("api"),
			DomainName: awscdk.Fn_Select(jsii.Number(2), awscdk.Fn_Split(jsii.String("/"), g.api.AttrApiEndpoint(), nil)),
			CustomOriginConfig: &awscloudfront.CfnDistribution_CustomOriginConfigProperty{
				OriginProtocolPolicy: jsii.String("https-only"), OriginSslProtocols: jsii.Strings("TLSv1.2"),
				OriginReadTimeout:      jsii.Number(35), // seconds; the gateway answers within 30
				OriginKeepaliveTimeout: jsii.Number(60),
			},
			OriginCustomHeaders: []any{&awscloudfront.CfnDistribution_OriginCustomHeaderProperty{
				HeaderName: jsii.String(api.HeaderEdgeSecret), HeaderValue: s.edgeSecretValue(secret),
			}},
		}},
		DefaultCacheBehavior: &awscloudfront.CfnDistribution_DefaultCacheBehaviorProperty{
			TargetOriginId: jsii.String("api"), ViewerProtocolPolicy: jsii.String("https-only"), Compress: jsii.Bool(false),
			AllowedMethods: jsii.Strings("GET", "HEAD", "OPTIONS", "PUT", "PATCH", "POST", "DELETE"), CachedMethods: jsii.Strings("GET", "HEAD"),
			CachePolicyId: cache.Ref(), OriginRequestPolicyId: jsii.String(allViewerExceptHost),
			FunctionAssociations: []any{&awscloudfront.CfnDistribution_FunctionAssociationProperty{
				EventType: jsii.String("viewer-request"), FunctionArn: address.AttrFunctionArn(),
			}},
		},
		CustomErrorResponses: errors,
		ViewerCertificate:    &awscloudfront.CfnDistribution_ViewerCertificateProperty{CloudFrontDefaultCertificate: jsii.Bool(true)},
		WebAclId:             s.webACL(stack),
	}
	if s.Domain != "" {
		config.Aliases = jsii.Strings(s.Domain)
		config.ViewerCertificate = &awscloudfront.CfnDistribution_ViewerCertificateProperty{
			AcmCertificateArn: jsii.String(s.CertificateARN), SslSupportMethod: jsii.String("sni-only"), MinimumProtocolVersion: jsii.String("TLSv1.2_2021"),
		}
	}
	e := &edge{distribution: awscloudfront.NewCfnDistribution(stack, jsii.String("Edge"), &awscloudfront.CfnDistributionProps{DistributionConfig: config}), secret: secret}
	e.ready = append(e.ready, e.distribution)
	e.name(stack, s)
	return e
}

// addressCode gives the API the caller's address, in place of any that the caller sent.
// CloudFront-Viewer-Address would need another origin request policy: one that lists at
// most ten headers, or forwards Host, which API Gateway refuses.
var addressCode = fmt.Sprintf(`function handler(event) {
  var request = event.request;
  request.headers[%q] = {value: event.viewer.ip};
  return request;
}
`, strings.ToLower(api.HeaderViewerAddress))

// newEdgeSecret makes the secret by which functions recognise the edge's requests. It
// protects no data, so it is deleted with the edge.
func newEdgeSecret(stack awscdk.Stack) awssecretsmanager.Secret {
	return awssecretsmanager.NewSecret(stack, jsii.String("EdgeSecret"), &awssecretsmanager.SecretProps{
		Description: jsii.String("CloudFront sends it to the API, which refuses all other callers. The runbook says how to rotate it."),
		GenerateSecretString: &awssecretsmanager.SecretStringGenerator{
			PasswordLength: jsii.Number(64), ExcludePunctuation: jsii.Bool(true), IncludeSpace: jsii.Bool(false),
		},
		RemovalPolicy: awscdk.RemovalPolicy_DESTROY,
	})
}

// edgeSecretValue returns a dynamic reference, so that the secret is in no template, output
// or log. CloudFormation reads the secret again only if the distribution changes, for
// example by the setting edgeSecretVersion. Anybody who may read the distribution's
// configuration can read the secret.
// https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/dynamic-references-secretsmanager.html
func (s Settings) edgeSecretValue(secret awssecretsmanager.Secret) *string {
	return jsii.String("{{resolve:secretsmanager:" + *secret.SecretArn() + ":SecretString:::" + s.EdgeSecretVersion + "}}")
}

// name points the domain's DNS record to the distribution, or asks the operator to do so.
func (e *edge) name(stack awscdk.Stack, s Settings) {
	switch {
	case s.Domain == "":
	case s.HostedZone == "":
		askForRecord(stack, s, e.distribution.AttrDomainName())
	default:
		for _, record := range [][2]string{{"DomainRecord", "A"}, {"DomainRecord6", "AAAA"}} {
			e.ready = append(e.ready, newRecord(stack, s, record[0], record[1], e.distribution.AttrDomainName(), jsii.String(cloudFrontZone)))
		}
	}
}

// address returns the service's address at the distribution.
func (e *edge) address() *string {
	return jsii.String("https://" + *e.distribution.AttrDomainName())
}

// guard makes the deployment of a function wait for the edge. Once deployed, the function
// refuses callers that go around the edge.
func (e *edge) guard(f awslambda.Function) {
	if e == nil {
		return
	}
	own := f.Node().DefaultChild().(awslambda.CfnFunction)
	for _, r := range e.ready {
		own.AddDependency(r)
	}
}

// arn returns the ARN of the edge's secret, or "".
func (e *edge) arn() string {
	if e == nil {
		return ""
	}
	return *e.secret.SecretArn()
}

// webACLOwn is the value of the setting webAcl that makes a web ACL.
const webACLOwn = "own"

// floodWindow is the period in seconds that the web ACL counts requests in.
const floodWindow = 300

// webACL returns the web ACL of the distribution, or nil. The stack's own ACL blocks
// addresses that AWS knows as attackers, and addresses that send more than
// [Settings.floodLimit] allows. It has no rules about contents, because texts about
// programs look like attacks. Requests are not sampled, because a sample has headers with
// credentials.
func (s Settings) webACL(stack awscdk.Stack) *string {
	if s.WebACL != webACLOwn {
		if s.WebACL == "" {
			return nil
		}
		return jsii.String(s.WebACL)
	}
	seen := func(name string) *awswafv2.CfnWebACL_VisibilityConfigProperty {
		return &awswafv2.CfnWebACL_VisibilityConfigProperty{CloudWatchMetricsEnabled: jsii.Bool(true), MetricName: jsii.String(name), SampledRequestsEnabled: jsii.Bool(false)}
	}
	acl := awswafv2.NewCfnWebACL(stack, jsii.String("EdgeFirewall"), &awswafv2.CfnWebACLProps{
		Scope: jsii.String("CLOUDFRONT"), Description: jsii.String("Blocks floods and known attackers before they reach the API"),
		DefaultAction:    &awswafv2.CfnWebACL_DefaultActionProperty{Allow: map[string]any{}},
		VisibilityConfig: seen("firewall"),
		Rules: []any{
			&awswafv2.CfnWebACL_RuleProperty{
				Name: jsii.String("reputation"), Priority: jsii.Number(0), VisibilityConfig: seen("reputation"),
				OverrideAction: &awswafv2.CfnWebACL_OverrideActionProperty{None: map[string]any{}},
				Statement: &awswafv2.CfnWebACL_StatementProperty{ManagedRuleGroupStatement: &awswafv2.CfnWebACL_ManagedRuleGroupStatementProperty{
					VendorName: jsii.String("AWS"), Name: jsii.String("AWSManagedRulesAmazonIpReputationList"),
				}},
			},
			&awswafv2.CfnWebACL_RuleProperty{
				Name: jsii.String("flood"), Priority: jsii.Number(1), VisibilityConfig: seen("flood"),
				Action: &awswafv2.CfnWebACL_RuleActionProperty{Block: map[string]any{}},
				Statement: &awswafv2.CfnWebACL_StatementProperty{RateBasedStatement: &awswafv2.CfnWebACL_RateBasedStatementProperty{
					AggregateKeyType: jsii.String("IP"), Limit: jsii.Number(float64(s.floodLimit())), EvaluationWindowSec: jsii.Number(floodWindow),
				}},
			},
		},
	})
	return acl.AttrArn()
}

// floodLimit returns the number of requests that one address may make in floodWindow: half
// of what the throttle lets through. WAF accepts no limit below ten.
func (s Settings) floodLimit() int { return max(10, s.ThrottleRate*floodWindow/2) }
