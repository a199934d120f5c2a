package service_test

import (
	"crypto/rand"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"agentsocial/local/service"
	"agentsocial/local/transcripts"
	"agentsocial/shared/app"
	"agentsocial/shared/identity/auth"
)

// refusalMost bounds the bytes of a refusal, and fieldsMost the fields it lists.
const (
	refusalMost = 4 << 10
	fieldsMost  = 10
)

// manyMembers returns an object with the member x and n others. The name of each is char, repeated
// length times, and a number.
func manyMembers(n, length int, char string) string {
	var b strings.Builder
	b.WriteString(`{"x":1`)
	for i := range n {
		fmt.Fprintf(&b, `,"%s%d":1`, strings.Repeat(char, length), i)
	}
	return b.String() + "}"
}

// worstBodies returns bodies of at most 64 KiB whose refusal could be large.
func worstBodies() map[string]string {
	list := func(n int, value string) string { return "[" + strings.Repeat(value+",", n-1) + value + "]" }
	return map[string]string{
		"many members":      manyMembers(6000, 1, "a"),
		"long names":        manyMembers(20, 3000, "a"),
		"names to escape":   manyMembers(60, 80, "\U000e0001"),
		"controls in names": manyMembers(60, 100, `\u0001`),
		"quotes in names":   manyMembers(60, 400, `\"`),
		"one long name":     `{"` + strings.Repeat("é", 30_000) + `":1}`,
		"a list of numbers": `{"tags":` + list(31_000, "1") + `,"emoji":` + list(1000, "1") + `}`,
		"huge numbers":      `{"tags":` + list(9000, "1e308") + `}`,
		"lists in lists":    `{"tags":` + list(9000, "[[1]]") + `}`,
		"objects in lists":  `{"tags":` + list(6000, `{"a":1}`) + `}`,
		"nested":            strings.Repeat(`{"a":`, 10_000) + "1" + strings.Repeat("}", 10_000),
		"nested below 32":   list(400, strings.Repeat("[", 30)+strings.Repeat("]", 30)),
		"a long text":       `{"handle":"` + strings.Repeat(`\u0001`, 10_000) + `"}`,
		"a long word":       `{"pubkey":"` + strings.Repeat("🦊", 16_000) + `","kind":"` + strings.Repeat("x", 1000) + `"}`,
		"a duplicate":       `{"` + strings.Repeat("\U000e0001", 5000) + `":1,"` + strings.Repeat("\U000e0001", 5000) + `":1}`,
		"no JSON":           strings.Repeat("x", 65_000),
		"cut short":         `{"tags":` + list(30_000, "1"),
	}
}

func (r *running) small(what string, a *transcripts.Answer) {
	r.t.Helper()
	var fields int
	for _, at := range []string{"error.fields", "result.structuredContent.error.fields"} {
		if list, ok := a.At(at); ok {
			fields = max(fields, len(list.([]any)))
		}
	}
	if a.Status >= 500 || len(a.Body) > refusalMost || fields > fieldsMost {
		r.t.Errorf("%s: got %d, %d bytes and %d fields, want a status below 500, at most %d bytes and %d fields; the body is %.300s", what, a.Status, len(a.Body), fields, refusalMost, fieldsMost, a.Body)
	}
}

