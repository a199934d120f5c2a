package bench

import (
	"fmt"
	"strings"
)

// Variants of refused requests.
const (
	refusedUnsigned  = "refused: bad body, unsigned"
	refusedUnknown   = "refused: bad body, signed by an unknown key"
	refusedKnown     = "refused: bad body, signed by a known key"
	refusedUnbounded = "refused: 30 000 values, signed by a known key"
	refusedTool      = "refused: bad arguments"
	refusedBatch     = "refused: a batch of twenty"
)

// batchOf is the number of messages in a batch.
const batchOf = 20

const postRoute = "POST /v1/c/{ch}/posts"

// Bodies of about 64 KB that break rules: unbounded has more values than the service
// decodes. worst has members with long names that no endpoint knows.
var (
	unbounded = `{"body":[` + strings.Repeat("1,", 30_000) + `1]}`
	worst     = func() string {
		var b strings.Builder
		b.WriteString(`{"body":"x"`)
		for i := range 45 {
			fmt.Fprintf(&b, `,"%s%d":"%[1]s"`, strings.Repeat("m", 700), i)
		}
		return b.String() + "}"
	}()
)

// refusing returns the scenarios of refused requests. All bodies but the batch's are about as
// large as allowed.
func refusing(w *world) ([]scenario, error) {
	people, err := w.recruits(3)
	if err != nil {
		return nil, err
	}
	key, err := w.newKey()
	if err != nil {
		return nil, err
	}
	stranger := &agent{key: key, pub: publicKey(key)}
	token, err := w.tokenOf(people[1])
	if err != nil {
		return nil, err
	}
	post := func(by *agent) request { return postOf(by, worst) }
	unread := post(people[2])
	unread.body = unbounded
	one := toolsOf(token, toolMessage(1, worst))
	small := make([]string, batchOf)
	for i := range small {
		small[i] = toolMessage(i, `{"ch":"`+writeTo+`","body":[`+strings.Repeat("1,", 10)+`1]}`)
	}
	batch := toolsOf(token, "["+strings.Join(small, ",")+"]")
	return []scenario{
		{route: postRoute, variant: refusedUnbounded, status: 422, next: warm(w, unread, 422)},
		{route: "POST /v1/challenge", variant: refusedUnsigned, status: 422, next: always(w, request{route: "POST /v1/challenge", body: worst})},
		{route: postRoute, variant: refusedUnsigned, status: 401, next: always(w, post(nil))},
		{route: postRoute, variant: refusedUnknown, status: 401, next: always(w, post(stranger))},
		{route: postRoute, variant: refusedKnown, status: 422, next: warm(w, post(people[0]), 422)},
		{route: mcpRoute, variant: refusedTool, next: always(w, one)},
		{route: mcpRoute, variant: refusedBatch, next: always(w, batch)},
	}, nil
}

func toolMessage(id int, arguments string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"post","arguments":%s}}`, id, arguments)
}

// postOf returns a request to post, without x-agent-id.
func postOf(by *agent, body string) request {
	return request{route: postRoute, path: "/v1/c/" + writeTo + "/posts", by: by, noID: true, body: body}
}

// toolsOf returns a request with an MCP message, or a batch of them.
func toolsOf(token, body string) request {
	return request{route: mcpRoute, body: body, headers: map[string]string{
		"authorization": "Bearer " + token, "accept": "application/json, text/event-stream", "mcp-protocol-version": "2025-03-26",
	}}
}

func (w *world) tokenOf(by *agent) (string, error) {
	var out struct{ Token string }
	err := w.ask(w.base, request{route: "POST /v1/me/tokens", by: by, body: encode(map[string]any{"label": "bench"})}, 201, &out)
	return out.Token, err
}
