package main

import (
	"encoding/json"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"agentsocial/events"
	"agentsocial/functions"
	"agentsocial/shared/app"
)

func text(t *testing.T, path string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("..", filepath.FromSlash(path)))
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// all returns the distinct matches of a pattern's first group, sorted.
func all(s, pattern string) []string {
	found := map[string]bool{}
	for _, m := range regexp.MustCompile(pattern).FindAllStringSubmatch(s, -1) {
		found[m[1]] = true
	}
	return slices.Sorted(maps.Keys(found))
}

func TestRunbookNamesExist(t *testing.T) {
	book, makefile := text(t, "infra/RUNBOOK.md"), text(t, "Makefile")
	var infra strings.Builder
	files, err := filepath.Glob("../infra/*.go")
	if err != nil || len(files) == 0 {
		t.Fatalf("infra/*.go: got %q, error %v; want infra's Go files", files, err)
	}
	for _, f := range files {
		if !strings.HasSuffix(f, "_test.go") {
			infra.WriteString(text(t, strings.TrimPrefix(f, "../")))
		}
	}
	var cdk struct{ Context map[string]any }
	if err := json.Unmarshal([]byte(text(t, "cdk.json")), &cdk); err != nil {
		t.Fatal(err)
	}
	called := map[string]bool{"Access": true, "NAME": true} // Access is the gateway's log, and NAME a placeholder
	a := &app.App{}
	for _, g := range functions.Groups(a) {
		called[g.Name] = true
	}
	for _, r := range events.All() {
		called[r(a).Name] = true
	}
	for _, s := range slices.Concat(events.Schedules(), events.Outside()) {
		called[s(a).Name] = true
	}
	for _, m := range events.Mail() {
		called[m(a).Name] = true
	}
	headings := all(book, `(?m)^##+ (.*)$`)
	outputs := strings.ReplaceAll(infra.String(), `"MailRecord%d"`, `"MailRecord1", "MailRecord2", "MailRecord3"`)

	for _, c := range []struct {
		what, pattern string
		least         int
		is            func(string) bool
	}{
		{"target of make", "(?:`|\n *)make ([a-z-]+)", 10, func(s string) bool { return strings.Contains(makefile, "\n"+s+":") }},
		{"variable of make", `make [a-z-]+ ([A-Z]+)=`, 3, func(s string) bool {
			return slices.Contains(strings.Fields(all(makefile, `(?m)^export (.*)$`)[0]), s) || strings.Contains(makefile, "$("+s+")")
		}},
		{"setting", "`([a-z]+[A-Z][A-Za-z]*)`", 10, func(s string) bool { _, ok := cdk.Context[s]; return ok || s == "requestContext" }},
		{"setting", `-c ([A-Za-z]+)=`, 2, func(s string) bool { _, ok := cdk.Context[s]; return ok }},
		{"output", `output ([A-Z][A-Za-z]+[a-z])\b`, 4, func(s string) bool { return strings.Contains(outputs, `"`+s+`", `) }},
		{"output", "`((?:Mail|Failed|Base|Table)[A-Z][A-Za-z0-9]+)`", 4, func(s string) bool {
			return strings.Contains(outputs, `"`+s+`", `) || slices.Contains(headings, "Alarm: "+s)
		}},
		{"function", "`logs ([A-Za-z]+)[ `]", 6, func(s string) bool { return called[s] }},
		{"secret", `agentsocial/(?:STAGE|\$STAGE)/([a-z]+)`, 2, func(s string) bool {
			return strings.Contains(infra.String(), `"/`+s+`"`) || strings.Contains(infra.String(), `"`+s+`", "`)
		}},
		{"file", "`((?:infra|local|shared|tables|events|functions)/[a-zA-Z0-9_./-]+)`", 4, func(s string) bool { _, err := os.Stat("../" + s); return err == nil }},
		{"limit", "`([a-z]+_(?:day|week|hour|minute))`", 3, func(s string) bool {
			_, err := app.DefaultSettings().Limits.With(`{"` + s + `": 1}`)
			return err == nil
		}},
		{"section", `"(Alarm: [A-Za-z]+)"`, 1, func(s string) bool { return slices.Contains(headings, s) }},
		{"section", "see `([A-Z][A-Za-z]+)`", 3, func(s string) bool { return slices.Contains(headings, "Alarm: "+s) }},
	} {
		names := all(book, c.pattern)
		if len(names) < c.least {
			t.Errorf("runbook: got %d names of a %s (%q), want at least %d", len(names), c.what, names, c.least)
		}
		for _, s := range names {
			if !c.is(s) {
				t.Errorf("runbook: got the %s %q, want a name that exists", c.what, s)
			}
		}
	}
	for _, verb := range []string{"deploy", "first-day", "rollback", "synth", "destroy", "operator", "adopt", "audit", "claim-keys", "list-balances", "list-cases", "list-given", "list-posts", "redrive", "replay", "restore", "restore-drill", "stop-mail", "start-mail", "levers", "throttle", "unthrottle", "stop-writes", "start-writes", "stop-reader", "start-reader", "stop-function", "start-function", "lambdas", "sam", "golden"} {
		if !strings.Contains(book, "make "+verb) {
			t.Errorf("the runbook does not mention `make %s`", verb)
		}
	}
	if !strings.Contains(text(t, "README.md"), "(infra/RUNBOOK.md)") {
		t.Error("the README has no link to infra/RUNBOOK.md")
	}
}

