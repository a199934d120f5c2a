package main

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
)

// template is the part of a CloudFormation template that tests read.
type template struct {
	Resources map[string]resource
	Outputs   map[string]struct{ Value any }
}

type resource struct {
	Type                string
	Properties          map[string]any
	DependsOn           any
	UpdatePolicy        map[string]any
	DeletionPolicy      string
	UpdateReplacePolicy string
}

func (t *template) all(kind string) map[string]resource {
	found := map[string]resource{}
	for id, r := range t.Resources {
		if r.Type == kind {
			found[id] = r
		}
	}
	return found
}

// only returns the single resource of a type.
func (t *template) only(tt *testing.T, kind string) (string, resource) {
	tt.Helper()
	found := t.all(kind)
	if len(found) != 1 {
		tt.Fatalf("got %d resources of type %s, want one", len(found), kind)
	}
	for id, r := range found {
		return id, r
	}
	panic("unreachable")
}

// function returns a function by its name, with which its logical id starts.
func (t *template) function(tt *testing.T, name string) (string, resource) {
	tt.Helper()
	for id, r := range t.all("AWS::Lambda::Function") {
		if strings.HasPrefix(id, name+"Function") {
			return id, r
		}
	}
	tt.Fatalf("there is no function %s", name)
	panic("unreachable")
}

// named returns the single resource of a type whose logical id has the prefix.
func (t *template) named(tt *testing.T, kind, prefix string) (string, resource) {
	tt.Helper()
	var found []string
	for id := range t.all(kind) {
		if strings.HasPrefix(id, prefix) {
			found = append(found, id)
		}
	}
	if len(found) != 1 {
		tt.Fatalf("got %v of type %s whose id starts with %s, want one", found, kind, prefix)
	}
	return found[0], t.Resources[found[0]]
}

// plain renders a value as text. Ref becomes ${Id}, Fn::GetAtt ${Id.Name}, and Fn::Join
// with "" the joined parts. Strings stay as they are, nil becomes "", and all else JSON.
func plain(v any) string {
	switch v := v.(type) {
	case nil:
		return ""
	case string:
		return v
	case map[string]any:
		if len(v) != 1 {
			break
		}
		if ref, ok := v["Ref"]; ok {
			return fmt.Sprintf("${%v}", ref)
		}
		if a, ok := v["Fn::GetAtt"].([]any); ok {
			return fmt.Sprintf("${%v.%v}", a[0], a[1])
		}
		if a, ok := v["Fn::Join"].([]any); ok && a[0] == "" {
			var s string
			for _, part := range a[1].([]any) {
				s += plain(part)
			}
			return s
		}
	}
	b, _ := json.Marshal(v)
	return string(b)
}

// list returns a value as sorted strings; a single value becomes a list of one.
func list(v any) []string {
	values, ok := v.([]any)
	if !ok {
		values = []any{v}
	}
	var s []string
	for _, x := range values {
		s = append(s, plain(x))
	}
	slices.Sort(s)
	return s
}

// expect compares properties, as [plain] renders them, with the wanted texts.
func (r resource) expect(t *testing.T, what string, want map[string]string) {
	t.Helper()
	for name, w := range want {
		if got := plain(r.Properties[name]); got != w {
			t.Errorf("%s: %s is\n  %s\nwant\n  %s", what, name, got, w)
		}
	}
}
