package main

import (
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

const module = "agentsocial/"

// pkg is a package in the output of `go list -json`.
type pkg struct {
	ImportPath string
	Name       string
	Imports    []string
	Deps       []string
}

func list(t *testing.T, args ...string) []pkg {
	t.Helper()
	cmd := exec.Command("go", append([]string{"list", "-json=ImportPath,Name,Imports,Deps"}, args...)...)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	var pkgs []pkg
	for dec := json.NewDecoder(out); ; {
		var p pkg
		if err := dec.Decode(&p); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		p.ImportPath = strings.TrimPrefix(p.ImportPath, module)
		for _, l := range [][]string{p.Imports, p.Deps} {
			for i := range l {
				l[i] = strings.TrimPrefix(l[i], module)
			}
		}
		pkgs = append(pkgs, p)
	}
	if err := cmd.Wait(); err != nil {
		t.Fatal(err)
	}
	return pkgs
}

// in reports whether path is one of the folders or lies below one.
func in(path string, folders ...string) bool {
	return slices.ContainsFunc(folders, func(f string) bool { return path == f || strings.HasPrefix(path, f+"/") })
}

// topFolders lists the top-level folders with Go packages.
var topFolders = []string{"functions", "shared", "infra", "events", "tables", "local"}

// rule limits who may import certain packages.
type rule struct {
	what    string
	of      func(imported string) bool // whether the rule limits imports of a package
	allowed func(importer string) bool
}

// folder returns a path's first two parts, such as functions/channels.
func folder(path string) string {
	parts := strings.SplitN(path, "/", 3)
	return strings.Join(parts[:min(2, len(parts))], "/")
}

var rules = []rule{
	{"only infra and local import infra and local",
		func(p string) bool { return in(p, "infra", "local") },
		func(by string) bool { return in(by, "infra", "local") }},
	{"only packages in functions, infra and local import functions",
		func(p string) bool { return in(p, "functions") },
		func(by string) bool { return in(by, "functions", "infra", "local") }},
	{"only packages in events, infra and local import events",
		func(p string) bool { return in(p, "events") },
		func(by string) bool { return in(by, "events", "infra", "local") }},
	{"only local and tests import the embedded table",
		func(p string) bool { return in(p, "tables/embedded") },
		func(by string) bool { return in(by, "tables/embedded", "local") }},
	{"only host/table and local import DynamoDB's backend",
		func(p string) bool { return in(p, "tables/dynamo") },
		func(by string) bool { return in(by, "tables/dynamo", "shared/lambda/host/table", "local") }},
	{"only payments/stripe imports Stripe's client",
		func(p string) bool { return strings.Contains(p, "/stripe-go/") },
		func(by string) bool { return in(by, "shared/outside/payments/stripe") }},
	{"only host/payments and local import payments/stripe",
		func(p string) bool { return in(p, "shared/outside/payments/stripe") },
		func(by string) bool { return in(by, "shared/lambda/host/payments", "local") }},
	{"only functions/mcp, tests and local/checks/clients import the MCP SDK",
		func(p string) bool { return strings.Contains(p, "/modelcontextprotocol/") },
		func(by string) bool { return in(by, "functions/mcp", "local/checks/clients") }},
	{"tables does not import shared",
		func(p string) bool { return in(p, "shared") },
		func(by string) bool { return in(by, "shared", "functions", "events", "infra", "local") }},
	{"shared/api does not import emoji, search, promos or views",
		func(p string) bool {
			return in(p, "shared/text/emoji", "shared/search/index", "shared/rules/promo", "shared/search", "shared/wire/view")
		},
		func(by string) bool { return by != "shared/api" }},
	{"only infra imports the CDK",
		func(p string) bool {
			return strings.Contains(p, "aws-cdk-go") || strings.Contains(p, "/constructs-go") || strings.Contains(p, "/jsii-runtime-go")
		},
		func(by string) bool { return in(by, "infra") }},
	{"only DynamoDB's backend, host and local import AWS's service clients",
		func(p string) bool { return strings.Contains(p, "/aws-sdk-go-v2/") },
		func(by string) bool { return in(by, "tables/dynamo", "shared/lambda/host", "local") }},
	{"only host, stream and local import Lambda's events",
		func(p string) bool {
			return strings.Contains(p, "/aws-lambda-go/") || strings.Contains(p, "/aws-lambda-go-api-proxy/")
		},
		func(by string) bool { return in(by, "shared/lambda/host", "shared/lambda/stream", "local") }},
}

// TestImports does not check the imports of tests.
func TestImports(t *testing.T) {
	for _, p := range list(t, "./../...") {
		if p.ImportPath != strings.TrimSuffix(module, "/") && !in(p.ImportPath, topFolders...) {
			t.Errorf("package %s: got it outside the folders %q, want it inside one", p.ImportPath, topFolders)
		}
		for _, imported := range p.Imports {
			for _, r := range rules {
				if r.of(imported) && !r.allowed(p.ImportPath) {
					t.Errorf("%s imports %s: %s", p.ImportPath, imported, r.what)
				}
			}
			// Exempt are functions.go, events.go and toolgroups, which import the folders that
			// they list.
			if in(imported, "functions", "events") && in(p.ImportPath, "functions", "events") && imported != toolgroups && p.ImportPath != toolgroups &&
				folder(imported) != folder(p.ImportPath) && strings.Contains(p.ImportPath, "/") {
				t.Errorf("%s imports %s: no folder in functions or events may import another one", p.ImportPath, imported)
			}
		}
	}
}

func TestFolderCounts(t *testing.T) {
	const most = 10
	for _, parent := range []string{"shared", "local"} {
		all, err := os.ReadDir("../" + parent)
		if err != nil {
			t.Fatal(err)
		}
		n := 0
		for _, e := range all {
			if e.IsDir() {
				n++
			}
		}
		if n > most {
			t.Errorf("%s: got %d folders, want at most %d: put the new folder into another one", parent, n, most)
		}
	}
}

// clients lists, for each package that clients link, the packages of this module on which it
// may depend.
var clients = map[string][]string{
	"shared/wire":   {"shared/identity/puzzle"}, // the JSON contains puzzle.Record
	"shared/client": {"shared/identity/auth", "shared/rules/jury", "shared/identity/puzzle", "shared/wire"},
}

func TestClientsLinkNoService(t *testing.T) {
	for path, known := range clients {
		for _, d := range list(t, "./../"+path)[0].Deps {
			if in(d, topFolders...) && !slices.Contains(known, d) {
				t.Errorf("%s depends on %s, which clients must not link", path, d)
			}
		}
	}
}

// toolgroups is the package that lists the groups whose endpoints are MCP tools.
const toolgroups = "functions/toolgroups"

// mayLink lists, for each dependency that slows cold starts, the only functions that may link
// it.
var mayLink = map[string][]string{
	"aws-sdk-go-v2/service/dynamodb":        {"functions/agents", "functions/access", "functions/channels", "functions/credits", "functions/data", "functions/dm", "functions/feed", "functions/ideas", "functions/jury", "functions/mcp", "functions/oauth", "functions/promos", "events/inbox", "events/tally", "events/deadlines", "events/settle", "events/audit", "events/erase", "events/returns"},
	"aws-sdk-go-v2/service/secretsmanager":  {"functions/agents", "functions/access", "functions/channels", "functions/credits", "functions/data", "functions/dm", "functions/docs", "functions/feed", "functions/ideas", "functions/jury", "functions/mcp", "functions/oauth", "functions/promos", "events/erase", "events/probe", "events/returns"},
	"aws-sdk-go-v2/service/dynamodbstreams": {},
	"aws-sdk-go-v2/config":                  {},
	"aws-sdk-go-v2/service/s3":              {},
	"aws-sdk-go-v2/service/lambda":          {},
	"go.etcd.io/bbolt":                      {},
	"aws-cdk-go":                            {},
	"stripe-go":                             {"functions/credits", "functions/mcp", "events/erase"},
	"modelcontextprotocol/go-sdk":           {"functions/mcp"},
	"service/sesv2":                         {"functions/access", "functions/mcp", "functions/oauth"},
	"klauspost/compress/zstd":               {"functions/agents", "functions/data", "functions/mcp"},
	"yuin/goldmark":                         {"functions/docs"},
	"modernc.org":                           {},
}

func TestBinariesContainWhatTheyNeed(t *testing.T) {
	mains := list(t, "./../functions/.../lambda", "./../events/.../lambda")
	if len(mains) == 0 {
		t.Fatal("no function has a main")
	}
	for _, m := range mains {
		function := folder(m.ImportPath)
		for costly, who := range mayLink {
			links := slices.ContainsFunc(m.Deps, func(d string) bool { return strings.Contains(d, costly) })
			if links && !slices.Contains(who, function) {
				t.Errorf("%s links %s, which mayLink does not allow", function, costly)
			}
			if !links && slices.Contains(who, function) {
				t.Errorf("%s does not link %s: remove the function from that entry of mayLink", function, costly)
			}
		}
		if !slices.Contains(m.Imports, function) {
			t.Errorf("%s/lambda does not import %[1]s", function)
		}
	}
}
