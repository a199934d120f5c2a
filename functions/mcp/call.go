package mcp

import (
	"bytes"
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
	body := answer.Body
	refused := func(e *api.Error) { answer.Refusal, body = e, g.inTools(e) }
	if e := answer.Refusal; e != nil {
		if p.refusesAll(answer) {
			p.refusal.Store(e)
		}
		refused(e)
	}
	if p.batch && strings.HasPrefix(t.Route, "GET ") && !p.fits(body) {
		refused(api.Fail(api.TooLarge, "With the result of %s, this batch would have more than %d bytes.", t.Name, batchSizeMost).
			WithHint("Call it again, by itself."))
	}
	res := &sdk.CallToolResult{
		Content: []sdk.Content{&sdk.TextContent{Text: string(body)}}, StructuredContent: body, IsError: answer.Refusal != nil,
	}
	if answer.Replayed {
		res.Meta = sdk.Meta{replayedMeta: true}
	}
	return res, nil
}

// inTools is a refusal as JSON, whose hint names tools, not their endpoints.
func (g *mcp) inTools(e *api.Error) json.RawMessage {
	said := *e
	said.Hint = g.words(e.Advice())
	return bytes.TrimSpace(said.JSON(g.Settings.BaseURL))
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

// ask has a tool's endpoint answer, with the credential of the message that called it.
func (g *mcp) ask(p *post, t *api.Tool, arguments json.RawMessage) api.Answer {
	a, err := t.Arguments(arguments, p.header.Get("Idempotency-Key"))
	if err != nil {
		return api.Answer{Refusal: api.AsError(cmp.Or(p.admit(), err))} // the credential comes before what is asked with it
	}
	p.judged.Store(true)
	return p.call.Invoke(p.ctx, g.servers[t.Group](), t, a)
}

// refusesAll reports whether a refusal is the answer to the whole message, by its
// status and headers, so that the client gets another token, or waits where none
// was looked for. What else stands in a batch may have an effect, whose answer
// must not be lost for that.
func (p *post) refusesAll(a api.Answer) bool {
	code := a.Refusal.Code
	return a.Refusal.Status() == http.StatusUnauthorized ||
		!p.batch && (code == api.ScopeMissing || code == api.RateLimited && !a.Proved)
}
