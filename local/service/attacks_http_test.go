package service_test

import (
	"bytes"
	"context"
	"crypto/rand"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"agentsocial/local/service"
	"agentsocial/local/transcripts"
	"agentsocial/shared/identity/auth"
)

// These tests attack HTTP, OAuth and MCP with requests that no client sends.
// local/testdata/attacks.txtar has more.

// unsigned returns an unsigned request. headers are names and values in turn.
func unsigned(method, target, body string, headers ...string) *transcripts.Request {
	q := &transcripts.Request{Method: method, Target: target, Body: []byte(body), Header: http.Header{}}
	for i := 0; i < len(headers); i += 2 {
		q.Header.Add(headers[i], headers[i+1])
	}
	return q
}

// A path is served only if it is canonical after its escapes are decoded. A proxy may read
// any other form as a different path.
func TestPathsHaveOneForm(t *testing.T) {
	t.Parallel()
	r := run(t, unlimited())
	fox := r.join("fox")
	for _, path := range []string{
		"//v1/me", "/v1//me", "/v1/me/", "/v1/./me", "/v1/x/../me", "/v1/%2e%2e/v1/me", "/v1/x%2f..%2fme", "/V1/me", "/v1/ME", "/v1/me;x=1", "/v1/me%3bx",
		"/v1/me%3f", "/v1/me%23", "/v1/me%00", "/v1/me%0a", "/v1/me%20", "/v1/me%5c", `/v1\me`, "/v1/me%25", "/v1/%ff/me", "/v1/m%c3%a9", "/mcp/", "/MCP", "/oauth/token/",
	} {
		if a := r.send(unsigned("GET", path, "")); a.Status != 404 || a.Text("error.code") != "no_such_endpoint" {
			t.Errorf("%s: got %d %s, want 404, no_such_endpoint", path, a.Status, a.Body)
		}
		if a := r.call(fox, "GET", path, ""); a.Status != 404 {
			t.Errorf("%s, signed: got %d %s, want 404", path, a.Status, a.Body)
		}
	}
	// Escapes are decoded before the signature is checked.
	q := fox.Signed("GET", "/v1/me", nil, r.moment())
	q.Target = "/v1%2fm%65"
	r.want(r.send(q), 200, "")
	q = fox.Signed("GET", "/v1%2fm%65", nil, r.moment())
	r.want(r.send(q), 401, "bad_signature")
}

func TestOverrideHeadersAreIgnored(t *testing.T) {
	t.Parallel()
	r := run(t, unlimited())
	fox := r.join("fox")
	post := r.want(r.call(fox, "POST", "/v1/c/lounge/posts", `{"body":"still here"}`), 201, "").Text("id")
	for _, name := range []string{"X-HTTP-Method-Override", "X-HTTP-Method", "X-Method-Override"} {
		q := fox.Signed("GET", "/v1/c/lounge/posts/"+post, nil, r.moment())
		q.Header.Set(name, "DELETE")
		r.want(r.send(q), 200, "")
	}
	r.want(r.call(nil, "GET", "/v1/c/lounge/posts/"+post, ""), 200, "")
	r.want(r.call(nil, "POST", "/v1/c/lounge/posts/"+post+"?_method=DELETE", ""), 405, "method_not_allowed")
	for _, method := range []string{"TRACE", "CONNECT", "get", "OPTIONS", "PURGE"} {
		if a := r.send(unsigned(method, "/v1/channels", "")); a.Status != 405 {
			t.Errorf("%s: got %d, want 405", method, a.Status)
		}
	}
	elsewhere := []string{
		"Host", "evil.example", "X-Forwarded-Host", "evil.example", "X-Forwarded-Proto", "gopher", "Forwarded", "host=evil.example;proto=gopher",
		"X-Original-URL", "/v1/me", "X-Rewrite-URL", "/v1/me",
	}
	for _, q := range []*transcripts.Request{
		unsigned("GET", "/.well-known/oauth-authorization-server", ""), unsigned("GET", "/.well-known/oauth-protected-resource/mcp", ""), unsigned("GET", "/llms.txt", ""),
		unsigned("POST", "/mcp", "{}"), unsigned("GET", "/nonesuch", ""), unsigned("GET", "/v1/c/lounge/feed.json", ""), unsigned("GET", "/oauth/authorize?client_id=x", ""),
	} {
		plain := r.send(q)
		q.Header = unsigned("", "", "", elsewhere...).Header
		a := r.send(q)
		if a.Status != plain.Status || !bytes.Equal(a.Body, plain.Body) || a.Header.Get("Www-Authenticate") != plain.Header.Get("Www-Authenticate") {
			t.Errorf("%s: got %d %.200s, want %d and the answer to a request without these headers", q.Target, a.Status, a.Body, plain.Status)
		}
	}
}

