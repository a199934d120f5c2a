package main

import (
	"cmp"
	"slices"
	"strings"
	"testing"

	"agentsocial/shared/app"
)

func TestFunctions(t *testing.T) {
	production(t, func(t *testing.T, s *service) {
		names := s.names()
		if n := len(s.all("AWS::Lambda::Function")); n != len(names) {
			t.Errorf("got %d functions, want the %d declared ones", n, len(names))
		}
		timeouts, memories := map[string]string{}, map[string]string{}
		for _, g := range s.groups {
			timeouts[g.Name] = "10"
		}
		for _, r := range s.readers {
			timeouts[r.Name] = "60"
		}
		for _, x := range s.schedules {
			timeouts[x.Name], memories[x.Name] = "120", "1024"
		}
		timeouts["audit"], timeouts["erase"] = "900", "50" // own timeouts
		for _, m := range s.mail {
			timeouts[m.Name] = "10"
		}
		logs, roles, code := map[string]string{}, map[string]string{}, map[string]string{}
		for _, name := range names {
			_, f := s.function(t, name)
			f.expect(t, name, map[string]string{
				"Runtime":       "provided.al2023",
				"Architectures": `["arm64"]`,
				"Handler":       "bootstrap",
				"MemorySize":    cmp.Or(memories[name], "512"),
				"Timeout":       timeouts[name],
				"TracingConfig": "",
			})
			own := func(what string, seen map[string]string, v any) string {
				id := strings.TrimSuffix(strings.Trim(plain(v), "${}"), ".Arn")
				if other, ok := seen[id]; ok {
					t.Errorf("%s and %s share their %s %s", name, other, what, id)
				}
				seen[id] = name
				return id
			}
			logging := f.Properties["LoggingConfig"].(map[string]any)
			if logging["LogFormat"] != "JSON" || logging["ApplicationLogLevel"] != "TRACE" || logging["SystemLogLevel"] != "WARN" {
				t.Errorf("%s: logging is %v, want JSON, TRACE and WARN", name, logging)
			}
			log := s.Resources[own("log group", logs, logging["LogGroup"])]
			log.expect(t, name, map[string]string{"RetentionInDays": "30"})
			log.keeps(t, "RetainExceptOnCreate")
			own("role", roles, f.Properties["Role"])
			own("code", code, f.Properties["Code"].(map[string]any)["S3Key"])
		}
		if n := len(s.all("AWS::Logs::LogGroup")); n != len(names)+1 {
			t.Errorf("got %d log groups, want one for each of %d functions and one for the gateway", n, len(names))
		}
	})
}

func TestEnvironment(t *testing.T) {
	production(t, func(t *testing.T, s *service) {
		tableID, _ := s.only(t, "AWS::DynamoDB::Table")
		may := s.rights()
		for _, name := range s.names() {
			_, f := s.function(t, name)
			env := f.Properties["Environment"].(map[string]any)["Variables"].(map[string]any)
			want := map[string]string{
				"BASE_URL": "${Api.ApiEndpoint}", "STAGE": "prod", "POW_BITS": "18", "PAGE_BITS": "14", "MICRO_USD_PER_CHAR": "10", "LOG_READS": "16",
			}
			if len(s.groups) == len(fakeGroups) {
				want["ENDPOINT_METRICS"] = "false"
			}
			if may[name].Needs.Has(app.Table) {
				want["TABLE"] = "${" + tableID + "}"
			}
			if may[name].Needs.Has(app.Secret) {
				want["SECRET_ARN"] = "${" + secretID + "}"
			}
			if may[name].Needs.Has(app.Pepper) {
				want["PEPPER_ARN"] = "${" + pepperID + "}"
			}
			if may[name].Needs.Has(app.Payments) {
				want["PAYMENTS_ARN"] = "${" + paymentsID + "}"
			}
			if sets := keys(s.all("AWS::SES::ConfigurationSet")); may[name].Needs.Has(app.Mail) && len(sets) == 1 {
				want["MAIL_FROM"], want["MAIL_CONFIGURATION_SET"] = mailFrom, "${"+sets[0]+"}"
			}
			for k, w := range want {
				if got := plain(env[k]); got != w {
					t.Errorf("%s: %s is %q, want %q", name, k, got, w)
				}
			}
			if len(env) != len(want) {
				t.Errorf("%s: environment is %v, want only %v", name, env, want)
			}
		}
	})
}

