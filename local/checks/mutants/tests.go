package main

import (
	"cmp"
	"context"
	"crypto/sha256"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Unit is all tests of a package, or one test of a package with slow tests.
type Unit struct {
	Pkg   string        // "local/service"
	Above string        // the parent test of a subtest
	Test  string        // "" for all
	Took  time.Duration // without a mutant
	Met   []int         // numbers of the mutants that it reaches, sorted
}

// tested lists the packages whose tests may notice mutants.
var tested = []string{"./tables", "./tables/id", "./functions/...", "./shared/...", "./events/...", "./local/service", "./local/transcripts"}

// apart lists packages with slow tests.
var apart = []string{
	"local/service", "local/transcripts",
	"events/tally", "functions/docs", "functions/ideas", "shared/api", "shared/client", "shared/lambda/host/fetch",
	"shared/rules/jury", "shared/rules/promo", "shared/search/index", "shared/text", "shared/text/sequences",
}

// The transcripts are subtests, named after their scripts.
const (
	transcripts = "local/transcripts"
	above       = "TestTranscripts"
	scripts     = "local/testdata"
)

// suite holds the tests of a module, with all mutants built in.
type suite struct {
	root, folder string // the module, and the output
	jobs         int    // tests that run at once
	budget       time.Duration
	pkgs         []string
}

func (s *suite) binary(pkg string) string {
	return filepath.Join(s.folder, strings.ReplaceAll(pkg, "/", "-")+".test")
}

func (s *suite) build(ctx context.Context, log io.Writer, overlay string) error {
	list := exec.CommandContext(ctx, "go", append([]string{"list", "-e", "-test", "-overlay", overlay, "-f", "{{.ImportPath}} {{join .Deps \" \"}}"}, tested...)...)
	list.Dir, list.Stderr = s.root, log
	out, err := list.Output()
	if err != nil {
		return fmt.Errorf("go list: %w", err)
	}
	module, err := module(s.root)
	if err != nil {
		return err
	}
	for line := range strings.Lines(string(out)) {
		words := strings.Fields(line)
		pkg, ok := strings.CutSuffix(words[0], ".test")
		if !ok || !slices.Contains(words, module+"/"+leaf) {
			continue
		}
		s.pkgs = append(s.pkgs, strings.TrimPrefix(pkg, module+"/"))
	}
	for _, pkg := range s.pkgs {
		build := exec.CommandContext(ctx, "go", "test", "-c", "-vet=off", "-overlay", overlay, "-o", s.binary(pkg), "./"+pkg)
		build.Dir, build.Stdout, build.Stderr = s.root, log, log
		if err := build.Run(); err != nil {
			return fmt.Errorf("go test -c ./%s: %w", pkg, err)
		}
	}
	return nil
}

func module(root string) (string, error) {
	mod, err := os.ReadFile(filepath.Join(root, "go.mod"))
	if err != nil {
		return "", err
	}
	first, _, _ := strings.Cut(string(mod), "\n")
	return strings.TrimSpace(strings.TrimPrefix(first, "module ")), nil
}

// stamps returns, by package, a digest of the built test and, for the transcripts, of the
// scripts. Other files that tests read are left out.
func (s *suite) stamps() (map[string]string, error) {
	all := map[string]string{}
	for _, pkg := range s.pkgs {
		files := []string{s.binary(pkg)}
		if pkg == transcripts {
			played, err := filepath.Glob(filepath.Join(s.root, filepath.FromSlash(scripts), "*"))
			if err != nil {
				return nil, err
			}
			files = append(files, played...)
		}
		sum := sha256.New()
		for _, file := range files {
			if err := digest(sum, file); err != nil {
				return nil, err
			}
		}
		all[pkg] = fmt.Sprintf("%x", sum.Sum(nil))
	}
	return all, nil
}

// digest adds a file to a hash; a folder adds nothing.
func digest(sum io.Writer, file string) error {
	f, err := os.Open(file)
	if err != nil {
		return err
	}
	defer f.Close()
	if info, err := f.Stat(); err != nil || info.IsDir() {
		return err
	}
	_, err = io.Copy(sum, f)
	return err
}

func (s *suite) units(ctx context.Context) (all []Unit, err error) {
	for _, pkg := range s.pkgs {
		if !slices.Contains(apart, pkg) {
			all = append(all, Unit{Pkg: pkg})
			continue
		}
		list := s.command(ctx, pkg, "-test.list", ".")
		out, err := list.Output()
		if err != nil {
			return nil, fmt.Errorf("listing the tests of %s: %w", pkg, err)
		}
		for _, test := range strings.Fields(string(out)) {
			switch {
			case pkg == transcripts && test == above:
				files, err := filepath.Glob(filepath.Join(s.root, filepath.FromSlash(scripts), "*.txtar"))
				if err != nil {
					return nil, err
				}
				for _, f := range files {
					all = append(all, Unit{Pkg: pkg, Above: test, Test: strings.TrimSuffix(filepath.Base(f), ".txtar")})
				}
			case strings.HasPrefix(test, "Test"):
				all = append(all, Unit{Pkg: pkg, Test: test})
			}
		}
	}
	return all, nil
}

func (s *suite) command(ctx context.Context, pkg string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, s.binary(pkg), args...)
	cmd.Dir = filepath.Join(s.root, filepath.FromSlash(pkg))
	cmd.Env = append(os.Environ(), "TABLES=embedded", "RAPID_NOFAILFILE=true")
	return cmd
}

