package main

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"agentsocial/local/transcripts"
)

// patience bounds the time of one program. The generators' programs have twice as long.
const patience = 2 * time.Minute

// client is a third-party client.
type client struct {
	name string
	run  func(context.Context, *running) []result
}

// result is the outcome of a step; problem is empty on success.
type result struct{ step, problem string }

func clients(s *running) []client {
	node := filepath.Join(build, "node_modules", ".bin", "node")
	python := filepath.Join(build, "venv", "bin", "python")
	// oauth4webapi comes first: it signs assertions at the real time, and later
	// clients move the service's clock.
	list := []client{
		{"oauth4webapi", program(node, "oauth4webapi.mjs")},
		{"conformance of OAuth", authorization(node)},
		{"TypeScript client 2", program(node, "typescript.mjs", "2")},
		{"  by OAuth", program(node, "oauth.mjs", "2")},
		{"TypeScript SDK 1", program(node, "typescript.mjs", "1")},
		{"  by OAuth", program(node, "oauth.mjs", "1")},
		{"Python SDK", program(python, "python.py")},
		{"  by OAuth", program(python, "oauth.py")},
		{"requests-oauthlib", program(python, "oauth_requests.py")},
		{"Go SDK, by OAuth", goSDK},
		{"Inspector", inspector(node)},
	}
	for _, version := range []string{"2025-06-18", "2025-11-25", "2026-07-28"} {
		list = append(list, client{"conformance " + version, conformance(node, version)})
	}
	return list
}

// program runs one of our scripts, which prints the outcome of each step.
func program(name, script string, args ...string) func(context.Context, *running) []result {
	return func(ctx context.Context, s *running) []result {
		return resultsIn(output(ctx, s, name, append([]string{filepath.Join(build, script)}, args...)...))
	}
}

// resultsIn reads what a program printed: for each step a line with its name, a tab, and
// ok or the problem.
func resultsIn(out string, err error) (results []result) {
	for line := range strings.Lines(out) {
		if step, said, ok := strings.Cut(strings.TrimSpace(line), "\t"); ok {
			results = append(results, result{step, strings.TrimPrefix(said, "ok")})
		}
	}
	if err != nil || len(results) == 0 {
		results = append(results, result{"end", fmt.Sprintf("%v: %s", err, last(out))})
	}
	return results
}

func output(ctx context.Context, s *running, name string, args ...string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	cmd, err := command(ctx, s, name, args...)
	if err != nil {
		return "", err
	}
	out, err := cmd.CombinedOutput()
	return string(out), err
}

func command(ctx context.Context, s *running, name string, args ...string) (*exec.Cmd, error) {
	cmd := exec.CommandContext(ctx, name, args...)
	bin, err := filepath.Abs(filepath.Join(build, "node_modules", ".bin"))
	if err != nil {
		return nil, err
	}
	key, err := jwk(s.agent)
	cmd.Env = append(os.Environ(), "SERVICE="+s.URL, "MCP_URL="+s.URL+"/mcp", "MCP_TOKEN="+s.token, "MCP_READER="+s.reader,
		"PERSON="+s.person.URL, "CALLBACK="+s.person.callback(), "AGENT_ID="+s.agent.ID, "AGENT_KEY="+key,
		"PATH="+bin+":"+os.Getenv("PATH"))
	return cmd, err
}

// jwk returns an agent's key pair as a JWK (RFC 8037).
func jwk(a *transcripts.Agent) (string, error) {
	b, err := json.Marshal(map[string]string{
		"kty": "OKP", "crv": "Ed25519", "x": a.Pub(), "d": base64.RawURLEncoding.EncodeToString(a.Key.Seed()),
	})
	return string(b), err
}

func last(out string) string {
	lines := strings.Split(strings.TrimSpace(out), "\n")
	return lines[len(lines)-1]
}

