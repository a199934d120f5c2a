package main

import (
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"
	"slices"
	"strings"
	"time"
)

// Kinds of mutants of expressions. A mutant moves a comparison to the other side of its
// boundary, inverts an equality, adds one to an integer, doubles a float, halves a
// duration, gives a TTL in milliseconds, reverses an order, or makes a cursor repeat an
// item. An amount is a sum of money or a number added to an attribute, but not a constant.
const (
	Comparison Kind = "comparison"
	Equality   Kind = "equality"
	Number     Kind = "number"
	Amount     Kind = "amount"
	Duration   Kind = "duration"
	TTL        Kind = "ttl"
	Order      Kind = "order"
	Cursor     Kind = "cursor"
)

// rules lists the folders whose expressions are mutated, including their subfolders. The
// files of package tables are mutated, too.
var rules = []string{"functions", "events", "shared/identity/auth", "shared/rules", "shared/text", "tables/id"}

// unruled lists code in these folders and in package tables that has no rules of the service.
var unruled = []string{"functions/ideas/wishes", "functions/docs/programs", "tables/capacity.go", "tables/expression.go"}

func ruled(path string) bool {
	in := func(folder string) bool { return path == folder || strings.HasPrefix(path, folder+"/") }
	return (path == tables || strings.HasPrefix(path, tables+"/") && strings.HasSuffix(path, ".go") || slices.ContainsFunc(rules, in)) &&
		!slices.ContainsFunc(unruled, in)
}

func (c checked) expressions() (found []Mutant) {
	for file, parsed := range c.files {
		if slices.Contains(definitions, file) || !ruled(file) {
			continue
		}
		e := &expressions{checked: c, file: file, parent: parents(parsed)}
		for _, decl := range parsed.Decls {
			switch d := decl.(type) {
			case *ast.FuncDecl:
				e.function = d.Name.Name
				if d.Body != nil {
					e.visit(d.Body)
				}
			case *ast.GenDecl:
				for _, spec := range d.Specs {
					if v, ok := spec.(*ast.ValueSpec); ok && d.Tok == token.VAR {
						e.function = v.Names[0].Name
						for _, x := range v.Values {
							e.visit(x)
						}
					}
				}
			}
		}
		found = append(found, e.found...)
	}
	return found
}

// expressions visits one file.
type expressions struct {
	checked
	file, function string
	parent         map[ast.Node]ast.Node
	found          []Mutant
	desc           string // the expression that says whether the query being visited is descending
	inTTL          bool
}

func parents(file *ast.File) map[ast.Node]ast.Node {
	all := map[ast.Node]ast.Node{}
	var open []ast.Node
	ast.Inspect(file, func(n ast.Node) bool {
		if n == nil {
			open = open[:len(open)-1]
			return true
		}
		if len(open) > 0 {
			all[n] = open[len(open)-1]
		}
		open = append(open, n)
		return true
	})
	return all
}

// visit finds the mutants of a node and its children.
func (e *expressions) visit(root ast.Node) {
	ast.Inspect(root, func(n ast.Node) bool { return n != nil && e.node(n) })
}

