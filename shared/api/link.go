package api

import "github.com/danielgtaylor/huma/v2"

// Link leads from an endpoint's answer to another endpoint, in the OpenAPI document.
type Link struct {
	To   string            // the name of the other endpoint's operation
	With map[string]string // its parameters, and the members of the answer that fill them
}

// describe returns the link with runtime expressions (OpenAPI 3.1, 4.8.20.4).
func (l Link) describe() *huma.Link {
	out := &huma.Link{OperationID: l.To}
	for name, member := range l.With {
		if out.Parameters == nil {
			out.Parameters = map[string]any{}
		}
		out.Parameters[name] = "$response.body#/" + member
	}
	return out
}
