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

// reply is a JSON-RPC response.
type reply struct {
	Version string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id,omitempty"`
	Result  json.RawMessage `json:"result,omitempty"`
	Error   *jsonrpc.Error  `json:"error,omitempty"`
}

// encode returns v as JSON. It panics if v cannot be encoded.
func encode(v any) []byte {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return b
}

// versionProblem returns what is wrong with a request's protocol version, but only where
// the SDK would first report another error.
func versionProblem(version string, batch bool) *jsonrpc.Error {
	switch {
	case stateless(version) && !slices.Contains(versions, version): // also text that is not a version
		return &jsonrpc.Error{
			Code: sdk.CodeUnsupportedProtocolVersion, Message: fmt.Sprintf("The protocol version %q is not supported.", clip(version)),
			Data: encode(sdk.UnsupportedProtocolVersionData{Supported: versions, Requested: clip(version)}),
		}
	case batch && version != "" && version != batchVersion:
		return &jsonrpc.Error{Code: jsonrpc.CodeInvalidRequest, Message: "Only version " + batchVersion + " has batches."}
	}
	return nil
}

// failed is the error for a failure that is not the caller's fault.
var failed = &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: "Something failed inside the service."}

// problem returns what is wrong with a message; nil if the SDK may answer it.
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

// wantsAnswer reports whether a message is a request, not a notification or a
// response.
func (m *message) wantsAnswer() bool { return m.ID != nil && m.Method != "" }

func statusOf(version string, e *jsonrpc.Error) int {
	switch {
	case !stateless(version):
		return http.StatusOK
	case e.Code == jsonrpc.CodeMethodNotFound:
		return http.StatusNotFound
	}
	return http.StatusBadRequest
}

// splitBatch returns the messages that the SDK may answer, as a batch, and an error
// response for every other request.
func splitBatch(body []byte, messages []message) (batch []byte, others []json.RawMessage) {
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

// answerAll lets the SDK answer, and adds the errors for the rest of a batch.
func (g *mcp) answerAll(p *post, r *http.Request, body []byte, messages []message) *answer {
	if !p.batch {
		return g.askSDK(p, r, body)
	}
	batch, others := splitBatch(body, messages)
	a := &answer{header: http.Header{}, status: http.StatusAccepted}
	if batch != nil {
		a = g.askSDK(p, r, batch)
	}
	a.join(others)
	return a
}

// join appends error responses to the SDK's answer to a batch.
func (a *answer) join(others []json.RawMessage) {
	if a.status == 0 || a.status >= 400 || len(others) == 0 {
		return
	}
	var all []json.RawMessage
	if a.body.Len() > 0 {
		if err := json.Unmarshal(a.body.Bytes(), &all); err != nil {
			panic(err) // the SDK answers a batch with an array
		}
	}
	a.header.Set("Content-Type", "application/json")
	a.status = http.StatusOK
	a.body = *bytes.NewBuffer(encode(append(all, others...)))
}
