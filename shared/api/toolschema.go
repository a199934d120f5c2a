package api

import (
	"encoding/json"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/danielgtaylor/huma/v2"
)

// ToolSchemas holds a tool's complete JSON Schemas.
type ToolSchemas struct {
	Input json.RawMessage `json:"input"`
	// Output is for tests. Clients do not get it: it would be four fifths of the list of
	// tools, and a model does not need it to call a tool.
	Output json.RawMessage `json:"-"`
}

// Tools returns the tools of groups, and their schemas by name. It panics if an endpoint
// cannot be a tool.
func Tools(groups ...Group) ([]Tool, map[string]ToolSchemas) {
	doc := describe(groups)
	words := ToolWords(toolRoutes(groups))
	defs := definitions(doc)
	reword(defs, words)
	var tools []Tool
	schemas := map[string]ToolSchemas{}
	for _, g := range groups {
		for _, e := range g.Endpoints {
			if e.Tool != "" {
				t, in, out := toolOf(&e, doc, defs)
				t.Group, t.Description = g.Name, words(t.Description)
				reword(in.properties, words)
				reword(out.properties, words)
				tools, schemas[t.Name] = append(tools, t), ToolSchemas{in.schema(defs), out.orRefusal(defs)}
			}
		}
	}
	return tools, schemas
}

func toolOf(e *Endpoint, doc *huma.OpenAPI, defs map[string]any) (t Tool, in, out object) {
	op := operationOf(doc, e)
	t = Tool{
		Name: e.Tool, Title: op.Summary, Description: e.Doc, Route: e.Route, Places: map[string]Place{},
		ReadOnly:    !e.Writes() && !e.Marks,
		Destructive: e.Writes() && e.Method() != http.MethodPost || slices.Contains(e.Errors, NoCredits),
		Idempotent:  e.Method() != http.MethodPost || e.Stable,
	}
	if e.Auth.Scope != "" {
		t.Description += " Scope: " + e.Auth.Scope + "."
	}
	for _, p := range op.Parameters {
		if name, ok := strings.CutPrefix(p.Ref, "#/components/parameters/"); ok {
			p = doc.Components.Parameters[name]
		}
		name := argumentName(p.Name)
		if p.In == "header" {
			if !e.Writes() { // a read's headers concern cached copies, and tools keep none
				continue
			}
			name = MemberName(name)
			t.Description = strings.ReplaceAll(t.Description, " "+p.Name+" ", " "+name+" ")
		}
		if name == "idempotency_key" { // every tool that writes would repeat the document's longer description
			p.Description = toolKeyDoc
		}
		t.Places[name] = Place{p.In, p.Name}
		in.member(name, p.Required, described(schemaJSON(p.Schema), p.Description))
	}
	if b := op.RequestBody; b != nil && e.Foreign.Media == nil {
		t.Body = bodyJSON
		in.embed(resolved(b.Content["application/json"].Schema, defs), b.Required)
		for short, name := range guessed {
			if in.rename(short, name) {
				t.Places[name] = Place{"body", short}
			}
		}
	} else if b != nil {
		t.Body = bodyText
		in.member(textArgument, true, map[string]any{"type": "string", "description": "The whole text."})
	}
	t.Known = slices.Sorted(maps.Keys(in.properties))
	switch answer := op.Responses[strconv.Itoa(e.status())]; {
	case answer.Content["application/json"] != nil:
		out.embed(resolved(answer.Content["application/json"].Schema, defs), true)
	case len(e.Foreign.Answers) == 1 && strings.HasPrefix(e.Foreign.Answers[0], "text/"):
		t.Text, t.Headers = true, e.Foreign.Headers
		out.member(textArgument, true, map[string]any{"type": "string"})
		for _, h := range e.Foreign.Headers {
			out.member(MemberName(h), false, map[string]any{"type": headerType(h), "description": answerHeaders[h]})
		}
	default:
		panic("api: " + e.Route + " has an answer that a tool cannot return")
	}
	return t, in, out
}

const toolKeyDoc = "1-64 visible ASCII characters of your own. A call repeated with the same key within 24 hours has no further effect."

type object struct {
	properties map[string]any
	required   []string
}

func (o *object) member(name string, required bool, schema any) {
	if o.properties == nil {
		o.properties = map[string]any{}
	}
	if _, twice := o.properties[name]; twice {
		panic("api: a tool has two members " + name)
	}
	o.properties[name] = schema
	if required {
		o.required = append(o.required, name)
	}
}

