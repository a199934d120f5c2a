package main

import (
	"fmt"
	"io"
)

// report prints and counts the outcomes of checks.
type report struct {
	out           io.Writer
	oks, failures int
	notLookedAt   int
}

func (r *report) ok(what, format string, args ...any) {
	r.oks++
	r.line("ok", what, format, args...)
}

func (r *report) fail(what, remedy, format string, args ...any) {
	r.failures++
	r.line("FAILED", what, format, args...)
	if remedy != "" {
		fmt.Fprintf(r.out, "               %s\n", remedy)
	}
}

func (r *report) skip(what, format string, args ...any) {
	r.notLookedAt++
	r.line("not looked at", what, format, args...)
}

func (r *report) line(state, what, format string, args ...any) {
	fmt.Fprintf(r.out, "%-13s  %s: %s\n", state, what, fmt.Sprintf(format, args...))
}

// end prints the counts, and returns an error if a check failed.
func (r *report) end() error {
	fmt.Fprintf(r.out, "\n%d ok, %d failed, %d not looked at\n", r.oks, r.failures, r.notLookedAt)
	if r.failures > 0 {
		return fmt.Errorf("%d checks failed", r.failures)
	}
	return nil
}
