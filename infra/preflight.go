package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"agentsocial/infra/awscli"
)

// preflight checks what a deployment needs before it starts, and prints each finding with
// its remedy. It returns an error if a finding would make the deployment fail. Other
// findings are warnings.
//
// The arguments are those of the CDK, such as -c stage=dev; they override cdk.json.
func preflight(ctx context.Context, args []string, now time.Time, out io.Writer) error {
	b, err := os.ReadFile("cdk.json")
	if err != nil {
		return err
	}
	values, err := contextFrom(b, args)
	if err != nil {
		return err
	}
	settings, err := ReadSettings(values)
	if err != nil {
		return err
	}
	c := &checks{Settings: settings, ctx: ctx, now: now, out: out}
	c.programs()
	if c.credentials() {
		c.bootstrap()
		c.ownStack()
		c.concurrency()
		c.mailing()
		c.certificate()
		c.copying()
		c.quotas()
	}
	if c.errors > 0 {
		return fmt.Errorf("%d errors would make the deployment fail; nothing was deployed", c.errors)
	}
	fmt.Fprintf(out, "preflight: no errors, %d warnings\n\n", c.warnings)
	return nil
}

// contextFrom returns the settings as the CDK passes them: those of cdk.json, overridden by
// -c NAME=VALUE.
func contextFrom(cdkJSON []byte, args []string) (map[string]any, error) {
	var file struct{ Context map[string]any }
	if err := json.Unmarshal(cdkJSON, &file); err != nil {
		return nil, fmt.Errorf("cdk.json: %w", err)
	}
	if file.Context == nil {
		file.Context = map[string]any{}
	}
	for i := 0; i < len(args); i++ {
		if args[i] != "-c" && args[i] != "--context" {
			continue // another option of the CDK
		}
		if i++; i == len(args) {
			return nil, fmt.Errorf("%s is the last of the options %q; want NAME=VALUE after it", args[i-1], args)
		}
		name, value, ok := strings.Cut(args[i], "=")
		if !ok {
			return nil, fmt.Errorf("got the option -c %s, want -c NAME=VALUE", args[i])
		}
		file.Context[name] = value
	}
	return file.Context, nil
}

// checks counts and prints what it finds.
type checks struct {
	Settings
	ctx              context.Context
	now              time.Time
	out              io.Writer
	aws              awscli.CLI
	errors, warnings int

	account string       // of the credentials
	stack   awscli.Stack // as it is deployed; its status is "" before the first deployment
}

func (c *checks) ok(format string, args ...any) {
	fmt.Fprintf(c.out, "  ok       %s\n", fmt.Sprintf(format, args...))
}

// fail prints a finding that would make the deployment fail.
func (c *checks) fail(remedy, format string, args ...any) {
	c.errors++
	fmt.Fprintf(c.out, "  ERROR    %s\n           %s\n", fmt.Sprintf(format, args...), remedy)
}

// warn prints a finding that would not make the deployment fail.
func (c *checks) warn(remedy, format string, args ...any) {
	c.warnings++
	fmt.Fprintf(c.out, "  warning  %s\n           %s\n", fmt.Sprintf(format, args...), remedy)
}

// ask runs a command of the AWS CLI. If that fails, ask warns and returns false.
func (c *checks) ask(what string, out any, args ...string) bool {
	err := c.aws.Do(c.ctx, out, args...)
	if err != nil {
		c.warn("If a permission is missing, check this by hand.", "%s was not checked: %v", what, err)
	}
	return err == nil
}

// The CDK needs nodeLeast or later; the runbook and the tests use nodeGood. cliLeast is the
// first series with `dynamodb update-table --on-demand-throughput`, the newest option that
// the runbook uses.
const (
	nodeLeast = 18
	nodeGood  = 22
	cliLeast  = "2.16"
)

var (
	nodeVersion = regexp.MustCompile(`^v(\d+)\.`)
	cliVersion  = regexp.MustCompile(`^aws-cli/(\d+)\.(\d+)`)
)