func inspector(node string) func(context.Context, *running) []result {
	cli := []string{filepath.Join(build, "node_modules", ".bin", "mcp-inspector"), "--cli"}
	return func(ctx context.Context, s *running) []result {
		var results []result
		for _, x := range []struct {
			step string
			want string
			args []string
		}{
			{"tools/list", `"catchup"`, []string{"--method", "tools/list"}},
			{"read", `"client"`, []string{"--method", "tools/call", "--tool-name", "me"}},
			{"write", `po_`, []string{"--method", "tools/call", "--tool-name", "post", "--tool-arg", "ch=lounge", "--tool-arg", "body=Hello from the inspector."}},
			{"refusal", `not_found`, []string{"--method", "tools/call", "--tool-name", "post", "--tool-arg", "ch=nowhere", "--tool-arg", "body=x"}},
		} {
			args := slices.Concat(cli, []string{s.URL + "/mcp", "--transport", "http", "--header", "Authorization: Bearer " + s.token}, x.args)
			out, err := output(ctx, s, node, args...)
			problem := ""
			if !strings.Contains(out, x.want) {
				problem = fmt.Sprintf("%v: %s", err, last(out))
			}
			results = append(results, result{x.step, problem})
		}
		return results
	}
}

// scenarios lists the conformance scenarios that a server with only tools can pass, each
// with the versions that have it.
var scenarios = map[string][]string{
	"server-initialize":        {"2025-06-18", "2025-11-25"},
	"ping":                     {"2025-06-18", "2025-11-25"},
	"tools-list":               {"2025-06-18", "2025-11-25", "2026-07-28"},
	"dns-rebinding-protection": {"2025-11-25", "2026-07-28"},
	"server-stateless":         {"2026-07-28"},
	"caching":                  {"2026-07-28"},
	"http-header-validation":   {"2026-07-28"},
}

// inapplicable lists checks in these scenarios that need prompts, resources or the
// suite's own tools.
var inapplicable = []string{
	"sep-2549-prompts-list-caching-hints", "sep-2549-resources-list-caching-hints", "sep-2549-resources-templates-list-caching-hints",
	"sep-2575-server-rejects-undeclared-capability", "sep-2575-missing-capability-http-400",
	"sep-2575-http-server-no-independent-requests-on-stream", "sep-2575-server-no-log-without-loglevel",
}

var (
	check  = regexp.MustCompile(`\[([a-z0-9-]+) *\] (SUCCESS|FAILURE|WARNING)`)
	colour = regexp.MustCompile("\x1b\\[[0-9;]*m")
)

func conformance(node, version string) func(context.Context, *running) []result {
	return func(ctx context.Context, s *running) []result {
		var results []result
		for scenario, versions := range scenarios {
			if !slices.Contains(versions, version) {
				continue
			}
			out, err := output(ctx, s, node, filepath.Join(build, "node_modules", ".bin", "conformance"), "server",
				"--url", s.behind+"/mcp", "--scenario", scenario, "--spec-version", version)
			results = append(results, result{scenario, failures(colour.ReplaceAllString(out, ""), err)})
		}
		slices.SortFunc(results, func(a, b result) int { return strings.Compare(a.step, b.step) })
		return results
	}
}

// failures returns the checks that failed or warned, except the inapplicable ones. If a
// check passed, it ignores err: the program's exit status counts inapplicable checks, too.
func failures(out string, err error) string {
	checks := check.FindAllStringSubmatch(out, -1)
	var failed []string
	passed := 0
	for _, c := range checks {
		switch {
		case c[2] == "SUCCESS":
			passed++
		case !slices.Contains(inapplicable, c[1]):
			failed = append(failed, c[1])
		}
	}
	switch {
	case passed == 0:
		return fmt.Sprintf("%v: %s", err, last(out))
	case failed != nil:
		return strings.Join(failed, ", ")
	}
	return ""
}

type table struct {
	rows   []row
	failed int
}

type row struct {
	client string
	result
}

func (t *table) add(client string, results []result) {
	for _, r := range results {
		t.rows = append(t.rows, row{client, r})
		if r.problem != "" {
			t.failed++
		}
	}
}

func (t *table) print(out io.Writer) {
	before := ""
	for _, r := range t.rows {
		name, said := r.client, "ok"
		if name == before {
			name = ""
		}
		if before = r.client; r.problem != "" {
			said = "failed: " + r.problem
		}
		fmt.Fprintf(out, "%-24s %-26s %s\n", name, r.step, said)
	}
}
