package mcp

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"runtime/debug"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"agentsocial/shared/api"
)

// replayedMeta marks the result of a call that had been carried out before.
const replayedMeta = "idempotent-replayed"

// call calls a tool: it asks the tool's endpoint, and answers what that answers.
// A refusal is a result too, for the model to read; but that the token is none,
// or lacks a scope, is the client's business, and told by HTTP.
func (g *mcp) call(ctx context.Context, r *sdk.CallToolRequest) (result *sdk.CallToolResult, err error) {
	defer func() { // the SDK calls this in a goroutine of its own
		if p := recover(); p != nil {
			g.Log.Error("panic", "panic", fmt.Sprint(p), "stack", string(debug.Stack()))
			result, err = nil, errors.New("something failed inside the service")
		}
	}()
	p := ctx.Value(postKey{}).(*post)
	t := g.tools[r.Params.Name]
	answer := g.ask(p, t, r.Params.Arguments)
	if e := answer.Refusal; e != nil && p.refuses(e) {
		p.refusal.Store(e)
	}
	body := t.Answer(answer)
	res := &sdk.CallToolResult{
		Content: []sdk.Content{&sdk.TextContent{Text: string(body)}}, StructuredContent: body, IsError: answer.Refusal != nil,
	}
	if answer.Header.Get("Idempotent-Replayed") != "" {
		res.Meta = sdk.Meta{replayedMeta: true}
	}
	return res, nil
}

// ask makes the endpoint's request of a tool's arguments and has it answered,
// with the credential of the message that called it.
func (g *mcp) ask(p *post, t *api.Tool, arguments json.RawMessage) api.Relayed {
	endpoint := g.servers[t.Group]()
	r, err := t.Request(arguments)
	if err != nil {
		if !p.batch { // or it was asked before
			err = cmp.Or(p.call.Admit(p.ctx), err) // the credential comes before what is asked with it
		}
		return endpoint.Refused(err)
	}
	r.Header.Set("Authorization", p.header.Get("Authorization"))
	if key := p.header.Get("Idempotency-Key"); key != "" && r.Header.Get("Idempotency-Key") == "" {
		r.Header.Set("Idempotency-Key", key)
	}
	return p.call.Relay(p.ctx, endpoint, t.Name, r)
}

// refuses reports whether a refusal is the answer to the whole message, by its
// status and WWW-Authenticate, so that the client gets another token. What else
// stands in a batch may have an effect, whose answer must not be lost for a scope.
func (p *post) refuses(e *api.Error) bool {
	status := e.Status()
	return status == http.StatusUnauthorized || e.Code == api.ScopeMissing && !p.batch
}