func (c *checks) programs() {
	c.ok("Go is %s (go.mod says which is needed, and go fetches it)", runtime.Version())
	const install = "Install Node 22 or later: https://nodejs.org"
	printed, err := exec.CommandContext(c.ctx, "node", "--version").Output()
	m := nodeVersion.FindSubmatch(printed)
	switch {
	case err != nil:
		c.fail(install, "Node does not run: %v", err)
	case m == nil:
		c.warn(install, "node --version prints %q", printed)
	default:
		major, _ := strconv.Atoi(string(m[1])) // digits only
		switch text := strings.TrimSpace(string(printed)); {
		case major < nodeLeast:
			c.fail(install, "Node is %s; the CDK needs %d", text, nodeLeast)
		case major < nodeGood:
			c.warn(install, "Node is %s; only %d and later are tested", text, nodeGood)
		default:
			c.ok("Node is %s", text)
		}
	}
	const update = "Install the newest version 2: https://docs.aws.amazon.com/cli/latest/userguide/getting-started-install.html"
	version, err := awscli.Version(c.ctx)
	v := cliVersion.FindStringSubmatch(version)
	switch {
	case err != nil:
		c.fail(update, "the AWS CLI does not run: %v", err)
	case v == nil:
		c.warn(update, "aws --version prints %q", version)
	default:
		major, _ := strconv.Atoi(v[1]) // digits only
		minor, _ := strconv.Atoi(v[2])
		if needs, _ := strconv.Atoi(strings.TrimPrefix(cliLeast, "2.")); major < 2 || major == 2 && minor < needs {
			c.warn(update, "the AWS CLI is %s.%s; the runbook's commands need %s, for aws dynamodb update-table --on-demand-throughput", v[1], v[2], cliLeast)
		} else {
			c.ok("the AWS CLI is %s.%s", v[1], v[2])
		}
	}
}

// credentials checks the account and the region, and reports whether AWS can be asked.
func (c *checks) credentials() bool {
	region := c.Region
	for _, name := range []string{"AWS_REGION", "AWS_DEFAULT_REGION"} {
		switch shell := os.Getenv(name); {
		case shell == "":
		case region == "":
			region = shell
		case shell != region:
			c.warn("Run export AWS_REGION="+region, "%s is %s and the stage's region is %s; the runbook's commands may look in %[2]s", name, shell, region)
		}
	}
	if region == "" { // take the region of the profile
		if printed, err := exec.CommandContext(c.ctx, "aws", "configure", "get", "region").Output(); err == nil {
			region = strings.TrimSpace(string(printed))
		}
	}
	if region == "" {
		c.fail("Set region in cdk.json, or run export AWS_REGION=eu-central-1", "no region is chosen")
		return false
	}
	c.aws.Region = region
	var who struct{ Account, Arn string }
	if err := c.aws.Do(c.ctx, &who, "sts", "get-caller-identity"); err != nil {
		c.fail("Sign in (aws sso login, aws configure), or set AWS_PROFILE.", "AWS does not accept the credentials: %v", err)
		return false
	}
	c.account = who.Account
	if c.Account != "" && c.Account != who.Account {
		c.fail("Use credentials of that account, or correct account in cdk.json.", "the credentials belong to the account %s, and the setting account is %s", who.Account, c.Account)
		return false
	}
	c.ok("credentials of %s, region %s", who.Arn, region)
	return true
}

// bootstrapLeast is the lowest version of the bootstrap stack that the CDK's template
// accepts.
const bootstrapLeast = 6

func (c *checks) bootstrap() {
	remedy := fmt.Sprintf("Run npx cdk bootstrap aws://%s/%s once, with your -c options (CONTEXT).", c.account, c.aws.Region)
	var answer struct{ Parameter struct{ Value string } }
	err := c.aws.Do(c.ctx, &answer, "ssm", "get-parameter", "--name", "/cdk-bootstrap/hnb659fds/version")
	version, notNumber := strconv.Atoi(answer.Parameter.Value)
	switch {
	case awscli.Refused(err, "ParameterNotFound"):
		c.fail(remedy, "the account %s is not bootstrapped in %s", c.account, c.aws.Region)
	case err != nil:
		c.warn(remedy, "whether the account is bootstrapped was not checked: %v", err)
	case notNumber != nil || version < bootstrapLeast:
		c.fail(remedy, "the bootstrap stack has version %q, want %d or later", answer.Parameter.Value, bootstrapLeast)
	default:
		c.ok("the bootstrap stack has version %d", version)
	}
}

