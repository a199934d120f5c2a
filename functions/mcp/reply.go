package mcp

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"

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

// known are the messages of a batch for methods that are there, as a batch, nil
// if there is none; and the answers to the others, where they want any.
func known(body []byte, messages []message) (batch []byte, others []json.RawMessage) {
	var all, kept []json.RawMessage
	if err := json.Unmarshal(body, &all); err != nil {
		panic(err) // the messages were read from it
	}
	for i, m := range messages {
		switch {
		case slices.Contains(methods, m.Method):
			kept = append(kept, all[i])
		case m.ID != nil && m.Method != "":
			others = append(others, encode(reply{Version: "2.0", ID: m.ID, Error: noMethod(m.Method)}))
		}
	}
	if kept == nil {
		return nil, others
	}
	return encode(kept), others
}

// speakKnown has the SDK answer what there are methods for, and of a batch the
// rest without it.
func (g *mcp) speakKnown(p *post, r *http.Request, body []byte, messages []message) *answer {
	if !p.batch {
		return g.speak(p, r, body)
	}
	batch, others := known(body, messages)
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

// What errors have that are not fit to be read. Within a string, the quotes would
// be escaped.
const (
	noCode   = `"code":0`
	readsBad = "handling '" // so begins what the SDK says of params, in Go's words
)

// mend gives those errors a code to which the SDK gives none, and words of ours
// where its own are Go's.
func (a *answer) mend(version string) {
	body := a.body.Bytes()
	if !bytes.Contains(body, []byte(noCode)) && !bytes.Contains(body, []byte(`"message":"`+readsBad)) {
		return
	}
	var all []json.RawMessage
	if json.Unmarshal(body, &all) == nil {
		for i := range all {
			all[i], _ = mended(all[i])
		}
		a.body = *bytes.NewBuffer(encode(all))
		return
	}
	one, e := mended(body)
	if e != nil && e.Code == jsonrpc.CodeInvalidParams && stateless(version) { // which has a status for it
		a.status = http.StatusBadRequest
	}
	a.body = *bytes.NewBuffer(one)
}

func mended(message json.RawMessage) (json.RawMessage, *jsonrpc.Error) {
	var m reply
	err := json.Unmarshal(message, &m)
	switch {
	case err != nil || m.Error == nil:
		return message, nil
	case strings.HasPrefix(m.Error.Message, readsBad):
		m.Error = &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: "The params are not what the method takes."}
	case m.Error.Code == 0:
		m.Error = &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: "The message was cancelled, or something failed inside the service."}
	default:
		return message, nil
	}
	return encode(m), m.Error
}
