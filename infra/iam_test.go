package main

import (
	"cmp"
	"flag"
	"fmt"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "rewrite testdata/iam.txt")

// TestGoldenRights compares all rights with testdata/iam.txt, which people review. When you
// review its diff, ask what an intruder in one function gains.
func TestGoldenRights(t *testing.T) {
	const file = "testdata/iam.txt"
	got := rightsIn(&of(t, whole).template)
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("infra/%s differs from the deployment's rights; run make golden, and have its diff reviewed:\n%s",
			file, difference(string(want), got))
	}
}

func TestRightsInAnything(t *testing.T) {
	s := of(t, whole)
	before := rightsIn(&s.template)
	allow := []any{map[string]any{"Effect": "Allow", "Action": "x:Y", "Resource": "*", "Principal": "*"}}
	for what, r := range map[string]resource{
		"policy":        {Type: "AWS::IAM::Policy", Properties: map[string]any{"PolicyDocument": map[string]any{"Statement": allow}}},
		"nested policy": {Type: "AWS::Any::Thing", Properties: map[string]any{"A": []any{map[string]any{"B": map[string]any{"Statement": allow}}}}},
		"single":        {Type: "AWS::Any::Thing", Properties: map[string]any{"Policy": map[string]any{"Statement": allow[0]}}},
		"text":          {Type: "AWS::Logs::ResourcePolicy", Properties: map[string]any{"PolicyDocument": `{"Statement":[]}`}},
		"managed":       {Type: "AWS::IAM::Role", Properties: map[string]any{"ManagedPolicyArns": []any{"arn:aws:iam::aws:policy/ReadOnlyAccess"}}},
		"permission":    {Type: "AWS::Lambda::Permission", Properties: map[string]any{"Action": "lambda:InvokeFunction", "Principal": "*"}},
		"function URL":  {Type: "AWS::Lambda::Url", Properties: map[string]any{"AuthType": "NONE"}},
	} {
		changed := s.copy()
		changed.Resources["Added0000ABCD"] = r
		if rightsIn(changed) == before {
			t.Errorf("%s: got the same rights as without it, want it found", what)
		}
	}
}

// rightsIn renders all rights of a template.
func rightsIn(t *template) string {
	var b strings.Builder
	ids := slices.SortedFunc(maps.Keys(t.Resources), func(x, y string) int {
		return cmp.Or(cmp.Compare(logical(x), logical(y)), cmp.Compare(x, y))
	})
	for _, id := range ids {
		r := t.Resources[id]
		var lines []string
		findPolicies(r.Type, r.Properties, func(where string, policy any) {
			lines = append(lines, "  "+where)
			for _, line := range statementLines(policy) {
				lines = append(lines, "    "+line)
			}
		})
		if r.Type == "AWS::Lambda::Permission" || r.Type == "AWS::Lambda::Url" {
			for _, name := range slices.Sorted(maps.Keys(r.Properties)) {
				lines = append(lines, "  "+name+" "+shown(r.Properties[name]))
			}
		}
		if lines != nil {
			fmt.Fprintf(&b, "%s (%s)\n%s\n\n", logical(id), r.Type, strings.Join(lines, "\n"))
		}
	}
	return b.String()
}

// policyProperties matches the names of properties that grant or bound rights.
var policyProperties = regexp.MustCompile(`^(ManagedPolicyArns|PermissionsBoundary|ResourcePolicy|PolicyDocument|Policy|AssumeRolePolicyDocument)$`)

func findPolicies(where string, v any, found func(where string, policy any)) {
	switch v := v.(type) {
	case []any:
		for _, x := range v {
			findPolicies(where, x, found)
		}
	case map[string]any:
		if v["Statement"] != nil {
			found(where, v)
			return
		}
		for _, name := range slices.Sorted(maps.Keys(v)) {
			_, document := v[name].(map[string]any)
			if policyProperties.MatchString(name) && !document {
				found(name, v[name])
				continue
			}
			findPolicies(name, v[name], found)
		}
	}
}

func statementLines(policy any) (lines []string) {
	document, ok := policy.(map[string]any)
	if !ok {
		return []string{shown(policy)}
	}
	statements, ok := document["Statement"].([]any)
	if !ok {
		statements = []any{document["Statement"]}
	}
	for _, x := range statements {
		s := maps.Clone(x.(map[string]any))
		head := strings.TrimSpace(fmt.Sprintf("%v %v", s["Effect"], cmp.Or(plain(s["Sid"]), "(no sid)")))
		delete(s, "Effect")
		delete(s, "Sid")
		lines = append(lines, head)
		for _, name := range slices.Sorted(maps.Keys(s)) {
			values := []string{shown(s[name])}
			if many, ok := s[name].([]any); ok {
				values = nil
				for _, v := range many {
					values = append(values, shown(v))
				}
				slices.Sort(values)
			}
			lines = append(lines, "  "+name+" "+strings.Join(values, ", "))
		}
	}
	return lines
}

var hash = regexp.MustCompile(`([A-Za-z])[0-9A-F]{8}\b`)

// logical returns a name without the digits that the CDK adds.
func logical(id string) string { return hash.ReplaceAllString(id, "$1") }

// shown renders a value for people.
func shown(v any) string { return logical(plain(v)) }

func difference(want, got string) string {
	resources := func(text string) map[string][]string {
		all := map[string][]string{}
		for r := range strings.SplitSeq(strings.TrimSpace(text), "\n\n") {
			lines := strings.Split(r, "\n")
			all[lines[0]] = lines[1:]
		}
		return all
	}
	var out []string
	only := func(sign string, lines, others []string) {
		for _, line := range lines {
			if !slices.Contains(others, line) {
				out = append(out, sign+line)
			}
		}
	}
	old, now := resources(want), resources(got)
	both := maps.Clone(old)
	maps.Copy(both, now)
	for _, r := range slices.Sorted(maps.Keys(both)) {
		if !slices.Equal(old[r], now[r]) {
			out = append(out, "  "+r)
			only("- ", old[r], now[r])
			only("+ ", now[r], old[r])
		}
	}
	return strings.Join(out, "\n")
}

func (t *template) copy() *template {
	c := &template{Resources: map[string]resource{}, Outputs: t.Outputs}
	for id, r := range t.Resources {
		r.Properties, _ = clone(r.Properties).(map[string]any)
		c.Resources[id] = r
	}
	return c
}

func clone(v any) any {
	switch v := v.(type) {
	case map[string]any:
		c := make(map[string]any, len(v))
		for k, x := range v {
			c[k] = clone(x)
		}
		return c
	case []any:
		c := make([]any, len(v))
		for i, x := range v {
			c[i] = clone(x)
		}
		return c
	}
	return v
}