// ownStack checks that CloudFormation can update the stack, or make it.
func (c *checks) ownStack() {
	stack, err := c.aws.Describe(c.ctx, c.Stage)
	if err != nil {
		c.warn("If a permission is missing, check this by hand.", "the stack %s was not checked: %v", stack.Name, err)
		return
	}
	c.stack = stack
	switch {
	case stack.Status == "" || stack.Status == "ROLLBACK_COMPLETE" || stack.Status == "REVIEW_IN_PROGRESS":
		c.leftSecrets()
	case strings.HasSuffix(stack.Status, "_ROLLBACK_FAILED"):
		c.fail("Run aws cloudformation continue-update-rollback --stack-name "+stack.Name+", and wait until it is UPDATE_ROLLBACK_COMPLETE.", "the stack %s is in %s", stack.Name, stack.Status)
	case strings.HasSuffix(stack.Status, "_IN_PROGRESS"):
		c.fail("Wait until that is over.", "the stack %s is in %s: another deployment is under way", stack.Name, stack.Status)
	default:
		c.ok("the stack %s is in %s", stack.Name, stack.Status)
	}
}

// leftSecrets finds secrets of an earlier stage of this name. Their names are fixed, so a
// new stack cannot make its own. With the setting existingSecrets, it also checks that the
// seal and the pepper exist.
func (c *checks) leftSecrets() {
	prefix := "agentsocial/" + c.Stage + "/"
	var answer struct {
		SecretList []struct{ Name, PrimaryRegion string }
	}
	if !c.ask("whether secrets of an earlier stage are left", &answer, "secretsmanager", "list-secrets", "--include-planned-deletion", "--filters", "Key=name,Values="+prefix) {
		return
	}
	var names []string
	missing := map[string]bool{}
	if c.ExistingSecrets {
		missing = map[string]bool{prefix + "seal": true, prefix + "pepper": true}
	}
	for _, s := range answer.SecretList {
		if !missing[s.Name] {
			names = append(names, s.Name)
			continue
		}
		delete(missing, s.Name)
		if s.PrimaryRegion != "" && s.PrimaryRegion != c.aws.Region {
			c.warn("Run aws secretsmanager stop-replication-to-replica --secret-id "+s.Name, "the secret %s is still a replica of the one in %s: it cannot be changed here, and is deleted with that one", s.Name, s.PrimaryRegion)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(missing)) {
		c.fail(`infra/RUNBOOK.md, "Restore elsewhere", says where to get it. For a new stage set existingSecrets to false.`, "existingSecrets is true, and there is no secret %s in %s", name, c.aws.Region)
	}
	if len(names) > 0 {
		c.fail(`infra/RUNBOOK.md, "Take a stage down", says how to keep or delete them. Or choose another stage.`, "secrets of an earlier stage %s are left: %s", c.Stage, strings.Join(names, ", "))
		return
	}
	c.ok("nothing of an earlier stage %s is in the way", c.Stage)
}

func (c *checks) concurrency() {
	var answer struct {
		AccountLimit struct{ ConcurrentExecutions int }
	}
	if !c.ask("the account's concurrency", &answer, "lambda", "get-account-settings") {
		return
	}
	may, reserved := answer.AccountLimit.ConcurrentExecutions, c.reservedInAll(all())
	const raise = "Ask for more: Service Quotas, AWS Lambda, Concurrent executions. AWS may take days."
	switch {
	case reserved > 0 && reserved > may-unreservedLeast:
		c.fail("Lower accountConcurrency, groupConcurrency and reservedConcurrency in cdk.json, or ask for more: Service Quotas, AWS Lambda, Concurrent executions.",
			"the settings reserve %d executions; the account may run %d at once, and Lambda requires that %d stay unreserved", reserved, may, unreservedLeast)
	case c.AccountConcurrency > may:
		c.warn("Set accountConcurrency to that number.", "accountConcurrency is %d; the account may run %d executions at once", c.AccountConcurrency, may)
	case may < 1000:
		c.warn(raise, "the account may run %d executions at once (a new account has 10): callers get 503 beyond that", may)
	case c.AccountConcurrency == 0:
		c.warn("Set accountConcurrency to that number, so that no group of endpoints can take all executions.", "the account may run %d executions at once, and accountConcurrency is 0", may)
	default:
		c.ok("the account may run %d executions at once", may)
	}
}

func (c *checks) mailing() {
	if c.MailFrom == "" {
		c.ok("no mail is sent (mailFrom is empty)")
		return
	}
	var account struct {
		ProductionAccessEnabled, SendingEnabled bool
		SendQuota                               struct{ Max24HourSend float64 }
	}
	if c.ask("SES's sandbox", &account, "sesv2", "get-account") {
		switch wanted := c.Limits.AllLinksDay + c.Limits.AllRecoveriesDay; {
		case !account.SendingEnabled:
			c.warn("AWS has paused the account's mail: see the mails from AWS, and SES's console.", "SES sends no mail for this account")
		case !account.ProductionAccessEnabled:
			c.warn("After the deployment run the command of the output LeaveMailSandbox.", "SES is in the sandbox in %s: it mails only verified addresses", c.aws.Region)
		case float64(wanted) > account.SendQuota.Max24HourSend:
			c.warn("Lower these limits, or ask for more: SES's console, Account dashboard.", "all_links_day and all_recoveries_day allow %d mails a day; SES allows %.0f", wanted, account.SendQuota.Max24HourSend)
		default:
			c.ok("SES sends %.0f mails a day to anybody", account.SendQuota.Max24HourSend)
		}
	}
	c.identity()
}

// identity checks SES's identity of mailFrom. If mailIdentity is "existing", SES must have
// it. Otherwise the stack makes it, so it must not exist outside the stack.
func (c *checks) identity() {
	_, domain, _ := strings.Cut(c.MailFrom, "@")
	name := domain
	if c.MailIdentity == identityAddress {
		name = c.MailFrom
	}
	var identity struct{ VerifiedForSendingStatus bool }
	err := c.aws.Do(c.ctx, &identity, "sesv2", "get-email-identity", "--email-identity", name)
	if awscli.Refused(err, "NotFoundException") {
		if c.MailIdentity != identityExisting {
			c.ok("the deployment makes SES's identity %s", name)
			return
		}
		if err := c.aws.Do(c.ctx, &identity, "sesv2", "get-email-identity", "--email-identity", c.MailFrom); err == nil {
			name = c.MailFrom
		} else {
			c.warn("Make and verify it in SES, or set mailIdentity to domain.", "mailIdentity is existing, and SES has no identity %s or %s in %s", domain, c.MailFrom, c.aws.Region)
			return
		}
	} else if err != nil {
		c.warn("If a permission is missing, check this by hand.", "SES's identity %s was not checked: %v", name, err)
		return
	}
	if c.MailIdentity != identityExisting && !c.owns(awscli.TypeIdentity, name) {
		c.fail("Set mailIdentity to existing, or choose an address of another domain: SES takes an identity once per account and region.", "SES already has the identity %s, outside this stack", name)
		return
	}
	if !identity.VerifiedForSendingStatus {
		c.warn("Put its records (outputs MailRecord1 to 3, or SES console) in the DNS, or follow the link that SES mailed.", "SES has not verified %s yet: no mail is sent", name)
		return
	}
	c.ok("SES has verified %s", name)
}

// owns reports whether a resource belongs to the deployed stack. It returns true if the
// stack's resources cannot be listed.
func (c *checks) owns(kind, physical string) bool {
	if c.stack.Status == "" {
		return false
	}
	stack, err := c.aws.Deployed(c.ctx, c.Stage)
	if err != nil {
		c.warn("If a permission is missing, check this by hand.", "the resources of %s were not checked: %v", c.stack.Name, err)
		return true
	}
	for _, r := range stack.All(kind) {
		if r.PhysicalResourceId == physical {
			return true
		}
	}
	return false
}

// certificateLeft is the remaining validity below which a certificate gets a warning. ACM
// normally renews it earlier.
const certificateLeft = 30 * 24 * time.Hour

// certificate checks that the domain's certificate is issued, covers the domain, does not
// expire soon and, without an edge, is in the API's region.
func (c *checks) certificate() {
	if c.CertificateARN == "" {
		return
	}
	region := strings.Split(c.CertificateARN, ":")[3]
	if !c.Edge && region != c.aws.Region {
		c.fail("Request one there (ACM), and set certificateArn to it.", "the certificate is in %s; the API is in %s and takes only those of its region", region, c.aws.Region)
		return
	}
	var answer struct {
		Certificate struct {
			Status                  string
			SubjectAlternativeNames []string
			NotAfter                string
		}
	}
	there := awscli.CLI{Region: region}
	if err := there.Do(c.ctx, &answer, "acm", "describe-certificate", "--certificate-arn", c.CertificateARN); awscli.Refused(err, "ResourceNotFoundException") {
		c.fail("Correct certificateArn in cdk.json.", "there is no certificate %s", c.CertificateARN)
		return
	} else if err != nil {
		c.warn("If a permission is missing, check this by hand.", "the certificate was not checked: %v", err)
		return
	}
	found := answer.Certificate
	ends, err := time.Parse(time.RFC3339, found.NotAfter)
	switch {
	case found.Status != "ISSUED":
		c.fail("Put the CNAME record that ACM's console shows into the DNS, and wait for ISSUED.", "the certificate of %s has the status %s", c.Domain, found.Status)
	case !covers(found.SubjectAlternativeNames, c.Domain):
		c.fail("Request a certificate of that name, and set certificateArn to it.", "the certificate covers %s, not %s", strings.Join(found.SubjectAlternativeNames, ", "), c.Domain)
	case err == nil && ends.Sub(c.now) < certificateLeft:
		c.warn("Is its CNAME record still in the DNS? ACM renews it only then.", "the certificate of %s expires on %s", c.Domain, ends.Format(time.DateOnly))
	default:
		c.ok("the certificate of %s is issued", c.Domain)
	}
}

// covers reports whether a certificate of these names is valid for host. A wildcard stands
// for one label.
func covers(names []string, host string) bool {
	_, parent, _ := strings.Cut(host, ".")
	for _, n := range names {
		if n == host || n == "*."+parent {
			return true
		}
	}
	return false
}

// quotas compares the settings with the account's quotas of API Gateway and DynamoDB.
func (c *checks) quotas() {
	for _, q := range []struct {
		service, quota, setting string
		wanted                  int
	}{
		{"apigateway", "Throttle rate", "throttleRate", c.ThrottleRate},
		{"dynamodb", "Table-level read throughput limit", "tableReads or warmReads", max(c.TableReads, c.WarmReads)},
		{"dynamodb", "Table-level write throughput limit", "tableWrites or warmWrites", max(c.TableWrites, c.WarmWrites)},
	} {
		if q.wanted == 0 {
			continue
		}
		value, err := c.quota(q.service, q.quota)
		remedy := fmt.Sprintf("Ask for more: Service Quotas, %s, %s. Or lower %s.", q.service, q.quota, q.setting)
		switch {
		case err != nil:
			c.warn(remedy, "the quota %q was not checked: %v", q.quota, err)
		case float64(q.wanted) > value:
			c.warn(remedy, "%s is %d; the account's quota %q is %.0f", q.setting, q.wanted, q.quota, value)
		default:
			c.ok("%s %d is within the account's %.0f", q.setting, q.wanted, value)
		}
	}
}

// quota returns the value of a quota: the account's own, or AWS's default.
func (c *checks) quota(service, name string) (float64, error) {
	for _, command := range []string{"list-service-quotas", "list-aws-default-service-quotas"} {
		var answer struct {
			Quotas []struct {
				QuotaName string
				Value     float64
			}
		}
		if err := c.aws.Do(c.ctx, &answer, "service-quotas", command, "--service-code", service); err != nil {
			return 0, err
		}
		for _, q := range answer.Quotas {
			if strings.EqualFold(q.QuotaName, name) {
				return q.Value, nil
			}
		}
	}
	return 0, errors.New("it is not in the list of Service Quotas")
}