// A stand-in for the AWS CLI prints its arguments.
func TestRunbookShellFunctions(t *testing.T) {
	bash := tool(t, "bash")
	blocks := regexp.MustCompile("(?s)```sh\n(.*?)```").FindAllStringSubmatch(text(t, "infra/RUNBOOK.md"), -1)
	if len(blocks) < 3 {
		t.Fatalf("runbook: got %d blocks of shell, want at least 3", len(blocks))
	}
	for _, b := range blocks {
		cmd := exec.CommandContext(t.Context(), bash, "-n")
		cmd.Stdin = strings.NewReader(b[1])
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("bash cannot parse this block of the runbook: %s\n%s", out, b[1])
		}
	}
	script := `aws() { printf '<%s>' "$@"; }; sleep() { :; }; date() { echo 100000; }` + "\n" + blocks[0][1] + `
echo; requests "channels feed" 3; echo; metric AWS/Lambda Errors "$(ofFunction tally)" Maximum 24; echo; metric AWS/DynamoDB X "$(ofTable) Name=Operation,Value=Query"
echo; metric AWS/ApiGateway Count "$(ofApi)"; echo; ringing
echo; sh -c 'echo stage=$STAGE'; output Dashboard; echo; logs credits 3h; echo; logs feed; echo; logs feed 1h '{ $.failed = 1 }'; echo; echo "$TABLE"`
	cmd := exec.CommandContext(t.Context(), bash, "-euo", "pipefail", "-c", script)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("shell functions: %v\n%s", err, out)
	}
	for _, want := range []string{
		"<describe-stacks><--stack-name><agentsocial-prod><--output><text><--query><Stacks[0].Outputs[?OutputKey=='Dashboard'].OutputValue>",
		"<logs><tail><<cloudformation><list-stack-resources><--stack-name><agentsocial-prod><--output><text><--query>" +
			"<StackResourceSummaries[?ResourceType=='AWS::Logs::LogGroup' && starts_with(LogicalResourceId, 'creditsLog')].PhysicalResourceId>>" +
			`<--since><3h><--format><short><--filter-pattern><{ $.level = "ERROR" || $.level = "WARN" }>`,
		`'feedLog')].PhysicalResourceId>><--since><1h><--format><short><--filter-pattern><{ $.level = "ERROR" || $.level = "WARN" }>`,
		"<--filter-pattern><{ $.failed = 1 }>",
		"aws:<cloudformation><describe-stacks>",
		"stage=prod\n",
		"<logs><get-query-results><--query-id><<logs><start-query><--start-time><89200><--end-time><100000><--query><queryId><--output><text><--log-group-names><<cloudformation>",
		"'channelsLog')].PhysicalResourceId>", "'feedLog')].PhysicalResourceId>><--query-string><filter msg = 'request' | fields coalesce(one_in, 1) as n\n",
		"<cloudwatch><get-metric-statistics><--namespace><AWS/Lambda><--metric-name><Errors><--dimensions><Name=FunctionName,Value=<cloudformation>",
		"<--statistics><Maximum><--period><300><--start-time><13600><--end-time><100000><--output><text><--query><sort_by(Datapoints, &Timestamp)[].[Timestamp,Maximum]>",
		"<Name=Operation,Value=Query><--statistics><Sum><--period><300><--start-time><89200>",
		"<--metric-name><Count><--dimensions><Name=ApiId,Value=<cloudformation>",
		"<cloudwatch><describe-alarms><--alarm-name-prefix><agentsocial-prod-><--state-value><ALARM>",
	} {
		if !strings.Contains(string(out), want) {
			t.Errorf("AWS CLI: got calls\n%s\nwant\n%s", out, want)
		}
	}
}

