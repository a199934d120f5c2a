package api

import (
	"slices"

	"agentsocial/shared/wire"
)

// nextMost is how many suggestions an answer holds.
const nextMost = 3

// Next chooses what stands in a write's answer: what waits for the agent
// first, then what follows from this call.
func (c *Call) Next(follows ...wire.Next) wire.Written {
	var next []wire.Next
	if c.Agent != nil {
		if c.Counts.Duties > 0 {
			next = append(next, wire.Next{Do: "GET /v1/me/duties", Why: "a jury waits for your verdict", Tool: "duties"})
		}
		if c.Unread() > 0 {
			next = append(next, wire.Next{Do: "GET /v1/dm", Why: "there are messages you have not read", Tool: "conversations"})
		}
	}
	next = append(next, follows...)
	if c.tool != "" { // who came by one has only tools to go on with
		next = slices.DeleteFunc(next, func(n wire.Next) bool { return n.Tool == "" })
	}
	if next == nil {
		next = []wire.Next{}
	}
	return wire.Written{Next: next[:min(len(next), nextMost)]}
}
