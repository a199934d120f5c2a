// Command defects plants defects in the service's rules, one at a time, and prints what
// finds each: the simulation, or a test. `make simulate-defects`
//
// All defects are built into one program. An environment variable activates one.
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"time"
)

func main() {
	only := flag.String("only", "", "only defects whose name matches this regular expression")
	ops := flag.Int("ops", 10_000, "operations of the simulation")
	seeds := flag.String("seeds", "1 2", "seeds of the simulation's worlds")
	folder := flag.String("folder", "build/defects", "folder for what is built")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, os.Stdout, *folder, *only, *ops, *seeds); err != nil {
		fmt.Fprintln(os.Stderr, "defects:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, out io.Writer, folder, only string, ops int, seeds string) error {
	match, err := regexp.Compile(only)
	if err != nil {
		return err
	}
	s := &search{ops: ops, seeds: seeds}
	if s.overlay, err = plant(".", folder, defects); err != nil {
		return err
	}
	if s.program, err = filepath.Abs(filepath.Join(folder, "simulate")); err != nil {
		return err
	}
	build := exec.CommandContext(ctx, "go", "test", "-vet=off", "-c", "-overlay", s.overlay, "-o", s.program, "./local/checks/simulate")
	if text, err := build.CombinedOutput(); err != nil {
		return fmt.Errorf("%w\n%s", err, text)
	}
	if by, err := s.simulate(ctx, 0); err != nil {
		return fmt.Errorf("without a defect: %w", err)
	} else if by != "" {
		return fmt.Errorf("without a defect, the simulation finds: %s", by)
	}
	missed := 0
	for i, d := range defects {
		if !match.MatchString(d.name) {
			continue
		}
		began := time.Now()
		by, err := s.find(ctx, i+1, d)
		if err != nil {
			return fmt.Errorf("%s: %w", d.name, err)
		}
		if by == "" {
			by = "NOTHING"
			missed++
		}
		fmt.Fprintf(out, "%-42s %4.0f s  %s\n", d.name, time.Since(began).Seconds(), by)
	}
	if missed > 0 {
		return fmt.Errorf("%d defects were not found", missed)
	}
	return nil
}

// envPlanted is the environment variable with the number of the active defect, from 1.
const envPlanted = "PLANTED"

// planted is the source of the package that the changed lines use.
const planted = `// Package planted chooses between wrong and right.
package planted

import (
	"os"
	"strconv"
)

var active, _ = strconv.Atoi(os.Getenv("` + envPlanted + `"))

// Is reports whether defect n is active.
func Is(n int) bool { return n == active }

// Or returns wrong if defect n is active, else right.
func Or[T any](n int, wrong, right T) T {
	if Is(n) {
		return wrong
	}
	return right
}
`

// plant writes the changed files of the module at root, and an overlay for go build. It
// returns the overlay's path.
func plant(root, folder string, defects []defect) (string, error) {
	root, err := filepath.Abs(root)
	if err != nil {
		return "", err
	}
	if folder, err = filepath.Abs(folder); err != nil {
		return "", err
	}
	sources := filepath.Join(folder, "_sources") // the go command ignores _sources
	if err := os.MkdirAll(sources, 0o755); err != nil {
		return "", err
	}
	texts := map[string]string{filepath.Join("local", "checks", "simulate", "defects", "planted", "planted.go"): planted}
	for i, d := range defects {
		text, ok := texts[d.file]
		if !ok {
			b, err := os.ReadFile(filepath.Join(root, d.file))
			if err != nil {
				return "", err
			}
			clause := regexp.MustCompile(`(?m)^package \w+$`)
			text = clause.ReplaceAllString(string(b), "$0\n\nimport \"agentsocial/local/checks/simulate/defects/planted\"")
		}
		if n := strings.Count(text, d.old); n != 1 {
			return "", fmt.Errorf("%s: %s has %q %d times, want once", d.name, d.file, d.old, n)
		}
		texts[d.file] = strings.Replace(text, d.old, strings.ReplaceAll(d.new, "$N", strconv.Itoa(i+1)), 1)
	}
	replace := map[string]string{}
	for file, text := range texts {
		changed := filepath.Join(sources, strings.ReplaceAll(file, string(filepath.Separator), "+"))
		replace[filepath.Join(root, file)] = changed
		if err := os.WriteFile(changed, []byte(text), 0o644); err != nil {
			return "", err
		}
	}
	b, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		return "", err
	}
	file := filepath.Join(folder, "overlay.json")
	return file, os.WriteFile(file, b, 0o644)
}

type search struct {
	overlay, program string
	ops              int
	seeds            string
}

var (
	violation = regexp.MustCompile(`(?m)^seed (\d+):.*VIOLATION: (operation \d+: [a-z]+: .{0,120})`)
	failed    = regexp.MustCompile(`(?m)^\s*--- FAIL: (\S+)`)
)

func (s *search) simulate(ctx context.Context, n int) (string, error) {
	cmd := exec.CommandContext(ctx, s.program, "-test.run=^TestWorlds$", "-test.timeout=0", "-worlds", "-shortened=false",
		fmt.Sprintf("-ops=%d", s.ops), "-seeds="+s.seeds)
	cmd.Env = append(os.Environ(), fmt.Sprintf("%s=%d", envPlanted, n))
	text, _ := cmd.CombinedOutput() // it fails if it finds something
	if m := violation.FindSubmatch(text); m != nil {
		return fmt.Sprintf("simulation, seed %s, %s", m[1], m[2]), nil
	}
	if !bytes.Contains(text, []byte("nothing found")) {
		return "", fmt.Errorf("the simulation did not run:\n%s", text)
	}
	return "", nil
}

// find returns the name of what finds a defect, or "" if nothing does.
func (s *search) find(ctx context.Context, n int, d defect) (string, error) {
	by, err := s.simulate(ctx, n)
	if by != "" || err != nil {
		return by, err
	}
	for _, pkg := range d.tests {
		cmd := exec.CommandContext(ctx, "go", "test", "-vet=off", "-short", "-overlay", s.overlay, pkg)
		cmd.Env = append(os.Environ(), fmt.Sprintf("%s=%d", envPlanted, n))
		text, err := cmd.CombinedOutput()
		if m := failed.FindSubmatch(text); err != nil && m != nil {
			return fmt.Sprintf("%s in %s", m[1], pkg), nil
		}
		if ctx.Err() != nil {
			return "", ctx.Err()
		}
	}
	return "", nil
}