// node finds the mutants of one node, and reports whether to visit its children.
func (e *expressions) node(n ast.Node) bool {
	if x, ok := n.(ast.Expr); ok && e.info.Types[x].Value != nil {
		e.constant(x)
		return false
	}
	switch n := n.(type) {
	case *ast.ArrayType, *ast.MapType, *ast.StructType, *ast.FuncType, *ast.InterfaceType, *ast.ChanType:
		return false
	case *ast.GenDecl:
		return n.Tok == token.VAR
	case *ast.CallExpr:
		return e.call(n)
	case *ast.BinaryExpr:
		e.binary(n)
	case *ast.CompositeLit:
		e.literal(n)
		return false
	case *ast.AssignStmt:
		return e.assign(n)
	case *ast.ExprStmt:
		if call, ok := n.X.(*ast.CallExpr); ok && e.name(call) == "slices.Reverse" {
			e.add(Order, n, edit{n.Pos(), n.Pos(), "if !{mutant}.Is({N}) { "}, edit{n.End(), n.End(), " }"})
		}
	case *ast.ForStmt: // a start value, as in "for i := 0", is an index, and is not mutated
		if n.Cond != nil {
			e.visit(n.Cond)
		}
		if n.Post != nil {
			e.visit(n.Post)
		}
		e.visit(n.Body)
		return false
	case *ast.ReturnStmt:
		return !e.failure(n)
	case *ast.IndexExpr:
		e.visit(n.X)
		if e.info.Types[n.Index].Value == nil {
			e.visit(n.Index)
		}
		return false
	case *ast.SliceExpr:
		for _, x := range []ast.Expr{n.X, n.Low, n.High, n.Max} {
			if x != nil && !e.small(x) && !(isNamed(n.X, "sum") && e.info.Types[x].Value != nil) { // any part of a digest would do
				e.visit(x)
			}
		}
		return false
	}
	return true
}

func (e *expressions) small(x ast.Expr) bool {
	v := e.info.Types[x].Value
	if v == nil || v.Kind() != constant.Int {
		return false
	}
	n, ok := constant.Int64Val(v)
	return ok && (n == 0 || n == 1)
}

// failure reports whether a return statement may return an error after other results. If
// so, it visits the results, except constants: callers ignore results that come with an error.
func (e *expressions) failure(r *ast.ReturnStmt) bool {
	if len(r.Results) < 2 {
		return false
	}
	last := r.Results[len(r.Results)-1]
	t := e.info.Types[last]
	if t.IsNil() || !isError(t.Type) {
		return false
	}
	for _, x := range r.Results {
		if e.info.Types[x].Value == nil {
			e.visit(x)
		}
	}
	return true
}

var anError = types.Universe.Lookup("error").Type().Underlying().(*types.Interface)

func isError(t types.Type) bool { return t != nil && types.Implements(t, anError) }

func isDuration(t types.Type) bool { return t != nil && t.String() == "time.Duration" }
func isTime(t types.Type) bool     { return t != nil && t.String() == "time.Time" }

func (e *expressions) constant(x ast.Expr) {
	tv := e.info.Types[x]
	if isDuration(tv.Type) {
		// A constant below a microsecond is only a factor of another duration.
		if n, exact := constant.Int64Val(tv.Value); exact && (n >= int64(time.Microsecond) || n <= -int64(time.Microsecond)) && !e.free(x) {
			e.wrap(Duration, x, "{mutant}.Half", tv.Type)
		}
		return
	}
	if e.isNumber(tv.Type) && !e.inTTL && !e.free(x) && !e.bounds(x) && !e.version(x) {
		e.wrap(Number, x, "{mutant}.More", tv.Type)
	}
}

// isNumber reports whether a type is a basic type of numbers. A constant of a named type
// counts as a name, not a number.
func (e *expressions) isNumber(t types.Type) bool {
	basic, ok := t.(*types.Basic)
	return ok && basic.Info()&(types.IsInteger|types.IsFloat) != 0 && basic.Info()&types.IsUntyped == 0
}

// version reports whether an expression is a 1 that could be any positive number. Versions
// and epochs only have to change, and a read may exceed a page by any number of items.
func (e *expressions) version(x ast.Expr) bool {
	var of ast.Expr
	switch p := e.parent[x].(type) {
	case *ast.BinaryExpr:
		if p.Op == token.ADD {
			of = p.X
		}
	case *ast.CallExpr:
		if len(p.Args) == 2 && strings.HasSuffix(e.name(p), "/"+tables+".Add") {
			of = p.Args[0]
		}
	}
	name := ""
	switch of := of.(type) {
	case *ast.Ident:
		name = of.Name
	case *ast.SelectorExpr:
		name = of.Sel.Name
	case *ast.BasicLit:
		name = strings.Trim(of.Value, `"`)
	}
	return slices.Contains([]string{"version", "epoch", "changes", "tallies", "limit"}, strings.ToLower(name)) && e.info.Types[x].Value.String() == "1"
}

