package mcp

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync/atomic"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"

	"agentsocial/shared/api"
)

// Bounds of a batch, because an answer of Lambda has at most 6 MB. A call that only
// reads is refused above batchSizeMost, because the client can repeat it.
const (
	batchMost     = 20        // messages
	batchSizeMost = 4 << 20   // bytes of results in the gateway's JSON
	listSize      = 200 << 10 // no less than the bytes of the list of tools, measured in the same way
)

// idMost bounds the bytes of a message's id, which its answer repeats.
const idMost = 128

// message is the part of a message that is read before the SDK reads it.
type message struct {
	ID     json.RawMessage
	Method string
	Params json.RawMessage
	Name   string // the tool in params
}

// UnmarshalJSON reads names case-sensitively, as the SDK does. encoding/json would take
// "Method" for "method".
func (m *message) UnmarshalJSON(b []byte) error {
	var members, params map[string]json.RawMessage
	if err := json.Unmarshal(b, &members); err != nil {
		return err
	}
	m.ID, m.Params = members["id"], members["params"]
	if err := member(members, "method", &m.Method); err != nil {
		return err
	}
	if len(m.ID) > idMost {
		return errors.New("the id is too long")
	}
	if m.Method == "" && members["result"] == nil && members["error"] == nil {
		return errors.New("the message is neither a request nor a response")
	}
	if n := string(m.ID); n != "" && strings.Trim(n, "-+.eE0123456789") == "" && !exact(n) {
		return errors.New("the id is a number that the SDK would change")
	}
	if member(members, "params", &params) != nil || member(params, "name", &m.Name) != nil {
		m.Name = "" // names no tool, so the SDK reports the error
	}
	return nil
}

// exact reports whether n is an integer between -2^53 and 2^53, exclusive. The SDK reads
// ids as float64, which does not tell larger integers apart.
func exact(n string) bool {
	i, err := strconv.ParseInt(n, 10, 64)
	return err == nil && max(i, -i) <= 1<<53-1
}

// member reads one member of an object, if it is there.
func member(of map[string]json.RawMessage, name string, into any) error {
	raw := of[name]
	if raw == nil {
		return nil
	}
	return json.Unmarshal(raw, into)
}

// post is one request and the state of its tool calls.
type post struct {
	ctx     context.Context // the request's; the SDK's does not end with the request
	call    *api.Call
	header  http.Header
	batch   bool
	checked atomic.Bool               // the credential was checked, here or by a tool's endpoint
	size    atomic.Int64              // bytes of the batch's results so far
	refusal atomic.Pointer[api.Error] // answers the whole request, if set
}

func (p *post) admit() error {
	if p.checked.Swap(true) {
		return nil
	}
	return p.call.Admit(p.ctx)
}

type postKey struct{}

func (g *mcp) serve(w http.ResponseWriter, r *http.Request) {
	c := api.From(r.Context())
	body, err := io.ReadAll(r.Body)
	if err != nil {
		c.Refuse(err)
		return
	}
	messages, batch, problem := read(body)
	version := r.Header.Get("Mcp-Protocol-Version")
	if problem == nil {
		problem = versionProblem(version, batch)
	}
	var to json.RawMessage // the id of the message that an error answers
	if len(messages) > 0 && !batch {
		to = messages[0].ID
	}
	p := &post{ctx: r.Context(), call: c, header: r.Header, batch: batch}
	if problem != nil || !g.leavesToEndpoint(messages, batch) {
		if err := p.admit(); err != nil {
			c.Refuse(err)
			return
		}
	}
	if problem != nil {
		refuse(w, http.StatusBadRequest, to, problem)
		return
	}
	if m := messages[0]; !batch {
		switch problem := m.problem(); {
		case problem == nil:
		case m.wantsAnswer():
			refuse(w, statusOf(version, problem), m.ID, problem)
			return
		default:
			w.WriteHeader(http.StatusAccepted)
			return
		}
	}
	for _, m := range messages {
		if m.Method == methodList {
			p.size.Add(listSize)
		}
	}
	a := g.answerAll(p, r, body, messages)
	if err := p.admit(); err != nil { // if the SDK answered without a tool call
		c.Refuse(err)
		return
	}
	switch e := p.refusal.Load(); {
	case e != nil:
		c.Refuse(e)
	case a.status == 0 || r.Context().Err() != nil: // out of time
		c.Refuse(context.DeadlineExceeded)
	case a.status >= 400 && !strings.HasPrefix(a.header.Get("Content-Type"), "application/json"):
		refuse(w, a.status, to, &jsonrpc.Error{Code: jsonrpc.CodeInvalidRequest, Message: strings.TrimSpace(a.body.String())})
	default:
		if t := a.header.Get("Content-Type"); t != "" {
			w.Header().Set("Content-Type", t)
		}
		w.WriteHeader(a.status)
		_, _ = w.Write(a.body.Bytes()) // w keeps the answer in memory
	}
}

