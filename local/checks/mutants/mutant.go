package main

import (
	"cmp"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// Kind is the kind of thing that a mutant removes or changes.
type Kind string

// Kinds of mutants of writes. A Condition is a call that makes a condition, such as
// tables.Equal. An Item is put or deleted under a condition. An Attribute is the change of an
// attribute that a condition in the same file uses.
const (
	Condition Kind = "condition"
	Item      Kind = "item"
	Attribute Kind = "attribute"
)

// everyKind has the order of the printed table.
var everyKind = []Kind{
	Condition, Item, Attribute, Comparison, Equality, Number, Amount, Duration, TTL, Order, Cursor,
}

// Mutant is an expression or a statement in the source that is changed, or a call whose
// effect is removed.
type Mutant struct {
	N          int // its number, from 1, in the order of the source
	File, Func string
	Line       int
	Kind       Kind
	Text       string // its source on one line; for a constant, also the expression around it

	from, to int // where it begins and ends in its file
	edits    []change
	imports  []string // packages that its edits need, besides the hooks
}

// change replaces a part of a file: see [edit].
type change struct {
	from, to int
	text     string
}

// Name returns the mutant's name, which does not depend on its line. If two mutants
// of a function would have the same name, the second gets the suffix #2.
func (m Mutant) Name() string { return fmt.Sprintf("%s %s %s %s", m.File, m.Func, m.Kind, m.Text) }

func (m Mutant) String() string { return fmt.Sprintf("%s:%d %s: %s", m.File, m.Line, m.Kind, m.Text) }

var (
	conditions = []string{
		"Absent", "Present", "NoItem", "ItemExists", "Equal", "NotEqual", "AbsentOrEqual", "AtLeast",
		"Before", "AbsentOrBefore", "ContainsOrSizeBelow",
	}
	updates = []string{"SetAttr", "RemoveAttr", "Add", "AddToSet", "RemoveFromSet"}
)

// tables is the package that makes conditions and writes.
const tables = "tables"

// definitions lists the files that define conditions and writes. They are not mutated.
var definitions = []string{"tables/condition.go", "tables/backend.go"}

// deployed lists the folders of deployed code that uses the table.
var deployed = []string{tables, "functions", "shared", "events"}

func find(root string) (all []Mutant, err error) {
	for _, folder := range deployed {
		err := fs.WalkDir(os.DirFS(root), folder, func(file string, d fs.DirEntry, err error) error {
			switch {
			case os.IsNotExist(err):
				return nil
			case err != nil:
				return err
			case d.IsDir() && folder == tables && file != tables:
				return fs.SkipDir // backends, their helpers and tests make no conditions of the service
			case d.IsDir(), !strings.HasSuffix(file, ".go"), strings.HasSuffix(file, "_test.go"), slices.Contains(definitions, file):
				return nil
			}
			found, err := findIn(root, file)
			all = append(all, found...)
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	packages, err := check(root, patterns(root))
	if err != nil {
		return nil, err
	}
	for _, c := range packages {
		all = append(all, c.expressions()...)
	}
	slices.SortStableFunc(all, func(a, b Mutant) int {
		return cmp.Or(strings.Compare(a.File, b.File), cmp.Compare(a.from, b.from), cmp.Compare(b.to, a.to))
	})
	names := map[string]int{}
	for i := range all {
		m := &all[i]
		m.N = i + 1
		if names[m.Name()]++; names[m.Name()] > 1 {
			m.Text = fmt.Sprintf("%s #%d", m.Text, names[m.Name()])
		}
	}
	return all, nil
}

func findIn(root, file string) (found []Mutant, err error) {
	source, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(file)))
	if err != nil {
		return nil, err
	}
	set := token.NewFileSet()
	parsed, err := parser.ParseFile(set, file, source, parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	own := path.Dir(file) == tables
	text := func(n ast.Node) string {
		return strings.Join(strings.Fields(string(source[set.Position(n.Pos()).Offset:set.Position(n.End()).Offset])), " ")
	}
	held := map[string]bool{} // attributes that conditions use
	calls(parsed, func(_ string, call *ast.CallExpr) {
		if slices.Contains(conditions, constructor(call, own)) && len(call.Args) > 0 {
			held[text(call.Args[0])] = true
		}
	})
	calls(parsed, func(function string, call *ast.CallExpr) {
		kind := Kind("")
		switch c := constructor(call, own); {
		case slices.Contains(conditions, c):
			kind = Condition
		case slices.Contains(updates, c) && len(call.Args) > 0 && held[text(call.Args[0])]:
			kind = Attribute
		case (c == "Put" || c == "Delete") && len(call.Args) > 1:
			kind = Item
		default:
			return
		}
		from, to := set.Position(call.Pos()), set.Position(call.End())
		found = append(found, Mutant{
			File: file, Func: function, Line: from.Line, Kind: kind, Text: text(call), from: from.Offset, to: to.Offset,
			edits: []change{{from.Offset, from.Offset, "{tables}." + hooks[kind] + "({N}, "}, {to.Offset, to.Offset, ")"}},
		})
	})
	return found, nil
}

func calls(file *ast.File, visit func(function string, call *ast.CallExpr)) {
	for _, decl := range file.Decls {
		f, ok := decl.(*ast.FuncDecl)
		if !ok {
			continue
		}
		ast.Inspect(f, func(n ast.Node) bool {
			if call, ok := n.(*ast.CallExpr); ok {
				visit(f.Name.Name, call)
			}
			return true
		})
	}
}

// constructor returns the name of the function of package tables that a call names, or "".
// own says that the file belongs to package tables.
func constructor(call *ast.CallExpr, own bool) string {
	switch f := call.Fun.(type) {
	case *ast.Ident:
		if own {
			return f.Name
		}
	case *ast.SelectorExpr:
		if x, ok := f.X.(*ast.Ident); ok && !own && x.Name == tables {
			return f.Sel.Name
		}
	}
	return ""
}