// bounds reports whether adding one to a constant integer is the same as moving the
// boundary of its comparison, as in x < 5.
func (e *expressions) bounds(x ast.Expr) bool {
	b, ok := e.parent[x].(*ast.BinaryExpr)
	if !ok || e.info.Types[x].Value.Kind() != constant.Int {
		return false
	}
	return x == b.Y && (b.Op == token.LSS || b.Op == token.GEQ) || x == b.X && (b.Op == token.GTR || b.Op == token.LEQ)
}

// free reports whether an expression uses a constant that may have any value, or an HTTP
// status.
func (e *expressions) free(x ast.Expr) (is bool) {
	ast.Inspect(x, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok {
			if o := e.info.Uses[id]; o != nil && o.Pkg() != nil {
				name := o.Pkg().Path() + "." + o.Name()
				name = strings.TrimPrefix(name, strings.SplitN(e.types.Path(), "/", 2)[0]+"/")
				is = is || free[name] != "" || strings.HasPrefix(name, "net/http.Status")
			}
		}
		return !is
	})
	return is
}

// name returns the name of what is called: package.Name for a function, .Name for a method,
// Name for a builtin, "" for anything else.
func (e *expressions) name(call *ast.CallExpr) string {
	fun := ast.Unparen(call.Fun)
	if i, ok := fun.(*ast.IndexExpr); ok {
		fun = i.X
	}
	var id *ast.Ident
	switch f := fun.(type) {
	case *ast.Ident:
		id = f
	case *ast.SelectorExpr:
		id = f.Sel
	default:
		return ""
	}
	switch o := e.info.Uses[id].(type) {
	case *types.Builtin:
		return o.Name()
	case *types.Func:
		if o.Signature().Recv() != nil {
			return "." + o.Name()
		}
		return o.Pkg().Path() + "." + o.Name()
	}
	return ""
}

// quiet lists packages, functions and methods whose constant arguments decide nothing.
// api.CheckText checks a limit that the schema checks as well.
var quiet = []string{
	"fmt.", "log/slog.", "strconv.", "errors.", "context.", ".Random", ".SetLimit", "slices.Chunk", "shared/lambda/schedule.Each",
	"shared/api.CheckText", "shared/api.CheckOptionalText",
}

// call finds the mutants of a call, and reports whether to visit its parts.
func (e *expressions) call(call *ast.CallExpr) bool {
	name := e.name(call)
	if name == "make" || slices.ContainsFunc(quiet, func(q string) bool { return strings.HasPrefix(strings.TrimPrefix(name, e.module()+"/"), q) }) {
		for _, x := range call.Args {
			if e.info.Types[x].Value == nil {
				e.visit(x)
			}
		}
		return false
	}
	switch {
	case name == "min", name == "max":
		other := map[string]string{"min": "Min", "max": "Max"}[name]
		e.add(Comparison, call, edit{call.Pos(), call.Lparen + 1, "{mutant}." + other + "({N}, "})
	case name == "cmp.Compare", strings.HasSuffix(name, ".Compare"):
		e.wrap(Order, call, "{mutant}.Swapped", nil)
	case (name == ".Before" || name == ".After") && len(call.Args) == 1 && isTime(e.info.Types[call.Args[0]].Type):
		dot := call.Fun.(*ast.SelectorExpr)
		e.add(Comparison, call, edit{call.Pos(), call.Pos(), "{mutant}." + name[1:] + "({N}, "}, edit{dot.X.End(), call.Lparen + 1, ", "})
	}
	if base, ok := strings.CutPrefix(name, e.module()+"/"+tables+"."); ok {
		switch {
		case slices.Contains([]string{"AtLeast", "Before", "AbsentOrBefore"}, base) && e.info.Types[call.Args[1]].Value == nil:
			e.wrap(Comparison, call, "{tables}.MutantBoundary", nil)
		case base == "Add" && len(call.Args) == 2 && e.info.Types[call.Args[1]].Value == nil:
			e.wrap(Amount, call.Args[1], "{mutant}.More", e.info.Types[call.Args[1]].Type)
		case base == "SetAttr" && len(call.Args) == 2 && e.isTTL(call.Args[0]):
			e.ttl(call.Args[1])
			return false
		}
	}
	return e.formats(call)
}

