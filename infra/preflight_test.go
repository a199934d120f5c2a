package main

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// standInScript stands in for the AWS CLI and for Node. It prints the file named like the
// command. A file that begins with "An error" is a refusal.
const standInScript = `#!/bin/sh
case "$0" in */node) exec cat "$ANSWERS/node --version" ;; esac
case "$1" in --version) exec cat "$ANSWERS/version" ;; configure) exit 1 ;; esac
file="$ANSWERS/$1 $2"
test -f "$file" || { echo "An error occurred (AccessDenied) when calling $1 $2" >&2; exit 254; }
read -r first <"$file"
case "$first" in "An error"*) cat "$file" >&2; exit 254 ;; esac
cat "$file"
`

// healthy holds the answers of an account that is ready for a deployment.
var healthy = map[string]string{
	"node --version": "v22.23.3\n", "version": "aws-cli/2.31.0 Python/3.13.7 Linux/6.1 exe/x86_64\n",
	"sts get-caller-identity":                        `{"Account": "123456789012", "Arn": "arn:aws:iam::123456789012:user/ops"}`,
	"ssm get-parameter":                              `{"Parameter": {"Value": "28"}}`,
	"cloudformation describe-stacks":                 `{"Stacks": [{"StackStatus": "UPDATE_COMPLETE", "Outputs": []}]}`,
	"cloudformation list-stack-resources":            `{"StackResourceSummaries": [{"LogicalResourceId": "MailDomain", "PhysicalResourceId": "mail.agents.example", "ResourceType": "AWS::SES::EmailIdentity"}]}`,
	"lambda get-account-settings":                    `{"AccountLimit": {"ConcurrentExecutions": 2000}}`,
	"sesv2 get-account":                              `{"ProductionAccessEnabled": true, "SendingEnabled": true, "SendQuota": {"Max24HourSend": 50000}}`,
	"sesv2 get-email-identity":                       `{"VerifiedForSendingStatus": true}`,
	"acm describe-certificate":                       `{"Certificate": {"Status": "ISSUED", "SubjectAlternativeNames": ["*.example"], "NotAfter": "2027-11-01T00:00:00+00:00"}}`,
	"service-quotas list-service-quotas":             `{"Quotas": [{"QuotaName": "Throttle rate", "Value": 10000}, {"QuotaName": "Table-level read throughput limit", "Value": 40000}, {"QuotaName": "Table-level write throughput limit", "Value": 40000}]}`,
	"backup describe-region-settings":                `{"ResourceTypeManagementPreference": {"DynamoDB": true, "EFS": true}}`,
	"backup describe-backup-vault":                   `{"BackupVaultArn": "arn:aws:backup:eu-west-1:123456789012:backup-vault:copies"}`,
	"secretsmanager list-secrets":                    `{"SecretList": []}`,
	"service-quotas list-aws-default-service-quotas": `{"Quotas": []}`,
}

