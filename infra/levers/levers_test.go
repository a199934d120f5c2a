package main

import (
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// pull runs levers with the real AWS CLI on a stand-in for AWS.
type pull struct {
	*testing.T
	aws *standIn
	job job // opened once, since each call of the AWS CLI takes a second of processor time
}

func newPull(t *testing.T) pull {
	t.Helper()
	if venv, err := filepath.Abs("../../build/venv/bin"); err == nil { // where make venv puts the AWS CLI
		t.Setenv("PATH", venv+":"+os.Getenv("PATH"))
	}
	if _, err := exec.LookPath("aws"); err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatal(err)
		}
		t.Skip("SKIPPED, NOT TESTED: ", err, "; run `make venv`")
	}
	aws, url := newStandIn(t)
	for name, value := range map[string]string{
		"AWS_ENDPOINT_URL": url, "AWS_ACCESS_KEY_ID": "of-a-stand-in", "AWS_SECRET_ACCESS_KEY": "of-a-stand-in", "AWS_SESSION_TOKEN": "",
		"AWS_REGION": "eu-central-1", "AWS_DEFAULT_REGION": "eu-central-1", "AWS_PROFILE": "", "AWS_CONFIG_FILE": os.DevNull, "AWS_SHARED_CREDENTIALS_FILE": os.DevNull,
	} {
		if value == "" {
			os.Unsetenv(name)
			continue
		}
		t.Setenv(name, value)
	}
	j, err := open(t.Context(), "beta")
	if err != nil {
		t.Fatal(err)
	}
	return pull{t, aws, j}
}

// does runs a lever with variables such as RATE=5.
func (p pull) does(verb string, variables ...string) string {
	p.Helper()
	out, err := p.try(verb, variables...)
	if err != nil {
		p.Fatalf("make %s %q: %v", verb, variables, err)
	}
	return out
}

func (p pull) try(verb string, variables ...string) (string, error) {
	var out strings.Builder
	j := p.job
	j.out, j.getenv = &out, func(name string) string {
		for _, v := range variables {
			if value, ok := strings.CutPrefix(v, name+"="); ok {
				return value
			}
		}
		return ""
	}
	err := verbs[verb](p.Context(), j)
	return out.String(), err
}

// has checks the limits of the stage and of its routes.
func (p pull) has(whole limit, routes map[string]limit) {
	p.Helper()
	if p.aws.whole != whole || !maps.Equal(p.aws.routes, routes) {
		p.Errorf("limits: got\n%v, routes %v\nwant\n%v, routes %v", p.aws.whole, p.aws.routes, whole, routes)
	}
}

// lists checks the lines of make levers.
func (p pull) lists(want ...string) {
	p.Helper()
	got := strings.Split(strings.TrimSpace(p.does("levers")), "\n")
	if !slices.EqualFunc(got, want, strings.Contains) {
		p.Errorf("make levers: got\n%q\nwant\n%q", got, want)
	}
}