// formats visits a call that formats a text, except constants among the formatted values. For
// any other call it only returns true: the caller visits the call.
func (e *expressions) formats(call *ast.CallExpr) bool {
	s, ok := e.info.Types[call.Fun].Type.(*types.Signature)
	if !ok || !s.Variadic() || call.Ellipsis.IsValid() {
		return true
	}
	n := s.Params().Len() - 1
	last, ok := s.Params().At(n).Type().(*types.Slice)
	if !ok || !types.IsInterface(last.Elem()) || n == 0 || s.Params().At(n-1).Type().String() != "string" {
		return true
	}
	e.visit(call.Fun)
	for i, x := range call.Args {
		if i < n || e.info.Types[x].Value == nil {
			e.visit(x)
		}
	}
	return false
}

func (e *expressions) module() string { return strings.SplitN(e.types.Path(), "/", 2)[0] }

func (e *expressions) binary(b *ast.BinaryExpr) {
	x, y := e.info.Types[b.X], e.info.Types[b.Y]
	operator := map[token.Token]string{token.LSS: "Less", token.LEQ: "AtMost", token.GTR: "Greater", token.GEQ: "AtLeast"}[b.Op]
	switch {
	case operator != "":
		e.add(Comparison, b, edit{b.Pos(), b.Pos(), "{mutant}." + operator + "({N}, "},
			edit{b.OpPos, b.OpPos + token.Pos(len(b.Op.String())), ","}, edit{b.End(), b.End(), ")"})
	case (b.Op == token.EQL || b.Op == token.NEQ) && !x.IsNil() && !y.IsNil() && !isError(x.Type) && !isError(y.Type):
		if x.Value != nil && e.isNumber(x.Type) || y.Value != nil && e.isNumber(y.Type) {
			return // the constant has a mutant already
		}
		e.wrap(Equality, b, "{mutant}.Not", nil)
	}
}

func (e *expressions) literal(l *ast.CompositeLit) {
	if t := e.info.Types[l].Type; t != nil && strings.HasPrefix(t.String(), "unicode.") {
		return // a table of code points
	}
	outer := e.desc
	defer func() { e.desc = outer }()
	e.desc = "false"
	for _, x := range l.Elts {
		if kv, ok := x.(*ast.KeyValueExpr); ok && isNamed(kv.Key, "Desc") {
			e.desc = e.text(kv.Value)
		}
	}
	for _, x := range l.Elts {
		kv, ok := x.(*ast.KeyValueExpr)
		if !ok {
			e.visit(x)
			continue
		}
		e.field(kv.Key, kv.Value)
	}
}

func (e *expressions) assign(a *ast.AssignStmt) bool {
	if len(a.Lhs) != len(a.Rhs) {
		return true
	}
	outer := e.desc
	defer func() { e.desc = outer }()
	for i, to := range a.Lhs {
		switch to := to.(type) {
		case *ast.SelectorExpr:
			e.desc = e.text(to.X) + ".Desc"
			e.visit(to.X)
			e.field(to.Sel, a.Rhs[i])
		case *ast.IndexExpr:
			e.visit(to)
			e.field(to.Index, a.Rhs[i])
		default:
			e.visit(to)
			e.visit(a.Rhs[i])
		}
	}
	return false
}

// field finds the mutants of a value that is assigned to a field or a map's key.
func (e *expressions) field(key, value ast.Expr) {
	t := e.info.Types[value]
	if id, ok := key.(*ast.Ident); ok && freeFields[id.Name] != "" {
		return
	}
	switch {
	case e.isTTL(key):
		e.ttl(value)
		return
	case isNamed(key, "Desc") && t.Value != nil:
		e.wrap(Order, value, "{mutant}.Not", nil)
	case isNamed(key, "After") && t.Type != nil && t.Type.String() == "*"+e.module()+"/"+tables+".Position":
		e.wrap(Cursor, value, "{tables}.MutantCursor", nil, e.desc)
	case isNamed(key, "MicroUSD") && t.Value == nil:
		e.wrap(Amount, value, "{mutant}.More", t.Type)
	}
	e.visit(value)
}

