package service_test

import (
	"crypto/rand"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"agentsocial/shared/identity/auth"
)

func TestMCPUnknownMethods(t *testing.T) {
	t.Parallel()
	r := run(t, unlimited())
	_, token := r.joinWithToken("fox")
	for _, method := range []string{
		"nothing", "tools/nothing", "prompts/list", "prompts/get", "resources/list", "resources/read", "resources/templates/list",
		"resources/subscribe", "resources/unsubscribe", "completion/complete", "logging/setLevel", "subscriptions/listen",
	} {
		for _, v := range everyVersion() {
			a := r.send(rpc(token, v, method, map[string]any{"name": "x", "uri": "x:y", "level": "info"}))
			status := 200
			if v == sessionless {
				status = 404
			}
			if a.Status != status || a.Text("error.code") != "-32601" || a.Text("id") != "1" || a.Header.Get("Content-Type") != "application/json" {
				t.Errorf("%s %s: got %d %s, want %d, -32601, id 1, Content-Type application/json", v, method, a.Status, a.Body, status)
			}
		}
	}
	// An unknown tool is a protocol error, not a result.
	for _, v := range everyVersion() {
		a := r.send(toolCall(token, v, "nothing", nil))
		status := 200
		if v == sessionless {
			status = 400
		}
		if a.Status != status || a.Text("error.code") != "-32602" || !strings.Contains(a.Text("error.message"), "nothing") {
			t.Errorf("%s: got %d %s, want %d, -32602, 'nothing' in error.message", v, a.Status, a.Body, status)
		}
	}
}

func TestMCPBadMessages(t *testing.T) {
	t.Parallel()
	r := run(t, unlimited())
	_, token := r.joinWithToken("fox")
	for body, code := range map[string]string{
		`{`:                "-32700",
		`{"a":1,"a":2}`:    "-32700",
		"{\"a\":\"\xff\"}": "-32700",
		`7`:                "-32600",
		`[]`:               "-32600",
		`[7]`:              "-32600",
		`[{}]`:             "-32600",
		`{}`:               "-32600",
		`{"jsonrpc":"2.0","id":1.5,"method":"ping"}`:                                                                        "-32600", // the SDK would answer with the id 1
		`{"jsonrpc":"2.0","id":9007199254740993,"method":"ping"}`:                                                           "-32600", // the SDK would answer with the id …992
		`{"jsonrpc":"2.0","id":-99999999999999999999,"method":"ping"}`:                                                      "-32600",
		`[{"jsonrpc":"2.0","id":1,"method":"ping"},{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"me"}}]`:  "-32600", // one answer would be lost
		`[` + strings.Repeat(`{"jsonrpc":"2.0","id":1,"method":"ping"},`, 20) + `{"jsonrpc":"2.0","id":1,"method":"ping"}]`: "-32600",
		`{"jsonrpc":"1.0","id":1,"method":"ping"}`:                                                                          "-32600",
		`{"jsonrpc":"2.0","id":{},"method":"ping"}`:                                                                         "-32600",
		`{"jsonrpc":"2.0","method":"tools/list"}`:                                                                           "-32600",
		`{"jsonrpc":"2.0","id":1,"method":"tools/call"}`:                                                                    "-32600",
	} {
		a := r.send(mcpMessage(token, body))
		if a.Status != 400 || a.Text("error.code") != code || a.Text("jsonrpc") != "2.0" {
			t.Errorf("%s: got %d %s, want 400 and %s", body, a.Status, a.Body, code)
		}
	}
	q := mcpMessage(token, `{"jsonrpc":"2.0","id":1,"method":"ping"}`)
	q.Header.Set("Content-Type", "text/html")
	r.want(r.send(q), 415, "unsupported_media_type")
	q.Header.Del("Content-Type") // a missing type is accepted
	r.want(r.send(q), 200, "")
	q.Header.Set("Accept", "text/plain")
	if a := r.send(q); a.Status != 400 || a.Text("error.code") != "-32600" {
		t.Errorf("Accept: text/plain: got %d %s, want 400, -32600", a.Status, a.Body)
	}
	r.want(r.send(mcpMessage(token, `{"a":"`+strings.Repeat("x", 800<<10)+`"}`)), 413, "too_large")
}

