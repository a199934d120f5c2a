// Command mutants removes each condition of a write in turn, and each marker that such
// a condition looks for, and checks that a test fails: `make mutants`.
//
// It builds all mutants at once into the tests of every package that uses the tables.
// Each mutant is a call in the source with a hook around it, which the environment
// enables. A first run without mutants must pass; it records which tests reach which
// mutants. Then each mutant runs the tests that reach it, the shortest first, until one
// fails. Results are kept in a folder and stay valid until a package's tests or the
// tested code change.
package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"os"
	"os/signal"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sync/errgroup"
)

func main() {
	folder := flag.String("folder", "build/mutants", "folder for what is built and found")
	only := flag.String("only", "", "only mutants whose name (file, function, kind, text) matches")
	least := flag.Float64("least", 95, "percent that must be noticed")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, os.Stdout, ".", *folder, *only, *least, equivalent); err != nil {
		fmt.Fprintln(os.Stderr, "mutants:", err)
		os.Exit(1)
	}
}

// found holds the results so far.
type found struct {
	Stamps  map[string]string // by package: digest of the tests behind these results
	Units   []Unit            // as run without a mutant
	Noticed map[string]Notice // by a mutant's name

	mu   sync.Mutex
	file string
}

// Notice names the test and package that noticed a mutant; the zero Notice means none.
type Notice struct{ Pkg, Test string }

// run tests all mutants of a module whose names match, and prints the table.
func run(ctx context.Context, out io.Writer, root, folder, only string, least float64, equivalent map[string]string) error {
	match, err := regexp.Compile(only)
	if err != nil {
		return err
	}
	if root, err = filepath.Abs(root); err != nil {
		return err
	}
	if folder, err = filepath.Abs(folder); err != nil {
		return err
	}
	all, err := find(root)
	if err != nil {
		return err
	}
	if err := known(all, equivalent); err != nil {
		return err
	}
	file, err := overlay(root, filepath.Join(folder, "_sources"), all)
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "%d mutants; building the tests\n", len(all))
	s := &suite{root: root, folder: folder}
	if err := s.build(ctx, out, file); err != nil {
		return err
	}
	f, err := s.load()
	if err != nil {
		return err
	}
	if err := s.meetAll(ctx, out, f); err != nil {
		return err
	}
	var judged []Mutant
	for _, m := range all {
		if match.MatchString(m.Name()) {
			judged = append(judged, m)
		}
	}
	if err := s.judge(ctx, out, f, judged, equivalent); err != nil {
		return err
	}
	return tell(out, judged, f.Noticed, equivalent, least)
}

// known checks that every listed equivalent is an existing mutant.
func known(all []Mutant, equivalent map[string]string) error {
	names := map[string]bool{}
	for _, m := range all {
		names[m.Name()] = true
	}
	for name := range equivalent {
		if !names[name] {
			return fmt.Errorf("%q is listed as an equivalent, but there is no such mutant; remove it from the list", name)
		}
	}
	return nil
}

// load returns the results that are still valid: those of packages with unchanged
// tests. "Not noticed" is valid only while all packages are unchanged.
func (s *suite) load() (*found, error) {
	f := &found{file: filepath.Join(s.folder, "found.json")}
	text, err := os.ReadFile(f.file)
	if err == nil {
		err = json.Unmarshal(text, f)
	}
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, fmt.Errorf("%s: %w", f.file, err)
	}
	now, err := s.stamps()
	if err != nil {
		return nil, err
	}
	same := func(pkg string) bool { return now[pkg] != "" && now[pkg] == f.Stamps[pkg] }
	f.Units = slices.DeleteFunc(f.Units, func(u Unit) bool { return !same(u.Pkg) })
	all := maps.Equal(now, f.Stamps)
	maps.DeleteFunc(f.Noticed, func(_ string, n Notice) bool { return !same(n.Pkg) && !(n == Notice{} && all) })
	if f.Stamps = now; f.Noticed == nil {
		f.Noticed = map[string]Notice{}
	}
	return f, nil
}

func (f *found) save() error {
	text, err := json.Marshal(f)
	if err != nil {
		return err
	}
	if err := os.WriteFile(f.file+".new", text, 0o644); err != nil {
		return err
	}
	return os.Rename(f.file+".new", f.file)
}

