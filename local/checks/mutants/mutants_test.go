package main

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/txtar"
)

const project = "../../.."

func TestFind(t *testing.T) {
	all, err := find(project)
	if err != nil {
		t.Fatal(err)
	}
	names := map[string]bool{}
	for i, m := range all {
		if names[m.Name()] || m.N != i+1 || m.Line == 0 || strings.HasSuffix(m.File, "_test.go") {
			t.Errorf("got the mutant %+v, want a new name, N %d, a line, and no file of tests", m, i+1)
		}
		names[m.Name()] = true
	}
	for _, name := range []string{
		`tables/guard.go Guard condition Absent(digest)`,
		`tables/guard.go Guard attribute SetAttr(digest, outcome)`,
		`tables/seat.go NotSeated condition NoItem()`,
		`tables/ledger.go Writes item Put(m.Item(), NoItem())`,
		`tables/idea.go Set condition ItemExists()`,
		`tables/idea.go Set condition ItemExists() #2`,
		`tables/origin.go Spend item Delete(RecoveryKey(agent), Equal("id", r.ID), Before("tries", tries))`,
		`tables/channel.go Create condition NoItem()`,
		`tables/ledger.go Movements order true`,
	} {
		if !names[name] {
			t.Errorf("got no mutant %q, want one", name)
		}
	}
	for name := range names {
		if strings.HasPrefix(name, "tables/condition.go") || strings.HasPrefix(name, "tables/embedded/") || strings.HasPrefix(name, "local/") {
			t.Errorf("got the mutant %q, want none of this file", name)
		}
	}
	if err := known(all, equivalent); err != nil {
		t.Error(err)
	}
	if err := known(all, map[string]string{"tables/gone.go": "it is gone"}); err == nil {
		t.Error("an equivalent that does not exist: got no error, want one")
	}
}

func TestFree(t *testing.T) {
	packages, err := check(project, patterns(project))
	if err != nil {
		t.Fatal(err)
	}
	exist := map[string]bool{}
	for _, c := range packages {
		for _, name := range c.types.Scope().Names() {
			exist[c.folder+"."+name] = true
		}
	}
	for name := range free {
		if !exist[name] {
			t.Errorf("free: %q does not exist; remove it", name)
		}
	}
	all, err := find(project)
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range all {
		if strings.Contains(m.Text, "sideBySide") {
			t.Errorf("got the mutant %q, want none of a free constant", m.Name())
		}
	}
}