// TestRefusalsAreSmall sends the worst known inputs to endpoints of every kind.
func TestRefusalsAreSmall(t *testing.T) {
	t.Parallel()
	r := run(t, service.Config{Settings: generous()})
	fox, token := r.joinWithToken("fox")
	stranger := transcripts.NewAgent("stranger")
	forged, _, err := auth.MintToken(fox.ID, "tk_01j9z3k4m5n6p7q8r9s0t1v2w3", rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	for name, body := range worstBodies() {
		for what, q := range map[string]*transcripts.Request{
			"challenge":      unsigned("POST", "/v1/challenge", body),
			"register":       unsigned("POST", "/v1/agents", body),
			"client":         unsigned("POST", "/oauth/register", body[:min(len(body), 16<<10)], "Content-Type", "application/json"),
			"token":          unsigned("POST", "/oauth/token", body, "Content-Type", "application/json"),
			"known key":      r.request(fox, "PATCH", "/v1/me", body),
			"unknown key":    r.request(stranger, "PATCH", "/v1/me", body),
			"forged":         unsigned("PATCH", "/v1/me", body, "Authorization", "Bearer "+forged),
			"channel":        r.request(fox, "POST", "/v1/channels", body),
			"MCP":            mcpMessage(token, body),
			"MCP arguments":  mcpMessage(token, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"update_profile","arguments":`+body+`}}`),
			"MCP as a name":  mcpMessage(token, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":`+body+`}}`),
			"MCP forged":     mcpMessage(forged, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"update_profile","arguments":`+body+`}}`),
			"MCP in a query": mcpMessage(token, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"channels","arguments":`+body+`}}`),
		} {
			a := r.send(q)
			r.small(what+", "+name, a)
			if a.Status < 400 && !strings.HasPrefix(what, "MCP") {
				t.Errorf("%s, %s: got %d %s, want a refusal", what, name, a.Status, a.Body)
			}
			if (what == "unknown key" || what == "forged") && a.Status != 401 {
				t.Errorf("%s, %s: got %d, want 401; the body is %.300s", what, name, a.Status, a.Body)
			}
		}
	}
	long := strings.Repeat("x", 60_000)
	for what, q := range map[string]*transcripts.Request{
		"many members of a query": unsigned("GET", "/v1/channels?"+strings.Repeat("a=1&b%01=2&", 600)+"c=3", ""),
		"members of a query":      unsigned("GET", "/v1/channels?"+manyQuery(1500), ""),
		"a long member":           unsigned("GET", "/v1/channels?"+strings.Repeat("%F0%9F%A6%8A", 600)+"=1", ""),
		"a long value":            unsigned("GET", "/v1/channels?kind="+strings.Repeat("%01", 3000), ""),
		"a long path":             unsigned("GET", "/v1/"+strings.Repeat("x", 8000), ""),
		"a long id":               mcpMessage(token, `{"jsonrpc":"2.0","id":"`+long+`","method":"tools/call","params":{"name":"update_profile","arguments":{"now":1}}}`),
		"a long id, no method":    mcpMessage(token, `{"jsonrpc":"2.0","id":"`+long+`","method":"nonesuch"}`),
		"a long version":          mcpMessage(token, `{"jsonrpc":"2.0","id":1,"method":"ping"}`, "Mcp-Protocol-Version: z"+long[:8000]),
		"a version in the params": mcpMessage(token, `{"jsonrpc":"2.0","id":1,"method":"ping","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"z`+long+`"}}}`),
		"a long method":           mcpMessage(token, `{"jsonrpc":"2.0","id":1,"method":"`+long+`"}`),
		"a long tool":             mcpMessage(token, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"`+long+`"}}`),
	} {
		r.small(what, r.send(q))
	}
	var batch []string
	for i := range 20 {
		batch = append(batch, fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"update_profile","arguments":{"tags":[%s1]}}}`, i, strings.Repeat("1,", 18_000)))
	}
	a := r.send(mcpMessage(token, "["+strings.Join(batch, ",")+"]"))
	if a.Status != 400 && a.Status != 200 || len(a.Body) > 20*refusalMost {
		t.Errorf("a batch of twenty: got %d and %d bytes, want 400 or 200 and at most %d; the body is %.300s", a.Status, len(a.Body), 20*refusalMost, a.Body)
	}
}

func manyQuery(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "m%d=&", i)
	}
	return b.String() + "z=1"
}