// meetAll runs every unit alone whose mutants are unknown.
func (s *suite) meetAll(ctx context.Context, out io.Writer, f *found) error {
	all, err := s.units(ctx)
	if err != nil {
		return err
	}
	all = slices.DeleteFunc(all, func(u Unit) bool {
		return slices.ContainsFunc(f.Units, func(k Unit) bool { return u.Pkg == k.Pkg && u.Above == k.Above && u.Test == k.Test })
	})
	if len(all) > 0 {
		fmt.Fprintf(out, "running all tests without any mutant\n")
	}
	err = atOnce(len(all), func(i int) error {
		if err := s.meet(ctx, &all[i]); err != nil {
			return err
		}
		f.mu.Lock()
		defer f.mu.Unlock()
		f.Units = append(f.Units, all[i])
		return f.save()
	})
	return cmp.Or(ctx.Err(), err)
}

// judge finds a test that notices each mutant, unless one is known.
func (s *suite) judge(ctx context.Context, out io.Writer, f *found, all []Mutant, equivalent map[string]string) error {
	began := time.Now()
	err := atOnce(len(all), func(i int) error {
		name := all[i].Name()
		f.mu.Lock()
		_, done := f.Noticed[name]
		f.mu.Unlock()
		if done || equivalent[name] != "" || ctx.Err() != nil {
			return nil
		}
		var by Notice
		for _, batch := range batches(f.Units, all[i].N) {
			if test, _ := s.run(ctx, all[i].N, "", batch...); test != "" {
				by = Notice{batch[0].Pkg, test}
				break
			}
		}
		if ctx.Err() != nil { // the run was interrupted
			return nil
		}
		f.mu.Lock()
		defer f.mu.Unlock()
		f.Noticed[name] = by
		if by == (Notice{}) {
			fmt.Fprintf(out, "%5.0f s: %s: not noticed\n", time.Since(began).Seconds(), all[i])
		}
		return f.save()
	})
	return cmp.Or(ctx.Err(), err)
}

// atOnce runs n jobs, three at a time for each processor, since tests mostly wait.
func atOnce(n int, do func(i int) error) error {
	var work errgroup.Group
	work.SetLimit(3 * runtime.NumCPU())
	for i := range n {
		work.Go(func() error { return do(i) })
	}
	return work.Wait()
}

// tell prints the table and the share of noticed mutants, and fails if it is too small.
func tell(out io.Writer, all []Mutant, noticed map[string]Notice, equivalent map[string]string, least float64) error {
	counts := map[Kind][2]int{} // noticed, all
	fmt.Fprintf(out, "\n%-34s %-16s %-10s %-60s %s\n", "place", "function", "kind", "without", "noticed by")
	for _, m := range all {
		by := noticed[m.Name()].Test
		switch why := equivalent[m.Name()]; {
		case why != "":
			by = "left out: " + why
		case by == "":
			by = "NOT NOTICED"
			counts[m.Kind] = [2]int{counts[m.Kind][0], counts[m.Kind][1] + 1}
		default:
			counts[m.Kind] = [2]int{counts[m.Kind][0] + 1, counts[m.Kind][1] + 1}
		}
		fmt.Fprintf(out, "%-34s %-16s %-10s %-60s %s\n", fmt.Sprintf("%s:%d", m.File, m.Line), m.Func, m.Kind, m.Text, by)
	}
	fmt.Fprintln(out)
	var sum [2]int
	for _, k := range []Kind{Condition, Item, Attribute} {
		sum[0], sum[1] = sum[0]+counts[k][0], sum[1]+counts[k][1]
		fmt.Fprintf(out, "%-10s %4d noticed of %4d, %5.1f %%\n", k, counts[k][0], counts[k][1], share(counts[k]))
	}
	fmt.Fprintf(out, "%-10s %4d noticed of %4d, %5.1f %%\n", "all", sum[0], sum[1], share(sum))
	if share(sum) < least {
		return fmt.Errorf("%.1f %% of mutants are noticed, want at least %.1f", share(sum), least)
	}
	return nil
}

// share returns a percentage; 100 if there are no mutants.
func share(c [2]int) float64 {
	if c[1] == 0 {
		return 100
	}
	return 100 * float64(c[0]) / float64(c[1])
}
