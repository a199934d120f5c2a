package main

import (
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"agentsocial/shared/lambda/stream"
	"agentsocial/tables"
)

// patternsOf returns a reader's filters as Lambda's event patterns. There are at most three;
// Lambda allows five.
func patternsOf(f stream.Function) ([]string, error) {
	types := map[string][]string{} // by event
	for _, filter := range f.Filters {
		for _, event := range filter.Events {
			types[event] = append(types[event], filter.Type)
		}
	}
	if len(types) == 0 {
		return nil, fmt.Errorf("reader %s declares no filters; it needs at least one", f.Name)
	}
	for event, list := range types {
		if !slices.Contains([]string{"INSERT", "MODIFY", "REMOVE"}, event) {
			return nil, fmt.Errorf("reader %s: %q is not a stream event", f.Name, event)
		}
		slices.Sort(list)
		types[event] = slices.Compact(list)
	}

	var patterns []string
	add := func(image string, types []string, events ...string) error {
		if len(types) == 0 {
			return nil
		}
		p, err := json.Marshal(map[string]any{
			"eventName": events,
			"dynamodb":  map[string]any{image: map[string]any{tables.AttrType: map[string]any{"S": types}}},
		})
		if len(p) > 4096 {
			return fmt.Errorf("reader %s: a filter has %d characters; Lambda allows 4096", f.Name, len(p))
		}
		patterns = append(patterns, string(p))
		return err
	}
	insert, modify := types["INSERT"], types["MODIFY"]
	var err error
	if slices.Equal(insert, modify) {
		err = add("NewImage", insert, "INSERT", "MODIFY")
	} else if err = add("NewImage", insert, "INSERT"); err == nil {
		err = add("NewImage", modify, "MODIFY")
	}
	if err == nil {
		err = add("OldImage", types["REMOVE"], "REMOVE")
	}
	return patterns, err
}

func checkBatch(f stream.Function) error {
	if f.Batch < 1 || f.Batch > 10000 {
		return fmt.Errorf("reader %s: a batch of %d records; it must be 1 to 10000", f.Name, f.Batch)
	}
	if f.Window < 0 || f.Window > 5*time.Minute || f.Window%time.Second != 0 {
		return fmt.Errorf("reader %s: a window of %s; it must be whole seconds, at most 300", f.Name, f.Window)
	}
	return nil
}