func isNamed(x ast.Expr, name string) bool {
	id, ok := x.(*ast.Ident)
	return ok && id.Name == name
}

func (e *expressions) isTTL(key ast.Expr) bool {
	if s, ok := key.(*ast.SelectorExpr); ok {
		key = s.Sel
	}
	return isNamed(key, "TTL") || isNamed(key, "AttrTTL")
}

// ttl finds the mutants of an item's TTL. It adds no seconds, because the service checks
// expiry by its clock, not by the TTL.
func (e *expressions) ttl(value ast.Expr) {
	if e.info.Types[value].Value == nil {
		e.wrap(TTL, value, "{mutant}.Milliseconds", e.info.Types[value].Type)
	}
	e.inTTL = true
	defer func() { e.inTTL = false }()
	e.visit(value)
}

// edit replaces a part of the source. {N} is the mutant's number, and {mutant} and
// {tables} are packages.
type edit struct {
	from, to token.Pos
	text     string
}

// wrap makes a mutant of an expression by wrapping it in a call of a hook.
func (e *expressions) wrap(kind Kind, x ast.Expr, hook string, t types.Type, args ...string) {
	var imports []string
	if t != nil {
		local := false
		hook += "[" + types.TypeString(t, func(p *types.Package) string {
			if p == e.types {
				return ""
			}
			imports = append(imports, p.Path())
			return alias(p.Path())
		}) + "]"
		if named, ok := t.(*types.Named); ok {
			o := named.Obj()
			local = o.Pkg() != e.types && o.Pkg() != nil && !o.Exported() || o.Parent() != nil && o.Pkg() != nil && o.Parent() != o.Pkg().Scope()
		}
		if _, ok := t.(*types.TypeParam); ok || local {
			return
		}
	}
	args = append([]string{"{N}"}, args...)
	e.add(kind, x, edit{x.Pos(), x.Pos(), hook + "(" + strings.Join(args, ", ") + ", "}, edit{x.End(), x.End(), ")"})
	e.found[len(e.found)-1].imports = imports
}

func (e *expressions) add(kind Kind, n ast.Node, edits ...edit) {
	at := e.set.Position(n.Pos())
	m := Mutant{
		File: e.file, Func: e.function, Line: at.Line, Kind: kind, Text: e.text(n) + e.context(kind, n),
		from: at.Offset, to: e.set.Position(n.End()).Offset,
	}
	for _, d := range edits {
		m.edits = append(m.edits, change{e.set.Position(d.from).Offset, e.set.Position(d.to).Offset, d.text})
	}
	e.found = append(e.found, m)
}

func (e *expressions) text(n ast.Node) string {
	return oneLine(e.source[e.file][e.set.Position(n.Pos()).Offset:e.set.Position(n.End()).Offset])
}

// context returns the source around a constant. In a mutant's name, "1" alone says little.
func (e *expressions) context(kind Kind, n ast.Node) string {
	within := e.parent[n]
	if kind != Number && kind != Duration {
		return ""
	}
	switch within.(type) {
	case *ast.BlockStmt, *ast.CaseClause, *ast.CompositeLit, nil:
		return ""
	}
	text := e.text(within)
	if len(text) > contextMost {
		text = strings.ToValidUTF8(text[:contextMost], "") + "…"
	}
	return " in " + text
}

const contextMost = 50 // bytes

func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }

// alias returns the name by which mutated sources import a package.
func alias(path string) string {
	return "mutant_" + strings.Map(func(r rune) rune {
		if strings.ContainsRune("/.-", r) {
			return '_'
		}
		return r
	}, path)
}
