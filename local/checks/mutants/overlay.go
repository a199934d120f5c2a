package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
)

// Environment of the built tests: the number of the active mutant (none if unset), and
// the file where they note the mutants they reach.
const (
	envMutant = "MUTANT_NUMBER"
	envMet    = "MUTANTS_MET"
)

// hook is added to package tables when tests are built with mutants. It replaces what a
// mutant removes with something valid that does nothing, so that the only condition of
// a write, or the only write of a transaction, can be removed.
const hook = `package tables

import (
	"fmt"
	"os"
	"sync"
)

var (
	mutant     = os.Getenv("` + envMutant + `")
	mutantsMet = os.Getenv("` + envMet + `")
	metBefore  sync.Map
)

func isMutant(n int) bool {
	name := fmt.Sprint(n)
	if mutantsMet != "" {
		if _, before := metBefore.LoadOrStore(n, true); !before {
			f, err := os.OpenFile(mutantsMet, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
			if err != nil {
				panic(err)
			}
			if _, err := f.WriteString(name + "\n"); err != nil {
				panic(err)
			}
			if err := f.Close(); err != nil {
				panic(err)
			}
		}
	}
	return mutant == name
}

// MutantCondition is a condition, or one that always holds.
func MutantCondition(n int, c Cond) Cond {
	if isMutant(n) {
		return NotEqual("of no item", "")
	}
	return c
}

// MutantItem is a write, or none of its item.
func MutantItem(n int, w Write) Write {
	if isMutant(n) {
		return Check(w.Key, NotEqual("of no item", ""))
	}
	return w
}

// MutantAttribute is an update, or none of its attribute.
func MutantAttribute(n int, u Update) Update {
	if isMutant(n) {
		return RemoveAttr("of no item: " + u.Attr)
	}
	return u
}
`

// hooks are the functions of hook.
var hooks = map[Kind]string{Condition: "MutantCondition", Item: "MutantItem", Attribute: "MutantAttribute"}

// overlay writes a module's sources with all mutants, disabled, to a folder, and the
// file for go's -overlay that names them. Line numbers do not change.
func overlay(root, folder string, all []Mutant) (file string, err error) {
	replace := map[string]string{}
	add := func(file, text string) error {
		to := filepath.Join(folder, filepath.FromSlash(file))
		replace[filepath.Join(root, filepath.FromSlash(file))] = to
		if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
			return err
		}
		return os.WriteFile(to, []byte(text), 0o644)
	}
	if err := add("tables/mutants.go", hook); err != nil {
		return "", err
	}
	by := map[string][]Mutant{}
	for _, m := range all {
		by[m.File] = append(by[m.File], m)
	}
	for file, mutants := range by {
		source, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(file)))
		if err != nil {
			return "", err
		}
		if err := add(file, mutated(string(source), mutants)); err != nil {
			return "", err
		}
	}
	out, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		return "", err
	}
	file = filepath.Join(folder, "overlay.json")
	return file, os.WriteFile(file, out, 0o644)
}

// mutated puts a hook around the call of each mutant of a file.
func mutated(source string, mutants []Mutant) string {
	type insertion struct {
		at   int
		text string
	}
	var all []insertion
	for _, m := range mutants {
		name := hooks[m.Kind]
		if filepath.ToSlash(filepath.Dir(m.File)) != tables {
			name = tables + "." + name
		}
		all = append(all, insertion{m.from, fmt.Sprintf("%s(%d, ", name, m.N)}, insertion{m.to, ")"})
	}
	slices.SortStableFunc(all, func(a, b insertion) int { return cmp.Compare(b.at, a.at) })
	for _, i := range all {
		source = source[:i.at] + i.text + source[i.at:]
	}
	return source
}
