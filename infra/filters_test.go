package main

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"agentsocial/shared/lambda/stream"
	"agentsocial/tables"
)

func TestPatternsMatchWhatFiltersMatch(t *testing.T) {
	events := []string{"INSERT", "MODIFY", "REMOVE"}
	types := []string{"post", "vote", "profile", "reaction"}
	rapid.Check(t, func(t *rapid.T) {
		f := stream.Function{Name: "any", Batch: 1}
		for range rapid.IntRange(1, 12).Draw(t, "filters") {
			f.Filters = append(f.Filters, stream.Filter{
				Type:   rapid.SampledFrom(types).Draw(t, "type"),
				Events: rapid.SliceOfNDistinct(rapid.SampledFrom(events), 1, 3, rapid.ID).Draw(t, "events"),
			})
		}
		patterns, err := patternsOf(f)
		if err != nil {
			t.Fatal(err)
		}
		if len(patterns) > 3 {
			t.Fatalf("got %d patterns, want at most 3", len(patterns))
		}
		for _, event := range events {
			for _, kind := range append(types, "other") {
				r := tables.StreamRecord{Event: event}
				item := tables.Item{tables.AttrType: kind}
				if event != "INSERT" {
					r.Old = item
				}
				if event != "REMOVE" {
					r.New = item
				}
				passes := slices.ContainsFunc(patterns, func(p string) bool { return passes(t, p, r) })
				if passes != f.Match(r) {
					t.Fatalf("%s of %s: the patterns %v pass it: %v, want %v", event, kind, patterns, passes, f.Match(r))
				}
			}
		}
	})
}

// passes matches a record against a pattern as Lambda does: a leaf lists the allowed
// values.
func passes(t *rapid.T, pattern string, r tables.StreamRecord) bool {
	var p map[string]any
	if err := json.Unmarshal([]byte(pattern), &p); err != nil {
		t.Fatal(err)
	}
	image := func(i tables.Item) any {
		if i == nil {
			return nil
		}
		return map[string]any{tables.AttrType: map[string]any{"S": i.Str(tables.AttrType)}}
	}
	return leaves(p, map[string]any{
		"eventName": r.Event,
		"dynamodb":  map[string]any{"NewImage": image(r.New), "OldImage": image(r.Old)},
	})
}

func leaves(pattern, value any) bool {
	switch p := pattern.(type) {
	case map[string]any:
		v, ok := value.(map[string]any)
		for name, sub := range p {
			ok = ok && leaves(sub, v[name])
		}
		return ok
	case []any:
		return slices.Contains(p, value)
	}
	panic(fmt.Sprintf("%v is not a pattern", pattern))
}