func TestMakeDeploysTheShellsStage(t *testing.T) {
	program := tool(t, "make")
	mine := append(slices.DeleteFunc(os.Environ(), func(v string) bool { return strings.HasPrefix(v, "MAKE") || strings.HasPrefix(v, "MFLAGS") }),
		"STAGE=dev", "CONTEXT=-c domain= -c mailFrom=")
	for _, verb := range []string{"synth", "destroy"} {
		cmd := exec.CommandContext(t.Context(), program, "--dry-run", verb)
		cmd.Dir, cmd.Env = "..", mine
		out, err := cmd.CombinedOutput()
		if err != nil || !regexp.MustCompile(`(?m) cdk `+verb+`\b.* -c stage=dev -c domain= -c mailFrom=$`).Match(out) {
			t.Errorf("make %s: got error %v and commands\n%s\nwant cdk with STAGE and CONTEXT", verb, err, out)
		}
	}
	bin := t.TempDir() // has a stand-in for go, since infra/deploy would call the CDK
	if err := os.WriteFile(filepath.Join(bin, "go"), []byte("#!/bin/sh\necho \"$@ STAGE=$STAGE CONTEXT=$CONTEXT TO=$TO\"\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	for verb, want := range map[string]string{"preflight": "run ./infra preflight -c stage=dev -c domain= -c mailFrom=", "deploy": "run ./infra/deploy", "rollback": "run ./infra/deploy rollback"} {
		cmd := exec.CommandContext(t.Context(), program, verb, "TO=v1.0.0")
		cmd.Dir, cmd.Env = "..", append(mine, "PATH="+bin+":"+os.Getenv("PATH"))
		out, err := cmd.CombinedOutput()
		if want += " STAGE=dev CONTEXT=-c domain= -c mailFrom= TO=v1.0.0\n"; err != nil || !strings.Contains(string(out), want) {
			t.Errorf("make %s: got %v and\n%s\nwant\n%s", verb, err, out, want)
		}
	}
}

func TestRunbookContradictions(t *testing.T) {
	book := text(t, "infra/RUNBOOK.md")
	_, restore, _ := strings.Cut(book, "\n## Restore\n")
	restore, _, ok := strings.Cut(restore, "\n## ")
	if !ok || strings.Contains(restore, "cdk deploy") || strings.Contains(restore, "-c throttle") {
		t.Errorf("section Restore (found: %t): got\n%s\nwant no cdk deploy, and no -c throttle: the next make deploy undoes it", ok, restore)
	}
	_, metrics, _ := strings.Cut(book, "\n## Metrics\n")
	metrics, _, ok = strings.Cut(metrics, "\n## ")
	if figures := all(metrics, `(\d+(?:\.\d+)?)\s+(?:USD|metrics|of them)`); !ok || len(figures) > 0 {
		t.Errorf("section Metrics (found: %t): got figures %q, want them only in COST.md", ok, figures)
	}
	for _, page := range []string{"README.md", "infra/README.md", "infra/COST.md", "infra/RUNBOOK.md"} {
		for paragraph := range strings.SplitSeq(text(t, page), "\n\n") {
			flat := strings.Join(strings.Fields(paragraph), " ")
			if strings.Contains(flat, "proxy ") && strings.Contains(flat, "`domain`") && !strings.Contains(flat, "all agents as one address") {
				t.Errorf("%s speaks of a proxy, but does not say \"all agents as one address\":\n%s", page, paragraph)
			}
		}
	}
}

// CloudFormation and DynamoDB refuse to delete what is protected, so the block first ends the
// protection. It must touch only a stack whose creation failed.
func TestRunbookDeletesOnlyFailedStacks(t *testing.T) {
	book := text(t, "infra/RUNBOOK.md")
	for status, want := range map[string][]string{
		"ROLLBACK_COMPLETE": {
			"cloudformation update-termination-protection --stack-name agentsocial-prod --no-enable-termination-protection",
			"cloudformation delete-stack --stack-name agentsocial-prod",
			"dynamodb update-table --table-name agentsocial-prod-Table-1 --no-deletion-protection-enabled",
			"dynamodb delete-table --table-name agentsocial-prod-Table-1",
		},
		"UPDATE_ROLLBACK_COMPLETE": nil, "CREATE_COMPLETE": nil, "": nil,
	} {
		out := pasted(t, book, "### The first deployment failed", `aws() {
  case $2 in
  describe-stacks) echo "`+status+`" ;;
  list-stack-resources) echo agentsocial-prod-Table-1 ;;
  wait) ;;
  *) echo "did $*" ;;
  esac
}`, "")
		if got := all(out, `(?m)^did (.*)$`); !slices.Equal(got, slices.Sorted(slices.Values(want))) {
			t.Errorf("stack in %q: got calls %q, want %q", status, got, want)
		}
		for i := 1; i < len(want); i++ {
			if strings.Index(out, want[i-1]) > strings.Index(out, want[i]) {
				t.Errorf("order of calls: got\n%s\nfirst, want\n%s\nfirst", want[i], want[i-1])
			}
		}
	}
}

// UpdateSchedule resets settings that it is not given, so the block passes all settings on.
func TestRunbookStopsReadersAndClock(t *testing.T) {
	out := pasted(t, text(t, "infra/RUNBOOK.md"), "## Restore", `aws() {
  case "$*" in
  *list-stack-resources*Lambda::EventSourceMapping*) echo reader1 reader2 ;;
  *list-stack-resources*Scheduler::Schedule*) echo clock1 clock2 ;;
  "scheduler get-schedule"*) query="$8"; echo "{${query##*,} of $4" ;;
  *) echo "did $*" ;;
  esac
}`, "readers --enabled; clock ENABLED")
	for _, n := range []string{"1", "2"} {
		for reader, clock := range map[string]string{"--no-enabled": "DISABLED", "--enabled": "ENABLED"} {
			for _, want := range []string{
				"did lambda update-event-source-mapping --uuid reader" + n + " " + reader + "\n",
				"did scheduler update-schedule --cli-input-json {State:'" + clock + "'} of clock" + n + "\n",
			} {
				if !strings.Contains(out, want) {
					t.Errorf("AWS CLI: got calls\n%s\nwant\n%s", out, want)
				}
			}
		}
	}
}

// Functions cache a secret for minutes, so a new key at first only decrypts. The old keys stay,
// since refresh tokens and the ids of registered clients outlive any wait.
func TestRunbookRotatesTheSeal(t *testing.T) {
	tool(t, "openssl")
	book, dir := text(t, "infra/RUNBOOK.md"), t.TempDir()
	secret := filepath.Join(dir, "secret")
	if err := os.WriteFile(secret, []byte("generated"), 0o600); err != nil {
		t.Fatal(err)
	}
	aws := `sleep() { echo "slept $1"; }
aws() {
  case $2 in
  get-secret-value) cat ` + secret + `; echo ;;
  put-secret-value) for last; do :; done; cat "${last#file://}" > ` + secret + `; echo put $(cat ` + secret + `) ;;
  describe-stacks) ;;
  *) return 1 ;;
  esac
}`
	of := "generated"
	for range 3 {
		out := pasted(t, book, "## Rotate secrets", aws, "")
		line := regexp.MustCompile(`^put ` + of + ` ([0-9a-f]{64})\nslept 600\nput ([0-9a-f]{64}) ` + of + `\n$`).FindStringSubmatch(out)
		if line == nil || strings.Contains(of, line[1]) || line[1] != line[2] {
			t.Fatalf("with the keys %s: got\n%s\nwant a new key put last and, after 600 seconds, first", of, out)
		}
		of = line[1] + " " + of
	}
	out := pasted(t, book, "## Rotate secrets", "set +e\n"+strings.Replace(aws, "cat "+secret+"; echo ;;", "return 255 ;;", 1), "true")
	if strings.Contains(out, "put") {
		t.Errorf("unreadable secret: got\n%s\nwant no replacement", out)
	}
}

// tool returns the path of a command. Without the command it skips the test, or fails it with
// CI=true.
func tool(t *testing.T, name string) string {
	t.Helper()
	path, err := exec.LookPath(name)
	if err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatal(err)
		}
		t.Skip("SKIPPED, NOT TESTED: ", err)
	}
	return path
}

