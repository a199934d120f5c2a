package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// site is a repository with stand-ins for npx, aws and make. Each stand-in writes its
// arguments to the file calls.
type site struct {
	t    *testing.T
	dir  string
	env  map[string]string
	said bytes.Buffer
}

func newSite(t *testing.T) *site {
	t.Helper()
	for _, name := range []string{"git", "sh"} {
		if _, err := exec.LookPath(name); err != nil {
			t.Skipf("SKIPPED, NOT TESTED: %v", err)
		}
	}
	s := &site{t: t, dir: t.TempDir(), env: map[string]string{}}
	bin := t.TempDir()
	s.put(filepath.Join(bin, "npx"), "#!/bin/sh\necho npx \"$@\" >>"+s.dir+"/build/calls\nread code <"+s.dir+"/build/fails 2>/dev/null\nexit ${code:-0}\n")
	s.put(filepath.Join(bin, "make"), "#!/bin/sh\necho make \"$@\" in $PWD at $(git rev-parse HEAD) as $STAGE >>"+s.dir+"/build/calls\n")
	s.put(filepath.Join(bin, "aws"), "#!/bin/sh\necho aws \"$@\" >>"+s.dir+"/build/calls\ncat "+s.dir+"/build/stack 2>/dev/null && exit\necho 'An error occurred (ValidationError): Stack with id x does not exist' >&2\nexit 254\n")
	t.Setenv("PATH", bin+":"+os.Getenv("PATH"))
	for name, value := range map[string]string{"GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_SYSTEM": "/dev/null", "GIT_AUTHOR_NAME": "a", "GIT_AUTHOR_EMAIL": "a@a.example", "GIT_COMMITTER_NAME": "a", "GIT_COMMITTER_EMAIL": "a@a.example"} {
		t.Setenv(name, value)
	}
	t.Chdir(s.dir)
	s.put("build/calls", "")
	s.put(".gitignore", "/build/\n")
	s.put("cdk.json", `{"context": {"stage": "prod", "region": "eu-central-1"}}`)
	s.git("init", "-q")
	s.commit("v1.0.0")
	return s
}

func (s *site) put(name, text string) {
	s.t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		s.t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), 0o755); err != nil {
		s.t.Fatal(err)
	}
}

func (s *site) git(args ...string) string {
	s.t.Helper()
	out, err := command(".", "git", args...)
	if err != nil {
		s.t.Fatal(err)
	}
	return out
}

// commit commits everything and returns the hash. It sets the tag unless tag is "".
func (s *site) commit(tag string) string {
	s.t.Helper()
	s.git("add", "-A")
	s.git("commit", "-q", "--allow-empty", "-m", "more")
	if tag != "" {
		s.git("tag", tag)
	}
	return s.git("rev-parse", "HEAD")
}

func (s *site) stack(status string, outputs ...string) {
	var list []string
	for i := 0; i+1 < len(outputs); i += 2 {
		list = append(list, `{"OutputKey": "`+outputs[i]+`", "OutputValue": "`+outputs[i+1]+`"}`)
	}
	s.put("build/stack", `{"Stacks": [{"StackStatus": "`+status+`", "Outputs": [`+strings.Join(list, ", ")+`]}]}`)
}

// run returns the calls that the command made.
func (s *site) run(args ...string) (calls []string, err error) {
	s.t.Helper()
	s.put("build/calls", "")
	err = run(args, func(name string) string { return s.env[name] }, &s.said, &s.said)
	b, readErr := os.ReadFile(filepath.Join(s.dir, "build/calls"))
	if readErr != nil {
		s.t.Fatal(readErr)
	}
	return strings.Split(strings.TrimSuffix(string(b), "\n"), "\n"), err
}

const asked = "aws cloudformation describe-stacks --stack-name agentsocial-prod --output json --region eu-central-1"

func (s *site) want(got []string, err error, want ...string) {
	s.t.Helper()
	if err != nil || !slices.Equal(got, want) {
		s.t.Errorf("calls: got\n%s\nand error %v, want\n%s", strings.Join(got, "\n"), err, strings.Join(want, "\n"))
	}
}

func TestDeploy_NewStage(t *testing.T) {
	s := newSite(t)
	const cdk = "npx cdk deploy --outputs-file build/outputs.json -c version=v1.0.0"
	for _, status := range []string{"", "ROLLBACK_COMPLETE", "ROLLBACK_FAILED", "REVIEW_IN_PROGRESS"} {
		if status != "" {
			s.stack(status)
		}
		got, err := s.run()
		s.want(got, err, asked, cdk+" -c unprotected=true -c stage=prod", cdk+" --build true -c stage=prod")
	}
	s.put("build/fails", "1\n")
	got, err := s.run()
	if err == nil || !strings.Contains(err.Error(), "run `make deploy` again") || len(got) != 2 {
		t.Errorf("failed creation: got calls %q and error %v, want 2 calls and the hint to run make deploy again", got, err)
	}
}

