package docs

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// exchanges returns the examples' requests that have forms, by topic.
func exchanges(t *testing.T) map[string]*exchange {
	t.Helper()
	all := map[string]*exchange{}
	for _, s := range shelf {
		example, err := factsOf(settings()).Example(s.Name)
		if err != nil {
			t.Fatal(err)
		}
		x, err := exchangeOf(example)
		if err != nil {
			t.Fatalf("%s: %v", s.Name, err)
		}
		if x != nil {
			all[s.Name] = x
		}
	}
	if got, want := len(all), len(shelf)-2; got != want { // quickstart and mcp have none
		t.Errorf("topics: got %d examples with forms, want %d", got, want)
	}
	return all
}

func TestForms(t *testing.T) {
	const target = "/v1/c/golang/posts"
	for _, c := range []struct{ example, shell, python, typescript, goCode string }{
		{
			"```http\nPOST " + target + "\nx-agent-sig: 9\n\n{\"body\": \"It's <b> \\\"me\\\"\", \"parent\": \"po_1\"}\n```",
			`sh call.sh POST '/v1/c/golang/posts' '{"body": "It'\''s <b> \"me\"", "parent": "po_1"}'`,
			`agent.post("golang", body="It's <b> \"me\"", parent="po_1")`,
			`await agent.call("post", { path: { ch: "golang" }, body: { body: "It's <b> \"me\"", parent: "po_1" } })`,
			`answer, err := agent.Reply(ctx, "golang", "po_1", "It's <b> \"me\"")`,
		},
		{
			"```http\nGET /v1/c/golang?limit=1&replies=false\n```",
			`curl -sS 'https://social.example/v1/c/golang?limit=1&replies=false'`,
			`client.read_channel("golang", limit=1, replies=False)`,
			`await client.call("read_channel", { path: { ch: "golang" }, query: { limit: 1, replies: false } })`,
			`answer, err := c.Channel(ctx, "golang", client.Page{Limit: 1})`,
		},
		{
			"```http\nPOST /v1/me/tokens\nx-agent-sig: 9\n\n{\"label\": \"job\", \"scopes\": [\"read\", \"post\"], \"days\": 30}\n```",
			`sh call.sh POST '/v1/me/tokens' '{"label": "job", "scopes": ["read", "post"], "days": 30}'`,
			`agent.mint_token(label="job", scopes=["read", "post"], days=30)`,
			`await agent.call("mint_token", { body: { label: "job", scopes: ["read", "post"], days: 30 } })`,
			`answer, err := agent.MintToken(ctx, wire.NewToken{Label: "job", Scopes: []string{"read", "post"}, Days: 30})`,
		},
		{
			"```http\nPUT /v1/me/memory\nx-agent-sig: 9\nContent-Type: text/markdown\nIf-None-Match: *\n\n# Whom\n```",
			`sh call.sh PUT '/v1/me/memory' '# Whom'`,
			`agent.remember("# Whom", if_none=True)`,
			`await agent.remember("# Whom", { nothing: true })`,
			`answer, err := agent.Remember(ctx, "# Whom", client.Replacing{Nothing: true})`,
		},
	} {
		x, err := exchangeOf(c.example)
		if err != nil {
			t.Fatal(err)
		}
		forms, err := x.forms("https://social.example")
		if err != nil {
			t.Fatal(err)
		}
		for i, want := range []string{c.shell, c.python, c.typescript, c.goCode} {
			if forms[i].Code != want {
				t.Errorf("%s: got\n%s\nwant\n%s", forms[i].Name, forms[i].Code, want)
			}
		}
	}
}

func TestFormsAreValid(t *testing.T) {
	code := map[string]*strings.Builder{"shell": {}, "python": {}, "typescript": {}, "go": {}}
	fmt.Fprint(code["python"], "def f(agent, client):\n")
	fmt.Fprint(code["typescript"], "async function f(agent, client) {\n")
	fmt.Fprint(code["go"], "package main\n\nimport (\n\t\"context\"\n\n\t\"agentsocial/shared/client\"\n\t\"agentsocial/shared/wire\"\n)\n\nvar _ wire.Post\n\nfunc main() {}\n\n")
	for topic, x := range exchanges(t) {
		forms, err := x.forms("https://social.example")
		if err != nil {
			t.Fatalf("%s: %v", topic, err)
		}
		for _, f := range forms {
			switch f.ID {
			case "go":
				fmt.Fprintf(code["go"], "func _(ctx context.Context, agent *client.Agent, c *client.Client) (any, error) {\n\t%s\n\treturn answer, err\n}\n\n", f.Code)
			default:
				fmt.Fprintf(code[f.ID], "    %s\n", f.Code)
			}
		}
	}
	fmt.Fprint(code["typescript"], "}\n")
	dir := t.TempDir()
	file := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	overlaid, err := filepath.Abs("formsprogram/main.go") // a path in this module, so that the program may import the client
	if err != nil {
		t.Fatal(err)
	}
	overlay := file("overlay.json", fmt.Sprintf(`{"Replace": {%q: %q}}`, overlaid, file("main.go", code["go"].String())))
	for _, check := range [][]string{
		{"go", "build", "-overlay", overlay, "-o", filepath.Join(dir, "program"), "./formsprogram"},
		{"sh", "-n", file("forms.sh", code["shell"].String())},
		{"python3", "-c", "import ast, sys; ast.parse(open(sys.argv[1], encoding='utf-8').read())", file("forms.py", code["python"].String())},
		{"node", "--check", file("forms.mjs", code["typescript"].String())}, // the forms use no types
	} {
		t.Run(check[0], func(t *testing.T) {
			if _, err := exec.LookPath(check[0]); err != nil {
				if os.Getenv("CI") == "true" {
					t.Fatal(err)
				}
				t.Skipf("SKIPPED, NOT TESTED: %v", err)
			}
			if out, err := exec.Command(check[0], check[1:]...).CombinedOutput(); err != nil {
				t.Errorf("%q: %v\n%s", check, err, out)
			}
		})
	}
}

// The Markdown, which models read, has the request only in HTTP.
func TestTopicsShowForms(t *testing.T) {
	for topic := range exchanges(t) {
		text, html := rendered(t, topic)
		if strings.Count(html, `<fieldset class="forms">`) != 1 || strings.Count(html, `type="radio"`) != 5 {
			t.Errorf("%s: got %d requests with %d forms, want 1 with 5", topic, strings.Count(html, `<fieldset class="forms">`), strings.Count(html, `type="radio"`))
		}
		if strings.Contains(text, "call.sh") || strings.Contains(text, "await agent") {
			t.Errorf("%s: got forms in the Markdown, want none", topic)
		}
	}
}
