package sam

import (
	"encoding/json"
	"reflect"
	"runtime"
	"testing"

	"agentsocial/shared/lambda/host"
)

func TestLocalise(t *testing.T) {
	const in = `{"Resources": {
		"Table": {"Type": "AWS::DynamoDB::Table", "Properties": {"TableName": "t"}},
		"dmFunction1": {"Type": "AWS::Lambda::Function", "Metadata": {"aws:cdk:path": "agentsocial-prod/dm/Function/Resource", "aws:asset:path": "asset.1"},
			"Properties": {"Architectures": ["arm64"], "Environment": {"Variables": {"TABLE": {"Ref": "Table"}, "STAGE": "prod", "MAIL_FROM": "a@b.example"}}}}
	}, "Outputs": {"A": {"Value": 1}}}`
	out, _, err := localise([]byte(in), "/built", map[string]string{
		"TABLE": "agentsocial", "STAGE": "local", "PEPPER_ARN": "arn", "LOCAL": "{}", "LIMITS": "{1}", "WEB_ORIGINS": "*", "AWS_ENDPOINT_URL_DYNAMODB": "http://a:1",
		"AWS_ENDPOINT_URL_SECRETS_MANAGER": "http://a:2", "AWS_ENDPOINT_URL_SESV2": "http://a:3",
	})
	if err != nil {
		t.Fatal(err)
	}
	architecture := map[string]string{"amd64": "x86_64", "arm64": "arm64"}[runtime.GOARCH]
	want := `{"Resources": {
		"Table": {"Type": "AWS::DynamoDB::Table", "Properties": {"TableName": "t"}},
		"dmFunction1": {"Type": "AWS::Lambda::Function", "Metadata": {"aws:asset:path": "/built/dm"},
			"Properties": {"Architectures": ["` + architecture + `"], "Environment": {"Variables": {"TABLE": "agentsocial", "STAGE": "local", "LOCAL": "{}", "LIMITS": "{1}", "WEB_ORIGINS": "*",
				"AWS_ENDPOINT_URL_DYNAMODB": "http://a:1", "AWS_ENDPOINT_URL_SECRETS_MANAGER": "http://a:2", "AWS_ENDPOINT_URL_SESV2": "http://a:3"}}}}
	}, "Outputs": {"A": {"Value": 1}}}`
	var a, b any
	if err := json.Unmarshal(out, &a); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal([]byte(want), &b); err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(a, b) {
		t.Errorf("template: got\n%s\nwant\n%s", out, want)
	}
	const foreign = `{"Resources": {"F": {"Type": "AWS::Lambda::Function", "Properties": {"Environment": {"Variables": {}}}}}}`
	if _, _, err := localise([]byte(foreign), "/built", nil); err == nil {
		t.Error("a template with a foreign function: got no error, want one")
	}
}

func TestReachable(t *testing.T) {
	const here = "http://172.17.0.1:81"
	e := host.Env{DynamoDBURL: "http://localhost:80", SecretsManagerURL: here, SESURL: here, Local: &host.Local{StripeURL: here}}
	got := reachable(e)
	for _, url := range []string{got.SecretsManagerURL, got.SESURL, got.Local.StripeURL} {
		if url != "http://host.docker.internal:81" {
			t.Errorf("reachable: got %s, want http://host.docker.internal:81", url)
		}
	}
	if got.DynamoDBURL != "http://host.docker.internal:80" || e.Local.StripeURL != here {
		t.Errorf("reachable: got DynamoDB at %s, and Stripe at %s in the original; want http://host.docker.internal:80 and the original unchanged", got.DynamoDBURL, e.Local.StripeURL)
	}
}
