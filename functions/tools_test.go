package functions

import (
	"encoding/json"
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"agentsocial/functions/toolgroups"
	"agentsocial/shared/api"
	"agentsocial/shared/app"
)

func tools() map[string]string {
	routes := map[string]string{}
	for _, g := range Groups(&app.App{}) {
		for _, e := range g.Endpoints {
			if e.Tool != "" {
				routes[e.Tool] = e.Route
			}
		}
	}
	return routes
}

func TestToolsAreFew(t *testing.T) {
	seen := map[string]string{}
	inside := map[string]bool{}
	for _, n := range toolgroups.Groups() {
		inside[n(&app.App{}).Name] = true
	}
	for _, g := range Groups(&app.App{}) {
		for _, e := range g.Endpoints {
			switch {
			case e.Tool == "":
			case seen[e.Tool] != "":
				t.Errorf("%s is the tool of %s and of %s", e.Tool, seen[e.Tool], e.Route)
			case !inside[g.Name]:
				t.Errorf("%s is the tool of %s, whose group is missing in functions/toolgroups", e.Tool, e.Route)
			default:
				seen[e.Tool] = e.Route
			}
		}
	}
	if n := len(seen); n < 30 || n > 40 {
		t.Errorf("tools: got %d, want 30 to 40", n)
	}
}

// This checks that suggested tools exist. Package local/checks/contract checks that they
// belong to the suggested endpoints.
func TestNextNamesTools(t *testing.T) {
	declared := tools()
	found := 0
	for _, folder := range []string{".", "../shared", "../events"} {
		err := filepath.WalkDir(folder, func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
				return err
			}
			file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
			if err != nil {
				return err
			}
			ast.Inspect(file, func(n ast.Node) bool {
				if tool, ok := suggested(n); ok {
					found++
					if declared[tool] == "" {
						t.Errorf("%s: got the suggested tool %q, want the name of a tool as a literal", path, tool)
					}
				}
				return true
			})
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if found < 30 {
		t.Errorf("suggested tools: got %d, want at least 30", found)
	}
}

// In most texts, a tool's name follows the word "tool". In the topic mcp and in the
// server's instructions, every word with an underscore must be a tool, an error code or
// an argument that stands for a header.
func TestNamedToolsExist(t *testing.T) {
	declared := tools()
	others := map[string]bool{"idempotency_key": true, "if_match": true, "if_none_match": true}
	for _, c := range api.Codes {
		others[string(c.Code)] = true
	}
	texts, err := filepath.Glob("docs/*/*.md")
	if err != nil {
		t.Fatal(err)
	}
	refusals, err := filepath.Glob("../shared/api/*.go")
	if err != nil {
		t.Fatal(err)
	}
	after := regexp.MustCompile("tools?(?: is| are|:)? (?:<code>|`)([a-z_]+)(?:</code>|`)")
	word := regexp.MustCompile(`\b[a-z]+(?:_[a-z]+)+\b`)
	found := 0
	for _, path := range append(slices.Concat(texts, refusals), "oauth/page.go", "mcp/server.go") {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		var names []string
		for _, m := range after.FindAllSubmatch(text, -1) {
			names = append(names, string(m[1]))
		}
		switch path {
		case "docs/topics/mcp.md":
			names = append(names, word.FindAllString(string(text), -1)...)
		case "mcp/server.go":
			_, instructions, _ := strings.Cut(string(text), "const instructions = `")
			names = append(names, word.FindAllString(instructions, -1)...)
		}
		for _, name := range names {
			found++
			if declared[name] == "" && !others[name] {
				t.Errorf("%s: got %q, want a tool, an error code or an argument for a header", path, name)
			}
		}
	}
	if found < 8 {
		t.Errorf("names of tools in texts: got %d, want at least 8", found)
	}
}

// suggested returns the tool in a literal with the keys Do and Tool, such as a wire.Next.
// ok is false for any other node.
func suggested(n ast.Node) (tool string, ok bool) {
	lit, _ := n.(*ast.CompositeLit)
	if lit == nil {
		return "", false
	}
	does := false
	for _, x := range lit.Elts {
		kv, _ := x.(*ast.KeyValueExpr)
		if kv == nil {
			return "", false
		}
		key, _ := kv.Key.(*ast.Ident)
		if key != nil && key.Name == "Do" {
			does = true
		}
		if key == nil || key.Name != "Tool" {
			continue
		}
		value, _ := kv.Value.(*ast.BasicLit)
		if value == nil {
			return "(an expression)", true
		}
		tool, _ = strconv.Unquote(value.Value)
		ok = true
	}
	return tool, ok && does
}

func TestToolTextsNameTools(t *testing.T) {
	made, schemas := api.Tools(Groups(&app.App{})...)
	words := api.ToolWords(tools())
	said := 0
	var check func(tool string, v any)
	check = func(tool string, v any) {
		m, _ := v.(map[string]any)
		if d, ok := m["description"].(string); ok {
			if said++; words(d) != d {
				t.Errorf("a text of the tool %s names an endpoint: %q", tool, d)
			}
		}
		for _, x := range m {
			check(tool, x)
		}
	}
	for _, x := range made {
		var in, out map[string]any
		if err := errors.Join(json.Unmarshal(schemas[x.Name].Input, &in), json.Unmarshal(schemas[x.Name].Output, &out)); err != nil {
			t.Fatal(err)
		}
		check(x.Name, in)
		check(x.Name, out)
		check(x.Name, map[string]any{"description": x.Description})
		for name, p := range x.Places {
			if d, _ := in["properties"].(map[string]any)[name].(map[string]any)["description"].(string); p.In == "path" && d == "" {
				t.Errorf("the tool %s does not describe its parameter %s", x.Name, name)
			}
		}
	}
	if said < 500 {
		t.Errorf("descriptions of tools: got %d, want at least 500", said)
	}
}

func TestMCPHasTheRightsOfItsGroups(t *testing.T) {
	var want api.Group
	for _, n := range toolgroups.Groups() {
		g := n(&app.App{})
		want.Needs, want.Reads, want.Writes = want.Needs|g.Needs, want.Reads|g.Reads, want.Writes|g.Writes
	}
	for _, g := range Groups(&app.App{}) {
		if g.Name == "mcp" && (g.Needs != want.Needs || g.Reads != want.Reads || g.Writes != want.Writes || g.Writes == 0) {
			t.Errorf("mcp: got needs %s, reads %s, writes %s; want %s, %s, %s, and some writes", g.Needs, g.Reads, g.Writes, want.Needs, want.Reads, want.Writes)
		}
	}
}
