package faults

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
	"runtime"
	"slices"
	"strings"
)

// Place is a call in the source that commits to the table.
type Place struct {
	File        string
	Line, Lines int // the call's first line, and the number of its further lines
	Func        string
}

func (p Place) String() string { return fmt.Sprintf("%s:%d", p.File, p.Line) }

// Name returns the file and the function that contain the place. Several places may have
// the same name.
func (p Place) Name() string { return p.File + " " + p.Func }

// has reports whether a line of a file belongs to the call.
func (p Place) has(file string, line int) bool {
	return p.File == file && p.Line <= line && line <= p.Line+p.Lines
}

// commits lists the methods of tables.Backend, api.Call and app.App that commit.
var commits = []string{"Commit", "Transact", "Once"}

// deployed lists the folders of deployed code that uses the table.
var deployed = []string{"functions", "shared", "events"}

// wrappers lists files whose functions commit for their callers. The callers are the
// places.
var wrappers = []string{"shared/app/app.go", "shared/api/call.go", "local/service/within.go"}

// apart is a folder of code that is not deployed, inside a deployed folder.
const apart = "functions/ideas/wishes"

// Places finds all calls that commit, in the order of files and lines.
func Places() (places []Place, err error) {
	for _, folder := range deployed {
		err := fs.WalkDir(os.DirFS(root), folder, func(file string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || !strings.HasSuffix(file, ".go") || strings.HasSuffix(file, "_test.go") ||
				slices.Contains(wrappers, file) || path.Dir(file) == apart {
				return err
			}
			found, err := placesIn(file)
			places = append(places, found...)
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	slices.SortFunc(places, func(a, b Place) int {
		return cmp.Or(strings.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line))
	})
	return places, nil
}

func placesIn(file string) (places []Place, err error) {
	set := token.NewFileSet()
	parsed, err := parser.ParseFile(set, filepath.Join(root, filepath.FromSlash(file)), nil, parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	for _, decl := range parsed.Decls {
		f, ok := decl.(*ast.FuncDecl)
		if !ok {
			continue
		}
		ast.Inspect(f, func(n ast.Node) bool {
			if call, ok := n.(*ast.CallExpr); ok && isCommit(call) {
				first, last := set.Position(call.Pos()).Line, set.Position(call.End()).Line
				places = append(places, Place{file, first, last - first, f.Name.Name})
			}
			return true
		})
	}
	return places, nil
}

func isCommit(call *ast.CallExpr) bool {
	f, ok := call.Fun.(*ast.SelectorExpr)
	if !ok || !slices.Contains(commits, f.Sel.Name) || len(call.Args) < 2 {
		return false
	}
	ctx, ok := call.Args[0].(*ast.Ident)
	return ok && strings.Contains(strings.ToLower(ctx.Name), "ctx")
}

// root is the folder of the module as the compiler knew it.
var root = func() string {
	_, file, _, _ := runtime.Caller(0)
	return strings.TrimSuffix(file, "local/checks/faults/place.go")
}()

// caller returns the file and line of the deployed code that commits, or "" if other code
// does.
func caller() (file string, line int) {
	pcs := make([]uintptr, 64)
	frames := runtime.CallersFrames(pcs[:runtime.Callers(2, pcs)])
	for {
		f, more := frames.Next()
		file, ours := strings.CutPrefix(f.File, root)
		folder, _, _ := strings.Cut(file, "/")
		switch {
		case !ours, folder == "tables", path.Dir(file) == "local/checks/faults" && !strings.HasSuffix(file, "_test.go"), slices.Contains(wrappers, file):
		case slices.Contains(deployed, folder):
			return file, f.Line
		default:
			return "", 0
		}
		if !more {
			return "", 0
		}
	}
}
