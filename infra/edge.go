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
	ready        []awscdk.CfnResource // what must exist before functions refuse callers that go around the edge
}

// edgeRegion is the region of CloudFront's certificates and web ACLs.
const edgeRegion = "us-east-1"

// allViewerExceptHost is AWS's origin request policy of that name: the API gets the query
// and all headers except Host, by which API Gateway finds the API.
// https://docs.aws.amazon.com/AmazonCloudFront/latest/DeveloperGuide/using-managed-origin-request-policies.html
const allViewerExceptHost = "b689b0a8-53d0-40ab-baf2-68738e2966ac"

// cloudFrontZone is the hosted zone of all distributions.
const cloudFrontZone = "Z2FDTNDATAQYW2"

// cacheKey lists the headers that the Vary of answers names, besides Accept-Encoding.
// Callers with a credential send one of the first two. Answers to them are not stored, and
// they get no answer that was stored for others.
var cacheKey = []string{"Authorization", "X-Agent-Key", "Accept"}

// uncachedErrors lists the codes of errors that CloudFront would store for ten seconds,
// even if the answer forbids it.
var uncachedErrors = []float64{400, 403, 404, 405, 414, 416, 500, 501, 502, 503, 504}

// newEdge makes the distribution. It returns nil if the setting edge is false. Nothing of
// the edge has been tried in an AWS account.
//
// CloudFront stores public answers for as long as their Cache-Control says. It stores no
// errors, and no answers to callers with a credential. The key of a stored answer consists
// of the path, the whole query and the headers in [cacheKey]. A stored answer has the
// x-request-id of the request that it was made for.
//
// CloudFront passes all other requests on to the API unchanged, except for the header Host,
// which no signature covers. It answers 403 itself to a GET with a body, and to plain HTTP.
// Its logs are off, because they would have the callers' addresses.
//
// The edge does not compress. The service does, and leaves answers with secrets as they
// are (shared/api/compress.go). An answer longer than [api.SharedMost] is stored only
// compressed.
//
// Functions answer 403 edge_required to callers that go around the edge. They take the
// caller's address from the edge's header only if the request has the edge's secret
// (shared/api/edge.go). A refused call still costs a call of the API and of a function,
// which throttleRate bounds.
func newEdge(stack awscdk.Stack, s Settings, g *gateway) *edge {
	if !s.Edge {
		return nil
	}
	name := *stack.StackName() + "-" + *stack.Region() // names in CloudFront are unique in the account, across regions
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
				OriginReadTimeout:      jsii.Number(35), // the gateway answers within 30
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
// CloudFront's own header, CloudFront-Viewer-Address, would need another origin request
// policy. Such a policy either lists the headers to forward, at most ten, or forwards Host
// as well, which API Gateway refuses.
var addressCode = fmt.Sprintf(`function handler(event) {
  var request = event.request;
  request.headers[%q] = {value: event.viewer.ip};
  return request;
}
`, strings.ToLower(api.HeaderViewerAddress))

// newEdgeSecret makes the secret by which functions recognise the edge's requests. It
// protects no data, and the next edge gets a new one, so it is deleted with the edge.
func newEdgeSecret(stack awscdk.Stack) awssecretsmanager.Secret {
	return awssecretsmanager.NewSecret(stack, jsii.String("EdgeSecret"), &awssecretsmanager.SecretProps{
		Description: jsii.String("CloudFront sends it to the API, which refuses all other callers. The runbook says how to rotate it."),
		GenerateSecretString: &awssecretsmanager.SecretStringGenerator{
			PasswordLength: jsii.Number(64), ExcludePunctuation: jsii.Bool(true), IncludeSpace: jsii.Bool(false),
		},
		RemovalPolicy: awscdk.RemovalPolicy_DESTROY,
	})
}

// edgeSecretValue returns the dynamic reference that CloudFormation replaces with the
// secret while it deploys, so that the secret is in no template, output, log, variable or
// error. It is in the distribution's configuration, so anybody in the account who may read
// that configuration can read the secret. CloudFormation reads the secret again only if
// the distribution changes, as it does with the setting edgeSecretVersion.
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
// refuses callers that go around the edge, so they must be able to come through it by then.
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

// webACL returns the web ACL of the distribution: one that was made elsewhere, the
// stack's own, or nil. The stack's own blocks addresses that AWS knows as sources of
// attacks, and addresses that send more than half as many requests as the throttle lets
// through. A blocked caller gets a page with 403. The ACL has none of AWS's rules about
// contents, because texts on this service are about programs and look like attacks.
// Requests are not sampled, because a sample has headers with credentials.
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

// floodLimit returns the number of requests that one address may make in floodWindow. WAF
// accepts no limit below ten.
func (s Settings) floodLimit() int { return max(10, s.ThrottleRate*floodWindow/2) }