func TestLevers(t *testing.T) {
	p := newPull(t)
	deployed, deployedOwn := limit{Rate: 200, Burst: 400}, limit{Rate: 100, Burst: 200}
	five, fifty := limit{Rate: 5, Burst: 5}, limit{Rate: 50, Burst: 80}
	// Only two routes have limits of their own in the template. One of these only reads, and
	// stays open while writes are stopped.
	own := func(l limit) map[string]limit {
		return map[string]limit{"POST /v1/recover": l, "GET /oauth/authorize": l}
	}
	stopped := func(reading limit) map[string]limit {
		return map[string]limit{"POST /v1/recover": {}, "POST /mcp": {}, "POST /oauth/token": {}, "POST /v1/c/{ch}/posts": {}, "GET /oauth/authorize": reading}
	}
	const feed, docs = "agentsocial-beta-feedFunction0A1B2C3D-x", "agentsocial-beta-docsFunction0A1B2C3D-x"

	p.does("throttle", "RATE=5")
	p.has(five, own(five))
	p.does("stop-writes")
	p.has(five, stopped(five))
	if out := p.does("stop-reader", "NAME=tally"); p.aws.mapping != "Disabled" || !strings.Contains(out, "Disabled") || !strings.Contains(out, "make start-reader NAME=tally within 24 hours") {
		t.Errorf("stop-reader: got state %s and output\n%s\nwant Disabled, and make start-reader NAME=tally within 24 hours", p.aws.mapping, out)
	}
	p.does("stop-function", "NAME=feed")
	p.does("stop-function", "NAME=docs")
	if want := map[string]int{feed: 0, docs: 0}; !maps.Equal(p.aws.reserved, want) {
		t.Errorf("after stop-function: got reservations %v, want %v", p.aws.reserved, want)
	}
	p.aws.mail = false
	p.lists(
		"throttled: 5 requests a second, 5 at once; as deployed: 200 requests a second, 400 at once (make unthrottle)",
		"writes are stopped on 4 routes (make start-writes)",
		"the reader tally is Disabled: USER_INITIATED (make start-reader NAME=tally)",
		"the function feed is stopped (make start-function NAME=feed)",
		"the function docs is stopped (make start-function NAME=docs)",
		"mail is stopped (make start-mail)",
	)

	p.does("unthrottle")
	p.has(deployed, stopped(deployedOwn))
	p.does("throttle", "RATE=50", "BURST=80")
	p.has(fifty, stopped(fifty))
	p.does("throttle", "RATE=0")
	p.has(limit{}, stopped(limit{}))
	if out := p.does("levers"); !strings.Contains(out, "writes are stopped on 4 routes") {
		t.Errorf("make levers with writes stopped and RATE=0: got\n%s\nwant the 4 stopped routes among its lines", out)
	}
	p.does("unthrottle")
	p.has(deployed, stopped(deployedOwn))
	p.does("throttle", "RATE=50", "BURST=80")
	p.does("start-writes")
	p.has(fifty, own(fifty))
	p.does("throttle", "RATE=0")
	p.has(limit{}, own(limit{}))
	p.does("unthrottle")
	p.has(deployed, own(deployedOwn))

	p.does("start-reader", "NAME=tally")
	if p.aws.mapping != "Enabled" {
		t.Errorf("start-reader: got state %s, want Enabled", p.aws.mapping)
	}
	p.does("start-function", "NAME=feed")
	p.does("start-function", "NAME=docs")
	if want := map[string]int{feed: 40}; !maps.Equal(p.aws.reserved, want) {
		t.Errorf("after start-function: got reservations %v, want %v", p.aws.reserved, want)
	}
	p.aws.mail = true
	p.lists("no lever of agentsocial-beta is pulled")
}

func TestWrongLevers(t *testing.T) {
	p := newPull(t)
	for _, c := range []struct {
		verb, want string
		variables  []string
	}{
		{"throttle", `RATE is ""; it must be a number`, nil},
		{"throttle", `RATE is "-1"; it must be a number`, []string{"RATE=-1"}},
		{"throttle", `BURST is "x"; it must be a number`, []string{"RATE=1", "BURST=x"}},
		{"stop-reader", `NAME is "feed"; the stack agentsocial-beta has ["tally"]`, []string{"NAME=feed"}},
		{"stop-function", `NAME is ""; the stack agentsocial-beta has ["feed" "docs" "tally"]`, nil},
		{"stop-function", "run make stop-reader NAME=tally", []string{"NAME=tally"}},
	} {
		if _, err := p.try(c.verb, c.variables...); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("make %s %q: got %v, want %s", c.verb, c.variables, err, c.want)
		}
	}
	for verb, want := range map[string]string{"throttle": "no stack agentsocial-other", "stop": `got the verb "stop", want one of ["levers" "start-function"`} {
		if err := run(t.Context(), verb, func(name string) string { return map[string]string{"STAGE": "other"}[name] }, io.Discard); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("make %s STAGE=other: got %v, want %s", verb, err, want)
		}
	}
	if p.aws.writes != 0 {
		t.Errorf("calls that change something: got %d, want 0", p.aws.writes)
	}
}

func TestWritingRoutes(t *testing.T) {
	keys := writingRoutes()
	for _, want := range []string{"POST /v1/agents", "PUT /v1/me/memory", "DELETE /v1/me", "POST /mcp", "POST /oauth/authorize", "POST /oauth/token", "POST /payments/webhook"} {
		if !slices.Contains(keys, want) {
			t.Errorf("writing routes: got %q, want %s among them", keys, want)
		}
	}
	for _, k := range keys {
		if strings.HasPrefix(k, "GET ") || strings.HasPrefix(k, "HEAD ") || k == "POST /v1/challenge" {
			t.Errorf("writing routes: got %s, want no route that only reads", k)
		}
	}
}
