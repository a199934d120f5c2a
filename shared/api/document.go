package api

import "slices"

// part is an object in the OpenAPI document's JSON.
type part = map[string]any

// at returns the object under nested names, or nil.
func at(o part, names ...string) part {
	for _, name := range names {
		o, _ = o[name].(part)
	}
	return o
}

// addInputRules adds the rules of inputs that huma cannot express.
func addInputRules(doc part) {
	rename(doc)
	for _, item := range at(doc, "paths") {
		for _, op := range item.(part) {
			op := op.(part)
			parameters, _ := op["parameters"].([]any)
			for _, p := range parameters {
				notEmpty(p.(part))
			}
			mayBeNull(doc, at(op, "requestBody", "content", "application/json", "schema"))
		}
	}
}

// rename turns patternDescription, which is huma's own, into an OpenAPI extension.
func rename(v any) {
	switch v := v.(type) {
	case part:
		if words, ok := v["patternDescription"].(string); ok {
			delete(v, "patternDescription")
			v["x-pattern-description"] = words
		}
		for _, inner := range v {
			rename(inner)
		}
	case []any:
		for _, inner := range v {
			rename(inner)
		}
	}
}

// notEmpty requires a value for a query member ([bound.queryOnce]).
func notEmpty(p part) {
	schema := at(p, "schema")
	if p["in"] == "query" && schema["type"] == "string" && schema["minLength"] == nil && schema["enum"] == nil {
		schema["minLength"] = 1
	}
}

// mayBeNull allows null for optional members of a body. Null means the same as leaving the
// member out.
func mayBeNull(doc, schema part) {
	const here = "#/components/schemas/"
	if ref, ok := schema["$ref"].(string); ok {
		schema = at(doc, "components", "schemas", ref[len(here):])
	}
	required, _ := schema["required"].([]any)
	properties := at(schema, "properties")
	for name := range properties {
		if slices.Contains(required, any(name)) {
			continue
		}
		p := properties[name].(part)
		switch kind := p["type"].(type) {
		case string:
			p["type"] = []any{kind, "null"}
			if enum, ok := p["enum"].([]any); ok {
				p["enum"] = append(enum, nil)
			}
		case nil: // $ref or oneOf
			if p["oneOf"] != nil || p["$ref"] != nil {
				properties[name] = part{"anyOf": []any{p, part{"type": "null"}}}
				if about, ok := p["description"]; ok {
					properties[name].(part)["description"] = about
				}
			}
		}
	}
}
