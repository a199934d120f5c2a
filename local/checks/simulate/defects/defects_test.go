package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Each defect is still a change of one place.
func TestDefects(t *testing.T) {
	for _, d := range defects {
		text, err := os.ReadFile(filepath.Join("../../../..", d.file))
		if err != nil {
			t.Error(err)
			continue
		}
		if n := strings.Count(string(text), d.old); n != 1 || d.old == d.new {
			t.Errorf("%s: %s has %d times %q, want once", d.name, d.file, n, d.old)
		}
	}
}