// Requests without a credential are limited by the connection's address.
func TestForwardedAddressesAreIgnored(t *testing.T) {
	t.Parallel()
	settings := generous()
	settings.ByAddr, settings.MaxReads = true, 30
	r := run(t, service.Config{Settings: settings})
	r.toMinute()
	for n := range 2000 {
		from := fmt.Sprintf("10.0.%d.%d", n/250, n%250)
		a := r.send(unsigned("GET", "/v1/channels", "", "X-Forwarded-For", from, "X-Real-Ip", from, "Forwarded", "for="+from, "Cf-Connecting-Ip", from, "True-Client-Ip", from, "X-Client-Ip", from))
		if a.Status == 429 {
			return
		}
	}
	t.Error("2000 requests from one address in a minute: got no 429")
}

func TestCredentialsOnlyInTheirHeaders(t *testing.T) {
	t.Parallel()
	r := run(t, unlimited())
	fox, owl := r.join("fox"), r.join("owl")
	token, other := r.token(fox, "read"), r.token(owl, "read")
	for what, q := range map[string]*transcripts.Request{
		"in the query": unsigned("GET", "/v1/me?access_token="+token, ""),
		"in a cookie":  unsigned("GET", "/v1/me", "", "Cookie", "Authorization=Bearer "+token+"; access_token="+token),
		"in the body":  unsigned("POST", "/v1/me/link-codes", `{"access_token":"`+token+`"}`),
		"as Basic":     unsigned("GET", "/v1/me", "", "Authorization", "Basic "+token),
		"two headers":  unsigned("GET", "/v1/me", "", "Authorization", "Bearer "+token, "Authorization", "Bearer "+other),
		"two tokens":   unsigned("GET", "/v1/me", "", "Authorization", "Bearer "+token+" "+other),
		"another name": unsigned("GET", "/v1/me", "", "X-Authorization", "Bearer "+token, "X-Amzn-Remapped-Authorization", "Bearer "+token),
		"a token and a signature": func() *transcripts.Request {
			q := owl.Signed("GET", "/v1/me", nil, r.moment())
			q.Header.Set("Authorization", "Bearer "+token)
			return q
		}(),
		"another agent": func() *transcripts.Request {
			q := owl.Signed("GET", "/v1/me", nil, r.moment())
			q.Header.Set("X-Agent-Id", fox.ID)
			return q
		}(),
	} {
		if a := r.send(q); a.Status != 401 && a.Status != 422 || bytes.Contains(a.Body, []byte(token)) || bytes.Contains(a.Body, []byte(fox.ID)) {
			t.Errorf("%s: got %d %s, want 401 or 422, and neither the token nor the ID of fox in the body", what, a.Status, a.Body)
		}
	}
}

func TestIdempotencyKeysAreAnAgentsOwn(t *testing.T) {
	t.Parallel()
	onBoth(t, unlimited(), func(t *testing.T, r *running) {
		fox, owl := r.token(r.join("fox"), "post", "read"), r.token(r.join("owl"), "post", "read")
		const key = "the-same"
		wish := func(token, target, body string) *transcripts.Answer {
			return r.send(unsigned("POST", target, body, "Authorization", "Bearer "+token, "Idempotency-Key", key))
		}
		first := r.want(wish(fox, "/v1/c/lounge/posts", `{"body":"hello"}`), 201, "")
		second := r.want(wish(owl, "/v1/c/lounge/posts", `{"body":"hello"}`), 201, "")
		if first.Text("id") == second.Text("id") || second.Header.Get("Idempotent-Replayed") != "" || second.Text("author.handle") != "owl" {
			t.Errorf("the second agent's post: got %v %s, want an id other than %s, Idempotent-Replayed unset, author.handle owl", second.Header, second.Body, first.Text("id"))
		}
		r.has(wish(fox, "/v1/c/lounge/posts", `{"body":"hello"}`), "id", first.Text("id"))
		r.want(wish(fox, "/v1/c/tools/posts", `{"body":"hello"}`), 422, "")
	})
}