func TestTraces(t *testing.T) {
	s := of(t, whole)
	for _, name := range s.names() {
		_, f := s.function(t, name)
		f.expect(t, name, map[string]string{"TracingConfig": `{"Mode":"Active"}`})
		if may := s.statements(t, name); !slices.Contains(may, "xray:PutTraceSegments on *") || !slices.Contains(may, "xray:PutTelemetryRecords on *") {
			t.Errorf("%s may not send traces to X-Ray", name)
		}
	}
	production(t, func(t *testing.T, s *service) {
		for _, name := range s.names() {
			_, f := s.function(t, name)
			f.expect(t, name, map[string]string{"TracingConfig": ""})
		}
	})
}

// The stack is bound to the account and region that are set.
func TestTarget(t *testing.T) {
	for want, s := range map[string]Settings{
		"- -": {}, "123456789012 -": {Account: "123456789012"}, "- eu-central-1": {Region: "eu-central-1"},
		"123456789012 eu-central-1": {Account: "123456789012", Region: "eu-central-1"},
	} {
		account, region := "-", "-"
		if e := s.target(); e != nil {
			if e.Account != nil {
				account = *e.Account
			}
			if e.Region != nil {
				region = *e.Region
			}
		}
		if got := account + " " + region; got != want {
			t.Errorf("the target is %s, want %s", got, want)
		}
	}
	for id, p := range of(t, whole).all("AWS::Lambda::Permission") { // its source ARN names account and region
		if plain(p.Properties["Principal"]) != "apigateway.amazonaws.com" {
			continue // TestMailEvents checks it
		}
		if got := plain(p.Properties["SourceArn"]); got != "arn:${AWS::Partition}:execute-api:eu-central-1:123456789012:${Api}/*" {
			t.Errorf("%s: source ARN is %s, want one in the set account and region", id, got)
		}
	}
}

func TestDevelopmentStage(t *testing.T) {
	s := of(t, dev)
	_, table := s.only(t, "AWS::DynamoDB::Table")
	table.expect(t, "table", map[string]string{"DeletionProtectionEnabled": "false"})
	for id, r := range s.Resources {
		if r.DeletionPolicy != "" && r.DeletionPolicy != "Delete" {
			t.Errorf("%s: deletion policy is %s, want Delete", id, r.DeletionPolicy)
		}
	}
	s.Resources[secretID].expect(t, "secret", map[string]string{"Name": "agentsocial/dev/seal"})
	s.Resources[pepperID].expect(t, "pepper", map[string]string{"Name": "agentsocial/dev/pepper"})
	s.Resources[paymentsID].expect(t, "payments", map[string]string{"Name": "agentsocial/dev/payments"})
	for id, log := range s.all("AWS::Logs::LogGroup") {
		log.expect(t, id, map[string]string{"RetentionInDays": "7"})
	}
	_, f := s.function(t, "posts")
	env := f.Properties["Environment"].(map[string]any)["Variables"].(map[string]any)
	if env["BASE_URL"] != "https://agents.example" || env["STAGE"] != "dev" || env["POW_BITS"] != "8" || env["WEB_ORIGINS"] != "https://inspector.example" {
		t.Errorf("got environment %v, want dev's settings", env)
	}
	if v := s.Outputs["BaseUrl"].Value; v != "https://agents.example" {
		t.Errorf("output BaseUrl is %v, want https://agents.example", v)
	}
}

