package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Environment of the built tests: the number of the active mutant (none if unset), and
// the file where they note the mutants they reach.
const (
	envMutant = "MUTANT_NUMBER"
	envMet    = "MUTANTS_MET"
)

// leaf is the folder of a package that is added to the module. Its functions are hooks
// around expressions: each returns the value of the original expression, unless mutant n
// is active.
const leaf = "shared/mutant"

const leafSource = `package mutant

import (
	"cmp"
	"os"
	"strconv"
	"sync/atomic"
	"syscall"
	"time"
)

var (
	active, _ = strconv.Atoi(os.Getenv("` + envMutant + `"))
	metFile   = os.Getenv("` + envMet + `")
	met       [1 << 16]atomic.Bool
)

// A mutant may allocate without end. It must not take the machine's memory.
func init() {
	if active > 0 {
		syscall.Setrlimit(syscall.RLIMIT_DATA, &syscall.Rlimit{Cur: 4 << 30, Max: 4 << 30})
	}
}

// Is reports whether mutant n is active, and notes that it was reached.
func Is(n int) bool {
	if metFile != "" && !met[n].Load() && !met[n].Swap(true) {
		note(n)
	}
	return active == n
}

func note(n int) {
	f, err := os.OpenFile(metFile, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		panic(err)
	}
	if _, err := f.WriteString(strconv.Itoa(n) + "\n"); err != nil {
		panic(err)
	}
	if err := f.Close(); err != nil {
		panic(err)
	}
}

// A comparison's mutant is reached only at its boundary.

func Less[T cmp.Ordered](n int, a, b T) bool    { return a < b || a == b && Is(n) }
func AtMost[T cmp.Ordered](n int, a, b T) bool  { return a <= b && !(a == b && Is(n)) }
func Greater[T cmp.Ordered](n int, a, b T) bool { return Less(n, b, a) }
func AtLeast[T cmp.Ordered](n int, a, b T) bool { return AtMost(n, b, a) }

func Before(n int, a, b time.Time) bool { return a.Before(b) || a.Equal(b) && Is(n) }
func After(n int, a, b time.Time) bool  { return Before(n, b, a) }

func Min[T cmp.Ordered](n int, a T, more ...T) T {
	least, most := bounds(a, more)
	if least != most && Is(n) {
		return most
	}
	return least
}

func Max[T cmp.Ordered](n int, a T, more ...T) T {
	least, most := bounds(a, more)
	if least != most && Is(n) {
		return least
	}
	return most
}

func bounds[T cmp.Ordered](a T, more []T) (least, most T) {
	least, most = a, a
	for _, b := range more {
		least, most = min(least, b), max(most, b)
	}
	return least, most
}

func Not(n int, is bool) bool { return is != Is(n) }

func Swapped(n, order int) int {
	if order != 0 && Is(n) {
		return -order
	}
	return order
}

func More[T int | int8 | int16 | int32 | int64 | uint | uint8 | uint16 | uint32 | uint64 | uintptr | float32 | float64](n int, x T) T {
	if !Is(n) {
		return x
	}
	if one := T(1); one/2 != 0 && x != 0 { // a float
		return 2 * x
	}
	return x + 1
}

func Half[T ~int64](n int, x T) T {
	if Is(n) {
		return x / 2
	}
	return x
}

func Milliseconds[T ~int64](n int, seconds T) T {
	if Is(n) {
		return 1000 * seconds
	}
	return seconds
}
`

