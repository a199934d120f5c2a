package main

import (
	"strings"
	"testing"
	"time"
)

func TestVerdict(t *testing.T) {
	hello := &function{name: hello, zip: 3 << 20, least: 3 * time.Millisecond}
	for _, x := range []struct {
		function
		problem string // "" for none
	}{
		{function{name: "dm", zip: 6 << 20, least: 6 * time.Millisecond}, ""},
		{function{name: "dm", zip: 6<<20 + 1, least: time.Millisecond}, "dm: its zip is 2.00 times hello's"},
		{function{name: "dm", zip: 1, least: 7 * time.Millisecond}, "dm: it takes 2.33 times as long"},
	} {
		err := verdict([]*function{hello, &x.function})
		if (err == nil) != (x.problem == "") || err != nil && !strings.Contains(err.Error(), x.problem) {
			t.Errorf("%s of %d bytes and %s: got %v, want %q", x.name, x.zip, x.least, err, x.problem)
		}
	}
	heavy := &function{name: "hello", zip: 16 << 20, least: 1}
	if err := verdict([]*function{heavy}); err == nil || !strings.Contains(err.Error(), "bytes") {
		t.Errorf("a zip of 16 MB: got %v, want an error with its bytes", err)
	}
}
