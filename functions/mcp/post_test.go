package mcp

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"

	"agentsocial/shared/api"
	"agentsocial/shared/app"
	"agentsocial/shared/text/pack"
)

func TestMessageIDs(t *testing.T) {
	for id, want := range map[string]bool{
		`"` + strings.Repeat("x", 126) + `"`: true, `"` + strings.Repeat("x", 127) + `"`: false,
		"9007199254740991": true, "9007199254740992": false, "-9007199254740991": true, "-9007199254740992": false, "0": true, "-0": true, "1.0": false,
	} {
		var m message
		if err := json.Unmarshal([]byte(`{"method":"ping","id":`+id+`}`), &m); (err == nil) != want {
			t.Errorf("id %s: got error %v, want accepted %v", id, err, want)
		}
	}
}

func TestRead_Batch(t *testing.T) {
	for n, want := range map[int]bool{0: false, 1: true, 20: true, 21: false} {
		messages := make([]string, n)
		for i := range messages {
			messages[i] = fmt.Sprintf(`{"method":"ping","id":%d}`, i)
		}
		if _, batch, problem := read([]byte("[" + strings.Join(messages, ",") + "]")); (problem == nil) != want || batch != want {
			t.Errorf("%d messages: got batch %v and problem %v, want batch %v and accepted %v", n, batch, problem, want, want)
		}
	}
}

func TestFits_BatchSize(t *testing.T) {
	body := json.RawMessage(`{"a":"b"}`)
	for over, want := range map[int64]bool{0: true, 1: false} {
		p := &post{}
		p.size.Store(batchSizeMost - sizeOf(body) + over)
		if got := p.fits(body); got != want || got != (p.size.Load() == batchSizeMost) {
			t.Errorf("%d bytes too many: got fits %v and size %d, want fits %v, and size %d only if so", over, got, p.size.Load(), want, batchSizeMost)
		}
	}
}

func TestListSize_CoversTheList(t *testing.T) {
	var tools []api.Tool
	mustRead(toolsJSON, &tools)
	list, err := json.Marshal(map[string]any{"tools": toolsOf(tools)})
	if n := len(quoted(list)); err != nil || n > listSize {
		t.Errorf("list in the gateway's answer: got %d bytes, error %v; want at most %d bytes", n, err, listSize)
	}
}

// A refusal is cut only if its result would be larger than a refusal over HTTP.
func TestRefusalJSON(t *testing.T) {
	g := &mcp{App: &app.App{}, words: func(text string) string { return text }}
	const most = api.RefusalMost - frameMost
	seen := map[bool]bool{}
	for _, odd := range []string{"", "\n"} { // lengths of both parities
		for n := range most {
			e := api.Fail(api.Invalid, "%s%s", odd, strings.Repeat("x", n))
			got := g.refusalJSON(e)
			if size := len(got) + len(quoted(got)); size > most {
				t.Fatalf("a message of %d characters: got %d bytes, want at most %d", n, size, most)
			}
			whole := e.Within("", func([]byte) bool { return true })
			size := len(whole) + len(quoted(whole))
			if cut := strings.Contains(string(got), "…"); cut != (size > most) {
				t.Fatalf("a result of %d bytes: got cut %v, want it cut exactly if above %d bytes", size, cut, most)
			}
			if size == most {
				seen[true] = true
			}
		}
	}
	if !seen[true] {
		t.Errorf("got no refusal of exactly %d bytes, want one", most)
	}
}

func TestLeavesToEndpoint(t *testing.T) {
	g := &mcp{tools: map[string]*api.Tool{"me": {}}}
	for body, want := range map[string]bool{
		`{"id":1,"method":"tools/call","params":{"name":"me"}}`:   true,
		`[{"id":1,"method":"tools/call","params":{"name":"me"}}]`: false,
		`{"method":"tools/call","params":{"name":"me"}}`:          false,
		`{"id":1,"method":"tools/call","params":{"name":"you"}}`:  false,
		`{"id":1,"method":"tools/list","params":{"name":"me"}}`:   false,
		`{"id":1,"method":"ping","params":{"name":"me"}}`:         false,
	} {
		messages, batch, problem := read([]byte(body))
		if got := g.leavesToEndpoint(messages, batch); got != want || problem != nil {
			t.Errorf("%s: got %v and problem %v, want %v and none", body, got, problem, want)
		}
	}
}

func TestProblem_Null(t *testing.T) {
	for method, want := range map[string]bool{methodInitialize: true, methodCall: true, methodList: false, "ping": false} {
		m := &message{ID: json.RawMessage("1"), Method: method, Params: json.RawMessage("null")}
		if got := m.problem() != nil; got != want {
			t.Errorf("%s with null as params: got a problem %v, want %v", method, got, want)
		}
	}
	if failed.Code != -32603 || jsonrpc.CodeInternalError != -32603 { // JSON-RPC 2.0, 5.1
		t.Errorf("code of a failure: got %d, and %d in the SDK; want -32603 for both", failed.Code, jsonrpc.CodeInternalError)
	}
}

func TestJoin_AddsErrors(t *testing.T) {
	for _, c := range []struct {
		status, want int
		body, joined string
	}{
		{0, 0, "", ""}, {202, 200, "", "[7]"}, {200, 200, "[]", "[7]"}, {200, 200, "[1]", "[1,7]"}, {399, 200, "[1]", "[1,7]"}, {400, 400, "no", "no"},
	} {
		a := &answer{header: http.Header{}, status: c.status}
		a.body.WriteString(c.body)
		a.join([]json.RawMessage{json.RawMessage("7")})
		if a.status != c.want || a.body.String() != c.joined {
			t.Errorf("answer %d %q joined with 7: got %d %q, want %d %q", c.status, c.body, a.status, a.body.String(), c.want, c.joined)
		}
	}
}

func TestClip(t *testing.T) {
	for n, want := range map[int]string{60: strings.Repeat("é", 60), 61: strings.Repeat("é", 60) + "…"} {
		if got := clip(strings.Repeat("é", n)); got != want {
			t.Errorf("clip of %d characters: got %q, want %q", n, got, want)
		}
	}
}

func TestBodySize(t *testing.T) {
	const call = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"remember","arguments":{"text":"%s"}}}`
	if size := len(fmt.Sprintf(call, strings.Repeat(`\u00e9`, pack.Most/len("é")))); size > bodyMost {
		t.Errorf("call with the largest memory: got %d bytes, want at most %d", size, bodyMost)
	}
	s := api.NewServer(&app.App{Now: time.Now, Log: nothing, Rand: zeros{}}, New()(&app.App{Now: time.Now, Log: nothing}))
	const ping = `{"jsonrpc":"2.0","id":1,"method":"ping"}`
	for size, want := range map[int]int{784 << 10: 401, 784<<10 + 1: 413} {
		r := httptest.NewRequest(http.MethodPost, "/mcp", strings.NewReader(ping+strings.Repeat(" ", size-len(ping))))
		r.Header.Set("Authorization", "Bearer ast_nonsense")
		w := httptest.NewRecorder()
		if s.ServeHTTP(w, r); w.Code != want {
			t.Errorf("body of %d bytes: got status %d, want %d", size, w.Code, want)
		}
	}
}