// The bodies break rules, but the refusal is that of the credential.
func TestCredentialsComeBeforeTheBody(t *testing.T) {
	t.Parallel()
	r := run(t, service.Config{Settings: generous()})
	fox, stranger := r.join("fox"), transcripts.NewAgent("stranger")
	forged, _, err := auth.MintToken(fox.ID, "tk_01j9z3k4m5n6p7q8r9s0t1v2w3", rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	reader := r.token(fox, "read")
	for _, body := range []string{`{"now":1}`, `{"colour":1}`, `{`, `[]`, `{"a":1,"a":1}`, ``, `7`} {
		for _, target := range []string{"/v1/me", "/v1/me?colour=red", "/v1/me?a=%zz"} {
			r.want(r.send(unsigned("PATCH", target, body)), 401, "unauthenticated")
			r.want(r.send(r.request(stranger, "PATCH", target, body)), 401, "unknown_key")
			named := r.request(stranger, "PATCH", target, body)
			named.Header.Set("X-Agent-Id", fox.ID)
			r.want(r.send(named), 401, "unknown_key")
			r.want(r.send(unsigned("PATCH", target, body, "Authorization", "Bearer "+forged)), 401, "bad_token")
			r.want(r.send(unsigned("PATCH", target, body, "Authorization", "Bearer "+forged, "Idempotency-Key", "é")), 401, "bad_token")
			r.want(r.send(unsigned("PATCH", target, body, "Authorization", "Bearer "+reader)), 403, "scope_missing")
			r.want(r.send(unsigned("PATCH", target, body, "Authorization", "Bearer "+reader, "Content-Type", "image/png")), 403, "scope_missing")
		}
	}
	for _, args := range []map[string]any{{"now": 1}, {"colour": 1}} {
		if a := r.send(toolCall(forged, handshakes[2], "update_profile", args)); a.Status != 401 {
			t.Errorf("a forged token with arguments %v: got %d %s, want 401", args, a.Status, a.Body)
		}
	}
}

// A refused write counts against its agent's minute, too. At the limit, a body is not looked at.
func TestRefusedWritesCount(t *testing.T) {
	t.Parallel()
	onBoth(t, service.Config{Settings: func() app.Settings {
		s := generous()
		s.Limits.WritesPerMinute = 12 // two of them are reserved for signed requests
		return s
	}()}, func(t *testing.T, r *running) {
		fox := r.join("fox")
		token := r.token(fox, "post", "read")
		r.toMinute()
		r.advance(time.Second) // signatures are a little behind the clock
		left := func(a *transcripts.Answer, want int) {
			t.Helper()
			if got := a.Header.Get("RateLimit"); !strings.HasPrefix(got, fmt.Sprintf(`"writes";r=%d;`, want)) {
				t.Errorf("%s: got RateLimit %q, want %d left", a.Body, got, want)
			}
		}
		for i, refused := range []struct {
			method, target, body string
			status               int
		}{
			{"PATCH", "/v1/me", `{"now":1}`, 422},
			{"PATCH", "/v1/me", `{`, 400},
			{"PATCH", "/v1/me?colour=red", `{"now":"x"}`, 422},
			{"POST", "/v1/c/nonesuch/posts", `{"body":"hello"}`, 404},
			{"POST", "/v1/me/follow", `{"kind":"agent","target":"fox","on":true}`, 403},
		} {
			a := r.want(r.call(fox, refused.method, refused.target, refused.body), refused.status, "")
			left(a, 11-i)
		}
		// A write that is carried out counts once, and its repetition does not.
		q := r.request(fox, "PATCH", "/v1/me", `{"now":"x"}`)
		left(r.want(r.send(q), 200, ""), 6)
		if a := r.want(r.send(q), 200, ""); a.Header.Get("Idempotent-Replayed") != "true" {
			t.Errorf("a repeated write: got headers %v, want a replay", a.Header)
		}
		for range 4 { // refused calls of a tool count, too
			r.send(toolCall(token, handshakes[2], "update_profile", map[string]any{"now": 1}))
		}
		left(r.want(r.call(fox, "PATCH", "/v1/me", `{"now":1}`), 422, ""), 1)
		over := r.want(r.send(unsigned("PATCH", "/v1/me", `{"now":1}`, "Authorization", "Bearer "+token)), 429, "rate_limited")
		left(over, 0)
		left(r.want(r.call(fox, "PATCH", "/v1/me", `{"now":1}`), 422, ""), 0)
		r.want(r.call(fox, "PATCH", "/v1/me", `{"now":1}`), 429, "rate_limited")
		r.want(r.call(fox, "PATCH", "/v1/me", `{`), 429, "rate_limited")
		r.want(r.call(fox, "PATCH", "/v1/me", `{"now":"y"}`), 429, "rate_limited")
		if a := r.want(r.send(q), 200, ""); a.Header.Get("Idempotent-Replayed") != "true" {
			t.Errorf("a repeated write at the limit: got headers %v, want a replay", a.Header)
		}
		if a := r.send(toolCall(token, handshakes[2], "update_profile", map[string]any{"now": "x"})); a.Text("result.structuredContent.error.code") != "rate_limited" {
			t.Errorf("a tool at the limit: got %s, want rate_limited", a.Body)
		}
		r.advance(time.Minute)
		r.want(r.call(fox, "PATCH", "/v1/me", `{"now":"y"}`), 200, "")
	})
}

// At the limit, a request is refused before its body is looked at.
func TestRefusedPostsOfAnAddress(t *testing.T) {
	t.Parallel()
	s := generous()
	s.ByAddr, s.MaxReads = true, 50
	r := run(t, service.Config{Settings: s})
	r.toMinute()
	for range 3000 {
		a := r.send(unsigned("POST", "/v1/challenge", `{"colour":1}`))
		if a.Status == 422 {
			continue
		}
		r.want(a, 429, "rate_limited")
		r.want(r.send(unsigned("POST", "/v1/challenge", `{`)), 429, "rate_limited")
		r.want(r.send(unsigned("POST", "/v1/challenge?a=b", `{}`)), 429, "rate_limited")
		return
	}
	t.Error("3000 refused bodies from one address in a minute: got no 429, want one")
}

func TestRefusalsOverMCPRepeatLittle(t *testing.T) {
	t.Parallel()
	r := run(t, service.Config{Settings: generous()})
	_, token := r.joinWithToken("fox")
	a := r.send(mcpMessage(token, `{"jsonrpc":"2.0","id":"`+strings.Repeat("x", 300)+`","method":"ping"}`))
	var out struct {
		ID    json.RawMessage
		Error struct{ Code int }
	}
	if err := json.Unmarshal(a.Body, &out); err != nil || a.Status != http.StatusBadRequest || out.Error.Code != -32600 || len(out.ID) > 4 {
		t.Errorf("a long id: got %d %s (%v), want 400, -32600, without the id", a.Status, a.Body, err)
	}
}
