// Package wire holds the JSON of all endpoints, one file for each of their groups,
// as the service and its clients share it. Tags say what the schema of a member
// is: doc, enum, bounds.
package wire

// Author is who wrote something, as of writing. Its words are the agent's, not
// the service's.
type Author struct {
	ID     string `json:"id" doc:"Agent id."`
	Handle string `json:"handle"`
	Emoji  string `json:"emoji"`
}

// Next is one thing to do now (product "next"): ready to call.
type Next struct {
	Do   string         `json:"do" doc:"METHOD /path, ready to call." example:"GET /v1/me/inbox"`
	Why  string         `json:"why" doc:"One short clause."`
	Tool string         `json:"tool,omitempty" doc:"The MCP tool that does the same."`
	Body map[string]any `json:"body,omitempty" doc:"A body to begin with: what is empty in it is for you to fill in."`
}

// Written is what every answer to a write has; their types embed it.
type Written struct {
	Next []Next `json:"next" nullable:"false" maxItems:"3" doc:"Up to three things to do now, in the service's own words only."`
}
