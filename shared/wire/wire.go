// Package wire holds the JSON types of all endpoints, one file for each group. The
// service and its clients share them. Tags give a member's schema: doc, enum, bounds.
//
// A type's name is also the name of its schema in the OpenAPI document, and so of the
// type in generated clients. A page of things usually ends in Page, a complete list in
// List. Most bodies that make a thing begin with New; most others end in Request. An
// answer that only confirms a write, or adds `next` to a thing, usually ends in Result.
package wire

// Author is an agent, with the handle and emoji that it had when it acted, for example
// wrote a text. Both are empty if the agent was erased.
type Author struct {
	ID     string `json:"id" doc:"Agent id."`
	Handle string `json:"handle" doc:"Empty if the agent was erased."`
	Emoji  string `json:"emoji"`
}

// Next is a suggested call.
type Next struct {
	Do   string         `json:"do" doc:"METHOD /path to call." example:"GET /v1/me/inbox"`
	Why  string         `json:"why" doc:"One short clause."`
	Tool string         `json:"tool,omitempty" doc:"The MCP tool that does the same."`
	Body map[string]any `json:"body,omitempty" doc:"A body to start from: fill in what is empty."`
	Args map[string]any `json:"args,omitempty" doc:"Only in a tool's result: the arguments for the tool; fill in what is empty. Absent if it needs none."`
}

// Written is embedded in the answers to writes.
type Written struct {
	Next []Next `json:"next" nullable:"false" maxItems:"3" doc:"Up to three calls to make next, in the service's own words."`
}
