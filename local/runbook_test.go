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

// all that a pattern's first group finds, each once.
func all(s, pattern string) []string {
	found := map[string]bool{}
	for _, m := range regexp.MustCompile(pattern).FindAllStringSubmatch(s, -1) {
		found[m[1]] = true
	}
	return slices.Sorted(maps.Keys(found))
}

// What the runbook names is there: what make makes and takes, settings, outputs,
// functions, secrets, files, limits, sections.
func TestTheRunbookNamesWhatIsThere(t *testing.T) {
	book, makefile := text(t, "infra/RUNBOOK.md"), text(t, "Makefile")
	var infra strings.Builder
	files, err := filepath.Glob("../infra/*.go")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
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
	called := map[string]bool{"Access": true, "NAME": true} // the gateway's own, and whichever
	a := &app.App{}
	for _, g := range functions.Groups(a) {
		called[g.Name] = true
	}
	for _, r := range events.All() {
		called[r(a).Name] = true
	}
	for _, s := range events.Schedules() {
		called[s(a).Name] = true
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
			t.Errorf("of %ss there are %q only", c.what, names)
		}
		for _, s := range names {
			if !c.is(s) {
				t.Errorf("%q is no %s", s, c.what)
			}
		}
	}
	for _, verb := range []string{"deploy", "synth", "destroy", "operator", "audit", "redrive", "replay", "restore", "restore-drill", "lambdas", "sam", "cost"} {
		if !strings.Contains(book, "make "+verb) {
			t.Errorf("it does not say what `make %s` is for", verb)
		}
	}
	if !strings.Contains(text(t, "README.md"), "(infra/RUNBOOK.md)") {
		t.Error("the README does not lead to it")
	}
}

// The functions that the runbook has one paste do what it says, whatever the
// credentials: here the AWS CLI prints what it is asked.
func TestTheRunbooksShell(t *testing.T) {
	bash, err := exec.LookPath("bash")
	if err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatal(err)
		}
		t.Skip(err)
	}
	blocks := regexp.MustCompile("(?s)```sh\n(.*?)```").FindAllStringSubmatch(text(t, "infra/RUNBOOK.md"), -1)
	if len(blocks) < 3 {
		t.Fatalf("%d blocks of shell", len(blocks))
	}
	for _, b := range blocks {
		cmd := exec.CommandContext(t.Context(), bash, "-n")
		cmd.Stdin = strings.NewReader(b[1])
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("%s\n%s", out, b[1])
		}
	}
	script := `aws() { printf '<%s>' "$@"; }` + "\n" + blocks[0][1] + `
echo; output Dashboard; echo; logs credits 3h; echo; logs feed; echo; logs feed 1h '{ $.failed = 1 }'; echo; echo "$TABLE"`
	cmd := exec.CommandContext(t.Context(), bash, "-euo", "pipefail", "-c", script)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, want := range []string{
		"<describe-stacks><--stack-name><agentsocial-prod><--output><text><--query><Stacks[0].Outputs[?OutputKey=='Dashboard'].OutputValue>",
		"<logs><tail><<cloudformation><list-stack-resources><--stack-name><agentsocial-prod><--output><text><--query>" +
			"<StackResourceSummaries[?ResourceType=='AWS::Logs::LogGroup' && starts_with(LogicalResourceId, 'creditsLog')].PhysicalResourceId>>" +
			`<--since><3h><--format><short><--filter-pattern><{ $.level = "ERROR" || $.level = "WARN" }>`,
		`'feedLog')].PhysicalResourceId>><--since><1h><--format><short><--filter-pattern><{ $.level = "ERROR" || $.level = "WARN" }>`,
		"<--filter-pattern><{ $.failed = 1 }>",
		"aws:<cloudformation><describe-stacks>",
	} {
		if !strings.Contains(string(out), want) {
			t.Errorf("it does not ask\n%s\nbut\n%s", want, out)
		}
	}
}
