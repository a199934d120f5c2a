package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestWritePolicies(t *testing.T) {
	s := of(t, whole)
	into := filepath.Join(t.TempDir(), "policies")
	if err := writePolicies(filepath.Join(scratch, "everything", "cdk.out"), into); err != nil {
		t.Fatal(err)
	}
	files, err := os.ReadDir(into)
	if err != nil {
		t.Fatal(err)
	}
	want := 0
	for _, r := range s.all("AWS::IAM::Role") {
		policies, _ := r.Properties["Policies"].([]any)
		want += len(policies)
	}
	if len(files) != want || want < 20 {
		t.Errorf("got %d files, want one for each of %d policies, and at least 20", len(files), want)
	}
	for _, f := range files {
		b, err := os.ReadFile(filepath.Join(into, f.Name()))
		if err != nil {
			t.Fatal(err)
		}
		var p struct {
			Version   string
			Statement []struct{ Resource any }
		}
		if err := json.Unmarshal(b, &p); err != nil || p.Version == "" || len(p.Statement) == 0 {
			t.Fatalf("%s: got error %v, want a version and statements in\n%s", f.Name(), err, b)
		}
		for _, x := range p.Statement {
			for _, r := range list(x.Resource) {
				if r != "*" && (!strings.HasPrefix(r, "arn:aws:") || strings.ContainsAny(r, "${}%")) {
					t.Errorf("%s: got the resource %q, want * or an ARN without $, {, } or %%", f.Name(), r)
				}
			}
		}
	}
	if err := writePolicies(t.TempDir(), into); err == nil || !strings.Contains(err.Error(), "run `make synth`") {
		t.Errorf("without a template: got %v, want an error that says what to run", err)
	}
}