func read(body []byte) (messages []message, batch bool, problem *jsonrpc.Error) {
	wrong := func(code int64, format string, args ...any) ([]message, bool, *jsonrpc.Error) {
		return nil, false, &jsonrpc.Error{Code: code, Message: fmt.Sprintf(format, args...)}
	}
	var refusal *api.Error
	if err := api.CheckJSON(body); errors.As(err, &refusal) {
		return wrong(jsonrpc.CodeParseError, "%s", refusal.Message)
	}
	if batch = bytes.HasPrefix(bytes.TrimLeft(body, " \t\r\n"), []byte("[")); !batch {
		messages = make([]message, 1)
		if json.Unmarshal(body, &messages[0]) != nil || string(bytes.TrimSpace(body)) == "null" {
			return wrong(jsonrpc.CodeInvalidRequest, "The body is not a JSON-RPC message.")
		}
		return messages, false, nil
	}
	if err := json.Unmarshal(body, &messages); err != nil {
		return wrong(jsonrpc.CodeInvalidRequest, "The body is not a batch of JSON-RPC messages.")
	}
	if n := len(messages); n == 0 || n > batchMost {
		return wrong(jsonrpc.CodeInvalidRequest, "The batch has %d messages; 1 to %d are allowed.", n, batchMost)
	}
	asked := map[string]bool{}
	for _, m := range messages {
		id := string(m.ID)
		if id != "" && asked[id] { // one of their answers would be lost
			return wrong(jsonrpc.CodeInvalidRequest, "The batch has two messages with the id %s.", clip(id))
		}
		asked[id] = true
	}
	return messages, true, nil
}

// leavesToEndpoint reports whether a request is a single tool call, whose endpoint
// checks the credential.
func (g *mcp) leavesToEndpoint(messages []message, batch bool) bool {
	m := messages[0]
	return !batch && m.Method == methodCall && m.ID != nil && g.tools[m.Name] != nil && m.problem() == nil
}

func (g *mcp) askSDK(p *post, r *http.Request, body []byte) *answer {
	a := &answer{header: http.Header{}}
	r = r.Clone(context.WithValue(p.ctx, postKey{}, p))
	r.Body = io.NopCloser(bytes.NewReader(body))
	r.Header.Set("Content-Type", "application/json") // the SDK requires it; the body was parsed as JSON
	g.protocol.ServeHTTP(a, r)
	return a
}

// answer records the SDK's answer.
type answer struct {
	header http.Header
	status int
	body   bytes.Buffer
}

func (a *answer) Header() http.Header { return a.header }

func (a *answer) WriteHeader(status int) {
	if a.status == 0 {
		a.status = status
	}
}

func (a *answer) Write(b []byte) (int, error) {
	a.WriteHeader(http.StatusOK)
	return a.body.Write(b)
}

// clip shortens a caller's value for a message.
func clip(s string) string {
	if r := []rune(s); len(r) > 60 {
		return string(r[:60]) + "…"
	}
	return s
}

// refuse answers with a JSON-RPC error. id is nil if the error is about no single
// message.
func refuse(w http.ResponseWriter, status int, id json.RawMessage, e *jsonrpc.Error) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(encode(reply{Version: "2.0", ID: id, Error: e})) // w keeps the answer in memory
}
