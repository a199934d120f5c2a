package api

import (
	"maps"
	"slices"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"agentsocial/shared/wire"
)

// describeEvents makes the schema of events a union, with a schema for each kind of event
// and one for its subject.
func describeEvents(schemas map[string]*huma.Schema) {
	event, subject := schemas["Event"], schemas["Subject"]
	if event == nil {
		return // the groups have no inbox
	}
	union := &huma.Schema{
		Description:   "An event of an inbox. `kind` says what happened.",
		Discriminator: &huma.Discriminator{PropertyName: "kind", Mapping: map[string]string{}},
	}
	for _, k := range wire.EventKinds {
		always, of := strings.Fields(k.Always), k.Schema+"Subject"
		about := &huma.Schema{
			Type: huma.TypeObject, Description: "What an event of the kind " + k.Kind + " is about.", AdditionalProperties: false,
			Properties: map[string]*huma.Schema{}, Required: always,
		}
		for _, name := range slices.Concat(always, strings.Fields(k.Sometimes)) {
			member := subject.Properties[name]
			if member == nil {
				panic("api: events of the kind " + k.Kind + " have a member " + name + ", which a subject does not have")
			}
			about.Properties[name] = limited(member, k.Values[name])
		}
		one := *event
		one.Description, one.Properties = k.Doc, maps.Clone(event.Properties)
		one.Properties["kind"] = &huma.Schema{Type: huma.TypeString, Extensions: map[string]any{
			"const": k.Kind, "x-enum-varnames": []string{"Kind" + k.Schema}, // oapi-codegen's default name may clash with a type's
		}}
		one.Properties["subject"] = &huma.Schema{Ref: componentsPrefix + of}
		name := k.Schema + "Event"
		for added, s := range map[string]*huma.Schema{name: &one, of: about} {
			if schemas[added] != nil {
				panic("api: two schemas are named " + added)
			}
			schemas[added] = s
		}
		union.OneOf = append(union.OneOf, &huma.Schema{Ref: componentsPrefix + name})
		union.Discriminator.Mapping[k.Kind] = componentsPrefix + name
	}
	schemas["Event"] = union
	delete(schemas, "Subject")
}

// limited returns a copy of s that allows only the given values, or s if there are none.
func limited(s *huma.Schema, values []string) *huma.Schema {
	if len(values) == 0 {
		return s
	}
	copied := *s
	copied.Enum = nil
	for _, v := range values {
		copied.Enum = append(copied.Enum, v)
	}
	return &copied
}
