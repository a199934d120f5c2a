package main

import (
	"strings"
	"testing"
	"time"
)

// What is beyond a bound is named, and nothing else.
func TestVerdict(t *testing.T) {
	hello := &function{name: hello, zip: 3 << 20, least: 3 * time.Millisecond}
	for _, x := range []struct {
		function
		problem string // "" for none
	}{
		{function{name: "dm", zip: 6 << 20, least: 6 * time.Millisecond}, ""},
		{function{name: "dm", zip: 6<<20 + 1, least: time.Millisecond}, "dm: its zip is 2.00 times hello's"},
		{function{name: "dm", zip: 1, least: 7 * time.Millisecond}, "dm: it takes 2.33 times as long"},
		{function{name: "mcp", zip: 6<<20 + 1, least: 7 * time.Millisecond}, ""},
		{function{name: "mcp", zip: 7 << 20, least: time.Millisecond}, "mcp: its zip is 2.33 times hello's"},
		{function{name: "mcp", zip: 1, least: 10 * time.Millisecond}, "mcp: it takes 3.33 times as long"},
	} {
		err := verdict([]*function{hello, &x.function})
		if (err == nil) != (x.problem == "") || err != nil && !strings.Contains(err.Error(), x.problem) {
			t.Errorf("%s of %d bytes and %s: %v, want %q", x.name, x.zip, x.least, err, x.problem)
		}
	}
	heavy := &function{name: "hello", zip: 16 << 20, least: 1}
	if err := verdict([]*function{heavy}); err == nil || !strings.Contains(err.Error(), "bytes") {
		t.Errorf("a zip of 16 MB: %v", err)
	}
}

// Every function that may be heavier is one.
func TestHeavier(t *testing.T) {
	all := strings.Join(names(), " ")
	for name := range heavier {
		if !strings.Contains(" "+all+" ", " "+name+" ") {
			t.Errorf("there is no function %s among %s", name, all)
		}
	}
}