// preflightWith runs preflight with options of the CDK. A change replaces an answer; "-"
// removes it, so that the call is denied.
func preflightWith(t *testing.T, changes map[string]string, options ...string) (string, error) {
	t.Helper()
	dir := t.TempDir()
	answers := maps.Clone(healthy)
	maps.Copy(answers, changes)
	for name, text := range answers {
		if text == "-" {
			continue
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, program := range []string{"aws", "node"} {
		if err := os.WriteFile(filepath.Join(dir, program), []byte(standInScript), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("PATH", dir+":"+os.Getenv("PATH"))
	t.Setenv("ANSWERS", dir)
	for _, name := range []string{"AWS_REGION", "AWS_DEFAULT_REGION"} {
		t.Setenv(name, "")
	}
	var all []string
	for _, o := range options {
		all = append(all, "-c", o)
	}
	t.Chdir("..")
	var out strings.Builder
	err := preflight(t.Context(), all, time.Date(2026, 11, 28, 0, 0, 0, 0, time.UTC), &out)
	return out.String(), err
}

// ready holds settings with which preflight finds nothing in the healthy account.
var ready = []string{
	"region=eu-central-1", "account=123456789012", "domain=agents.example", "certificateArn=" + certificateARN,
	"mailFrom=no-reply@mail.agents.example", "accountConcurrency=2000", "tableReads=20000", "copyTo=arn:aws:backup:eu-west-1:123456789012:backup-vault:copies",
}

func TestPreflightFindsNothing(t *testing.T) {
	out, err := preflightWith(t, nil, ready...)
	if err != nil || !strings.HasSuffix(out, "preflight: no errors, 0 warnings\n\n") || strings.Contains(out, "ERROR") || strings.Contains(out, "warning ") {
		t.Errorf("got %v and\n%s\nwant no finding", err, out)
	}
	for _, want := range []string{"Node is v22.23.3", "the AWS CLI is 2.31", "user/ops, region eu-central-1", "bootstrap stack has version 28", "UPDATE_COMPLETE", "may run 2000 executions",
		"SES sends 50000 mails", "SES has verified mail.agents.example", "certificate of agents.example is issued", "throttleRate 200 is within the account's 10000", "tableReads or warmReads 20000 is within",
		"AWS Backup can copy tables from eu-central-1", "the vault copies is in eu-west-1"} {
		if !strings.Contains(out, "  ok       ") || !strings.Contains(out, want) {
			t.Errorf("got\n%s\nwant %q", out, want)
		}
	}
}

func TestPreflightFindings(t *testing.T) {
	const gone = "An error occurred (ValidationError) when calling the DescribeStacks operation: Stack with id agentsocial-prod does not exist"
	const noIdentity = "An error occurred (NotFoundException) when calling the GetEmailIdentity operation: none"
	for name, c := range map[string]struct {
		answers  map[string]string
		settings []string // after those of ready
		fails    bool
		finding  string
		remedy   string
	}{
		"old Node":              {map[string]string{"node --version": "v16.20.0\n"}, nil, true, "Node is v16.20.0; the CDK needs 18", "Install Node 22"},
		"untested Node":         {map[string]string{"node --version": "v20.1.0\n"}, nil, false, "only 22 and later are tested", "Install Node 22"},
		"AWS CLI version 1":     {map[string]string{"version": "aws-cli/1.45.11 Python/3.11\n"}, nil, false, "the AWS CLI is 1.45; the runbook's commands need 2.16", "newest version 2"},
		"old AWS CLI":           {map[string]string{"version": "aws-cli/2.9.1 Python/3.9\n"}, nil, false, "the AWS CLI is 2.9; the runbook's commands need 2.16", "newest version 2"},
		"no credentials":        {map[string]string{"sts get-caller-identity": "-"}, nil, true, "AWS does not accept the credentials", "aws sso login"},
		"another account":       {nil, []string{"account=210987654321", "certificateArn=arn:aws:acm:eu-central-1:210987654321:certificate/01234567-89ab-cdef-0123-456789abcdef"}, true, "to the account 123456789012, and the setting account is 210987654321", "correct account in cdk.json"},
		"no region":             {nil, []string{"region=", "copyTo="}, true, "no region is chosen", "Set region in cdk.json"},
		"not bootstrapped":      {map[string]string{"ssm get-parameter": "An error occurred (ParameterNotFound) when calling the GetParameter operation: "}, nil, true, "the account 123456789012 is not bootstrapped in eu-central-1", "npx cdk bootstrap aws://123456789012/eu-central-1"},
		"old bootstrap":         {map[string]string{"ssm get-parameter": `{"Parameter": {"Value": "5"}}`}, nil, true, `has version "5", want 6 or later`, "npx cdk bootstrap"},
		"bootstrap not allowed": {map[string]string{"ssm get-parameter": "-"}, nil, false, "whether the account is bootstrapped was not checked", "npx cdk bootstrap"},
		"deployment under way":  {map[string]string{"cloudformation describe-stacks": `{"Stacks": [{"StackStatus": "UPDATE_IN_PROGRESS"}]}`}, nil, true, "another deployment is under way", "Wait"},
		"failed rollback":       {map[string]string{"cloudformation describe-stacks": `{"Stacks": [{"StackStatus": "UPDATE_ROLLBACK_FAILED"}]}`}, nil, true, "is in UPDATE_ROLLBACK_FAILED", "continue-update-rollback --stack-name agentsocial-prod"},
		"secrets left": {map[string]string{"cloudformation describe-stacks": gone, "secretsmanager list-secrets": `{"SecretList": [{"Name": "agentsocial/prod/pepper"}]}`, "sesv2 get-email-identity": noIdentity}, nil,
			true, "secrets of an earlier stage prod are left: agentsocial/prod/pepper", "Take a stage down"},
		"existing secrets missing": {map[string]string{"cloudformation describe-stacks": gone, "secretsmanager list-secrets": `{"SecretList": [{"Name": "agentsocial/prod/seal"}]}`, "sesv2 get-email-identity": noIdentity}, []string{"existingSecrets=true"},
			true, "there is no secret agentsocial/prod/pepper in eu-central-1", "Restore elsewhere"},
		"existing secrets and more": {map[string]string{"cloudformation describe-stacks": gone, "secretsmanager list-secrets": `{"SecretList": [{"Name": "agentsocial/prod/seal"}, {"Name": "agentsocial/prod/pepper"}, {"Name": "agentsocial/prod/payments"}]}`, "sesv2 get-email-identity": noIdentity}, []string{"existingSecrets=true"},
			true, "secrets of an earlier stage prod are left: agentsocial/prod/payments", "Take a stage down"},
		"existing secrets are replicas": {map[string]string{"cloudformation describe-stacks": gone, "secretsmanager list-secrets": `{"SecretList": [{"Name": "agentsocial/prod/seal", "PrimaryRegion": "eu-west-1"}, {"Name": "agentsocial/prod/pepper"}]}`, "sesv2 get-email-identity": noIdentity}, []string{"existingSecrets=true"},
			false, "agentsocial/prod/seal is still a replica of the one in eu-west-1", "stop-replication-to-replica --secret-id agentsocial/prod/seal"},
		"tables cannot be copied": {map[string]string{"backup describe-region-settings": `{"ResourceTypeManagementPreference": {"EFS": true}}`}, nil, false, "advanced features for DynamoDB are off in eu-central-1", "update-region-settings --resource-type-management-preference DynamoDB=true"},
		"no vault":                {map[string]string{"backup describe-backup-vault": "-"}, nil, false, "the vault copies in eu-west-1 was not found", "create-backup-vault --region eu-west-1 --backup-vault-name copies"},
		"copies were not checked": {map[string]string{"backup describe-region-settings": "-"}, nil, false, "whether AWS Backup can copy tables was not checked", "check this by hand"},
		"new account":             {map[string]string{"lambda get-account-settings": `{"AccountLimit": {"ConcurrentExecutions": 10}}`}, []string{"accountConcurrency=0"}, false, "the account may run 10 executions at once", "Service Quotas, AWS Lambda"},
		"reserved too much":       {map[string]string{"lambda get-account-settings": `{"AccountLimit": {"ConcurrentExecutions": 1000}}`}, nil, true, "executions; the account may run 1000 at once, and Lambda requires that 100 stay unreserved", "Lower accountConcurrency"},
		"nothing reserved":        {nil, []string{"accountConcurrency=0"}, false, "may run 2000 executions at once, and accountConcurrency is 0", "Set accountConcurrency"},
		"sandbox":                 {map[string]string{"sesv2 get-account": `{"ProductionAccessEnabled": false, "SendingEnabled": true}`}, nil, false, "SES is in the sandbox in eu-central-1", "LeaveMailSandbox"},
		"mail paused":             {map[string]string{"sesv2 get-account": `{"ProductionAccessEnabled": true, "SendingEnabled": false}`}, nil, false, "SES sends no mail for this account", "AWS has paused"},
		"mail quota":              {map[string]string{"sesv2 get-account": `{"ProductionAccessEnabled": true, "SendingEnabled": true, "SendQuota": {"Max24HourSend": 200}}`}, nil, false, "allow 40000 mails a day; SES allows 200", "Lower these limits"},
		"identity elsewhere":      {nil, []string{"mailFrom=no-reply@other.example"}, true, "SES already has the identity other.example, outside this stack", "Set mailIdentity to existing"},
		"identity missing":        {map[string]string{"sesv2 get-email-identity": noIdentity}, []string{"mailIdentity=existing"}, false, "SES has no identity mail.agents.example or no-reply@mail.agents.example", "Make and verify it"},
		"identity unverified":     {map[string]string{"sesv2 get-email-identity": `{"VerifiedForSendingStatus": false}`}, nil, false, "SES has not verified mail.agents.example yet", "MailRecord1"},
		"certificate pending":     {map[string]string{"acm describe-certificate": `{"Certificate": {"Status": "PENDING_VALIDATION"}}`}, nil, true, "has the status PENDING_VALIDATION", "CNAME record"},
		"certificate mismatch":    {nil, []string{"domain=a.b.example"}, true, "the certificate covers *.example, not a.b.example", "Request a certificate"},
		"certificate missing":     {map[string]string{"acm describe-certificate": "An error occurred (ResourceNotFoundException) when calling"}, nil, true, "there is no certificate", "Correct certificateArn"},
		"certificate ends":        {map[string]string{"acm describe-certificate": `{"Certificate": {"Status": "ISSUED", "SubjectAlternativeNames": ["agents.example"], "NotAfter": "2026-12-10T00:00:00+00:00"}}`}, nil, false, "expires on 2026-12-10", "CNAME record"},
		"quota of the gateway":    {nil, []string{"throttleRate=20000"}, false, `throttleRate is 20000; the account's quota "Throttle rate" is 10000`, "Service Quotas, apigateway"},
		"quota of the table":      {nil, []string{"tableReads=50000"}, false, `tableReads or warmReads is 50000; the account's quota "Table-level read throughput limit" is 40000`, "Service Quotas, dynamodb"},
		"quotas not listed":       {map[string]string{"service-quotas list-service-quotas": `{"Quotas": []}`}, nil, false, "was not checked: it is not in the list of Service Quotas", "Ask for more"},
	} {
		t.Run(name, func(t *testing.T) {
			out, err := preflightWith(t, c.answers, slices.Concat(ready, c.settings)...)
			level := map[bool]string{true: "  ERROR    ", false: "  warning  "}[c.fails]
			var found bool
			lines := strings.Split(out, "\n")
			for i, l := range lines[:len(lines)-1] {
				found = found || strings.HasPrefix(l, level) && strings.Contains(l, c.finding) && strings.Contains(lines[i+1], c.remedy)
			}
			if !found || (err != nil) != c.fails {
				t.Errorf("got %v and\n%s\nwant %q %q, and then %q", err, out, level, c.finding, c.remedy)
			}
		})
	}
}

// Without the setting region, ReadSettings cannot know that the certificate is in another
// region.
func TestPreflightCertificateElsewhere(t *testing.T) {
	s, err := ReadSettings(map[string]any{"domain": "agents.example", "certificateArn": certificateARN})
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	c := &checks{Settings: s, ctx: t.Context(), out: &out}
	c.aws.Region = "eu-west-1"
	c.certificate()
	if c.errors != 1 || !strings.Contains(out.String(), "the certificate is in eu-central-1; the API is in eu-west-1") {
		t.Errorf("got %d errors and\n%s\nwant an error that the certificate is in another region", c.errors, &out)
	}
}

func TestPreflightRegion(t *testing.T) {
	out, _ := preflightWith(t, map[string]string{"sts get-caller-identity": "-"}, "region=eu-central-1")
	if strings.Contains(out, "AWS_REGION is") {
		t.Errorf("got\n%s\nwant no warning about AWS_REGION, which is not set", out)
	}
	var b strings.Builder
	t.Setenv("AWS_REGION", "eu-west-1")
	c := &checks{ctx: t.Context(), out: &b, Settings: Settings{Region: "eu-central-1"}}
	c.credentials()
	if !strings.Contains(b.String(), "AWS_REGION is eu-west-1 and the stage's region is eu-central-1") || c.aws.Region != "eu-central-1" {
		t.Errorf("got region %q and\n%s\nwant a warning and the region of the setting", c.aws.Region, &b)
	}
	c = &checks{ctx: t.Context(), out: &b}
	if c.credentials(); c.aws.Region != "eu-west-1" {
		t.Errorf("got region %q, want the shell's", c.aws.Region)
	}
}

func TestPreflightContext(t *testing.T) {
	got, err := contextFrom([]byte(`{"context": {"stage": "prod", "powBits": 18}}`), []string{"-c", "stage=dev", "--quiet", "-c", `limits={"posts_per_minute":3}`})
	want := map[string]any{"stage": "dev", "powBits": 18.0, "limits": `{"posts_per_minute":3}`}
	if err != nil || !maps.Equal(got, want) {
		t.Errorf("contextFrom: got %v, %v, want %v", got, err, want)
	}
	for _, wrong := range [][]string{{"-c"}, {"-c", "stage"}} {
		if got, err := contextFrom([]byte(`{}`), wrong); err == nil {
			t.Errorf("options %q: got %v, want an error", wrong, got)
		}
	}
}
