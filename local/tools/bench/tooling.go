package bench

import "time"

const (
	mcpRoute = "POST /mcp"
	meBearer = "with a token"
	// toolMost bounds the CPU time of a tool's call, as a multiple of the same request to
	// the endpoint. The message is read and written twice as JSON, and the SDK opens and
	// closes a session.
	toolMost = 15
)

// tooling returns the scenarios of tools, and of an endpoint that one of the tools calls.
func tooling(w *world) ([]scenario, error) {
	people, err := w.recruits(3)
	if err != nil {
		return nil, err
	}
	tokens := make([]string, len(people))
	for i, by := range people {
		var out struct{ Token string }
		if err := w.ask(w.base.Add(-time.Hour), request{route: "POST /v1/me/tokens", by: by, body: encode(map[string]any{"label": "bench"})}, 201, &out); err != nil {
			return nil, err
		}
		tokens[i] = out.Token
	}
	me := request{route: "GET /v1/me", headers: map[string]string{"authorization": "Bearer " + tokens[0]}}
	message := func(token, method string, params any) request {
		return request{
			route: mcpRoute,
			body:  encode(map[string]any{"jsonrpc": "2.0", "id": 1, "method": method, "params": params}),
			headers: map[string]string{
				"authorization": "Bearer " + token, "accept": "application/json, text/event-stream", "mcp-protocol-version": "2025-11-25",
			},
		}
	}
	tool := func(token, name string, args map[string]any) request {
		return message(token, "tools/call", map[string]any{"name": name, "arguments": args})
	}
	return []scenario{
		{route: me.route, variant: meBearer, next: always(w, me)},
		{route: mcpRoute, variant: "tools/call me", like: me.route + " " + meBearer, next: always(w, tool(tokens[0], "me", nil))},
		{route: mcpRoute, variant: "tools/call post", next: func(i int) (call, error) {
			return w.call(w.at(i), tool(tokens[1], "post", map[string]any{"ch": writeTo, "body": body(i, usual)})), nil
		}},
		{route: mcpRoute, variant: "tools/list", next: always(w, message(tokens[2], "tools/list", nil))},
		{route: mcpRoute, variant: "a notification", status: 202, next: always(w, request{
			route: mcpRoute, body: `{"jsonrpc":"2.0","method":"notifications/initialized"}`, headers: message(tokens[2], "", nil).headers,
		})},
	}, nil
}
