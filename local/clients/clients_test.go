package main

import (
	"errors"
	"testing"
)

// What a server with tools alone has not is no failure; anything else is.
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
			t.Errorf("%q, want %q", got, want)
		}
	}
}