func TestStack(t *testing.T) {
	production(t, func(t *testing.T, s *service) {
		if n := len(s.Resources); n >= 400 {
			t.Errorf("got %d resources, want fewer than 400; split the stack", n)
		}
		tableID, table := s.only(t, "AWS::DynamoDB::Table")
		bucketID, _ := s.only(t, "AWS::S3::Bucket")
		topicID, _ := s.only(t, "AWS::SNS::Topic")
		for name, want := range map[string]string{
			"BaseUrl": "${Api.ApiEndpoint}", "TableName": "${" + tableID + "}", "FailedBatchesBucket": "${" + bucketID + "}",
			"OperatorsTopic": "${" + topicID + "}",
		} {
			if got := plain(s.Outputs[name].Value); got != want {
				t.Errorf("output %s is %q, want %q", name, got, want)
			}
		}
		table.expect(t, "table", map[string]string{ // every resource that can have tags has these two
			"Tags": `[{"Key":"project","Value":"agentsocial"},{"Key":"stage","Value":"prod"}]`,
		})
	})
}

// A new version must change functions only.
func TestVersion(t *testing.T) {
	tagged := map[string]bool{}
	for id, r := range of(t, whole).Resources {
		tags := plain(r.Properties["Tags"])
		has := strings.Contains(tags, `{"Key":"version","Value":"`+deployedVersion+`"}`)
		if has != (r.Type == "AWS::Lambda::Function") {
			t.Errorf("%s has the tags %s, want the version on functions only", id, tags)
		}
		if r.Type != "AWS::Lambda::Function" {
			continue
		}
		tagged[id] = true
		variables := r.Properties["Environment"].(map[string]any)["Variables"].(map[string]any)
		if got := plain(variables["VERSION"]); got != deployedVersion {
			t.Errorf("%s has the variable VERSION=%q, want %q", id, got, deployedVersion)
		}
	}
	if len(tagged) == 0 {
		t.Error("there are no functions")
	}
}

// untaggable lists the types that cannot have tags, and types whose tags would not be in
// the bill or would say nothing.
var untaggable = []string{
	"AWS::ApiGatewayV2::ApiMapping", "AWS::ApiGatewayV2::Integration", "AWS::ApiGatewayV2::Route",
	"AWS::ApplicationAutoScaling::ScalableTarget", "AWS::ApplicationAutoScaling::ScalingPolicy", "AWS::Backup::BackupSelection",
	"AWS::Budgets::Budget", "AWS::CloudFront::CachePolicy", "AWS::CloudFront::Function", "AWS::CloudWatch::Dashboard",
	"AWS::Lambda::Alias", "AWS::Lambda::EventInvokeConfig", "AWS::Lambda::Permission", "AWS::Lambda::Version", "AWS::Logs::MetricFilter", "AWS::Logs::QueryDefinition",
	"AWS::Route53::RecordSet", "AWS::S3::BucketPolicy", "AWS::SES::ConfigurationSetEventDestination",
	"AWS::SNS::Subscription", "AWS::SNS::TopicPolicy", "AWS::SQS::QueuePolicy", "AWS::Scheduler::Schedule",
}

func TestEverythingIsTagged(t *testing.T) {
	untagged := map[string]bool{}
	deployments(t, func(t *testing.T, s *service) {
		for id, r := range s.Resources {
			tags := ""
			for name, value := range r.Properties {
				if strings.Contains(name, "Tags") {
					tags += plain(value)
				}
			}
			has := strings.Contains(tags, "project") && strings.Contains(tags, "stage")
			if !has {
				untagged[r.Type] = true
			}
			if has == slices.Contains(untaggable, r.Type) {
				t.Errorf("%s (%s) has the tags %q, want project and stage, or none for a type in untaggable", id, r.Type, tags)
			}
		}
	})
	for _, kind := range untaggable {
		if !untagged[kind] {
			t.Errorf("no resource without tags has the type %s; remove it from the list untaggable", kind)
		}
	}
}