// The validator and the decoder might read different values from a repeated member.
func TestMembersInOtherSpellingsAreRefused(t *testing.T) {
	t.Parallel()
	r := run(t, unlimited())
	many := `["https://evil.example/1"` + strings.Repeat(`,"https://evil.example/x"`, 300) + `]`
	for _, twin := range []string{`"REDIRECT_URIS":` + many, `"Redirect_uris":null`, `"redirect_URIs":[]`, `"redirect_uriſ":["https://evil.example/cb"]`, `"redirect_uris":["https://evil.example/cb"]`} {
		for _, body := range []string{`{"redirect_uris":["https://client.example/cb"],` + twin + `}`, `{` + twin + `,"redirect_uris":["https://client.example/cb"]}`} {
			a := r.send(unsigned("POST", "/oauth/register", body, "Content-Type", "application/json"))
			if a.Status != 400 || a.Text("error") != "invalid_client_metadata" {
				t.Errorf("%.80s: got %d %s, want 400, error invalid_client_metadata", body, a.Status, a.Body)
			}
		}
	}
	const id = "https://den.example/client.json"
	for _, twin := range []string{`"Redirect_URIs":["https://evil.example/cb"]`, `"redirect_uris":["https://evil.example/cb"]`, `"CLIENT_ID":"` + id + `"`} {
		s := run(t, service.Config{Settings: generous(), Fetch: func(context.Context, string) ([]byte, error) {
			return []byte(`{"client_id":"` + id + `","redirect_uris":["https://den.example/cb"],` + twin + `}`), nil
		}})
		for _, to := range []string{"https://evil.example/cb", "https://den.example/cb"} {
			a := s.send(unsigned("GET", "/oauth/authorize?"+transcripts.NewConnection(id, to).Query().Encode(), ""))
			if a.Status != 400 || a.Code() != "invalid_client" {
				t.Errorf("%s to %s: got %d %s, want 400, invalid_client", twin, to, a.Status, a.Body)
			}
		}
	}
}

func TestToolArgumentsFillOnePathPart(t *testing.T) {
	t.Parallel()
	r := run(t, unlimited())
	_, token := r.joinWithToken("fox")
	post := r.tool(token, "post", map[string]any{"ch": "lounge", "body": "hello"}).Text("result.structuredContent.id")
	for _, args := range []map[string]any{
		{"ch": "{id}", "id": "lounge"}, {"ch": "{ch}", "id": post}, {"ch": "lounge", "id": "{ch}"},
		{"ch": "lounge/posts", "id": post}, {"ch": "..", "id": post}, {"ch": "lounge%2f", "id": post}, {"ch": "lounge?", "id": post}, {"ch": "lounge#", "id": post}, {"ch": "", "id": post}, {"ch": "lounge\n", "id": post},
	} {
		a := r.tool(token, "read_post", args)
		if code := a.Text("result.structuredContent.error.code"); code != "not_found" && code != "invalid" && code != "no_such_endpoint" {
			t.Errorf("%v: got %s, want not_found, invalid or no_such_endpoint", args, a.Body)
		}
		if said := a.Text("result.structuredContent.error.message"); args["ch"] == "{id}" && !strings.Contains(said, `channel "{id}"`) {
			t.Errorf("%v: got %q, want the channel named", args, said)
		}
	}
}

// Beyond the limit MCP answers with the status 429, not with an error in a tool's result.
func TestForgedTokensOverMCPAreLimited(t *testing.T) {
	t.Parallel()
	settings := generous()
	settings.ByAddr, settings.MaxReads = true, 50
	r := run(t, service.Config{Settings: settings})
	fox := r.join("fox")
	r.toMinute()
	for range 2000 {
		forged, _, err := auth.MintToken(fox.ID, "tk_01j9z3k4m5n6p7q8r9s0t1v2w3", rand.Reader)
		if err != nil {
			t.Fatal(err)
		}
		a := r.send(toolCall(forged, handshakes[2], "me", nil))
		if a.Status == 401 {
			continue
		}
		if r.want(a, 429, "rate_limited"); a.Header.Get("Retry-After") == "" {
			t.Errorf("got %v, want Retry-After", a.Header)
		}
		return
	}
	t.Error("2000 forged tokens in a minute: got no 429")
}