// pasted runs in one shell: the stand-in aws, the runbook's first block, the section's first
// block, and the commands in more. It returns the output.
func pasted(t *testing.T, book, heading, aws, more string) string {
	t.Helper()
	bash := tool(t, "bash")
	_, section, found := strings.Cut(book, "\n"+heading+"\n")
	block := regexp.MustCompile("(?s)```sh\n(.*?)```")
	first, its := block.FindStringSubmatch(book), block.FindStringSubmatch(section)
	if !found || its == nil {
		t.Fatalf("the section %q has no block of shell", heading)
	}
	cmd := exec.CommandContext(t.Context(), bash, "-euo", "pipefail", "-c", aws+"\n"+first[1]+"\n"+its[1]+"\n"+more)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("section %q: %v\n%s", heading, err, out)
	}
	return string(out)
}

func TestStopMail(t *testing.T) {
	cli := t.TempDir()
	const script = `#!/bin/sh
case "$1" in cloudformation) echo "set of $4" ;; *) printf '<%s>' "$@" ;; esac
`
	if err := os.WriteFile(filepath.Join(cli, "aws"), []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	for args, want := range map[string]string{
		"stop-mail":            "<--configuration-set-name><set of agentsocial-prod><--no-sending-enabled>",
		"start-mail":           "<--configuration-set-name><set of agentsocial-prod><--sending-enabled>",
		"stop-mail STAGE=beta": "<--configuration-set-name><set of agentsocial-beta><--no-sending-enabled>",
	} {
		cmd := exec.CommandContext(t.Context(), tool(t, "make"), append([]string{"-s", "-C", ".."}, strings.Fields(args)...)...)
		cmd.Env = append(slices.DeleteFunc(os.Environ(), func(v string) bool { return strings.HasPrefix(v, "STAGE=") }), "PATH="+cli+":"+os.Getenv("PATH"))
		out, err := cmd.CombinedOutput()
		if err != nil || !strings.HasSuffix(strings.TrimSpace(string(out)), "<sesv2><put-configuration-set-sending-options>"+want) {
			t.Errorf("make %s: got %v, output\n%s\nwant %s", args, err, out, want)
		}
	}
}

func TestMakePassesTheShellsStageToLevers(t *testing.T) {
	program := tool(t, "make")
	for _, verb := range []string{"levers", "throttle", "unthrottle", "stop-writes", "start-writes", "stop-reader", "start-reader", "stop-function", "start-function"} {
		for stage, want := range map[string]string{"": "prod", "beta": "beta"} {
			cmd := exec.CommandContext(t.Context(), program, "--dry-run", "-C", "..", verb)
			cmd.Env = append(slices.DeleteFunc(os.Environ(), func(v string) bool { return strings.HasPrefix(v, "MAKE") || strings.HasPrefix(v, "MFLAGS") }), "STAGE="+stage)
			out, err := cmd.CombinedOutput()
			if err != nil || !strings.Contains(string(out), "STAGE="+want+" go run ./infra/levers "+verb+"\n") {
				t.Errorf("make %s STAGE=%s: got %v and commands\n%s\nwant the lever of the stage %s", verb, stage, err, out, want)
			}
		}
	}
}

// A secret's value must not be an argument of a command: other users of the machine can see
// arguments.
func TestRunbookCopiesSecrets(t *testing.T) {
	book, dir := text(t, "infra/RUNBOOK.md"), t.TempDir()
	aws := `aws() {
  case "$2" in
  get-secret-value) printf 'new %s\nold\n' "$4" ;;
  create-secret | put-secret-value)
    test "$2" = create-secret && test -e "` + dir + `/${8##*/}" && return 254
    case "$*" in *old*) echo "the value is among the arguments" ;; esac
    for last; do :; done; cat "${last#file://}" > "` + dir + `/${8##*/}"; echo "did $2 $4 $6 $7 $8" ;;
  esac
}`
	run := func(aws string) string {
		t.Helper()
		return block(t, book, "## Keep a copy elsewhere", "get-secret-value", "STAGE=prod\n"+aws)
	}
	for _, verb := range []string{"create-secret there eu-west-1 --name ", "put-secret-value there eu-west-1 --secret-id "} {
		want := "did " + verb + "agentsocial/prod/seal\ndid " + verb + "agentsocial/prod/pepper\n"
		if got := run(aws); got != want {
			t.Errorf("copying the secrets: got calls\n%s\nwant\n%s", got, want)
		}
		for _, name := range []string{"seal", "pepper"} {
			copied, err := os.ReadFile(filepath.Join(dir, name))
			if want := "new agentsocial/prod/" + name + "\nold"; err != nil || string(copied) != want {
				t.Errorf("copy of %s: got %q, %v, want %q", name, copied, err, want)
			}
		}
	}
	if got := run(strings.Replace(aws, `printf 'new %s\nold\n' "$4"`, "return 255", 1)); got != "" {
		t.Errorf("an unreadable secret: got\n%s\nwant no copy", got)
	}
}

// make adopt and the stage's permissions require the restored table's name to begin with
// agentsocial-STAGE-Table.
func TestRunbookRestoresTheNewestCopy(t *testing.T) {
	out := block(t, text(t, "infra/RUNBOOK.md"), "## Restore elsewhere", "start-restore-job", `STAGE=prod
sleep() { :; }; date() { echo 20261128T090000; }
aws() {
  case "$2" in
  list-recovery-points-by-backup-vault) echo "asked $*" >&2; echo arn:copy ;;
  get-role) echo arn:role ;;
  start-restore-job) echo "did $*" >&2; echo job-1 ;;
  *) echo "did $*" >&2 ;;
  esac
}`)
	for _, want := range []string{
		"asked backup list-recovery-points-by-backup-vault --backup-vault-name agentsocial-copies --output text --query sort_by(RecoveryPoints[?contains(ResourceArn, 'table/agentsocial-prod-Table') && Status=='COMPLETED'], &CreationDate)[-1].RecoveryPointArn\n",
		"did backup start-restore-job --recovery-point-arn arn:copy --resource-type DynamoDB --metadata targetTableName=agentsocial-prod-Table-20261128T090000 --output text --query RestoreJobId --iam-role-arn arn:role\n",
		"did backup describe-restore-job --restore-job-id job-1 ",
	} {
		if !strings.Contains(out, want) {
			t.Errorf("AWS CLI: got calls\n%s\nwant\n%s", out, want)
		}
	}
}

// block runs a prologue, and then the section's first block with a given text. It returns the
// output.
func block(t *testing.T, book, heading, has, prologue string) string {
	t.Helper()
	bash := tool(t, "bash")
	_, section, found := strings.Cut(book, "\n"+heading+"\n")
	section, _, _ = strings.Cut(section, "\n## ")
	for _, b := range regexp.MustCompile("(?s)```sh\n(.*?)```").FindAllStringSubmatch(section, -1) {
		if !strings.Contains(b[1], has) {
			continue
		}
		cmd := exec.CommandContext(t.Context(), bash, "-uo", "pipefail", "-c", prologue+"\n"+b[1])
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("section %q: %v\n%s", heading, err, out)
		}
		return string(out)
	}
	t.Fatalf("the section %q (found: %t) has no block with %q", heading, found, has)
	panic("unreachable")
}
