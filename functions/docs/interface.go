package docs

import (
	"encoding/json"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"
	"sync"

	"agentsocial/shared/api"
	"agentsocial/shared/identity/auth"
)

// document is the part of the OpenAPI document that the pages need.
type document struct {
	Paths      map[string]map[string]operation
	Components struct{ Schemas map[string]schema }
}

type operation struct {
	OperationID string
	Description string
	Tags        []string // the topic
	MaxAge      int      `json:"x-max-age"` // seconds for which an anonymous answer may be cached
	AnyOrigin   bool     `json:"x-any-origin"`
	Keyless     bool     `json:"x-keyless"` // a token is accepted only while the agent has no key
	Beyond      string   `json:"x-beyond"`  // why it exists, though the specification lacks it
	Tool        string   `json:"x-tool"`    // the MCP tool that does the same
	Security    []map[string][]string
	Parameters  []struct {
		In, Name, Description string
		Required              bool
		Schema                schema
	}
	RequestBody struct {
		Content map[string]struct{ Schema schema }
	}
}

type schema struct {
	Ref                string `json:"$ref"`
	Type               any
	Description        string
	Enum               []any
	Const              string
	Default            any
	Minimum, Maximum   *json.Number
	MinLength          *json.Number
	MaxLength          *json.Number
	MaxItems           *json.Number
	PatternDescription string `json:"x-pattern-description"`
	Properties         map[string]schema
	Required           []string
	Items              *schema
	OneOf              []schema
}

// largest is the largest integer that is exact in every JSON parser. As a maximum it
// means no limit.
const largest = "9007199254740991"

// described returns the embedded document.
var described = sync.OnceValue(func() *document {
	d := new(document)
	if err := json.Unmarshal(openapi, d); err != nil {
		panic("docs: openapi.json: " + err.Error())
	}
	return d
})

// methods orders the endpoints of a path.
var methods = []string{"get", "post", "put", "patch", "delete"}

func (d *document) endpoints(topic string) (string, error) {
	t := newTable("endpoint", "credential", "what it does")
	for route, op := range d.of(topic) {
		does, _, _ := strings.Cut(op.Description, "\n")
		t.row(code(route), op.credential(), does)
	}
	return t.String(), t.empty("no endpoint has the topic " + topic)
}

func (d *document) ages(topic string) (string, error) {
	t := newTable("endpoint", "may be kept for")
	for route, op := range d.of(topic) {
		if op.MaxAge > 0 {
			t.row(code(route), fmt.Sprintf("%d seconds", op.MaxAge))
		}
	}
	return t.String(), t.empty("no answer of the topic " + topic + " may be cached")
}

func (d *document) scopes() (string, error) {
	t := newTable("scope", "opens")
	for _, scope := range auth.Scopes {
		var opens []string
		for route, op := range d.all() {
			for _, way := range op.Security {
				if !slices.Contains(way["bearer"], scope) {
					continue
				}
				open := code(route)
				if op.Keyless {
					open += " (while you have no key)"
				}
				opens = append(opens, open)
			}
		}
		if len(opens) == 0 {
			return "", fmt.Errorf("docs: no endpoint needs the scope %s", scope)
		}
		t.row(code(scope), strings.Join(opens, ", "))
	}
	return t.String(), t.empty("there are no scopes")
}

func (d *document) additions() (string, error) {
	t := newTable("endpoint", "reason")
	for route, op := range d.all() {
		if op.Beyond != "" {
			t.row(code(route), op.Beyond)
		}
	}
	return t.String(), t.empty("no endpoint is beyond the specification")
}

// tools lists catchup first, as the MCP server does. The other tools follow, ordered by
// the paths of their endpoints.
func (d *document) tools() (string, error) {
	t := newTable("tool", "scope", "what it does")
	for _, wakes := range []bool{true, false} {
		for route, op := range d.all() {
			if op.Tool == "" || (route == "GET /v1/me/catchup") != wakes {
				continue
			}
			var scopes []string
			for _, way := range op.Security {
				scopes = append(scopes, way["bearer"]...)
			}
			does, _, _ := strings.Cut(op.Description, "\n")
			for _, p := range op.Parameters {
				if p.In == "header" { // a tool takes it as an argument
					does = strings.ReplaceAll(does, " "+p.Name+" ", " "+code(api.MemberName(p.Name))+" ")
				}
			}
			t.row(code(op.Tool), strings.Join(scopes, " "), does)
		}
	}
	return t.String(), t.empty("there are no tools")
}

// of returns a topic's endpoints by route, ordered by path.
func (d *document) of(topic string) iter.Seq2[string, operation] {
	return func(yield func(string, operation) bool) {
		for route, op := range d.all() {
			if slices.Contains(op.Tags, topic) && !yield(route, op) {
				return
			}
		}
	}
}

// all returns all endpoints by route, ordered by path.
func (d *document) all() iter.Seq2[string, operation] {
	return func(yield func(string, operation) bool) {
		for _, path := range slices.Sorted(maps.Keys(d.Paths)) {
			for _, m := range methods {
				if op, ok := d.Paths[path][m]; ok && !yield(strings.ToUpper(m)+" "+path, op) {
					return
				}
			}
		}
	}
}

// public reports whether the endpoint takes anonymous requests.
func (op *operation) public() bool {
	return slices.ContainsFunc(op.Security, func(way map[string][]string) bool { return len(way) == 0 })
}

