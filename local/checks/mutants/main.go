// Command mutants changes one thing in the rules at a time, and checks that a test fails:
// `make mutants`. It removes the conditions of writes, and changes comparisons, numbers,
// durations and orders.
//
// All mutants are built into the tests at once; an environment variable enables one. A
// first run without mutants must pass. It records which tests reach which mutants. Then, for
// each mutant, the tests that reach it run until one fails. Results stay valid until a package's
// tests or the tested code change.
//
// Tools such as gremlins run only the tests of a mutant's package, but most rules here are
// tested by transcripts.
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
	"strings"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sync/errgroup"
)

func main() {
	folder := flag.String("folder", "build/mutants", "folder for what is built and found")
	only := flag.String("only", "", "only mutants whose name (file, function, kind, text) matches this regular expression")
	kinds := flag.String("kinds", "", "only these kinds, separated by commas")
	jobs := flag.Int("jobs", 3*runtime.NumCPU(), "how many tests run at once; tests mostly wait, so there can be more than processors")
	budget := flag.Duration("budget", 0, "how long tests may run for each mutant; 0: no limit. If this left out tests, \"not noticed\" is not kept as a result")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, os.Stdout, options{".", *folder, *only, *kinds, *jobs, *budget, equivalent}); err != nil {
		fmt.Fprintln(os.Stderr, "mutants:", err)
		os.Exit(1)
	}
}

type found struct {
	Stamps  map[string]string // by package: digest of the tests behind these results
	Units   []Unit            // as run with no mutant active
	Noticed map[string]Notice // what noticed each mutant, by the mutant's name

	mu   sync.Mutex
	file string
}

// Notice names the test and package that noticed a mutant; the zero Notice means none.
type Notice struct{ Pkg, Test string }

type options struct {
	root, folder, only, kinds string
	jobs                      int
	budget                    time.Duration
	equivalent                map[string]string
}

func run(ctx context.Context, out io.Writer, o options) error {
	match, err := regexp.Compile(o.only)
	if err != nil {
		return err
	}
	kinds, err := kindsOf(o.kinds)
	if err != nil {
		return err
	}
	root, err := filepath.Abs(o.root)
	if err != nil {
		return err
	}
	folder, err := filepath.Abs(o.folder)
	if err != nil {
		return err
	}
	all, err := find(root)
	if err != nil {
		return err
	}
	if err := known(all, o.equivalent); err != nil {
		return err
	}
	file, err := overlay(root, filepath.Join(folder, "_sources"), all)
	if err != nil {
		return err
	}
	var judged []Mutant
	for _, m := range all {
		if match.MatchString(m.Name()) && slices.Contains(kinds, m.Kind) {
			judged = append(judged, m)
		}
	}
	fmt.Fprintf(out, "%d mutants, %d of them to be tested; building the tests\n", len(all), len(judged))
	s := &suite{root: root, folder: folder, jobs: o.jobs, budget: o.budget}
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
	if err := s.judge(ctx, out, f, judged, o.equivalent); err != nil {
		return err
	}
	return tell(out, judged, f.Noticed, o.equivalent)
}

// kindsOf returns the kinds in a list separated by commas; all kinds if it is empty.
func kindsOf(list string) (all []Kind, err error) {
	if list == "" {
		return everyKind, nil
	}
	for name := range strings.SplitSeq(list, ",") {
		if !slices.Contains(everyKind, Kind(name)) {
			return nil, fmt.Errorf("%q is not a kind of mutants; the kinds are %v", name, everyKind)
		}
		all = append(all, Kind(name))
	}
	return all, nil
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

// affordable returns the first batches that fit the budget, and at least one. whole reports
// whether these are all batches.
func (s *suite) affordable(batches [][]Unit) (first [][]Unit, whole bool) {
	var sum time.Duration
	for i, batch := range batches {
		for _, u := range batch {
			sum += u.Took
		}
		if s.budget > 0 && sum > s.budget && i > 0 {
			return batches[:i], false
		}
	}
	return batches, true
}

// estimate returns how long it takes to test the mutants that have no result yet. It assumes
// that the first batch of tests notices most mutants.
func (s *suite) estimate(f *found, all []Mutant, equivalent map[string]string) time.Duration {
	const start = 300 * time.Millisecond // the start of a test's process
	var sum time.Duration
	for _, m := range all {
		if _, done := f.Noticed[m.Name()]; done || equivalent[m.Name()] != "" {
			continue
		}
		affordable, _ := s.affordable(batches(f.Units, m))
		for i, batch := range affordable {
			took := start
			for _, u := range batch {
				took += u.Took
			}
			if i > 0 {
				took /= oneIn
			}
			sum += took
		}
	}
	return (sum / time.Duration(s.jobs)).Round(time.Minute)
}

// One mutant in oneIn is assumed to escape the first batch of its tests.
const oneIn = 10

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

// meetAll runs each new unit in a process of its own, to learn which mutants it reaches.
func (s *suite) meetAll(ctx context.Context, out io.Writer, f *found) error {
	all, err := s.units(ctx)
	if err != nil {
		return err
	}
	all = slices.DeleteFunc(all, func(u Unit) bool {
		return slices.ContainsFunc(f.Units, func(k Unit) bool { return u.Pkg == k.Pkg && u.Above == k.Above && u.Test == k.Test })
	})
	if len(all) > 0 {
		fmt.Fprintf(out, "running the tests without any mutant, except those known from an earlier run\n")
	}
	err = atOnce(s.jobs, len(all), func(i int) error {
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

// judge takes each mutant without a known result, and looks for a test that notices it.
func (s *suite) judge(ctx context.Context, out io.Writer, f *found, all []Mutant, equivalent map[string]string) error {
	began := time.Now()
	fmt.Fprintf(out, "testing the mutants, which takes about %s\n", s.estimate(f, all, equivalent))
	err := atOnce(s.jobs, len(all), func(i int) error {
		name := all[i].Name()
		f.mu.Lock()
		_, done := f.Noticed[name]
		f.mu.Unlock()
		if done || equivalent[name] != "" || ctx.Err() != nil {
			return nil
		}
		var by Notice
		affordable, whole := s.affordable(batches(f.Units, all[i]))
		for _, batch := range affordable {
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
		if by != (Notice{}) || whole {
			f.Noticed[name] = by
		}
		if by == (Notice{}) {
			fmt.Fprintf(out, "%5.0f s: %s: not noticed\n", time.Since(began).Seconds(), all[i])
		}
		return f.save()
	})
	return cmp.Or(ctx.Err(), err)
}

func atOnce(most, n int, do func(i int) error) error {
	var work errgroup.Group
	work.SetLimit(most)
	for i := range n {
		work.Go(func() error { return do(i) })
	}
	return work.Wait()
}
