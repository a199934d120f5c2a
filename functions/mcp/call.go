package mcp

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"runtime/debug"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"agentsocial/shared/api"
)

// replayedMeta marks the result of a call that was carried out before.
const replayedMeta = "idempotent-replayed"

// call runs a tool and returns its endpoint's answer. A refusal is also a result, for
// the model to read. Only what the client must act on, such as a bad token, is answered
// by HTTP status (see refusesAll).
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
	refused := func(e *api.Error) { answer.Refusal, body = e, g.refusalJSON(e) }
	if e := answer.Refusal; e != nil {
		if p.refusesAll(answer) {
			p.refusal.Store(e)
		}
		refused(e)
	}
	if p.batch && strings.HasPrefix(t.Route, "GET ") && !p.fits(body) {
		refused(api.Fail(api.TooLarge, "With the result of %s, the answer to this batch would have more than %d bytes.", t.Name, batchSizeMost).
			WithHint("Call the tool again, in a request without other calls."))
	}
	res := &sdk.CallToolResult{
		Content: []sdk.Content{&sdk.TextContent{Text: string(body)}}, StructuredContent: body, IsError: answer.Refusal != nil,
	}
	if answer.Replayed {
		res.Meta = sdk.Meta{replayedMeta: true}
	}
	return res, nil
}

// frameMost bounds the bytes of a result around the refusal, including the message's id.
const frameMost = 256 + idMost

// refusalJSON returns a refusal as JSON. Its hint names tools instead of endpoints.
func (g *mcp) refusalJSON(e *api.Error) json.RawMessage {
	said := *e
	said.Hint = g.words(e.Advice())
	return bytes.TrimSpace(said.Within(g.Settings.BaseURL, func(body []byte) bool {
		return len(body)+len(quoted(body)) <= api.RefusalMost-frameMost
	}))
}

// fits reports whether the batch has room for a result. If so, it counts the result.
func (p *post) fits(body json.RawMessage) bool {
	n := sizeOf(body)
	if p.size.Add(n) <= batchSizeMost {
		return true
	}
	p.size.Add(-n)
	return false
}

// sizeOf returns the bytes of a result in the gateway's answer. The result has body as
// text and as JSON, and the gateway quotes both once more.
func sizeOf(body json.RawMessage) int64 {
	return int64(len(quoted(body)) + len(quoted(quoted(body))))
}

// quoted returns a text as a JSON string.
func quoted(s []byte) []byte {
	b, err := json.Marshal(string(s))
	if err != nil {
		panic(err) // impossible for a string
	}
	return b
}

// ask calls a tool's endpoint with the request's credential.
func (g *mcp) ask(p *post, t *api.Tool, arguments json.RawMessage) api.Answer {
	p.checked.Store(true)
	return p.call.Invoke(p.ctx, g.servers[t.Group](), g.tools, t, t.Arguments(arguments, p.header.Get("Idempotency-Key")))
}

// refusesAll reports whether a refusal answers the whole request by HTTP status. In a
// batch, only status 401 does: the answers of calls that took effect must not be lost.
func (p *post) refusesAll(a api.Answer) bool {
	code := a.Refusal.Code
	return a.Refusal.Status() == http.StatusUnauthorized ||
		!p.batch && (code == api.ScopeMissing || code == api.RateLimited && !a.Proved)
}
