package main

import (
	"errors"
	"reflect"
	"testing"
)

func TestFailures(t *testing.T) {
	said := func(checks ...string) (out string) {
		for _, c := range checks {
			out += "2026-11-21T22:18:27.123Z " + c + " what it is about\n"
		}
		return out + "the end"
	}
	exit := errors.New("exit status 1")
	for want, got := range map[string]string{
		"":                         failures(said("[tools-list    ] SUCCESS", "[sep-2549-prompts-list-caching-hints] FAILURE", "[sep-x] SKIPPED"), exit),
		"sep-a, sep-b":             failures(said("[tools-list] SUCCESS", "[sep-a  ] FAILURE", "[sep-b] WARNING"), exit),
		"exit status 1: the end":   failures(said("[sep-2549-prompts-list-caching-hints] FAILURE"), exit), // nothing passed
		"exit status 1: not found": failures("not found\n", exit),
	} {
		if got != want {
			t.Errorf("failures: got %q, want %q", got, want)
		}
	}
}

// A generator that warns has failed, even if it exits with status 0.
func TestWarning(t *testing.T) {
	exit := errors.New("exit status 1")
	for _, x := range []struct {
		out  string
		err  error
		want string
	}{
		{"Generating .\n", nil, ""},
		{"Generating .\nWarning(s) encountered\n", nil, "it warned: Generating . Warning(s) encountered"},
		{" ⚠  no such type\n", nil, "it warned: ⚠ no such type"},
		{"no such file\n", exit, "exit status 1: no such file"},
		{"WARNING: x\n", exit, "exit status 1 it warned: WARNING: x"},
	} {
		if got := warning(x.out, x.err); got != x.want {
			t.Errorf("output %q and error %v: got %q, want %q", x.out, x.err, got, x.want)
		}
	}
}

// A skipped or missing scenario has not passed.
func TestScenariosIn(t *testing.T) {
	both := "=== SUMMARY ===\n✓ metadata-endpoint: 2 passed, 0 failed\n✓ code-grant: 1 passed, 0 failed\n\nTotal: 3 passed, 0 failed\n"
	for _, x := range []struct {
		out  string
		err  error
		want []result
	}{
		{both, nil, []result{{"metadata-endpoint", ""}, {"code-grant", ""}}},
		{"✗ a: 1 passed, 1 failed\n✓ b: 0 passed, 0 failed\nend", errors.New("exit status 1"), []result{
			{"a", "✗ a: 1 passed, 1 failed"}, {"b", "✓ b: 0 passed, 0 failed"}, {"end", "exit status 1: end"},
		}},
		{"✓ a: 1 passed, 0 failed\n", nil, []result{{"a", ""}, {"end", "got 1 scenarios, want at least 2: ✓ a: 1 passed, 0 failed"}}},
	} {
		if got := scenariosIn(x.out, x.err); !reflect.DeepEqual(got, x.want) {
			t.Errorf("output %q and error %v: got %v, want %v", x.out, x.err, got, x.want)
		}
	}
}
