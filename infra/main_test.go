package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/assertions"
	"github.com/aws/jsii-runtime-go"

	"agentsocial/shared/api"
	"agentsocial/shared/app"
	"agentsocial/shared/lambda/schedule"
	"agentsocial/shared/lambda/stream"
	"agentsocial/tables"
)

var scratch string // folder of assets and cloud assemblies

func TestMain(m *testing.M) {
	os.Exit(func() int {
		var err error
		if scratch, err = os.MkdirTemp("", "infra"); err != nil {
			panic(err)
		}
		defer os.RemoveAll(scratch)
		defer jsii.Close()
		return m.Run()
	}())
}

// fakeGroups declares a group that writes, one that only reads, one that sends mail, and
// one without the table.
var fakeGroups = []api.Group{
	{Name: "posts", Needs: app.Table | app.Secret,
		Reads:  tables.Channels | tables.ParentIndex | tables.RankIndex,
		Writes: tables.Channels, Endpoints: []api.Endpoint{
			{Route: "GET /v1/c/{ch}/posts", Auth: api.None},
			{Route: "POST /v1/c/{ch}/posts", Auth: api.SigOrBearer("post")},
			{Route: "DELETE /v1/c/{ch}/posts/{id}", Auth: api.Sig},
		}},
	{Name: "history", Needs: app.Table, Endpoints: []api.Endpoint{
		{Route: "GET /v1/history", Auth: api.SigOrBearer("read")},
	}},
	{Name: "codes", Needs: app.Table | app.Secret | app.Pepper | app.Mail | app.Payments, Endpoints: []api.Endpoint{
		{Route: "POST /v1/codes", Auth: api.Sig},
	}},
	{Name: "docs", Endpoints: []api.Endpoint{
		{Route: "GET /", Auth: api.None},
		{Route: "GET /docs/{topic}", Auth: api.None},
		{Route: "GET /.well-known/{rest...}", Auth: api.None},
	}},
}

var fakeReaders = []stream.Function{
	{Name: "inbox", Reads: tables.Agents | tables.Channels | tables.AuthorIndex, Writes: tables.Inboxes, Batch: 100, Window: time.Second, Filters: []stream.Filter{
		{Type: "post", Events: []string{"INSERT"}},
		{Type: "profile", Events: []string{"INSERT", "MODIFY"}},
	}},
	{Name: "tally", Reads: tables.Channels, Writes: tables.Agents | tables.Channels, Batch: 200, Window: 2 * time.Second, Filters: []stream.Filter{
		{Type: "vote", Events: []string{"INSERT", "MODIFY", "REMOVE"}},
	}},
}

var fakeSchedules = []schedule.Function{{Name: "deadlines", Doc: "What is due.", Every: 10 * time.Minute, Reads: tables.RankIndex}}

var fakes = declared{fakeGroups, fakeReaders, fakeSchedules, nil}

// service holds a template and its declarations.
type service struct {
	template
	declared
}

// Templates for the tests, each made once. ours has the real declarations in production,
// fake the made-up ones in production, and dev the made-up ones on a disposable stage.
var (
	ours = sync.OnceValues(func() (*service, error) {
		return synthesise("real", all(), map[string]any{"mailFrom": mailFrom, "dashboard": true, "endpointMetrics": true})
	})
	fake = sync.OnceValues(func() (*service, error) {
		return synthesise("fake", fakes, map[string]any{"dashboard": true})
	})
	dev = sync.OnceValues(func() (*service, error) {
		return synthesise("dev", fakes, map[string]any{
			"stage": "dev", "domain": "agents.example", "certificateArn": certificateARN, "logRetentionDays": "7", "powBits": "8", "webOrigins": "https://inspector.example", "mailFrom": mailFrom, "alarmMail": alarmMail})
	})
)

const (
	mailFrom, alarmMail = "no-reply@mail.agents.example", "ops@agents.example"
	edgeCertificateARN  = "arn:aws:acm:us-east-1:123456789012:certificate/12345678-90ab-cdef-1234-567890abcdef"
	vaultARN            = "arn:aws:backup:eu-west-1:210987654321:backup-vault:agentsocial-copies"
	edgeVersion         = "01234567-89ab-cdef-0123-456789abcdef"
	certificateARN      = "arn:aws:acm:eu-central-1:123456789012:certificate/12345678-90ab-cdef-1234-567890abcdef"
)

// needNode skips the test if Node, which the CDK needs, is missing; in CI the test fails.
func needNode(t *testing.T) {
	t.Helper()
	if _, err := exec.LookPath("node"); err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatalf("the CDK needs Node: %v", err)
		}
		t.Skipf("SKIPPED, NOT TESTED: the CDK needs Node: %v", err)
	}
}

// of returns a service, made on first use.
func of(t *testing.T, which func() (*service, error)) *service {
	t.Helper()
	needNode(t)
	s, err := which()
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// production runs a check on the templates ours and fake.
func production(t *testing.T, check func(*testing.T, *service)) {
	needNode(t) // skips the whole test, not only its subtests
	t.Run("declared", func(t *testing.T) { check(t, of(t, ours)) })
	t.Run("fake", func(t *testing.T) { check(t, of(t, fake)) })
}

func synthesise(name string, d declared, context map[string]any) (*service, error) {
	assets := filepath.Join(scratch, name, "build")
	for _, n := range d.names() {
		if err := stub(assets, n); err != nil {
			return nil, err
		}
	}
	settings, err := ReadSettings(context)
	if err != nil {
		return nil, err
	}
	p, err := newPlan(d, assets)
	if err != nil {
		return nil, err
	}
	a := awscdk.NewApp(&awscdk.AppProps{
		AnalyticsReporting: jsii.Bool(false), Outdir: jsii.String(filepath.Join(scratch, name, "cdk.out")),
	})
	b, err := json.Marshal(assertions.Template_FromStack(newStack(a, settings, p), nil).ToJSON())
	if err != nil {
		return nil, err
	}
	s := &service{declared: d}
	return s, json.Unmarshal(b, &s.template)
}

// stub writes a different binary for each function.
func stub(assets, name string) error {
	if err := os.MkdirAll(filepath.Join(assets, name), 0o755); err != nil {
		return err
	}
	file := filepath.Join(assets, name, "bootstrap")
	if err := os.WriteFile(file, []byte("stub of "+name), 0o755); err != nil {
		return err
	}
	return os.Chmod(file, 0o755) // regardless of the umask
}