// Batches work in version 2025-03-26 only.
func TestMCPBatch(t *testing.T) {
	t.Parallel()
	r := run(t, unlimited())
	fox := r.join("fox")
	token := r.token(fox, "read")
	call := func(id int, tool string, args map[string]any) map[string]any {
		return map[string]any{"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": map[string]any{"name": tool, "arguments": args}}
	}
	body := encode([]any{call(1, "me", nil), call(2, "post", map[string]any{"ch": "lounge", "body": "hi"}), call(3, "me", map[string]any{"x": 1})})
	a := r.want(r.send(mcpMessage(token, body)), 200, "")
	var results []struct {
		ID     int
		Result struct {
			IsError           bool
			StructuredContent struct {
				Handle string
				Error  struct{ Code string }
			}
		}
	}
	if err := json.Unmarshal(a.Body, &results); err != nil || len(results) != 3 {
		t.Fatalf("got %v and %s, want three results", err, a.Body)
	}
	for _, x := range results { // in any order
		said := x.Result.StructuredContent
		switch got := fmt.Sprintf("%d %t %s %s", x.ID, x.Result.IsError, said.Handle, said.Error.Code); got {
		case "1 false fox ", "2 true  scope_missing", "3 true  invalid":
		default:
			t.Errorf("got the result %q, want the agent, scope_missing and invalid for the calls 1, 2 and 3", got)
		}
	}
	if a := r.send(mcpMessage(token, body, "MCP-Protocol-Version: 2025-06-18")); a.Status != 400 || a.Text("error.code") != "-32600" {
		t.Errorf("a batch in version 2025-06-18: got %d %s, want 400, -32600", a.Status, a.Body)
	}
	r.want(r.send(mcpMessage("ast_nonsense", body)), 401, "bad_token")
}

// An unknown method in a batch fails alone.
func TestMCPBatchWithUnknownMethods(t *testing.T) {
	t.Parallel()
	r := run(t, unlimited())
	token := r.token(r.join("fox"), "read")
	ping, none, told := `{"jsonrpc":"2.0","id":1,"method":"ping"}`, `{"jsonrpc":"2.0","id":"b","method":"prompts/list"}`, `{"jsonrpc":"2.0","method":"nothing"}`
	late := `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`
	for body, want := range map[string][]string{
		"[" + none + "," + ping + "," + told + `,{"jsonrpc":"2.0","id":7,"result":{}}]`: {"b -32601", "1 0"},
		"[" + none + "]": {"b -32601"},
		"[" + none + `,{"jsonrpc":"2.0","method":"notifications/initialized"}]`: {"b -32601"},
		"[" + told + "]": nil,
	} {
		a := r.send(mcpMessage(token, body))
		if want == nil {
			if a.Status != 202 || len(a.Body) != 0 {
				t.Errorf("%s: got %d %s, want 202", body, a.Status, a.Body)
			}
			continue
		}
		var got []struct {
			ID    any
			Error struct{ Code int }
		}
		if err := json.Unmarshal(r.want(a, 200, "").Body, &got); err != nil || len(got) != len(want) || a.Header.Get("Content-Type") != "application/json" {
			t.Errorf("%s: got %v and %s, want %q as JSON", body, err, a.Body, want)
		}
		for _, x := range got {
			if !slices.Contains(want, fmt.Sprint(x.ID, " ", x.Error.Code)) {
				t.Errorf("%s: got %s, want %q", body, a.Body, want)
			}
		}
	}
	if a := r.send(mcpMessage(token, "["+none+"]", "MCP-Protocol-Version: 2025-11-25")); a.Status != 400 || a.Text("error.code") != "-32600" {
		t.Errorf("a batch in version 2025-11-25: got %d %s, want 400, -32600", a.Status, a.Body)
	}
	if a := r.want(r.send(mcpMessage(token, "["+ping+","+late+"]")), 200, ""); strings.Contains(string(a.Body), `"code":0`) || strings.Contains(string(a.Body), "context") {
		t.Errorf("a batch with a late cancellation: got %s, want no internal error", a.Body)
	}
}

// Bad params get the protocol's error code, per message, without Go's error text.
func TestMCPBadParams(t *testing.T) {
	t.Parallel()
	r := run(t, unlimited())
	token := r.token(r.join("fox"), "read")
	for _, message := range []string{
		`"method":"initialize","params":{"protocolVersion":5,"capabilities":{},"clientInfo":{"name":"t","version":"1"}}`,
		`"method":"tools/call","params":{"name":5}`,
		`"method":"tools/call","params":[1]`,
	} {
		a := r.want(r.send(mcpMessage(token, `{"jsonrpc":"2.0","id":"x",`+message+`}`)), 200, "")
		if a.Text("id") != "x" || a.Text("error.code") != "-32602" || a.Text("error.message") != "The params are not what the method takes." {
			t.Errorf("%s: got %s, want id x, -32602, error.message The params are not what the method takes.", message, a.Body)
		}
		a = r.want(r.send(mcpMessage(token, `[{"jsonrpc":"2.0","id":"x",`+message+`},{"jsonrpc":"2.0","id":"y","method":"ping"}]`)), 200, "")
		if !strings.Contains(string(a.Body), `"code":-32602`) || strings.Contains(string(a.Body), "unmarshal") {
			t.Errorf("%s in a batch: got %s, want -32602 without Go's error text", message, a.Body)
		}
	}
}