func TestDeploy_ExistingStage(t *testing.T) {
	s := newSite(t)
	const cdk = "npx cdk deploy --outputs-file build/outputs.json -c version=v1.0.0"
	for _, c := range []struct {
		outputs  []string
		previous string
	}{
		{nil, ""},
		{[]string{"Version", "v0.9.0"}, "v0.9.0"},
		{[]string{"Version", "v0.9.0", "PreviousVersion", "v0.8.0"}, "v0.9.0"},
		{[]string{"Version", "v1.0.0", "PreviousVersion", "v0.8.0"}, "v0.8.0"},
	} {
		previous := ""
		if c.previous != "" {
			previous = " -c previousVersion=" + c.previous
		}
		for _, status := range []string{"CREATE_COMPLETE", "UPDATE_COMPLETE", "UPDATE_ROLLBACK_COMPLETE", "UPDATE_ROLLBACK_FAILED"} {
			s.stack(status, c.outputs...)
			got, err := s.run()
			s.want(got, err, asked, cdk+previous+" -c stage=prod")
		}
	}
	s.env["REVERT_DRIFT"], s.env["CONTEXT"] = "1", `-c powBits=20 -c 'limits={"posts_per_minute": 3}' -c region=us-east-1`
	got, err := s.run()
	s.want(got, err, strings.Replace(asked, "eu-central-1", "us-east-1", 1),
		`npx cdk deploy -c powBits=20 -c limits={"posts_per_minute": 3} -c region=us-east-1 --outputs-file build/outputs.json --revert-drift -c version=v1.0.0 -c previousVersion=v0.8.0 -c stage=prod`)
	s.env = map[string]string{"CI": "true"}
	got, err = s.run()
	s.want(got, err, asked, strings.Replace(cdk, " -c", " --require-approval never -c", 1)+" -c previousVersion=v0.8.0 -c stage=prod")
}

func TestDescribe(t *testing.T) {
	s := newSite(t)
	if got, changes, err := describe("."); got != "v1.0.0" || changes != "" || err != nil {
		t.Errorf("describe at a tag: got %q, changes %q, error %v; want v1.0.0 without changes", got, changes, err)
	}
	commit := s.commit("")
	if got, _, err := describe("."); got != "v1.0.0-1-g"+commit[:12] || err != nil {
		t.Errorf("describe after a tag: got %q, error %v; want v1.0.0-1-g%s", got, err, commit[:12])
	}
	s.git("tag", "-d", "v1.0.0")
	if got, _, err := describe("."); got != commit[:12] || err != nil {
		t.Errorf("describe without tags: got %q, error %v; want %s", got, err, commit[:12])
	}
	s.put("new.go", "package new\n")
	if got, changes, err := describe("."); got != commit[:12]+"-dirty" || changes != "?? new.go" || err != nil {
		t.Errorf("describe with an untracked file: got %q, changes %q, error %v; want %s-dirty and the file", got, changes, err, commit[:12])
	}
}

func TestDeploy_Dirty(t *testing.T) {
	s := newSite(t)
	s.put("cdk.json", `{"context": {"stage": "prod", "powBits": 20}}`)
	got, err := s.run()
	if err == nil || !strings.Contains(err.Error(), "cdk.json") || got[0] != "" {
		t.Errorf("prod: got calls %q and error %v, want no call and an error that names cdk.json", got, err)
	}
	s.env["STAGE"] = "dev"
	got, err = s.run()
	s.want(got, err, "aws cloudformation describe-stacks --stack-name agentsocial-dev --output json",
		"npx cdk deploy --outputs-file build/outputs.json -c version=v1.0.0-dirty -c stage=dev")
	s.env["STAGE"], s.env["CONTEXT"] = "", "-c stage=dev"
	if _, err = s.run(); err != nil {
		t.Errorf("dev by CONTEXT: got %v, want no error", err)
	}
}

func TestRollback(t *testing.T) {
	s := newSite(t)
	first := s.git("rev-parse", "HEAD")
	second := s.commit("")
	s.commit("v2.0.0")
	s.stack("UPDATE_COMPLETE", "Version", "v2.0.0", "PreviousVersion", "v1.0.0-1-g"+second[:12])
	t.Setenv("STAGE", "prod")
	where := filepath.Join(s.dir, "build/rollback")
	got, err := s.run("rollback")
	s.want(got, err, asked, "make deploy in "+where+" at "+second+" as prod")
	s.env["TO"] = "v1.0.0"
	got, err = s.run("rollback")
	s.want(got, err, "make deploy in "+where+" at "+first+" as prod")
	if _, err := os.Stat(where); !os.IsNotExist(err) {
		t.Errorf("os.Stat of the rollback's work tree: got error %v, want one for a missing folder", err)
	}
}

func TestRollback_Refused(t *testing.T) {
	s := newSite(t)
	s.stack("UPDATE_COMPLETE", "Version", "v1.0.0")
	for to, want := range map[string]string{"": "no output PreviousVersion", "v0.9.0-dirty": "no commit has", "v0.9.0": "no version v0.9.0"} {
		s.env["TO"] = to
		got, err := s.run("rollback")
		if err == nil || !strings.Contains(err.Error(), want) || slices.ContainsFunc(got, func(c string) bool { return strings.HasPrefix(c, "make") }) {
			t.Errorf("TO=%s: got calls %q and error %v, want no make and an error with %q", to, got, err, want)
		}
	}
}