func TestRun(t *testing.T) {
	t.Parallel()
	root, folder := t.TempDir(), t.TempDir()
	small, err := txtar.ParseFile("testdata/module.txtar")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range small.Files {
		file := filepath.Join(root, filepath.FromSlash(f.Name))
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, f.Data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	try := func(only, kinds string, equivalent map[string]string) (string, error) {
		var out strings.Builder
		err := run(t.Context(), &out, options{root, folder, only, kinds, 4, 0, equivalent})
		return out.String(), err
	}

	got, err := try("", "condition,item,attribute", nil)
	if err == nil || !strings.Contains(err.Error(), "writes: 70.0 % of mutants are noticed, want at least 100") {
		t.Errorf("mutants of writes: got error %v, want one with 70.0 %%; output\n%s", err, got)
	}
	for _, want := range []string{
		"tables/post.go:3                   Begin            item       Put(Item{\"pk\": id, \"open\": true}, NoItem())                  tables.TestOnce",
		"NoItem()                                                     tables.TestOnce",
		"SetAttr(\"open\", false)                                       tables.TestOnce",
		"Equal(\"open\", true)                                          tables.TestEnd",
		"ItemExists()                                                 NOT NOTICED",
		"Absent(\"deleted\")                                            NOT NOTICED",
		"tables.NotEqual(\"pk\", name)                                  NOT NOTICED",
		"writes                              3/6        2/2        2/2       7/10  70.0 %",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("mutants of writes: got output without %q:\n%s", want, got)
		}
	}

	got, err = try("functions/rules/", "", nil)
	if err == nil || !strings.Contains(err.Error(), "functions/rules: ") {
		t.Errorf("mutants of rules: got error %v, want one with the score of functions/rules; output\n%s", err, got)
	}
	var lines []string
	for line := range strings.Lines(got) {
		if words := strings.Fields(line); strings.HasPrefix(line, "functions/rules/") {
			lines = append(lines, strings.Join(words[1:], " "))
		}
	}
	want := strings.Split(strings.TrimSpace(`
lives duration time.Hour in lives = time.Hour NOT NOTICED
Below comparison n < limit rules.TestRules
Kept comparison n >= limit NOT NOTICED
Longest comparison min(n, most) rules.TestRules
Longest number most in min(n, most) rules.TestRules
Shortest comparison max(n, most) NOT NOTICED
Shortest number most in max(n, most) NOT NOTICED
Until comparison now.Before(end) rules.TestRules
Since comparison now. After(end) NOT NOTICED
Pay attribute tables.Add("balance", -price) rules.TestRules
Pay amount -price rules.TestRules
Pay condition tables.AtLeast("balance", price) rules.TestRules
Pay comparison tables.AtLeast("balance", price) rules.TestRules
Same equality a == b rules.TestRules
Same equality a != "" rules.TestRules
Named equality l == low NOT NOTICED
Ends ttl now.Add(time.Duration(n)*time.Hour).Unix() + 1 rules.TestRules
Ends duration time.Hour in time.Duration(n)*time.Hour rules.TestRules
Sorted order cmp.Compare(b, a) rules.TestRules
Reversed order slices.Reverse(all) NOT NOTICED
Down order true rules.TestRules
Down equality before != "" rules.TestRules
Down cursor &tables.Position{SK: before} rules.TestRules
Up cursor &tables.Position{SK: after} NOT NOTICED
Share number 0.5 in 0.5 * n NOT NOTICED
All comparison i < len(keys) NOT NOTICED`), "\n")
	if !slices.Equal(lines, want) {
		t.Errorf("mutants of rules: got\n%s\nwant\n%s", strings.Join(lines, "\n"), strings.Join(want, "\n"))
	}

	got, err = try("tables/post.go End", "", map[string]string{"tables/post.go End condition ItemExists()": "what is open exists"})
	if err != nil || strings.Contains(got, "without any mutant") || !strings.Contains(got, "left out: what is open exists") ||
		!strings.Contains(got, "2/2 100.0 %") {
		t.Errorf("known results: got error %v, want none, no test run again, the equivalent left out and 2 of 2 noticed; output\n%s", err, got)
	}
	if _, err := try("", "conditions", nil); err == nil || !strings.Contains(err.Error(), `"conditions" is not a kind`) {
		t.Errorf("a kind that does not exist: got error %v, want one that names it", err)
	}

	if err := os.WriteFile(filepath.Join(root, "tables/wrong_test.go"), []byte("package tables\n\nimport \"testing\"\n\nfunc TestWrong(t *testing.T) { t.Fail() }\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if got, err := try("", "", nil); err == nil || !strings.Contains(err.Error(), "tables.TestWrong fails with no mutant active") {
		t.Errorf("a test that fails without a mutant: got error %v, want one that names TestWrong; output\n%s", err, got)
	}
}

func TestResultsStayValid(t *testing.T) {
	folder := t.TempDir()
	built := func(pkg, text string) {
		if err := os.WriteFile(filepath.Join(folder, pkg+".test"), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	holds := func(pkgs ...string) (units, mutants []string) {
		s := &suite{folder: folder, pkgs: pkgs}
		f, err := s.load()
		if err != nil {
			t.Fatal(err)
		}
		for _, u := range f.Units {
			units = append(units, u.Pkg)
		}
		return units, slices.Sorted(maps.Keys(f.Noticed))
	}
	for _, pkg := range []string{"p", "q", "r"} {
		built(pkg, "as it was")
	}
	f, err := (&suite{folder: folder, pkgs: []string{"p", "q"}}).load()
	if err != nil {
		t.Fatal(err)
	}
	f.Units = []Unit{{Pkg: "p"}, {Pkg: "q"}}
	f.Noticed = map[string]Notice{"by p": {"p", "p.TestA"}, "by q": {"q", "q.TestB"}, "by none": {}}
	if err := f.save(); err != nil {
		t.Fatal(err)
	}
	if units, mutants := holds("p", "q"); !slices.Equal(units, []string{"p", "q"}) || !slices.Equal(mutants, []string{"by none", "by p", "by q"}) {
		t.Errorf("all unchanged: got units %q and mutants %q, want all", units, mutants)
	}
	if units, mutants := holds("p", "q", "r"); !slices.Equal(units, []string{"p", "q"}) || !slices.Equal(mutants, []string{"by p", "by q"}) {
		t.Errorf("with a new package: got units %q and mutants %q, want all but \"by none\"", units, mutants)
	}
	built("q", "as it is")
	if units, mutants := holds("p", "q"); !slices.Equal(units, []string{"p"}) || !slices.Equal(mutants, []string{"by p"}) {
		t.Errorf("with a changed package: got units %q and mutants %q, want those of p", units, mutants)
	}
}

func TestBatches(t *testing.T) {
	var got []string
	for _, batch := range batches([]Unit{
		{Pkg: "s", Test: "Long", Took: 3 * time.Second, Met: []int{7}},
		{Pkg: "s", Test: "C", Took: 1900 * time.Millisecond, Met: []int{7}},
		{Pkg: "s", Test: "A", Took: time.Second, Met: []int{7}},
		{Pkg: "s", Test: "B", Took: time.Second, Met: []int{7}},
		{Pkg: "s", Test: "Other", Took: time.Second, Met: []int{6, 8}},
		{Pkg: "s", Above: "All", Test: "script", Took: time.Second, Met: []int{7}},
		{Pkg: "q", Took: 2 * time.Second, Met: []int{7}},
		{Pkg: "p", Took: time.Second, Met: []int{7}},
		{Pkg: "z", Test: "Own", Took: time.Second, Met: []int{7}},
	}, Mutant{N: 7, File: "z/a.go"}) {
		var names []string
		for _, u := range batch {
			names = append(names, u.Pkg+u.Above+u.Test)
		}
		got = append(got, strings.Join(names, " "))
	}
	if want := []string{"zOwn", "p", "q", "sA sB", "sC", "sLong", "sAllscript"}; !slices.Equal(got, want) {
		t.Errorf("got batches %q, want %q", got, want)
	}
}

func TestBudget(t *testing.T) {
	second := []Unit{{Took: time.Second}}
	for budget, want := range map[time.Duration]int{0: 3, time.Millisecond: 1, time.Second: 1, 2 * time.Second: 2, 3 * time.Second: 3} {
		first, whole := (&suite{budget: budget}).affordable([][]Unit{second, second, second})
		if len(first) != want || whole != (want == 3) {
			t.Errorf("budget %s: got %d of 3 batches, whole %t; want %d, whole %t", budget, len(first), whole, want, want == 3)
		}
	}
}

func TestCulprit(t *testing.T) {
	for output, want := range map[string]string{
		"--- FAIL: TestA (0.1s)\n    --- FAIL: TestA/b (0.1s)\n--- FAIL: TestC (0s)\n": "TestA/b",
		"panic: test timed out after 1m0s\n":                                           "(timed out)",
		"panic: a nil map\n":                                                           "(exit status 2)",
	} {
		if got := culprit(output, errExit{}); got != want {
			t.Errorf("output %q: got %q, want %q", output, got, want)
		}
	}
}

type errExit struct{}

func (errExit) Error() string { return "exit status 2" }
