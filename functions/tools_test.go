package functions

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"agentsocial/functions/tooled"
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

// Tools are worth an agent's attention, each once, and all of groups that the mcp
// function has inside.
func TestToolsAreFew(t *testing.T) {
	seen := map[string]string{}
	inside := map[string]bool{}
	for _, n := range tooled.Groups() {
		inside[n(&app.App{}).Name] = true
	}
	for _, g := range Groups(&app.App{}) {
		for _, e := range g.Endpoints {
			switch {
			case e.Tool == "":
			case seen[e.Tool] != "":
				t.Errorf("%s is the tool of %s and of %s", e.Tool, seen[e.Tool], e.Route)
			case !inside[g.Name]:
				t.Errorf("%s is a tool of %s, whose group is none of functions/tooled", e.Tool, e.Route)
			default:
				seen[e.Tool] = e.Route
			}
		}
	}
	if n := len(seen); n < 30 || n > 40 {
		t.Errorf("%d tools", n)
	}
}

// Every suggestion of what to do next, wherever it is made, names a tool that
// there is, or none. (That it is the one of the endpoint that it suggests,
// local/contract holds of every answer that a test gets.)
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
						t.Errorf("%s suggests the tool %q, which no endpoint is", path, tool)
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
		t.Errorf("only %d suggestions with a tool were found", found)
	}
}

// suggested is the tool of a literal of [api.Next], if it names one.
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

// The needs of the mcp function are those of the groups inside, and no others.
func TestMCPNeedsWhatIsInside(t *testing.T) {
	var want api.Needs
	writes := false
	for _, n := range tooled.Groups() {
		g := n(&app.App{})
		want = want.And(g.Needs)
		writes = writes || g.Writes()
	}
	want.Writes = writes
	for _, g := range Groups(&app.App{}) {
		if g.Name == "mcp" && (g.Needs != want || !g.Writes()) {
			t.Errorf("mcp needs %+v, want %+v", g.Needs, want)
		}
	}
}
