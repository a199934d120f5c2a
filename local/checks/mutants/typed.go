package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// checked is a package with the types of its expressions.
type checked struct {
	folder string // path in the module
	files  map[string]*ast.File
	source map[string]string
	set    *token.FileSet
	types  *types.Package
	info   *types.Info
}

// patterns returns go list's patterns for a module's existing folders that get mutants.
func patterns(root string) (all []string) {
	for _, folder := range append([]string{tables}, rules...) {
		if _, err := os.Stat(filepath.Join(root, filepath.FromSlash(folder))); err == nil {
			if folder != tables {
				folder += "/..."
			}
			all = append(all, "./"+folder)
		}
	}
	return all
}

func check(root string, folders []string) (all []checked, err error) {
	if root, err = filepath.Abs(root); err != nil {
		return nil, err
	}
	list := exec.Command("go", append([]string{"list", "-e", "-export", "-deps", "-json=ImportPath,Export,Dir,GoFiles"}, folders...)...)
	list.Dir, list.Stderr = root, os.Stderr
	out, err := list.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := list.Start(); err != nil {
		return nil, err
	}
	type listed struct {
		ImportPath, Export, Dir string
		GoFiles                 []string
	}
	var wanted []listed
	exports := map[string]string{}
	for dec := json.NewDecoder(out); ; {
		var l listed
		if err := dec.Decode(&l); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return nil, err
		}
		exports[l.ImportPath] = l.Export
		if folder, err := filepath.Rel(root, l.Dir); err == nil && ruled(filepath.ToSlash(folder)) {
			wanted = append(wanted, l)
		}
	}
	if err := list.Wait(); err != nil {
		return nil, fmt.Errorf("go list: %w", err)
	}
	set := token.NewFileSet()
	from := importer.ForCompiler(set, "gc", func(path string) (io.ReadCloser, error) {
		if exports[path] == "" {
			return nil, fmt.Errorf("%s was not built", path)
		}
		return os.Open(exports[path])
	})
	for _, l := range wanted {
		folder, err := filepath.Rel(root, l.Dir)
		if err != nil {
			return nil, err
		}
		c := checked{
			folder: filepath.ToSlash(folder), files: map[string]*ast.File{}, source: map[string]string{}, set: set,
			info: &types.Info{Types: map[ast.Expr]types.TypeAndValue{}, Uses: map[*ast.Ident]types.Object{}},
		}
		var parsed []*ast.File
		for _, name := range l.GoFiles {
			text, err := os.ReadFile(filepath.Join(l.Dir, name))
			if err != nil {
				return nil, err
			}
			f, err := parser.ParseFile(set, name, text, parser.SkipObjectResolution)
			if err != nil {
				return nil, err
			}
			file := strings.TrimPrefix(c.folder+"/"+name, "./")
			c.files[file], c.source[file] = f, string(text)
			parsed = append(parsed, f)
		}
		if c.types, err = (&types.Config{Importer: from}).Check(l.ImportPath, set, parsed, c.info); err != nil {
			return nil, err
		}
		all = append(all, c)
	}
	return all, nil
}
