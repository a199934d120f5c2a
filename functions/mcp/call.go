package mcp

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"runtime/debug"
	"strings"

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
			result, err = nil, failed
		}
	}()
	p := ctx.Value(postKey{}).(*post)
	t := g.tools[r.Params.Name]
	answer := g.ask(p, t, r.Params.Arguments)
	if e := answer.Refusal; e != nil {
		if p.refusesAll(answer) {
			p.refusal.Store(e)
		}
		answer.Body = g.servers[t.Group]().Refused(g.inTools(e)).Body
	}
	body := t.Answer(answer)
	if p.batch && strings.HasPrefix(t.Route, "GET ") && !p.fits(body) {
		answer = g.servers[t.Group]().Refused(api.Fail(api.TooLarge, "With that of %s, the results of this batch would have more than %d bytes.", t.Name, batchSizeMost).
			WithHint("Call it again, by itself."))
		body = t.Answer(answer)
	}
	res := &sdk.CallToolResult{
		Content: []sdk.Content{&sdk.TextContent{Text: string(body)}}, StructuredContent: body, IsError: answer.Refusal != nil,
	}
	if answer.Header.Get("Idempotent-Replayed") != "" {
		res.Meta = sdk.Meta{replayedMeta: true}
	}
	return res, nil
}

// inTools is a refusal whose hint names tools, not their endpoints.
func (g *mcp) inTools(e *api.Error) *api.Error {
	said := *e
	said.Hint = g.words(e.Advice())
	return &said
}

// fits reports whether a batch has room for a result, and counts it if so.
func (p *post) fits(body json.RawMessage) bool {
	n := sizeOf(body)
	if p.size.Add(n) <= batchSizeMost {
		return true
	}
	p.size.Add(-n)
	return false
}

// sizeOf is how many bytes a result has that says something twice, as text and as
// it is, in an answer that is itself a string of JSON.
func sizeOf(body json.RawMessage) int64 {
	quoted := func(s []byte) []byte {
		b, err := json.Marshal(string(s))
		if err != nil {
			panic(err) // only a string
		}
		return b
	}
	return int64(len(quoted(body)) + len(quoted(quoted(body))))
}

// ask makes the endpoint's request of a tool's arguments and has it answered,
// with the credential of the message that called it.
func (g *mcp) ask(p *post, t *api.Tool, arguments json.RawMessage) api.Relayed {
	endpoint := g.servers[t.Group]()
	r, err := t.Request(arguments)
	if err != nil {
		return endpoint.Refused(cmp.Or(p.admit(), err)) // the credential comes before what is asked with it
	}
	p.judged.Store(true)
	r.Header.Set("Authorization", p.header.Get("Authorization"))
	if key := p.header.Get("Idempotency-Key"); key != "" && r.Header.Get("Idempotency-Key") == "" {
		r.Header.Set("Idempotency-Key", key)
	}
	return p.call.Relay(p.ctx, endpoint, t.Name, r)
}

// refusesAll reports whether a refusal is the answer to the whole message, by its
// status and headers, so that the client gets another token, or waits where none
// was looked for. What else stands in a batch may have an effect, whose answer
// must not be lost for that.
func (p *post) refusesAll(a api.Relayed) bool {
	code := a.Refusal.Code
	return a.Refusal.Status() == http.StatusUnauthorized ||
		!p.batch && (code == api.ScopeMissing || code == api.RateLimited && !a.Proved)
}
