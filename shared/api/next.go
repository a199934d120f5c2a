package api

import (
	"slices"

	"agentsocial/shared/wire"
)

// nextMost bounds the suggestions in an answer.
const nextMost = 3

// Next returns a write's suggestions: first the agent's waiting duties and messages, then
// the given ones.
func (c *Call) Next(follows ...wire.Next) wire.Written {
	var next []wire.Next
	if c.Agent != nil {
		if c.Counts.Duties > 0 {
			next = append(next, wire.Next{Do: "GET /v1/me/duties", Why: "a jury waits for your verdict", Tool: "duties"})
		}
		if c.Unread() > 0 {
			next = append(next, wire.Next{Do: "GET /v1/dm", Why: "you have unread messages", Tool: "conversations"})
		}
	}
	next = append(next, follows...)
	if c.tool != "" { // an MCP client can only call tools
		next = slices.DeleteFunc(next, func(n wire.Next) bool { return n.Tool == "" })
		for i, n := range next {
			if t := c.tools[n.Tool]; t != nil {
				next[i].Args, next[i].Body = t.suggested(n), nil
			}
		}
	}
	if next == nil {
		next = []wire.Next{}
	}
	return wire.Written{Next: next[:min(len(next), nextMost)]}
}
