package main

import (
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// rule is one that holds for every resource of a type. Those with an id are of
// the AwsSolutions pack of cdk-nag, which is not to be had in Go; the others are
// this project's.
type rule struct {
	ID   string // without AwsSolutions-; "" where the pack has none
	Says string
	Type string

	// Check says what is wrong with a resource, nothing if it is as it should be.
	Check func(t *template, id string, r resource) []string
	// Break makes it wrong, in a template that may be spoilt.
	Break func(t *template, id string, r resource)
	// Lasting says that the rule is about what is to last, and so not for a
	// disposable stage.
	Lasting bool
	// Except are findings that may stand, each with its reason: "name: finding"
	// without the CDK's digits, or the finding alone, of all resources.
	Except map[string]string
}

var rules = []rule{
	{ID: "APIG1", Says: "requests are logged", Type: "AWS::ApiGatewayV2::Stage",
		Check: has("AccessLogSettings.DestinationArn", "AccessLogSettings.Format"), Break: without("AccessLogSettings")},
	{ID: "APIG4", Says: "the gateway knows its callers", Type: "AWS::ApiGatewayV2::Route",
		Check: is("AuthorizationType", "JWT", "AWS_IAM", "CUSTOM"), Break: without("AuthorizationType"),
		Except: map[string]string{
			"AuthorizationType is nothing": "signatures are verified over the request's own bytes, and tokens in the table, " +
				"in the trip that the request makes anyway (shared/api); an authorizer would be a second function, call and trip for each",
		}},
	{Says: "requests are throttled", Type: "AWS::ApiGatewayV2::Stage",
		Check: has("DefaultRouteSettings.ThrottlingRateLimit", "DefaultRouteSettings.ThrottlingBurstLimit"), Break: without("DefaultRouteSettings")},
	{Says: "a domain speaks TLS 1.2 at least", Type: "AWS::ApiGatewayV2::DomainName",
		Check: each("DomainNameConfigurations", "SecurityPolicy", "TLS_1_2", "TLS_1_3"),
		Break: func(_ *template, _ string, r resource) {
			r.Properties["DomainNameConfigurations"].([]any)[0].(map[string]any)["SecurityPolicy"] = "TLS_1_0"
		}},

	{ID: "DDB3", Says: "the table can be restored to any second", Type: "AWS::DynamoDB::Table",
		Check: is("PointInTimeRecoverySpecification.PointInTimeRecoveryEnabled", "true"), Break: without("PointInTimeRecoverySpecification")},
	{Says: "the table cannot be deleted by mistake", Type: "AWS::DynamoDB::Table", Lasting: true,
		Check: is("DeletionProtectionEnabled", "true"), Break: without("DeletionProtectionEnabled")},

	{ID: "IAM4", Says: "no policies that AWS may widen", Type: "AWS::IAM::Role",
		Check: lacks("ManagedPolicyArns"), Break: with("ManagedPolicyArns", []any{"arn:aws:iam::aws:policy/service-role/AWSLambdaBasicExecutionRole"})},
	{ID: "IAM5", Says: "rights name what they are over", Type: "AWS::IAM::Role",
		Check: wildcardsOf, Break: func(_ *template, _ string, r resource) { firstStatement(r)["Action"] = "dynamodb:*" },
		Except: map[string]string{
			"s3:PutObject on ${FailedBatches.Arn}/*":        "objects are named by Lambda",
			"dynamodb:ListStreams on ${Table.Arn}/stream/*": "the action names no single stream; Lambda asks for it when a mapping is made",
			"dynamodb:ListStreams on arn:${AWS::Partition}:dynamodb:${AWS::Region}:${AWS::AccountId}:table/agentsocial-prod-Table-restored/stream/*": "the same, of a table that was restored",
			"ses:SendEmail on arn:${AWS::Partition}:ses:eu-central-1:123456789012:identity/*": "from one address only, by its condition; " +
				"in SES's sandbox the right is asked for on whom a mail is to, as well",
			"xray:PutTraceSegments on *":    "the action names no resource, and takes nothing but what a function says of itself",
			"xray:PutTelemetryRecords on *": "as PutTraceSegments",
		}},
	{Says: "a role is one service's", Type: "AWS::IAM::Role", Check: trustsOneService,
		Break: func(_ *template, _ string, r resource) {
			r.Properties["AssumeRolePolicyDocument"].(map[string]any)["Statement"].([]any)[0].(map[string]any)["Principal"] = map[string]any{"AWS": "*"}
		}},

	{ID: "L1", Says: "functions run on the newest runtime", Type: "AWS::Lambda::Function",
		Check: is("Runtime", "provided.al2023"), Break: with("Runtime", "provided.al2")},
	{Says: "nobody but one caller in this account calls a function", Type: "AWS::Lambda::Permission",
		Check: func(t *template, id string, r resource) []string {
			return slices.Concat(has("SourceArn")(t, id, r), lacks("FunctionUrlAuthType")(t, id, r), isLike("Principal", `^[a-z]+\.amazonaws\.com$`)(t, id, r))
		}, Break: with("Principal", "*")},
	{Says: "what a reader gives up is kept", Type: "AWS::Lambda::EventSourceMapping",
		Check: has("DestinationConfig.OnFailure.Destination", "MaximumRetryAttempts", "MaximumRecordAgeInSeconds", "BisectBatchOnFunctionError"), Break: without("DestinationConfig")},
	{Says: "what a call without a caller comes to is kept", Type: "AWS::Lambda::EventInvokeConfig",
		Check: has("DestinationConfig.OnFailure.Destination", "MaximumEventAgeInSeconds"), Break: without("DestinationConfig")},
	{Says: "what a schedule cannot deliver is kept", Type: "AWS::Scheduler::Schedule",
		Check: has("Target.DeadLetterConfig.Arn", "Target.RetryPolicy.MaximumRetryAttempts"),
		Break: func(_ *template, _ string, r resource) {
			delete(r.Properties["Target"].(map[string]any), "DeadLetterConfig")
		}},

	{Says: "logs end", Type: "AWS::Logs::LogGroup",
		Check: isLike("RetentionInDays", `^[1-9][0-9]*$`), Break: without("RetentionInDays")},

	{ID: "S1", Says: "reads of a bucket are logged", Type: "AWS::S3::Bucket",
		Check: has("LoggingConfiguration"), Break: without("LoggingConfiguration"),
		Except: map[string]string{
			"FailedBatches: LoggingConfiguration is nothing": "Lambda alone writes there, operators alone read, and both are few; " +
				"a log of it would want a bucket of its own, which wants one",
		}},
	{ID: "S2", Says: "a bucket is nobody else's", Type: "AWS::S3::Bucket",
		Check: func(t *template, id string, r resource) (wrong []string) {
			for _, name := range []string{"BlockPublicAcls", "BlockPublicPolicy", "IgnorePublicAcls", "RestrictPublicBuckets"} {
				wrong = append(wrong, is("PublicAccessBlockConfiguration."+name, "true")(t, id, r)...)
			}
			return wrong
		}, Break: func(_ *template, _ string, r resource) {
			r.Properties["PublicAccessBlockConfiguration"].(map[string]any)["RestrictPublicBuckets"] = false
		}},
	{ID: "S10", Says: "a bucket is spoken to over TLS", Type: "AWS::S3::Bucket",
		Check: overTLS("AWS::S3::BucketPolicy", "Bucket", "s3:*"), Break: openly("AWS::S3::BucketPolicy")},
	{Says: "a bucket is encrypted, and what is in it ends", Type: "AWS::S3::Bucket",
		Check: has("BucketEncryption.ServerSideEncryptionConfiguration", "LifecycleConfiguration.Rules"), Break: without("LifecycleConfiguration")},

	{ID: "SMG4", Says: "secrets are changed by a clock", Type: "AWS::SecretsManager::Secret",
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
			"Secret: no rotation":   "operators do, by putting a line before the old ones (the runbook): a clock would take a function that may write it, and drop lines with which agents' tokens are sealed",
			"Pepper: no rotation":   "with another value no verified address is known again: it never changes",
			"Payments: no rotation": "its keys are the payment processor's, who makes them; how they are changed without a gap stands in the runbook",
		}},
	{Says: "no secret stands in the template", Type: "AWS::SecretsManager::Secret",
		Check: func(_ *template, _ string, r resource) []string {
			if v := plain(r.Properties["SecretString"]); v != "" && v != emptyKeys {
				return []string{"SecretString is in the open"}
			}
			return nil
		}, Break: with("SecretString", "hunter2")},

	{ID: "SNS3", Says: "a topic is spoken to over TLS", Type: "AWS::SNS::Topic",
		Check: overTLS("AWS::SNS::TopicPolicy", "Topics", "sns:Publish"), Break: openly("AWS::SNS::TopicPolicy")},
	{ID: "SQS2", Says: "a queue is encrypted", Type: "AWS::SQS::Queue",
		Check: func(t *template, id string, r resource) []string {
			if plain(r.Properties["KmsMasterKeyId"]) != "" {
				return nil
			}
			return is("SqsManagedSseEnabled", "true")(t, id, r)
		}, Break: with("SqsManagedSseEnabled", false)},
	{ID: "SQS3", Says: "a queue has dead letters, or is where they go", Type: "AWS::SQS::Queue",
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
	{ID: "SQS4", Says: "a queue is spoken to over TLS", Type: "AWS::SQS::Queue",
		Check: overTLS("AWS::SQS::QueuePolicy", "Queues", "sqs:*"), Break: openly("AWS::SQS::QueuePolicy")},

	{Says: "an alarm reaches somebody, and says what to do", Type: "AWS::CloudWatch::Alarm",
		Check: has("AlarmActions", "AlarmDescription"), Break: with("AlarmActions", []any{})},
	{Says: "mail goes to servers with TLS only", Type: "AWS::SES::ConfigurationSet",
		Check: is("DeliveryOptions.TlsPolicy", "REQUIRE"), Break: without("DeliveryOptions")},
}

// kept holds data.
var kept = []string{"AWS::DynamoDB::Table", "AWS::SecretsManager::Secret", "AWS::S3::Bucket", "AWS::Logs::LogGroup"}

func init() {
	for _, kind := range kept {
		rules = append(rules, rule{
			Says: "what holds data outlives its stack", Type: kind, Lasting: true,
			Check: func(_ *template, _ string, r resource) []string {
				// The other would have a rollback try to delete what is protected.
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
			Says: "a policy of a resource opens it to nobody at large", Type: kind, Check: opensToNobody,
			Break: func(_ *template, _ string, r resource) {
				d := r.Properties["PolicyDocument"].(map[string]any)
				d["Statement"] = append(d["Statement"].([]any), map[string]any{"Effect": "Allow", "Action": "x:Y", "Principal": map[string]any{"AWS": []any{"*"}}, "Resource": "x"})
			},
		})
	}
}

// beside are the pack's rules that were looked at and are not above, with what
// they are about, of which there is none here; if ever there is, they are looked
// at again.
var beside = []struct{ IDs, Type, Why string }{
	{"APIG2, APIG3, APIG6, COG4", `^AWS::ApiGateway::`, "of REST APIs: bodies are validated by the service itself, WAF does not protect HTTP APIs, and no users of Cognito's call"},
	{"ASC3", `^AWS::AppSync::`, ""}, {"ATH1", `^AWS::Athena::`, ""}, {"CB3-5", `^AWS::CodeBuild::`, ""}, {"C91", `^AWS::Cloud9::`, ""},
	{"CFR1-7", `^AWS::CloudFront::`, "nothing stands before the API"}, {"COG1-8", `^AWS::Cognito::`, "agents have keys"},
	{"DDB4", `^AWS::DAX::`, ""}, {"DOC1-5", `^AWS::DocDB::`, ""}, {"EC23-29, VPC3, VPC7, ELB1-5, AS1-3", `^AWS::(EC2|ElasticLoadBalancing|ElasticLoadBalancingV2|AutoScaling)::`, "no network of one's own"},
	{"EB1-4", `^AWS::ElasticBeanstalk::`, ""}, {"ECR1, ECS2-7, EKS1-2", `^AWS::(ECR|ECS|EKS)::`, "no containers"}, {"EFS1", `^AWS::EFS::`, ""},
	{"EMR2-6, GL1-3", `^AWS::(EMR|Glue)::`, ""}, {"EVB1", `^AWS::Events::`, "the clock is EventBridge Scheduler, which has no bus"},
	{"KMS5", `^AWS::KMS::`, "keys are those that AWS owns: no policy to get wrong, and nothing in the account reads past its own rights"},
	{"KDA3, KDF1, KDS1, KDS3, MSK2-6", `^AWS::(Kinesis|KinesisAnalytics|KinesisAnalyticsV2|KinesisFirehose|MSK)::`, "the table has a stream of its own"},
	{"LEX4, SM1-3, QS1", `^AWS::(Lex|SageMaker|QuickSight)::`, ""}, {"MS1-10", `^AWS::MediaStore::`, ""},
	{"N1-5, RDS2-16, RS1-11, OS1-9, AEC1-6, TS3", `^AWS::(Neptune|RDS|Redshift|OpenSearchService|Elasticsearch|ElastiCache|Timestream)::`, "there is one table"},
	{"S5", `^AWS::S3::BucketWebsite`, "no bucket is a site"}, {"SF1-2", `^AWS::StepFunctions::`, ""},
	{"(function URLs)", `^AWS::Lambda::Url$`, "every call comes through the gateway, with its throttles and its log"},
	{"(users and loose policies)", `^AWS::IAM::(User|Group|AccessKey|Policy|ManagedPolicy)$`, "rights stand in roles, where rights_test.go reads them"},
}

func TestRules(t *testing.T) {
	used := map[string]bool{} // exceptions, by rule and finding
	deployments(t, func(t *testing.T, s *service) {
		for _, x := range rules {
			for _, f := range s.findings(x) {
				if reason := x.excuse(f); reason != "" {
					used[x.Says+f.name(x)] = true
				} else if !x.Lasting || s.stage() != "dev" {
					t.Errorf("%s %q: %s: %s", x.ID, x.Says, f.id, f.what)
				}
			}
		}
		for _, b := range beside {
			for id, r := range s.Resources {
				if regexp.MustCompile(b.Type).MatchString(r.Type) {
					t.Errorf("%s is a %s: %s were not looked at (%s)", id, r.Type, b.IDs, b.Why)
				}
			}
		}
	})
	for _, x := range rules {
		for excused := range x.Except {
			if !used[x.Says+excused] {
				t.Errorf("%q: nothing needs the exception %q any more", x.Says, excused)
			}
		}
	}
}

// Each rule finds each resource that breaks it.
func TestRulesFind(t *testing.T) {
	s := of(t, whole)
	for _, x := range rules {
		there := s.all(x.Type)
		if len(there) == 0 {
			t.Errorf("%q is about %s, of which there is none", x.Says, x.Type)
		}
		for id := range there {
			broken := s.copy()
			x.Break(broken, id, broken.Resources[id])
			unexcused := func(f finding) bool { return x.excuse(f) == "" }
			found := slices.ContainsFunc(x.check(broken, id), unexcused)
			if before := x.check(&s.template, id); !found && len(before) == 0 {
				t.Errorf("%q does not find that %s breaks it", x.Says, id)
			}
		}
	}
}

// finding is what a rule says of a resource.
type finding struct{ id, what string }

// check holds one resource against a rule.
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

// name is under which of a rule's exceptions a finding falls.
func (f finding) name(x rule) string {
	if one := logical(f.id) + ": " + f.what; x.Except[one] != "" {
		return one
	}
	return f.what
}

func (x rule) excuse(f finding) string { return x.Except[f.name(x)] }

// stage is the one that a template is of.
func (t *template) stage() string {
	for _, r := range t.all("AWS::SecretsManager::Secret") {
		return strings.Split(plain(r.Properties["Name"]), "/")[1]
	}
	return ""
}

// at is a property by its path, rendered as text.
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
				wrong = append(wrong, path+" is nothing")
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

// each of a list's members has one of the values.
func each(list, name string, values ...string) checkFunc {
	return func(_ *template, _ string, r resource) (wrong []string) {
		members, _ := r.Properties[list].([]any)
		for _, m := range members {
			if v := plain(m.(map[string]any)[name]); !slices.Contains(values, v) {
				wrong = append(wrong, name+" is "+v)
			}
		}
		if members == nil {
			wrong = append(wrong, list+" is nothing")
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

// overTLS: a policy of the resource refuses everybody who comes without.
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
		return []string{"no policy asks for TLS"}
	}
}

// openly has the policies of a type that name the resource refuse nobody.
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

// drop takes away the resources of a type whose property names another.
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

// wildcardsOf are a role's rights that do not name what they are over, as
// "action on resource".
func wildcardsOf(_ *template, _ string, r resource) (wrong []string) {
	policies, _ := r.Properties["Policies"].([]any)
	for _, p := range policies {
		for _, s := range statementsOf(p.(map[string]any)["PolicyDocument"]) {
			if s["NotAction"] != nil || s["NotResource"] != nil {
				wrong = append(wrong, "grants all but what it names")
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

// principals of a statement: everybody is "*", however it is said.
func principals(s map[string]any) any {
	if p, ok := s["Principal"].(map[string]any); ok && p["AWS"] != nil {
		return p["AWS"]
	}
	return s["Principal"]
}

// deadLetters are the ARNs of queues that something leaves there what failed.
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