// A web page cannot make its visitors' browsers register agents or ask for mails.
func TestPagesCannotUseTheirVisitors(t *testing.T) {
	t.Parallel()
	r := run(t, unlimited())
	for _, path := range []string{"/v1/agents", "/v1/recover", "/v1/recover/confirm"} {
		for _, origin := range []string{"https://evil.example", "null", r.URL + ".evil.example"} {
			// A text/plain request needs no CORS preflight.
			r.want(r.send(unsigned("POST", path, "{}", "Origin", origin, "Content-Type", "text/plain")), 403, "page_refused")
		}
		r.want(r.send(unsigned("POST", path, "{}", "Content-Type", "text/plain")), 422, "")
		r.want(r.send(unsigned("POST", path, "{}", "Origin", r.URL, "Content-Type", "application/json")), 422, "")
	}
}

func TestPrivateAnswersAreNotCached(t *testing.T) {
	t.Parallel()
	r := run(t, unlimited())
	fox, token := r.joinWithToken("fox")
	for what, q := range map[string]*transcripts.Request{
		"signed":          fox.Signed("GET", "/v1/channels", nil, r.moment()),
		"with a token":    unsigned("GET", "/v1/channels", "", "Authorization", "Bearer "+token),
		"a wrong token":   unsigned("GET", "/v1/channels", "", "Authorization", "Bearer x"),
		"no endpoint":     unsigned("GET", "/nonesuch", ""),
		"a bad query":     unsigned("GET", "/v1/channels?limit=x", ""),
		"escaped slash":   unsigned("GET", "/v1/channels/..%2fme", ""),
		"private data":    unsigned("GET", "/v1/me", "", "Authorization", "Bearer "+token),
		"a consent page":  unsigned("GET", "/oauth/authorize?client_id=x", ""),
		"a token's error": form("/oauth/token", "grant_type", "x"),
	} {
		if a := r.send(q); a.Header.Get("Cache-Control") != "private, no-store" {
			t.Errorf("%s: Cache-Control: got %q, want private, no-store", what, a.Header.Get("Cache-Control"))
		}
	}
	a := r.send(unsigned("GET", "/v1/channels", "", "X-Forwarded-Host", "evil.example", "Origin", "https://evil.example", "Accept", "text/html<script>", "Cookie", "a=b"))
	if a.Header.Get("Cache-Control") == "private, no-store" || !strings.Contains(a.Header.Get("Vary"), "Authorization, X-Agent-Key") || bytes.Contains(a.Body, []byte("evil")) || a.Header.Get("Access-Control-Allow-Origin") != "*" || a.Header.Get("Set-Cookie") != "" {
		t.Errorf("got %v %s, want a Cache-Control other than private, no-store, Vary with Authorization and X-Agent-Key, Access-Control-Allow-Origin *, no Set-Cookie, and no \"evil\" in the body", a.Header, a.Body)
	}
}

func TestCompressedBodiesAreRefused(t *testing.T) {
	t.Parallel()
	r := run(t, unlimited())
	_, token := r.joinWithToken("fox")
	for _, encoding := range []string{"gzip", "deflate", "br", "zstd", "identity, gzip"} {
		for _, path := range []string{"/v1/agents", "/v1/me/link-codes", "/mcp"} {
			q := unsigned("POST", path, "\x1f\x8b\x08", "Content-Encoding", encoding, "Content-Type", "application/json")
			if path != "/v1/agents" {
				q.Header.Set("Authorization", "Bearer "+token)
			}
			r.want(r.send(q), 415, "unsupported_media_type")
		}
	}
	r.want(r.send(unsigned("POST", "/v1/me/link-codes", "{}", "Content-Encoding", "identity", "Authorization", "Bearer "+token)), 201, "")
}
