package main

import (
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// rule holds for every resource of a type. Rules with an ID come from the AwsSolutions pack
// of cdk-nag, which does not exist for Go.
type rule struct {
	ID   string // without the prefix AwsSolutions-; "" for our own
	Says string
	Type string

	// Check returns what is wrong with a resource.
	Check func(t *template, id string, r resource) []string
	// Break makes the resource break the rule; it may change the template.
	Break func(t *template, id string, r resource)
	// Lasting is true for a rule that does not apply to a disposable stage.
	Lasting bool
	// Except holds the reason for each accepted finding, by "resource: finding"
	// without the CDK's digits, or by the finding alone for all resources.
	Except map[string]string
}

// addressed is why events about returned mail have no dead letters.
const addressed = "the event contains the recipient's address, which is kept nowhere; the alarm Dropped counts what is lost"

var rules = []rule{
	{ID: "APIG1", Says: "requests are logged", Type: "AWS::ApiGatewayV2::Stage",
		Check: has("AccessLogSettings.DestinationArn", "AccessLogSettings.Format"), Break: without("AccessLogSettings")},
	{ID: "APIG4", Says: "the gateway authorizes callers", Type: "AWS::ApiGatewayV2::Route",
		Check: is("AuthorizationType", "JWT", "AWS_IAM", "CUSTOM"), Break: without("AuthorizationType"),
		Except: map[string]string{
			"AuthorizationType is missing": "shared/api verifies signatures over the request's bytes, and tokens in the trip to the table " +
				"that the request makes anyway; an authorizer would add a function, a call and a trip",
		}},
	{Says: "requests are throttled", Type: "AWS::ApiGatewayV2::Stage",
		Check: has("DefaultRouteSettings.ThrottlingRateLimit", "DefaultRouteSettings.ThrottlingBurstLimit"), Break: without("DefaultRouteSettings")},
	{Says: "a domain requires TLS 1.2 or later", Type: "AWS::ApiGatewayV2::DomainName",
		Check: each("DomainNameConfigurations", "SecurityPolicy", "TLS_1_2", "TLS_1_3"),
		Break: func(_ *template, _ string, r resource) {
			r.Properties["DomainNameConfigurations"].([]any)[0].(map[string]any)["SecurityPolicy"] = "TLS_1_0"
		}},

	{ID: "CFR1", Says: "a distribution is restricted to countries", Type: "AWS::CloudFront::Distribution",
		Check: has("DistributionConfig.Restrictions.GeoRestriction"), Break: without("DistributionConfig"),
		Except: map[string]string{"Edge: DistributionConfig.Restrictions.GeoRestriction is missing": "agents come from everywhere"}},
	{ID: "CFR2", Says: "a distribution has a web ACL", Type: "AWS::CloudFront::Distribution",
		Check: has("DistributionConfig.WebACLId"), Break: without("DistributionConfig")},
	{ID: "CFR3", Says: "a distribution logs requests", Type: "AWS::CloudFront::Distribution",
		Check: has("DistributionConfig.Logging"), Break: without("DistributionConfig"),
		Except: map[string]string{"Edge: DistributionConfig.Logging is missing": "the lines would have callers' addresses, and the gateway and the functions log all requests that are not answered from the cache"}},
	{ID: "CFR4", Says: "a distribution's domain requires TLS 1.2 or later", Type: "AWS::CloudFront::Distribution",
		Check: is("DistributionConfig.ViewerCertificate.MinimumProtocolVersion", "TLSv1.2_2021"), Break: without("DistributionConfig")},
	{ID: "CFR5", Says: "a distribution calls the API over TLS 1.2", Type: "AWS::CloudFront::Distribution",
		Check: func(_ *template, _ string, r resource) (wrong []string) {
			config, _ := r.Properties["DistributionConfig"].(map[string]any)
			origins, _ := config["Origins"].([]any)
			for _, o := range origins {
				if c := o.(map[string]any)["CustomOriginConfig"]; !strings.Contains(plain(c), `"OriginProtocolPolicy":"https-only"`) || !strings.Contains(plain(c), `"OriginSSLProtocols":["TLSv1.2"]`) {
					wrong = append(wrong, "an origin is not called over TLS 1.2")
				}
			}
			if len(origins) == 0 {
				wrong = append(wrong, "no origin")
			}
			return wrong
		}, Break: func(_ *template, _ string, r resource) {
			delete(r.Properties["DistributionConfig"].(map[string]any)["Origins"].([]any)[0].(map[string]any), "CustomOriginConfig")
		}},
	{Says: "an edge's secret is not in the template", Type: "AWS::CloudFront::Distribution",
		Check: func(_ *template, _ string, r resource) []string {
			config, _ := r.Properties["DistributionConfig"].(map[string]any)
			if origins := plain(config["Origins"]); strings.Count(origins, "HeaderValue") != strings.Count(origins, "{{resolve:secretsmanager:") {
				return []string{"a header's value is in the template"}
			}
			return nil
		}, Break: func(_ *template, _ string, r resource) {
			origin := r.Properties["DistributionConfig"].(map[string]any)["Origins"].([]any)[0].(map[string]any)
			origin["OriginCustomHeaders"].([]any)[0].(map[string]any)["HeaderValue"] = "hunter2"
		}},
	{Says: "a web ACL keeps no samples of requests, which have credentials", Type: "AWS::WAFv2::WebACL",
		Check: func(_ *template, _ string, r resource) []string {
			if strings.Contains(plain(r.Properties), `"SampledRequestsEnabled":true`) || !strings.Contains(plain(r.Properties), `"SampledRequestsEnabled":false`) {
				return []string{"SampledRequestsEnabled is true, or missing"}
			}
			return nil
		}, Break: with("VisibilityConfig", map[string]any{"SampledRequestsEnabled": true})},

	{Says: "a backup expires, and is copied to another region or account", Type: "AWS::Backup::BackupPlan",
		Check: func(_ *template, _ string, r resource) (wrong []string) {
			p, _ := r.Properties["BackupPlan"].(map[string]any)
			rules, _ := p["BackupPlanRule"].([]any)
			for _, x := range rules {
				m := x.(map[string]any)
				if at(resource{Properties: m}, "Lifecycle.DeleteAfterDays") == "" || !strings.Contains(plain(m["CopyActions"]), `"DeleteAfterDays":`) {
					wrong = append(wrong, "a rule keeps its backups for ever, or copies none")
				}
			}
			if rules == nil {
				wrong = append(wrong, "no rule")
			}
			return wrong
		}, Break: func(_ *template, _ string, r resource) {
			p := r.Properties["BackupPlan"].(map[string]any)
			delete(p["BackupPlanRule"].([]any)[0].(map[string]any), "CopyActions")
		}},
	{ID: "DDB3", Says: "the table can be restored to any second", Type: "AWS::DynamoDB::Table",
		Check: is("PointInTimeRecoverySpecification.PointInTimeRecoveryEnabled", "true"), Break: without("PointInTimeRecoverySpecification")},
	{Says: "the table cannot be deleted by mistake", Type: "AWS::DynamoDB::Table", Lasting: true,
		Check: is("DeletionProtectionEnabled", "true"), Break: without("DeletionProtectionEnabled")},

	{ID: "IAM4", Says: "roles have no policies that AWS may widen", Type: "AWS::IAM::Role",
		Check: lacks("ManagedPolicyArns"), Break: with("ManagedPolicyArns", []any{"arn:aws:iam::aws:policy/service-role/AWSLambdaBasicExecutionRole"})},
	{ID: "IAM5", Says: "rights name their resources", Type: "AWS::IAM::Role",
		Check: wildcardsOf, Break: func(_ *template, _ string, r resource) { firstStatement(r)["Action"] = "dynamodb:*" },
		Except: map[string]string{
			"s3:PutObject on ${FailedBatches.Arn}/*": "Lambda names the objects",
			"dynamodb:ListStreams on *":              "the action has no type of resource in AWS's reference; Lambda needs it to create a mapping",
			"ses:SendEmail on arn:${AWS::Partition}:ses:eu-central-1:123456789012:identity/*": "the condition allows one sender only; " +
				"in SES's sandbox the right is also checked on the recipient's identity",
			"xray:PutTraceSegments on *":    "the action accepts no resource, and only sends data about the function",
			"xray:PutTelemetryRecords on *": "the action accepts no resource, and only sends data about the function",
			"backup:CopyFromBackupVault on arn:${AWS::Partition}:backup:eu-central-1:123456789012:recovery-point:*": "AWS Backup names the recovery points; backup:CopyIntoBackupVault is allowed on one vault only",
			"backup:TagResource on arn:${AWS::Partition}:backup:eu-central-1:123456789012:recovery-point:*":         "AWS Backup names the recovery points",
			"backup:TagResource on arn:aws:backup:eu-west-1:210987654321:recovery-point:*":                          "AWS Backup names the recovery points",
			"cloudwatch:DescribeAlarms on *": "CodeDeploy lists its alarms, and the action is granted on all of them",
		}},
	{Says: "a role trusts one service", Type: "AWS::IAM::Role", Check: trustsOneService,
		Break: func(_ *template, _ string, r resource) {
			r.Properties["AssumeRolePolicyDocument"].(map[string]any)["Statement"].([]any)[0].(map[string]any)["Principal"] = map[string]any{"AWS": "*"}
		}},

	{ID: "L1", Says: "functions run on the newest runtime", Type: "AWS::Lambda::Function",
		Check: is("Runtime", "provided.al2023"), Break: with("Runtime", "provided.al2")},
	{Says: "only one service, for one resource, may call a function", Type: "AWS::Lambda::Permission",
		Check: func(t *template, id string, r resource) []string {
			return slices.Concat(has("SourceArn")(t, id, r), lacks("FunctionUrlAuthType")(t, id, r), isLike("Principal", `^[a-z]+\.amazonaws\.com$`)(t, id, r))
		}, Break: with("Principal", "*")},
	{Says: "failed batches of a reader are kept", Type: "AWS::Lambda::EventSourceMapping",
		Check: has("DestinationConfig.OnFailure.Destination", "MaximumRetryAttempts", "MaximumRecordAgeInSeconds", "BisectBatchOnFunctionError"), Break: without("DestinationConfig")},
	{Says: "failed asynchronous calls are kept", Type: "AWS::Lambda::EventInvokeConfig",
		Check: has("DestinationConfig.OnFailure.Destination", "MaximumEventAgeInSeconds"), Break: without("DestinationConfig"),
		Except: map[string]string{
			"returnsFunctionCalls: DestinationConfig.OnFailure.Destination is missing": addressed,
			"probeFunctionCalls: DestinationConfig.OnFailure.Destination is missing":   "the call has no work to do later; the alarm Unreachable counts failures",
		}},
	{Says: "undelivered ticks of a schedule are kept", Type: "AWS::Scheduler::Schedule",
		Check: has("Target.DeadLetterConfig.Arn", "Target.RetryPolicy.MaximumRetryAttempts"),
		Break: func(_ *template, _ string, r resource) {
			delete(r.Properties["Target"].(map[string]any), "DeadLetterConfig")
		}},

	{Says: "undelivered events are kept", Type: "AWS::Events::Rule",
		Check: func(_ *template, _ string, r resource) []string {
			for _, target := range r.Properties["Targets"].([]any) {
				if target.(map[string]any)["DeadLetterConfig"] == nil {
					return []string{"a target has no dead letters"}
				}
			}
			return nil
		}, Break: func(_ *template, _ string, r resource) {
			delete(r.Properties["Targets"].([]any)[0].(map[string]any), "DeadLetterConfig")
		},
		Except: map[string]string{"returnsFunctionEvents: a target has no dead letters": addressed}},

	{Says: "logs expire", Type: "AWS::Logs::LogGroup",
		Check: isLike("RetentionInDays", `^[1-9][0-9]*$`), Break: without("RetentionInDays")},

	{ID: "S1", Says: "reads of a bucket are logged", Type: "AWS::S3::Bucket",
		Check: has("LoggingConfiguration"), Break: without("LoggingConfiguration"),
		Except: map[string]string{
			"FailedBatches: LoggingConfiguration is missing": "only Lambda writes to it, and only operators read it; " +
				"an access log would need another bucket, which needs a log in turn",
		}},
	{ID: "S2", Says: "a bucket is not public", Type: "AWS::S3::Bucket",
		Check: func(t *template, id string, r resource) (wrong []string) {
			for _, name := range []string{"BlockPublicAcls", "BlockPublicPolicy", "IgnorePublicAcls", "RestrictPublicBuckets"} {
				wrong = append(wrong, is("PublicAccessBlockConfiguration."+name, "true")(t, id, r)...)
			}
			return wrong
		}, Break: func(_ *template, _ string, r resource) {
			r.Properties["PublicAccessBlockConfiguration"].(map[string]any)["RestrictPublicBuckets"] = false
		}},
	{ID: "S10", Says: "a bucket requires TLS", Type: "AWS::S3::Bucket",
		Check: overTLS("AWS::S3::BucketPolicy", "Bucket", "s3:*"), Break: openly("AWS::S3::BucketPolicy")},
	{Says: "a bucket is encrypted, and its objects expire", Type: "AWS::S3::Bucket",
		Check: has("BucketEncryption.ServerSideEncryptionConfiguration", "LifecycleConfiguration.Rules"), Break: without("LifecycleConfiguration")},

	{ID: "SMG4", Says: "secrets rotate automatically", Type: "AWS::SecretsManager::Secret",
		Check: func(t *template, id string, _ resource) []string {
			for _, s := range t.all("AWS::SecretsManager::RotationSchedule") {
				if plain(s.Properties["SecretId"]) == "${"+id+"}" {
					return nil
				}
			}
			return []string{"no rotation"}
		}, Break: func(t *template, id string, _ resource) {
			drop(t, "AWS::SecretsManager::RotationSchedule", "SecretId", id)
		},
		Except: map[string]string{
			"EdgeSecret: no rotation": "CloudFront gets the new value only by a deployment (see the runbook)",
			"Secret: no rotation":     "operators add a line before the old ones (see the runbook): automatic rotation would need a function that may write the secret, and would drop keys that tokens are sealed with",
			"Pepper: no rotation":     "it never changes: with another value no verified address is recognized",
			"Payments: no rotation":   "the payment processor makes the keys; the runbook says how to change them without a gap",
		}},
	{Says: "the template contains no secret", Type: "AWS::SecretsManager::Secret",
		Check: func(_ *template, _ string, r resource) []string {
			if v := plain(r.Properties["SecretString"]); v != "" && v != emptyKeys {
				return []string{"SecretString is in the template"}
			}
			return nil
		}, Break: with("SecretString", "hunter2")},

	{ID: "SNS3", Says: "a topic requires TLS", Type: "AWS::SNS::Topic",
		Check: overTLS("AWS::SNS::TopicPolicy", "Topics", "sns:Publish"), Break: openly("AWS::SNS::TopicPolicy")},
	{ID: "SQS2", Says: "a queue is encrypted", Type: "AWS::SQS::Queue",
		Check: func(t *template, id string, r resource) []string {
			if plain(r.Properties["KmsMasterKeyId"]) != "" {
				return nil
			}
			return is("SqsManagedSseEnabled", "true")(t, id, r)
		}, Break: with("SqsManagedSseEnabled", false)},
	{ID: "SQS3", Says: "a queue has dead letters, or holds them", Type: "AWS::SQS::Queue",
		Check: func(t *template, id string, r resource) []string {
			if r.Properties["RedrivePolicy"] != nil || t.deadLetters()["${"+id+".Arn}"] {
				return nil
			}
			return []string{"neither has dead letters nor holds them"}
		}, Break: func(t *template, id string, _ resource) {
			for _, other := range t.Resources {
				switch other.Type {
				case "AWS::Scheduler::Schedule", "AWS::Lambda::EventInvokeConfig", "AWS::SQS::Queue", "AWS::SNS::Subscription":
					for _, name := range []string{"Target", "DestinationConfig", "RedrivePolicy"} {
						delete(other.Properties, name)
					}
				}
			}
		}},
	{ID: "SQS4", Says: "a queue requires TLS", Type: "AWS::SQS::Queue",
		Check: overTLS("AWS::SQS::QueuePolicy", "Queues", "sqs:*"), Break: openly("AWS::SQS::QueuePolicy")},

	{Says: "an alarm has an action and a description", Type: "AWS::CloudWatch::Alarm",
		Check: has("AlarmActions", "AlarmDescription"), Break: with("AlarmActions", []any{})},
	{Says: "mail goes to servers with TLS only", Type: "AWS::SES::ConfigurationSet",
		Check: is("DeliveryOptions.TlsPolicy", "REQUIRE"), Break: without("DeliveryOptions")},
}

// kept lists the types that hold data.
var kept = []string{"AWS::Backup::BackupVault", "AWS::DynamoDB::Table", "AWS::SecretsManager::Secret", "AWS::S3::Bucket", "AWS::Logs::LogGroup"}

func init() {
	for _, kind := range kept {
		rules = append(rules, rule{
			Says: "data outlives its stack", Type: kind, Lasting: true,
			Check: func(_ *template, _ string, r resource) []string {
				if kind == "AWS::SecretsManager::Secret" && r.Properties["Name"] == nil {
					return nil // the edge's, which protects no data
				}
				// For the table, RetainExceptOnCreate is wrong: a rollback would try to
				// delete the protected table.
				if r.DeletionPolicy != "Retain" && (kind == "AWS::DynamoDB::Table" || r.DeletionPolicy != "RetainExceptOnCreate") || r.UpdateReplacePolicy != "Retain" {
					return []string{"is not retained"}
				}
				return nil
			},
			Break: func(t *template, id string, r resource) { r.DeletionPolicy = "Delete"; t.Resources[id] = r },
		})
	}
	for _, kind := range []string{"AWS::S3::BucketPolicy", "AWS::SQS::QueuePolicy", "AWS::SNS::TopicPolicy"} {
		rules = append(rules, rule{
			Says: "a resource's policy does not open it to everybody", Type: kind, Check: opensToNobody,
			Break: func(_ *template, _ string, r resource) {
				d := r.Properties["PolicyDocument"].(map[string]any)
				d["Statement"] = append(d["Statement"].([]any), map[string]any{"Effect": "Allow", "Action": "x:Y", "Principal": map[string]any{"AWS": []any{"*"}}, "Resource": "x"})
			},
		})
	}
}

// beside lists types that the stack must not have, with the pack's rules about them.
var beside = []struct{ IDs, Type, Why string }{
	{"APIG2, APIG3, APIG6, COG4", `^AWS::ApiGateway::`, "for REST APIs: the service validates bodies itself, WAF does not protect HTTP APIs, and Cognito is not used"},
	{"ASC3", `^AWS::AppSync::`, ""}, {"ATH1", `^AWS::Athena::`, ""}, {"CB3-5", `^AWS::CodeBuild::`, ""}, {"C91", `^AWS::Cloud9::`, ""},
	{"CFR6", `^AWS::CloudFront::StreamingDistribution$`, "it is old, and for S3"}, {"CFR7", `^AWS::CloudFront::OriginAccessControl$`, "the origin is not a bucket"}, {"COG1-8", `^AWS::Cognito::`, "agents have keys"},
	{"DDB4", `^AWS::DAX::`, ""}, {"DOC1-5", `^AWS::DocDB::`, ""}, {"EC23-29, VPC3, VPC7, ELB1-5, AS1-3", `^AWS::(EC2|ElasticLoadBalancing|ElasticLoadBalancingV2|AutoScaling)::`, "no VPC"},
	{"EB1-4", `^AWS::ElasticBeanstalk::`, ""}, {"ECR1, ECS2-7, EKS1-2", `^AWS::(ECR|ECS|EKS)::`, "no containers"}, {"EFS1", `^AWS::EFS::`, ""},
	{"EMR2-6, GL1-3", `^AWS::(EMR|Glue)::`, ""}, {"EVB1", `^AWS::Events::EventBusPolicy$`, "SES sends its events to the account's default bus, which no other account may use"},
	{"(archives and logs of events)", `^AWS::Events::(Archive|EventBus)$`, "they would keep the addresses of mail that came back"},
	{"KMS5", `^AWS::KMS::`, "AWS owns the keys, so there is no key policy to get wrong"},
	{"KDA3, KDF1, KDS1, KDS3, MSK2-6", `^AWS::(Kinesis|KinesisAnalytics|KinesisAnalyticsV2|KinesisFirehose|MSK)::`, "the table has its own stream"},
	{"LEX4, SM1-3, QS1", `^AWS::(Lex|SageMaker|QuickSight)::`, ""}, {"MS1-10", `^AWS::MediaStore::`, ""},
	{"N1-5, RDS2-16, RS1-11, OS1-9, AEC1-6, TS3", `^AWS::(Neptune|RDS|Redshift|OpenSearchService|Elasticsearch|ElastiCache|Timestream)::`, "there is one table"},
	{"S5", `^AWS::S3::BucketWebsite`, "no bucket is a website"}, {"SF1-2", `^AWS::StepFunctions::`, ""},
	{"(function URLs)", `^AWS::Lambda::Url$`, "every call comes through the gateway, with its throttles and its log"},
	{"(users and loose policies)", `^AWS::IAM::(User|Group|AccessKey|Policy|ManagedPolicy)$`, "all rights are in roles, where rights_test.go reads them"},
}

func TestRules(t *testing.T) {
	used := map[string]bool{} // exceptions that apply, by rule and finding
	deployments(t, func(t *testing.T, s *service) {
		for _, x := range rules {
			for _, f := range s.findings(x) {
				if reason := x.excuse(f); reason != "" {
					used[x.Says+f.name(x)] = true
				} else if !x.Lasting || s.stage() != "dev" {
					t.Errorf("%s breaks the rule %s %q: %s", f.id, x.ID, x.Says, f.what)
				}
			}
		}
		for _, b := range beside {
			for id, r := range s.Resources {
				if regexp.MustCompile(b.Type).MatchString(r.Type) {
					t.Errorf("%s is a %s: look at the rules %s of AwsSolutions (%s)", id, r.Type, b.IDs, b.Why)
				}
			}
		}
	})
	for _, x := range rules {
		for excused := range x.Except {
			if !used[x.Says+excused] {
				t.Errorf("%q: no finding needs the exception %q; remove it", x.Says, excused)
			}
		}
	}
}

// TestRulesFind checks that each rule finds a resource that breaks it.
func TestRulesFind(t *testing.T) {
	for _, x := range rules {
		s := of(t, whole)
		if strings.HasPrefix(x.Type, "AWS::CloudFront::") || strings.HasPrefix(x.Type, "AWS::WAFv2::") {
			s = of(t, edged)
		}
		there := s.all(x.Type)
		if len(there) == 0 {
			t.Errorf("rule %q: the template has no %s", x.Says, x.Type)
		}
		for id := range there {
			broken := s.copy()
			x.Break(broken, id, broken.Resources[id])
			unexcused := func(f finding) bool { return x.excuse(f) == "" }
			found := slices.ContainsFunc(x.check(broken, id), unexcused)
			if before := x.check(&s.template, id); !found && len(before) == 0 {
				t.Errorf("rule %q does not find that %s breaks it", x.Says, id)
			}
		}
	}
}

// finding is a resource that breaks a rule, and how.
type finding struct{ id, what string }

func (x rule) check(t *template, id string) (found []finding) {
	for _, what := range x.Check(t, id, t.Resources[id]) {
		found = append(found, finding{id, logical(what)})
	}
	return found
}

func (t *template) findings(x rule) (found []finding) {
	for _, id := range slices.Sorted(maps.Keys(t.all(x.Type))) {
		found = append(found, x.check(t, id)...)
	}
	return found
}

// name returns the key of the exception for f.
func (f finding) name(x rule) string {
	if one := logical(f.id) + ": " + f.what; x.Except[one] != "" {
		return one
	}
	return f.what
}

func (x rule) excuse(f finding) string { return x.Except[f.name(x)] }

func (t *template) stage() string {
	for _, r := range t.all("AWS::SecretsManager::Secret") {
		if name := plain(r.Properties["Name"]); name != "" {
			return strings.Split(name, "/")[1]
		}
	}
	return ""
}

// at returns a property by its path, as text.
func at(r resource, path string) string {
	var v any = r.Properties
	for name := range strings.SplitSeq(path, ".") {
		m, _ := v.(map[string]any)
		v = m[name]
	}
	return plain(v)
}

type checkFunc = func(*template, string, resource) []string

func has(paths ...string) checkFunc {
	return func(_ *template, _ string, r resource) (wrong []string) {
		for _, path := range paths {
			if v := at(r, path); v == "" || v == "[]" || v == "{}" {
				wrong = append(wrong, path+" is missing")
			}
		}
		return wrong
	}
}

func lacks(path string) checkFunc {
	return func(_ *template, _ string, r resource) []string {
		if v := at(r, path); v != "" {
			return []string{path + " is " + v}
		}
		return nil
	}
}

func is(path string, values ...string) checkFunc {
	return func(t *template, id string, r resource) []string {
		if wrong := has(path)(t, id, r); wrong != nil {
			return wrong
		}
		if v := at(r, path); !slices.Contains(values, v) {
			return []string{path + " is " + v}
		}
		return nil
	}
}

func isLike(path, form string) checkFunc {
	return func(t *template, id string, r resource) []string {
		v := at(r, path)
		if !regexp.MustCompile(form).MatchString(v) {
			return []string{path + " is " + v}
		}
		return nil
	}
}

// each checks that every member of a list has one of the values.
func each(list, name string, values ...string) checkFunc {
	return func(_ *template, _ string, r resource) (wrong []string) {
		members, _ := r.Properties[list].([]any)
		for _, m := range members {
			if v := plain(m.(map[string]any)[name]); !slices.Contains(values, v) {
				wrong = append(wrong, name+" is "+v)
			}
		}
		if members == nil {
			wrong = append(wrong, list+" is missing")
		}
		return wrong
	}
}

func without(name string) func(*template, string, resource) {
	return func(_ *template, _ string, r resource) { delete(r.Properties, name) }
}

func with(name string, v any) func(*template, string, resource) {
	return func(_ *template, _ string, r resource) { r.Properties[name] = v }
}

// overTLS checks that a policy of the resource denies requests without TLS.
func overTLS(policy, names, action string) checkFunc {
	return func(t *template, id string, _ resource) []string {
		for _, p := range t.all(policy) {
			if !slices.Contains(list(p.Properties[names]), "${"+id+"}") {
				continue
			}
			for _, s := range statementsOf(p.Properties["PolicyDocument"]) {
				if s["Effect"] == "Deny" && slices.Contains(list(s["Action"]), action) && slices.Contains(list(principals(s)), "*") &&
					plain(s["Condition"]) == `{"Bool":{"aws:SecureTransport":"false"}}` {
					return nil
				}
			}
		}
		return []string{"no policy requires TLS"}
	}
}

// openly changes every statement in the resource's policies of a type to Allow.
func openly(policy string) func(*template, string, resource) {
	return func(t *template, id string, _ resource) {
		for _, r := range t.all(policy) {
			for _, names := range []string{"Bucket", "Topics", "Queues"} {
				if slices.Contains(list(r.Properties[names]), "${"+id+"}") {
					for _, s := range statementsOf(r.Properties["PolicyDocument"]) {
						s["Effect"] = "Allow"
					}
				}
			}
		}
	}
}

// drop deletes the resources of a type whose property names id.
func drop(t *template, kind, property, id string) {
	for other, r := range t.all(kind) {
		if slices.Contains(list(r.Properties[property]), "${"+id+"}") {
			delete(t.Resources, other)
		}
	}
}

func opensToNobody(_ *template, _ string, r resource) (wrong []string) {
	for _, s := range statementsOf(r.Properties["PolicyDocument"]) {
		if s["Effect"] == "Allow" && slices.Contains(list(principals(s)), "*") {
			wrong = append(wrong, "opens it to everybody")
		}
		if s["Effect"] == "Allow" && s["Condition"] == nil {
			wrong = append(wrong, "opens it without a condition")
		}
	}
	return wrong
}

func trustsOneService(_ *template, _ string, r resource) (wrong []string) {
	for _, s := range statementsOf(r.Properties["AssumeRolePolicyDocument"]) {
		p, _ := s["Principal"].(map[string]any)
		if service := plain(p["Service"]); len(p) != 1 || !strings.HasSuffix(service, ".amazonaws.com") {
			wrong = append(wrong, "trusts "+plain(s["Principal"]))
		}
	}
	return wrong
}

// wildcardsOf returns a role's rights with a wildcard, as "action on resource".
func wildcardsOf(_ *template, _ string, r resource) (wrong []string) {
	policies, _ := r.Properties["Policies"].([]any)
	for _, p := range policies {
		for _, s := range statementsOf(p.(map[string]any)["PolicyDocument"]) {
			if s["NotAction"] != nil || s["NotResource"] != nil {
				wrong = append(wrong, "grants everything except what it names")
			}
			if s["Effect"] != "Allow" {
				continue
			}
			for _, action := range list(s["Action"]) {
				for _, on := range list(s["Resource"]) {
					if strings.Contains(action+on, "*") {
						wrong = append(wrong, action+" on "+on)
					}
				}
			}
		}
	}
	return wrong
}

func statementsOf(policy any) (statements []map[string]any) {
	for _, s := range policy.(map[string]any)["Statement"].([]any) {
		statements = append(statements, s.(map[string]any))
	}
	return statements
}

func firstStatement(role resource) map[string]any {
	return statementsOf(role.Properties["Policies"].([]any)[0].(map[string]any)["PolicyDocument"])[0]
}

// principals returns a statement's principals; everybody is "*" in either notation.
func principals(s map[string]any) any {
	if p, ok := s["Principal"].(map[string]any); ok && p["AWS"] != nil {
		return p["AWS"]
	}
	return s["Principal"]
}

// deadLetters returns the ARNs of queues that receive failed calls.
func (t *template) deadLetters() map[string]bool {
	queues := map[string]bool{}
	for _, r := range t.Resources {
		for _, path := range []string{
			"Target.DeadLetterConfig.Arn", "DestinationConfig.OnFailure.Destination", "DeadLetterConfig.TargetArn",
			"RedrivePolicy.deadLetterTargetArn",
		} {
			queues[at(r, path)] = true
		}
	}
	return queues
}
