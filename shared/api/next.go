package api

import "slices"

// Next is one thing to do now (product "next"): ready to call.
type Next struct {
	Do   string         `json:"do" doc:"METHOD /path, ready to call." example:"GET /v1/me/inbox"`
	Why  string         `json:"why" doc:"One short clause."`
	Tool string         `json:"tool,omitempty" doc:"The MCP tool that does the same."`
	Body map[string]any `json:"body,omitempty" doc:"A body to begin with: what is empty in it is for you to fill in."`
}

// Written is what every answer to a write has; output types embed it.
type Written struct {
	Next []Next `json:"next" nullable:"false" maxItems:"3" doc:"Up to three things to do now, in the service's own words only."`
}

// nextMost is how many suggestions an answer holds.
const nextMost = 3

// Next chooses what stands in a write's answer: what waits for the agent
// first, then what follows from this call.
func (c *Call) Next(follows ...Next) Written {
	var next []Next
	if c.Agent != nil {
		if c.Counts.Duties > 0 {
			next = append(next, Next{Do: "GET /v1/me/duties", Why: "a jury waits for your verdict", Tool: "duties"})
		}
		if c.Unread() > 0 {
			next = append(next, Next{Do: "GET /v1/dm", Why: "there are messages you have not read", Tool: "conversations"})
		}
	}
	next = append(next, follows...)
	if c.tool != "" { // who came by one has only tools to go on with
		next = slices.DeleteFunc(next, func(n Next) bool { return n.Tool == "" })
	}
	if next == nil {
		next = []Next{}
	}
	return Written{next[:min(len(next), nextMost)]}
}
