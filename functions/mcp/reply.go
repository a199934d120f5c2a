package mcp

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// reply is a message that answers one.
type reply struct {
	Version string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id,omitempty"`
	Result  json.RawMessage `json:"result,omitempty"`
	Error   *jsonrpc.Error  `json:"error,omitempty"`
}

// encode is JSON of what was read as such, or is ours.
func encode(v any) []byte {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err) // what was read can be written
	}
	return b
}

// unfit is what is wrong with a version for a request, where the SDK would see
// something else first.
func unfit(version string, batch bool) *jsonrpc.Error {
	switch {
	case stateless(version) && !slices.Contains(versions, version): // or nothing like one
		return &jsonrpc.Error{
			Code: sdk.CodeUnsupportedProtocolVersion, Message: fmt.Sprintf("The protocol version %q is not supported.", clip(version)),
			Data: encode(sdk.UnsupportedProtocolVersionData{Supported: versions, Requested: version}),
		}
	case batch && version != "" && version != batchVersion:
		return &jsonrpc.Error{Code: jsonrpc.CodeInvalidRequest, Message: "Batches are of version " + batchVersion + " alone."}
	}
	return nil
}

// failed is the answer to what failed for no fault of the caller's.
var failed = &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: "Something failed inside the service."}

// problem is what is wrong with a message by itself; nil if the SDK may have it.
func (m *message) problem() *jsonrpc.Error {
	params, known := methods[m.Method]
	switch {
	case !known:
		return &jsonrpc.Error{Code: jsonrpc.CodeMethodNotFound, Message: fmt.Sprintf("There is no method %q.", clip(m.Method))}
	case params == nil || m.Params == nil:
		return nil
	case json.Unmarshal(m.Params, params()) != nil, string(m.Params) == "null" && (m.Method == methodInitialize || m.Method == methodCall):
		return &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: "The params are not what the method takes."}
	}
	return nil
}

// wantsAnswer reports whether a message is a request: a notification is not, nor is
// an answer to what was never asked.
func (m *message) wantsAnswer() bool { return m.ID != nil && m.Method != "" }

// statusOf is the status of an answer that is an error.
func statusOf(version string, e *jsonrpc.Error) int {
	switch {
	case !stateless(version):
		return http.StatusOK
	case e.Code == jsonrpc.CodeMethodNotFound:
		return http.StatusNotFound
	}
	return http.StatusBadRequest
}

// sound are the messages of a batch that the SDK may have, as a batch, nil if there
// is none; and the answers to the others, where they want any.
func sound(body []byte, messages []message) (batch []byte, others []json.RawMessage) {
	var all, kept []json.RawMessage
	if err := json.Unmarshal(body, &all); err != nil {
		panic(err) // the messages were read from it
	}
	for i, m := range messages {
		problem := m.problem()
		switch {
		case problem == nil:
			kept = append(kept, all[i])
		case m.wantsAnswer():
			others = append(others, encode(reply{Version: "2.0", ID: m.ID, Error: problem}))
		}
	}
	if kept == nil {
		return nil, others
	}
	return encode(kept), others
}

// speakSound has the SDK answer the messages that it may have, and answers the rest
// of a batch without it.
func (g *mcp) speakSound(p *post, r *http.Request, body []byte, messages []message) *answer {
	if !p.batch {
		return g.speak(p, r, body)
	}
	batch, others := sound(body, messages)
	a := &answer{header: http.Header{}, status: http.StatusAccepted}
	if batch != nil {
		a = g.speak(p, r, batch)
	}
	a.join(others)
	return a
}

// join puts answers to other messages of a batch beside those of the SDK.
func (a *answer) join(others []json.RawMessage) {
	if a.status == 0 || a.status >= 400 || len(others) == 0 {
		return
	}
	var all []json.RawMessage
	if a.body.Len() > 0 {
		if err := json.Unmarshal(a.body.Bytes(), &all); err != nil {
			panic(err) // the SDK answers a batch with one
		}
	}
	a.header.Set("Content-Type", "application/json")
	a.status = http.StatusOK
	a.body = *bytes.NewBuffer(encode(append(all, others...)))
}
