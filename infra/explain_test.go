package main

import (
	"bytes"
	"crypto/rand"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

func TestExplained(t *testing.T) {
	used := map[string]bool{}
	deployments(t, func(t *testing.T, s *service) {
		counts := map[string]int{}
		for _, r := range s.Resources {
			counts[r.Type]++
			used[r.Type] = true
		}
		if err := checkExplained(counts); err != nil {
			t.Error(err)
		}
		if err := checkCount(len(s.Resources)); err != nil {
			t.Error(err)
		}
	})
	for i, k := range kinds {
		if !used[k.Type] {
			t.Errorf("kinds explains %s, but no deployment has one; remove it", k.Type)
		}
		if k.For == "" || i > 0 && k.Type <= kinds[i-1].Type {
			t.Errorf("%s has no purpose, or is not in alphabetical order", k.Type)
		}
	}
}

// described maps types to the property with their description.
var described = map[string]string{
	"AWS::ApiGatewayV2::Api":         "Description",
	"AWS::ApiGatewayV2::Integration": "Description",
	"AWS::ApiGatewayV2::Stage":       "Description",
	"AWS::CloudWatch::Alarm":         "AlarmDescription",
	"AWS::IAM::Role":                 "Description",
	"AWS::Lambda::Function":          "Description",
	"AWS::Scheduler::Schedule":       "Description",
	"AWS::SecretsManager::Secret":    "Description",
}

func TestDescribed(t *testing.T) {
	deployments(t, func(t *testing.T, s *service) {
		for id, r := range s.Resources {
			if name := described[r.Type]; name != "" && plain(r.Properties[name]) == "" {
				t.Errorf("%s (%s) has no %s", id, r.Type, name)
			}
		}
		for id, f := range s.all("AWS::Lambda::Function") {
			if n := len(plain(f.Properties["Description"])); n > 256 {
				t.Errorf("%s has a description of %d characters; Lambda allows 256", id, n)
			}
		}
	})
}

func TestExplain(t *testing.T) {
	s := of(t, whole)
	folder := filepath.Join(scratch, "everything", "cdk.out")
	var out bytes.Buffer
	if err := explain(&out, folder); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		`(?m)^agentsocial-prod: \d+ resources$`,
		`(?m)^ +1 +AWS::DynamoDB::Table +- +the single table`,
		`(?m)^ +3 +AWS::SecretsManager::Secret +2\.00 +a key that encrypts tokens`, // three secrets, and two replicas
		fmt.Sprintf(`(?m)^ +\d+ +AWS::CloudWatch::Alarm +%.2f +tells`, float64(s.alarmed())*0.10),
		`(?m)^ +USD a month without calls +\d+\.\d\d`,
		`(?m)^ +\d+ zips, the heaviest 0\.0 MB \(`,
	} {
		if !regexp.MustCompile(want).MatchString(out.String()) {
			t.Errorf("output: want a match of %s, got\n%s", want, &out)
		}
	}
	if err := explain(&out, t.TempDir()); err == nil || !strings.Contains(err.Error(), "make synth") {
		t.Errorf("an empty folder: got %v, want an error that names make synth", err)
	}
}

func TestExplainRefuses(t *testing.T) {
	many := `"a":{"Type":"AWS::S3::Bucket"}`
	for range 399 {
		many += `,"` + rand.Text() + `":{"Type":"AWS::S3::Bucket"}`
	}
	noise := make([]byte, maxZip) // does not compress
	if _, err := rand.Read(noise); err != nil {
		t.Fatal(err)
	}
	const oneZip = `{"files":{"x":{"displayName":"docs/Code","source":{"path":"asset.x","packaging":"zip"}}}}`
	for name, c := range map[string]struct{ template, assets, bootstrap, want string }{
		"unexplained": {`{"Resources":{"a":{"Type":"AWS::EC2::VPC"}}}`, oneZip, "x", "resource type AWS::EC2::VPC has no explanation"},
		"too many":    {`{"Resources":{` + many + `}}`, oneZip, "x", "400 resources; stay under 400"},
		"too heavy":   {`{"Resources":{}}`, oneZip, string(noise), "docs/Code: a zip of 15.0 MB"},
		"no zips":     {`{"Resources":{}}`, `{"files":{}}`, "x", "names no zip"},
		"no manifest": {`{"Resources":{}}`, "", "x", "no such file"},
		"broken":      {`{`, oneZip, "x", "x.template.json: "},
	} {
		t.Run(name, func(t *testing.T) {
			folder := t.TempDir()
			write := func(path, content string) {
				t.Helper()
				path = filepath.Join(folder, path)
				if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			write("x.template.json", c.template)
			write("asset.x/bootstrap", c.bootstrap)
			if c.assets != "" {
				write("x.assets.json", c.assets)
			}
			if err := explain(&bytes.Buffer{}, folder); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want %s", err, c.want)
			}
		})
	}
}