// Without a valid credential, every malformed message gets 401.
func TestMCPReadsWhatTheSDKReads(t *testing.T) {
	t.Parallel()
	r := run(t, unlimited())
	fox, token := r.joinWithToken("fox")
	forged, _, err := auth.MintToken(fox.ID, "tk_01j9z3k4m5n6p7q8r9s0t1v2w3", rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	for _, body := range []string{
		`{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{},"Method":"tools/call","Params":{"name":"me"}}`,
		`{"jsonrpc":"2.0","id":1,"METHOD":"tools/call","params":{"name":"me"}}`,
		`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"Name":"me"}}`,
		`{"jsonrpc":"2.0","ID":1,"method":"tools/call","params":{"name":"me"}}`,
		`{"jsonrpc":"1.0","id":1,"method":"tools/call","params":{"name":"me"}}`,
		`{"JSONRPC":"2.0","id":1,"method":"tools/call","params":{"name":"me"}}`,
		`{"jsonrpc":"2.0","id":{},"method":"tools/call","params":{"name":"me"}}`,
		`{"jsonrpc":"2.0","id":null,"method":"tools/call","params":{"name":"me"}}`,
		`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"me","arguments":7}}`,
		`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"me","_meta":7}}`,
		`{"jsonrpc":"2.0","id":1,"method":"tools/call","method":"tools/list","params":{"name":"me"}}`,
		`{"jsonrpc":"2.0","id":1,"method":7}`, `{`, `[]`, `7`,
	} {
		for _, v := range append(everyVersion(), "2024-11-05", "nonsense") {
			r.want(r.send(mcpMessage(forged, body, "MCP-Protocol-Version: "+v)), 401, "bad_token")
			r.want(r.send(mcpMessage("", body, "MCP-Protocol-Version: "+v)), 401, "unauthenticated")
		}
	}
	// With a credential only the exact member names count.
	a := r.send(mcpMessage(token, `{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{},"Method":"tools/call","Params":{"name":"me"}}`))
	if a.Status != 200 || a.Text("result.tools.0.name") != "catchup" {
		t.Errorf("got %d %.200s, want 200, result.tools.0.name catchup", a.Status, a.Body)
	}
}

// The answer to a batch fits into what Lambda can send.
func TestMCPBatchSizeLimit(t *testing.T) {
	t.Parallel()
	r := run(t, unlimited())
	_, token := r.joinWithToken("fox")
	r.tool(token, "remember", map[string]any{"text": strings.Repeat("a\"", 256<<10/2)})
	batch := []any{map[string]any{"jsonrpc": "2.0", "id": 0, "method": "tools/call", "params": map[string]any{
		"name": "post", "arguments": map[string]any{"ch": "lounge", "body": "it stands"},
	}}}
	for i := range 9 {
		batch = append(batch, map[string]any{"jsonrpc": "2.0", "id": 2*i + 1, "method": "tools/call", "params": map[string]any{"name": "memory"}},
			map[string]any{"jsonrpc": "2.0", "id": 2*i + 2, "method": "tools/list"})
	}
	a := r.want(r.send(mcpMessage(token, encode(batch))), 200, "")
	sent, err := json.Marshal(string(a.Body)) // as the gateway gets it
	if err != nil || len(sent) > 6<<20 {
		t.Errorf("got %v and %d bytes, want at most 6 MiB", err, len(sent))
	}
	var results []struct {
		ID     int
		Result struct {
			StructuredContent struct {
				ID, Text string
				Error    struct{ Code, Hint string }
			}
		}
	}
	if err := json.Unmarshal(a.Body, &results); err != nil || len(results) != len(batch) {
		t.Fatalf("got %v and %d results, want %d", err, len(results), len(batch))
	}
	whole, refused := 0, 0
	for _, x := range results {
		switch said := x.Result.StructuredContent; {
		case x.ID == 0 && said.ID == "":
			t.Errorf("the post: got %+v, want an id", said)
		case x.ID%2 == 1 && said.Error.Code == "too_large" && said.Error.Hint != "":
			refused++
		case x.ID%2 == 1 && len(said.Text) == 256<<10:
			whole++
		case x.ID%2 == 1:
			t.Errorf("a read of the memory: got %.200s, want the whole text, or too_large with a hint", encode(said))
		}
	}
	if whole == 0 || refused == 0 {
		t.Errorf("got %d whole and %d refused results, want some of both", whole, refused)
	}
}