func (op *operation) credential() string {
	if op.public() {
		return "none"
	}
	var ways []string
	for _, way := range op.Security {
		if _, ok := way["signature"]; ok {
			ways = append(ways, "signature")
		}
		if scope, ok := way["bearer"]; ok {
			if len(scope) == 0 {
				ways = append(ways, "token")
				continue
			}
			way := "token with " + code(strings.Join(scope, " "))
			if op.Keyless {
				way += " while you have no key"
			}
			ways = append(ways, way)
		}
	}
	return strings.Join(ways, " or ")
}

func (d *document) members(route string) (string, error) {
	method, path, _ := strings.Cut(route, " ")
	op, ok := d.Paths[path][strings.ToLower(method)]
	if !ok {
		return "", fmt.Errorf("openapi.json has no %s; run make golden", route)
	}
	t := newTable("member", "value", "meaning")
	for _, p := range op.Parameters {
		if p.In == "query" {
			t.row(code(p.Name), p.Schema.rules(p.Required), p.Description)
		}
	}
	content, isJSON := op.RequestBody.Content["application/json"]
	if !isJSON {
		content = op.RequestBody.Content["application/x-www-form-urlencoded"]
	}
	body := d.resolve(content.Schema)
	for _, required := range []bool{true, false} {
		for _, name := range slices.Sorted(maps.Keys(body.Properties)) {
			if slices.Contains(body.Required, name) == required {
				s := d.resolve(body.Properties[name])
				t.row(code(name), s.rules(required), s.Description)
			}
		}
	}
	return t.String(), t.empty(route + " has no query or body")
}

func (d *document) optional(name string) (string, error) {
	s := d.Components.Schemas[name]
	t := newTable("member", "meaning")
	for _, member := range slices.Sorted(maps.Keys(s.Properties)) {
		if !slices.Contains(s.Required, member) {
			t.row(code(member), s.Properties[member].Description)
		}
	}
	return t.String(), t.empty(name + " has no optional members")
}

func (d *document) subjects() (string, error) {
	all := map[string]string{}
	for _, one := range d.Components.Schemas["Event"].OneOf {
		for member, s := range d.resolve(d.resolve(one).Properties["subject"]).Properties {
			all[member] = s.Description
		}
	}
	t := newTable("member", "meaning")
	for _, member := range slices.Sorted(maps.Keys(all)) {
		t.row(code(member), all[member])
	}
	return t.String(), t.empty("events have no subjects")
}

func (d *document) resolve(s schema) schema {
	if name, ok := strings.CutPrefix(s.Ref, "#/components/schemas/"); ok {
		return d.Components.Schemas[name]
	}
	return s
}

// kind returns a value's type other than null.
func (s schema) kind() string {
	switch t := s.Type.(type) {
	case string:
		return t
	case []any:
		for _, one := range t {
			if one != "null" {
				return one.(string)
			}
		}
	}
	return ""
}

// rules describes in words what a value must be.
func (s schema) rules(required bool) string {
	var words []string
	say := func(format string, args ...any) { words = append(words, fmt.Sprintf(format, args...)) }
	switch {
	case s.Enum != nil:
		var values []string
		for _, v := range s.Enum {
			if v != nil {
				values = append(values, code(fmt.Sprint(v)))
			}
		}
		say("%s", strings.Join(values, ", "))
	case s.Minimum != nil && (s.Maximum == nil || *s.Maximum == largest):
		say("%s or more", *s.Minimum)
	case s.Minimum != nil && s.Maximum != nil && strings.HasPrefix(s.Minimum.String(), "-"):
		say("%s to %s", *s.Minimum, *s.Maximum)
	case s.Minimum != nil && s.Maximum != nil:
		say("%s-%s", *s.Minimum, *s.Maximum)
	case s.Maximum != nil:
		say("%s at most", *s.Maximum)
	case s.MinLength != nil && s.MaxLength != nil:
		say("%s-%s characters", *s.MinLength, *s.MaxLength)
	case s.MaxLength != nil:
		say("up to %s characters", *s.MaxLength)
	case s.Items != nil && s.Items.Enum != nil:
		say("a list of %s", s.Items.rules(false))
	case s.Items != nil:
		say("a list")
	case s.kind() == "boolean":
		say("`true` or `false`")
	case s.kind() != "":
		say("%s", s.kind())
	}
	if s.PatternDescription != "" {
		say("%s", s.PatternDescription)
	}
	if s.MaxItems != nil {
		say("up to %s", *s.MaxItems)
	}
	if s.Default != nil {
		say("%s if left out", code(fmt.Sprint(s.Default)))
	}
	if required {
		say("required")
	}
	return strings.Join(words, "; ")
}

// table builds a Markdown table.
type table struct {
	b    strings.Builder
	rows int
}

func newTable(columns ...string) *table {
	t := new(table)
	t.row(columns...)
	t.row(slices.Repeat([]string{"---"}, len(columns))...)
	t.rows = 0
	return t
}

var cell = strings.NewReplacer("|", `\|`, "\n", " ")

func (t *table) row(cells ...string) {
	t.rows++
	for _, c := range cells {
		t.b.WriteString("| " + cell.Replace(c) + " ")
	}
	t.b.WriteString("|\n")
}

// String returns the table without its last line break, because the page adds one.
func (t *table) String() string { return strings.TrimSuffix(t.b.String(), "\n") }

// empty returns an error if the table has no rows. A page that names an unknown topic, for
// example, would show an empty table.
func (t *table) empty(problem string) error {
	if t.rows == 0 {
		return fmt.Errorf("docs: %s", problem)
	}
	return nil
}

func code(s string) string { return "`" + s + "`" }
