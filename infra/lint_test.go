package main

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// W3005, on redundant DependsOn, is off, because the CDK writes a DependsOn where a
// reference would be enough.
func TestLint(t *testing.T) {
	linter, err := filepath.Abs("../build/venv/bin/cfn-lint")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(linter); errors.Is(err, fs.ErrNotExist) && os.Getenv("CI") != "true" {
		t.Skip("SKIPPED, NOT TESTED: cfn-lint is missing; run `make venv`")
	}
	arguments := []string{"-i", "W3005", "--"}
	for name, which := range map[string]func() (*service, error){"defaults": defaults, "everything": whole, "trial": trial, "provisioned": provisioned, "edge": edged, "restored": restored} {
		of(t, which)
		templates, err := filepath.Glob(filepath.Join(scratch, name, "cdk.out", "*.template.json"))
		if err != nil || len(templates) != 1 {
			t.Fatalf("%s: got templates %v, %v, want one", name, templates, err)
		}
		arguments = append(arguments, templates...)
	}
	if out, err := exec.Command(linter, arguments...).CombinedOutput(); err != nil {
		t.Errorf("cfn-lint: got %v, want no findings:\n%s", err, out)
	}
}
