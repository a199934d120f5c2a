// Command defects plants defects in the service's rules, one at a time, and prints what
// finds each: the simulation within 10 000 operations, or a test of the nearest
// packages. `make simulate-defects`
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
	"strings"
	"syscall"
	"time"
)

func main() {
	only := flag.String("only", "", "only defects whose name matches")
	ops := flag.Int("ops", 10_000, "operations of the simulation")
	seeds := flag.String("seeds", "1 2", "seeds of its worlds")
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
	missed := 0
	for i, d := range defects {
		if !match.MatchString(d.name) {
			continue
		}
		began := time.Now()
		by, err := find(ctx, filepath.Join(folder, fmt.Sprint(i)), d, ops, seeds)
		if err != nil {
			return fmt.Errorf("%s: %w", d.name, err)
		}
		if by == "" {
			by = "NOTHING"
			missed++
		}
		fmt.Fprintf(out, "%-45s %4.0f s  %s\n", d.name, time.Since(began).Seconds(), by)
	}
	if missed > 0 {
		return fmt.Errorf("%d defects were not found", missed)
	}
	return nil
}

// plant writes the file with the defect and an overlay that puts it in the place of
// the original (go help build), and returns the overlay.
func plant(folder string, d defect) (string, error) {
	text, err := os.ReadFile(d.file)
	if err != nil {
		return "", err
	}
	if n := strings.Count(string(text), d.old); n != 1 {
		return "", fmt.Errorf("%s has %d times %q, want once", d.file, n, d.old)
	}
	if folder, err = filepath.Abs(folder); err != nil {
		return "", err
	}
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return "", err
	}
	planted := filepath.Join(folder, filepath.Base(d.file))
	if err := os.WriteFile(planted, []byte(strings.Replace(string(text), d.old, d.new, 1)), 0o644); err != nil {
		return "", err
	}
	original, err := filepath.Abs(d.file)
	if err != nil {
		return "", err
	}
	overlay, err := json.Marshal(map[string]map[string]string{"Replace": {original: planted}})
	if err != nil {
		return "", err
	}
	file := filepath.Join(folder, "overlay.json")
	return file, os.WriteFile(file, overlay, 0o644)
}

var (
	violation = regexp.MustCompile(`(?m)^seed (\d+):.*VIOLATION: (operation \d+: [a-z]+: .{0,120})`)
	failed    = regexp.MustCompile(`(?m)^\s*--- FAIL: (\S+)`)
)

// find returns what finds a defect; "" if nothing does.
func find(ctx context.Context, folder string, d defect, ops int, seeds string) (by string, err error) {
	overlay, err := plant(folder, d)
	if err != nil {
		return "", err
	}
	program := filepath.Join(folder, "simulate")
	build := exec.CommandContext(ctx, "go", "test", "-vet=off", "-c", "-overlay", overlay, "-o", program, "./local/checks/simulate")
	if text, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("%w\n%s", err, text)
	}
	defer os.Remove(program)
	text, _ := exec.CommandContext(ctx, program, "-test.run=^TestWorlds$", "-test.timeout=0", "-worlds", "-shortened=false",
		fmt.Sprintf("-ops=%d", ops), "-seeds="+seeds).CombinedOutput() // it fails if it finds something
	if m := violation.FindSubmatch(text); m != nil {
		return fmt.Sprintf("simulation, seed %s, %s", m[1], m[2]), nil
	}
	if !bytes.Contains(text, []byte("nothing found")) {
		return "", fmt.Errorf("the simulation did not run:\n%s", text)
	}
	for _, pkg := range d.tests {
		text, err := exec.CommandContext(ctx, "go", "test", "-vet=off", "-short", "-overlay", overlay, pkg).CombinedOutput()
		if m := failed.FindSubmatch(text); err != nil && m != nil {
			return fmt.Sprintf("%s in %s", m[1], pkg), nil
		}
		if ctx.Err() != nil {
			return "", ctx.Err()
		}
	}
	return "", nil
}
