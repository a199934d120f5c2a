package owned

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"agentsocial/tables"
)

// typesOf returns the item types of package tables by their constants' names.
func typesOf(t *testing.T) map[string]string {
	t.Helper()
	files, err := filepath.Glob("../../../tables/*.go")
	if err != nil {
		t.Fatal(err)
	}
	types := map[string]string{}
	for _, name := range files {
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(file, func(n ast.Node) bool {
			spec, ok := n.(*ast.ValueSpec)
			if !ok {
				return true
			}
			for i, name := range spec.Names {
				if !strings.HasPrefix(name.Name, "Type") || i >= len(spec.Values) {
					continue
				}
				if value, ok := spec.Values[i].(*ast.BasicLit); ok && value.Kind == token.STRING {
					types[name.Name], _ = strconv.Unquote(value.Value)
				}
			}
			return true
		})
	}
	return types
}

func TestKinds_HaveEveryType(t *testing.T) {
	declared := map[string]bool{}
	for name, typ := range typesOf(t) {
		declared[typ] = true
		k, ok := Kinds[typ]
		if !ok {
			t.Errorf("Kinds has no line for tables.%s: say how it is exported and erased", name)
			continue
		}
		if k.End == "" {
			t.Errorf("Kinds does not say what becomes of tables.%s when its agent is erased", name)
		}
		if (k.Not == "") == (k.Shows == nil) {
			t.Errorf("Kinds must say either what is exported of tables.%s or why nothing is", name)
		}
		for _, attr := range k.Shows {
			if slices.Contains(k.Hides, attr) {
				t.Errorf("Kinds both shows and hides the attribute %s of tables.%s", attr, name)
			}
		}
	}
	if len(declared) < 80 {
		t.Errorf("package tables: got %d types, want at least 80", len(declared))
	}
	for typ := range Kinds {
		if !declared[typ] {
			t.Errorf("Kinds has a line for %q, which is not a type of item", typ)
		}
	}
}

func TestKinds_HideSecrets(t *testing.T) {
	for typ, attrs := range map[string][]string{
		tables.TypeToken: {"hash"}, tables.TypeLinkCode: {"hash"}, tables.TypeOrigin: {"person", "domain", "recovery"},
		tables.TypePendingOrigin: {"code", "address"}, tables.TypeRecovery: {"code"}, tables.TypeProfile: {"behind"},
		tables.TypeCase: {"seed", "openers", "barred", "jurors", "reporters", "uphold", "overturn"}, tables.TypeJuror: {"place", "behind"}, tables.TypeAct: {"by"},
	} {
		for _, attr := range attrs {
			if !slices.Contains(Kinds[typ].Hides, attr) || slices.Contains(Kinds[typ].Shows, attr) {
				t.Errorf("Kinds does not hide the attribute %s of a %s", attr, typ)
			}
		}
	}
}
