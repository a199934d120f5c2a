package service_test

import (
	"encoding/json"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
)

type schema struct {
	Ref        string            `json:"$ref"`
	Type       any               `json:"type"` // a name or a list of names
	Properties map[string]schema `json:"properties"`
	Required   []string          `json:"required"`
	Items      *schema           `json:"items"`
	OneOf      []schema          `json:"oneOf"`
	Enum       []any             `json:"enum"`
	Minimum    *float64          `json:"minimum"`
	Maximum    *float64          `json:"maximum"`
	MaxLength  *int              `json:"maxLength"`
	MinLength  *int              `json:"minLength"`
	MaxItems   *int              `json:"maxItems"`
	Pattern    string            `json:"pattern"`
}

func (s schema) is(kind string) bool {
	switch t := s.Type.(type) {
	case string:
		return t == kind
	case []any:
		return slices.Contains(t, any(kind))
	}
	return slices.ContainsFunc(s.OneOf, func(o schema) bool { return o.is(kind) })
}

type operation struct {
	Method, Path string
	Tags         []string
	Parameters   []struct {
		In, Name string
		Required bool
		Schema   schema
	}
	RequestBody *struct {
		Required bool
		Content  map[string]struct{ Schema schema }
	}
	Security   []map[string]any
	LooseQuery bool `json:"x-loose-query"`
}

// signed reports whether the operation needs a credential.
func (o operation) signed() bool { return len(o.Security[0]) > 0 }

type document struct {
	Paths      map[string]map[string]operation
	Components struct{ Schemas map[string]schema }
}

func readDocument(t *testing.T) (operations []operation, schemas map[string]schema) {
	t.Helper()
	b, err := os.ReadFile("../../functions/docs/openapi.json")
	if err != nil {
		t.Fatal(err)
	}
	return parseDocument(t, b)
}

func parseDocument(t *testing.T, b []byte) (operations []operation, schemas map[string]schema) {
	t.Helper()
	var d document
	if err := json.Unmarshal(b, &d); err != nil {
		t.Fatal(err)
	}
	for path, item := range d.Paths {
		for method, o := range item {
			o.Method, o.Path = strings.ToUpper(method), path
			operations = append(operations, o)
		}
	}
	slices.SortFunc(operations, func(a, b operation) int { return strings.Compare(a.Path+a.Method, b.Path+b.Method) })
	return operations, d.Components.Schemas
}

// wrong returns JSON values that the schema refuses.
func (s schema) wrong(required bool) (values []string) {
	for _, v := range []struct{ kind, value string }{
		{"boolean", "true"}, {"integer", "7"}, {"number", "7.5"}, {"integer", "1e400"}, {"integer", "99999999999999999999"},
		{"integer", "-99999999999999999999999999"}, {"string", `"x"`}, {"object", "{}"}, {"object", `{"a":{"b":[]}}`},
		{"array", "[]"}, {"array", `["x"]`},
	} {
		if !s.is(v.kind) {
			values = append(values, v.value)
		}
	}
	if s.is("integer") {
		values = append(values, "7.5", "1e400", "99999999999999999999", "-99999999999999999999", `"7"`)
	}
	if s.is("array") {
		values = append(values, "[7]", "[null]", "[[]]", "[{}]", "[true]")
	}
	if s.MaxItems != nil {
		values = append(values, encode(slices.Repeat([]string{"a"}, *s.MaxItems+1)))
	}
	if s.MaxLength != nil {
		values = append(values, encode(strings.Repeat("a", *s.MaxLength+1)), encode(strings.Repeat("🦊", *s.MaxLength+1)))
	}
	if s.MinLength != nil {
		values = append(values, encode(strings.Repeat("a", *s.MinLength-1)))
	}
	if s.Enum != nil {
		values = append(values, `"none of them"`, `""`)
	}
	if s.Pattern != "" {
		values = append(values, `"A b"`, `"fox\n"`, `"\u0000\u0000"`, `"🦊🦊"`)
	}
	if required {
		values = append(values, "null")
	}
	return values
}

// good has JSON values for the required members that do not accept "x".
var good = map[string]string{
	"handle": `"fox"`, "name": `"burrow"`, "kind": `"work"`, "emoji": `"🦊"`, "body": `"hello"`, "answer": "7",
	"pubkey": `"11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"`, "code": `"AAAA-AAAA"`, "email": `"fox@example.org"`,
	"usd": "7", "days": "7",
}

// example returns an object with the required members. member gets the value; an empty
// value leaves it out.
func (s schema) example(member, value string) string {
	var members []string
	names := slices.Clone(s.Required)
	if !slices.Contains(names, member) && member != "" {
		names = append(names, member)
	}
	for _, name := range names {
		v := good[name]
		if known := s.Properties[name].Enum; known != nil {
			v = encode(known[0])
		}
		if t := s.Properties[name]; t.is("array") && !t.is("string") {
			v = `["x"]`
		}
		if name == member {
			if v = value; v == "" {
				continue
			}
		}
		if v == "" {
			v = `"x"`
		}
		members = append(members, strconv.Quote(name)+":"+v)
	}
	return "{" + strings.Join(members, ",") + "}"
}
