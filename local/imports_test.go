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

// pkg is what `go list -json` says of a package.
type pkg struct {
	ImportPath   string
	Name         string
	Imports      []string
	TestImports  []string
	XTestImports []string
	Deps         []string
}

func list(t *testing.T, args ...string) []pkg {
	t.Helper()
	cmd := exec.Command("go", append([]string{"list", "-json=ImportPath,Name,Imports,TestImports,XTestImports,Deps"}, args...)...)
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
		for _, l := range [][]string{p.Imports, p.TestImports, p.XTestImports, p.Deps} {
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

// in reports whether a package lies in a folder, or is it.
func in(path string, folders ...string) bool {
	return slices.ContainsFunc(folders, func(f string) bool { return path == f || strings.HasPrefix(path, f+"/") })
}

var houses = []string{"functions", "shared", "infra", "events", "tables", "local"}

// rule says who may be imported by whom; the first that fits an import decides.
type rule struct {
	what    string
	of      func(imported string) bool
	allowed func(importer string) bool
}

// folder is the first two parts of a path: functions/channels.
func folder(path string) string {
	parts := strings.SplitN(path, "/", 3)
	return strings.Join(parts[:min(2, len(parts))], "/")
}

var rules = []rule{
	{"infra and local are imported by nobody else",
		func(p string) bool { return in(p, "infra", "local") },
		func(by string) bool { return in(by, "infra", "local") }},
	{"functions are imported by their own main, by the list, by infra and local",
		func(p string) bool { return in(p, "functions") },
		func(by string) bool { return in(by, "functions", "infra", "local") }},
	{"events are imported by their own main, by the list, by infra and local",
		func(p string) bool { return in(p, "events") },
		func(by string) bool { return in(by, "events", "infra", "local") }},
	{"the embedded table is for local and tests",
		func(p string) bool { return in(p, "tables/embedded") },
		func(by string) bool { return in(by, "tables/embedded", "local") }},
	{"DynamoDB's backend is for mains' table part and local",
		func(p string) bool { return in(p, "tables/dynamo") },
		func(by string) bool { return in(by, "tables/dynamo", "shared/lambda/host/table", "local") }},
	{"Stripe's client is for what speaks to Stripe",
		func(p string) bool { return strings.Contains(p, "/stripe-go/") },
		func(by string) bool { return in(by, "shared/outside/payments/stripe") }},
	{"what speaks to Stripe is for the mains' payments part and local",
		func(p string) bool { return in(p, "shared/outside/payments/stripe") },
		func(by string) bool { return in(by, "shared/lambda/host/payments", "local") }},
	{"the MCP SDK is for mcp, for tests, and for the clients that are tried",
		func(p string) bool { return strings.Contains(p, "/modelcontextprotocol/") },
		func(by string) bool { return in(by, "functions/mcp", "local/checks/clients") }},
	{"shared is imported by functions, events, infra, local and itself, not by the tables",
		func(p string) bool { return in(p, "shared") },
		func(by string) bool { return in(by, "shared", "functions", "events", "infra", "local") }},
	{"api knows requests and callers, not posts, channels and emoji",
		func(p string) bool {
			return in(p, "shared/text/emoji", "shared/search/index", "shared/rules/promo", "shared/search", "shared/wire/view")
		},
		func(by string) bool { return by != "shared/api" }},
	{"the CDK is for infra",
		func(p string) bool {
			return strings.Contains(p, "aws-cdk-go") || strings.Contains(p, "/constructs-go") || strings.Contains(p, "/jsii-runtime-go")
		},
		func(by string) bool { return in(by, "infra") }},
	{"AWS service clients are for the table's backend and the host",
		func(p string) bool { return strings.Contains(p, "/aws-sdk-go-v2/") },
		func(by string) bool { return in(by, "tables/dynamo", "shared/lambda/host", "local") }},
	{"Lambda's events are for the host and where records become changes",
		func(p string) bool {
			return strings.Contains(p, "/aws-lambda-go/") || strings.Contains(p, "/aws-lambda-go-api-proxy/")
		},
		func(by string) bool { return in(by, "shared/lambda/host", "shared/lambda/stream", "local") }},
}

// TestImports holds the house's import rules.
func TestImports(t *testing.T) {
	for _, p := range list(t, "./../...") {
		if p.ImportPath != strings.TrimSuffix(module, "/") && !in(p.ImportPath, houses...) {
			t.Errorf("%s is in none of the house's folders", p.ImportPath)
		}
		for _, imported := range p.Imports {
			for _, r := range rules {
				if r.of(imported) && !r.allowed(p.ImportPath) {
					t.Errorf("%s imports %s: %s", p.ImportPath, imported, r.what)
				}
			}
			// One group, or one reader, never imports another; lists of them do.
			if in(imported, "functions", "events") && in(p.ImportPath, "functions", "events") && imported != toolgroups && p.ImportPath != toolgroups &&
				folder(imported) != folder(p.ImportPath) && strings.Contains(p.ImportPath, "/") {
				t.Errorf("%s imports %s: groups and readers never import each other", p.ImportPath, imported)
			}
		}
	}
}

// TestListingExplainsItself holds the folders beside each other to as many as are
// read at a glance.
func TestListingExplainsItself(t *testing.T) {
	const most = 10
	for _, house := range []string{"shared", "local"} {
		all, err := os.ReadDir("../" + house)
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
			t.Errorf("%s has %d folders, of %d at most: give the new one a place within another", house, n, most)
		}
	}
}

// clients link these packages, with no more of ours than is named.
var clients = map[string][]string{
	"shared/wire":   {"shared/identity/puzzle"}, // whose records are JSON as they are
	"shared/client": {"shared/identity/auth", "shared/rules/jury", "shared/identity/puzzle", "shared/wire"},
}

// TestClientsLinkNoService holds them to that.
func TestClientsLinkNoService(t *testing.T) {
	for path, known := range clients {
		for _, d := range list(t, "./../"+path)[0].Deps {
			if in(d, houses...) && !slices.Contains(known, d) {
				t.Errorf("%s depends on %s", path, d)
			}
		}
	}
}

// toolgroups lists the groups that the mcp function has inside.
const toolgroups = "functions/toolgroups"

// mayLink are the packages with a cost at start that a function's binary may
// contain, by function; none of the others may have them.
var mayLink = map[string][]string{
	"aws-sdk-go-v2/service/dynamodb":        {"functions/agents", "functions/access", "functions/channels", "functions/credits", "functions/dm", "functions/feed", "functions/ideas", "functions/jury", "functions/mcp", "functions/oauth", "functions/promos", "events/inbox", "events/tally", "events/deadlines", "events/settle", "events/audit"},
	"aws-sdk-go-v2/service/secretsmanager":  {"functions/agents", "functions/access", "functions/channels", "functions/credits", "functions/dm", "functions/feed", "functions/ideas", "functions/jury", "functions/mcp", "functions/oauth", "functions/promos"},
	"aws-sdk-go-v2/service/dynamodbstreams": {},
	"aws-sdk-go-v2/config":                  {},
	"aws-sdk-go-v2/service/s3":              {},
	"aws-sdk-go-v2/service/lambda":          {},
	"go.etcd.io/bbolt":                      {},
	"aws-cdk-go":                            {},
	"stripe-go":                             {"functions/credits", "functions/mcp"},
	"modelcontextprotocol/go-sdk":           {"functions/mcp"},
	"service/sesv2":                         {"functions/access", "functions/mcp", "functions/oauth"},
	"klauspost/compress":                    {"functions/agents", "functions/mcp"},
	"yuin/goldmark":                         {"functions/docs"},
	"modernc.org":                           {},
}

// TestBinariesContainWhatTheyNeed reads what each function links.
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
				t.Errorf("%s links %s and may not", function, costly)
			}
			if !links && slices.Contains(who, function) {
				t.Errorf("%s may link %s and does not: the rule is stale", function, costly)
			}
		}
		if !slices.Contains(m.Imports, function) {
			t.Errorf("the main of %s does not import it", function)
		}
	}
}