// The time limit of a run with a mutant is atLeast + longer × the tests' usual time. The
// limit of a run without a mutant is unmutated.
const (
	longer    = 5
	atLeast   = 20 * time.Second
	unmutated = 10 * time.Minute
)

// run runs units that share a package and a parent test, with a mutant active (0: none). The
// tests append the mutants that they reach to the file met, unless met is "". run returns
// the test that failed, or "".
func (s *suite) run(ctx context.Context, mutant int, met string, units ...Unit) (failed string, output []byte) {
	var names []string
	took := time.Duration(0)
	for _, u := range units {
		if u.Test != "" {
			names = append(names, regexp.QuoteMeta(u.Test))
		}
		took += u.Took
	}
	within := unmutated
	if mutant > 0 {
		within = atLeast + longer*took
	}
	args := []string{"-test.failfast", "-test.parallel", "4", "-test.timeout", within.String()}
	if names != nil {
		which := "^(" + strings.Join(names, "|") + ")$"
		if units[0].Above != "" {
			which = "^" + units[0].Above + "$/" + which
		}
		args = append(args, "-test.run", which)
	}
	cmd := s.command(ctx, units[0].Pkg, args...)
	if mutant > 0 {
		cmd.Env = append(cmd.Env, fmt.Sprintf("%s=%d", envMutant, mutant))
	}
	if met != "" {
		cmd.Env = append(cmd.Env, envMet+"="+met)
	}
	output, err := cmd.CombinedOutput()
	if err == nil {
		return "", output
	}
	return path.Base(units[0].Pkg) + "." + culprit(string(output), err), output
}

var failure = regexp.MustCompile(`(?m)^\s*--- FAIL: (\S+)`)

func culprit(output string, err error) (name string) {
	for _, found := range failure.FindAllStringSubmatch(output, -1) {
		if name == "" || strings.HasPrefix(found[1], name+"/") {
			name = found[1]
		}
	}
	switch {
	case name != "":
		return name
	case strings.Contains(output, "panic: test timed out"):
		return "(timed out)"
	}
	return fmt.Sprintf("(%v)", err)
}

// meet runs a unit without a mutant, and notes its time and the mutants that it reaches.
func (s *suite) meet(ctx context.Context, u *Unit) error {
	f, err := os.CreateTemp(s.folder, "met-")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name())
	if err := f.Close(); err != nil {
		return err
	}
	began := time.Now()
	failed, output := s.run(ctx, 0, f.Name(), *u)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if failed != "" {
		return fmt.Errorf("%s fails with no mutant active:\n%s", failed, output)
	}
	u.Took = time.Since(began)
	met, err := os.ReadFile(f.Name())
	if err != nil {
		return err
	}
	for _, word := range strings.Fields(string(met)) {
		n, err := strconv.Atoi(word)
		if err != nil {
			return err
		}
		u.Met = append(u.Met, n)
	}
	slices.Sort(u.Met)
	u.Met = slices.Compact(u.Met) // child processes of a test note the same mutants again
	return nil
}

// batches returns the units that reach a mutant, in the order in which to run them. Units of
// the mutant's own package come first, then whole packages before single tests. Within each
// [group], short units come first, and later batches may be longer: they seldom run, because
// the first tests notice most mutants.
func batches(units []Unit, m Mutant) (all [][]Unit) {
	units = slices.DeleteFunc(slices.Clone(units), func(u Unit) bool {
		_, meets := slices.BinarySearch(u.Met, m.N)
		return !meets
	})
	other := func(u Unit) int {
		if u.Pkg == path.Dir(m.File) {
			return 0
		}
		return 1
	}
	slices.SortStableFunc(units, func(a, b Unit) int {
		return cmp.Or(other(a)-other(b), strings.Compare(group(a), group(b)), cmp.Compare(a.Took, b.Took))
	})
	most, took := firstBatch, time.Duration(0)
	for _, u := range units {
		last := len(all) - 1
		if last < 0 || u.Test == "" || group(all[last][0]) != group(u) || took+u.Took > most {
			if last >= 0 && group(all[last][0]) == group(u) {
				most = min(2*most, lastBatch)
			} else {
				most = firstBatch
			}
			all, took = append(all, []Unit{u}), u.Took
			continue
		}
		all[last], took = append(all[last], u), took+u.Took
	}
	return all
}

// The summed time of a batch of several tests is bounded. The bound doubles from
// firstBatch up to lastBatch.
const (
	firstBatch = 2 * time.Second
	lastBatch  = time.Minute
)

// group returns the same value for single tests that can run in one batch. For a whole
// package it is "", which sorts first.
func group(u Unit) string {
	if u.Test == "" {
		return ""
	}
	return u.Pkg + " " + u.Above
}