// hook is added to package tables. It replaces a removed condition or write, which may be
// the only one, with a valid one that does nothing.
const hook = `package tables

import mutant "{leaf}"

// MutantCondition returns c, or a condition that always holds if mutant n is active.
func MutantCondition(n int, c Cond) Cond {
	if mutant.Is(n) {
		return NotEqual("of no item", "")
	}
	return c
}

// MutantItem returns w, or a check that always holds if mutant n is active.
func MutantItem(n int, w Write) Write {
	if mutant.Is(n) {
		return Check(w.Key, NotEqual("of no item", ""))
	}
	return w
}

// MutantAttribute returns u, or the removal of an unused attribute if mutant n is active.
func MutantAttribute(n int, u Update) Update {
	if mutant.Is(n) {
		return RemoveAttr("of no item: " + u.Attr)
	}
	return u
}

// MutantBoundary returns c, with one added to its number if mutant n is active.
func MutantBoundary(n int, c Cond) Cond {
	if mutant.Is(n) {
		c.Value = c.Value.(int64) + 1
	}
	return c
}

// MutantCursor returns cursor, or a position just before its item if mutant n is active.
func MutantCursor(n int, desc bool, cursor *Position) *Position {
	if !mutant.Is(n) || cursor == nil {
		return cursor
	}
	at := *cursor
	if desc {
		at.SK += "\x00"
	} else {
		at.SK = at.SK[:len(at.SK)-1] + string(at.SK[len(at.SK)-1]-1) + "~"
	}
	return &at
}
`

// hooks names the functions in hook for the mutants of writes.
var hooks = map[Kind]string{Condition: "MutantCondition", Item: "MutantItem", Attribute: "MutantAttribute"}

// overlay writes a module's sources with all mutants, disabled, to a folder. It returns the
// file for go's flag -overlay. Line numbers do not change.
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
	module, err := module(root)
	if err != nil {
		return "", err
	}
	if err := add(leaf+"/mutant.go", leafSource); err != nil {
		return "", err
	}
	if err := add(tables+"/mutants.go", strings.ReplaceAll(hook, "{leaf}", module+"/"+leaf)); err != nil {
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
		if err := add(file, mutated(module, string(source), mutants)); err != nil {
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

// mutated puts the hooks of a file's mutants into its source.
func mutated(module, source string, mutants []Mutant) string {
	type insertion struct {
		change
		closes bool // closes a hook, rather than opens it
		size   int  // bytes of source inside the hook
	}
	var all []insertion
	imports := map[string]bool{}
	own := module + "/" + path.Dir(mutants[0].File)
	for _, m := range mutants {
		for _, p := range m.imports {
			imports[p] = true
		}
		for _, c := range m.edits {
			for name, p := range map[string]string{"{tables}": module + "/" + tables, "{mutant}": module + "/" + leaf} {
				switch {
				case !strings.Contains(c.text, name):
				case p == own:
					c.text = strings.ReplaceAll(c.text, name+".", "")
				default:
					imports[p] = true
					c.text = strings.ReplaceAll(c.text, name, alias(p))
				}
			}
			c.text = strings.ReplaceAll(c.text, "{N}", strconv.Itoa(m.N))
			all = append(all, insertion{c, c.from == m.to, m.to - m.from})
		}
	}
	// Where several hooks open, the outer hook comes first. Where several close, the inner
	// hook does.
	slices.SortStableFunc(all, func(a, b insertion) int {
		if order := cmp.Compare(a.from, b.from); order != 0 || a.closes != b.closes {
			return cmp.Or(order, map[bool]int{true: -1, false: 1}[a.closes])
		}
		if a.closes {
			return cmp.Compare(a.size, b.size)
		}
		return cmp.Compare(b.size, a.size)
	})
	var out strings.Builder
	at := 0
	for _, i := range all {
		out.WriteString(source[at:i.from] + i.text)
		at = i.to
	}
	out.WriteString(source[at:])
	var clauses strings.Builder
	for _, p := range slices.Sorted(maps.Keys(imports)) {
		fmt.Fprintf(&clauses, "; import %s %q", alias(p), p)
	}
	return clause.ReplaceAllStringFunc(out.String(), func(c string) string { return c + clauses.String() })
}

// clause matches a file's package clause.
var clause = regexp.MustCompile(`(?m)\A(?:(?://.*)?\n|/\*(?s:.*?)\*/)*package \w+`)