// rename renames a member, and reports whether the object had it.
func (o *object) rename(from, to string) bool {
	schema, found := o.properties[from]
	if !found {
		return false
	}
	i := slices.Index(o.required, from)
	delete(o.properties, from)
	if i >= 0 {
		o.required = slices.Delete(o.required, i, i+1)
	}
	o.member(to, i >= 0, schema)
	return true
}

func (o *object) embed(schema map[string]any, required bool) {
	need, _ := schema["required"].([]any)
	for name, s := range schema["properties"].(map[string]any) {
		o.member(name, required && slices.Contains(need, any(name)), s)
	}
}

func (o *object) schema(defs map[string]any) json.RawMessage {
	slices.Sort(o.required)
	s := map[string]any{"type": "object", "properties": o.properties, "additionalProperties": false}
	if o.properties == nil {
		s["properties"] = map[string]any{}
	}
	if o.required != nil {
		s["required"] = o.required
	}
	return whole(s, defs)
}

// orRefusal returns the schema of a tool's result, which may be a refusal.
func (o *object) orRefusal(defs map[string]any) json.RawMessage {
	slices.Sort(o.required)
	answer := append([]string{}, o.required...)
	o.member("error", false, refusalSchema)
	return whole(map[string]any{
		"type": "object", "properties": o.properties, "additionalProperties": false,
		"anyOf": []any{map[string]any{"required": answer}, map[string]any{"required": []string{"error"}}},
	}, defs)
}

// refusalSchema is a schema of the envelope's member error. It is short because every
// tool's output repeats it.
var refusalSchema = map[string]any{
	"type": "object", "required": []string{"code", "message", "docs"},
	"description": "Present only if the call was refused; then there are no other members.",
	"properties": map[string]any{
		"code":    map[string]any{"type": "string"},
		"message": map[string]any{"type": "string", "description": "What is wrong with which value."},
		"hint":    map[string]any{"type": "string", "description": "What to do next."},
		"docs":    map[string]any{"type": "string", "description": "Where the error and its further members are documented."},
	},
}

const (
	componentsPrefix = "#/components/schemas/"
	defsPrefix       = "#/$defs/"
)

func definitions(doc *huma.OpenAPI) map[string]any {
	defs := map[string]any{}
	for name, s := range doc.Components.Schemas.Map() {
		defs[name] = schemaJSON(s)
	}
	return defs
}

// schemaJSON returns a schema as JSON Schema, with references into $defs.
func schemaJSON(s *huma.Schema) map[string]any {
	b, err := json.Marshal(s)
	if err != nil {
		panic(err) // cannot fail
	}
	var m map[string]any
	if err := json.Unmarshal(b, &m); err != nil {
		panic(err)
	}
	tidy(m)
	return m
}

func tidy(v any) {
	switch v := v.(type) {
	case map[string]any:
		if ref, ok := v["$ref"].(string); ok {
			v["$ref"] = defsPrefix + strings.TrimPrefix(ref, componentsPrefix)
		}
		if _, number := v["format"].(string); number && (v["type"] == "integer" || v["type"] == "number") {
			delete(v, "format") // int64, unknown to JSON Schema
		}
		if form, ok := v["patternDescription"].(string); ok {
			delete(v, "patternDescription")
			said, _ := v["description"].(string)
			v["description"] = strings.TrimSpace(said + " It consists " + form + ".")
		}
		for _, x := range v {
			tidy(x)
		}
	case []any:
		for _, x := range v {
			tidy(x)
		}
	}
}

func described(schema map[string]any, description string) map[string]any {
	if description != "" && schema["description"] == nil {
		schema["description"] = description
	}
	return schema
}

func resolved(s *huma.Schema, defs map[string]any) map[string]any {
	if name, ok := strings.CutPrefix(s.Ref, componentsPrefix); ok {
		return defs[name].(map[string]any)
	}
	return schemaJSON(s)
}

// whole returns a schema with all definitions that it refers to.
func whole(schema, defs map[string]any) json.RawMessage {
	used := map[string]any{}
	collect(schema, defs, used)
	if len(used) > 0 {
		schema["$defs"] = used
	}
	b, err := json.Marshal(schema)
	if err != nil {
		panic(err)
	}
	return b
}

func collect(v any, defs, used map[string]any) {
	switch v := v.(type) {
	case map[string]any:
		ref, _ := v["$ref"].(string)
		if name, ok := strings.CutPrefix(ref, defsPrefix); ok && used[name] == nil {
			used[name] = defs[name]
			collect(defs[name], defs, used)
		}
		for _, x := range v {
			collect(x, defs, used)
		}
	case []any:
		for _, x := range v {
			collect(x, defs, used)
		}
	}
}
