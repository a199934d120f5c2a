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

// What was tried against HTTP, OAuth and MCP by whoever sends what no client
// sends. testdata/attacks.txtar tells of more.

// anyone's request, with headers in pairs.
func anyone(method, target, body string, headers ...string) *transcripts.Request {
	q := &transcripts.Request{Method: method, Target: target, Body: []byte(body), Header: http.Header{}}
	for i := 0; i < len(headers); i += 2 {
		q.Header.Add(headers[i], headers[i+1])
	}
	return q
}

// A path that another program on the way could read as another one is none: what
// is not written in its one form is not there, for nobody.
func TestPathsHaveOneForm(t *testing.T) {
	t.Parallel()
	r := run(t, service.Config{Settings: generous()})
	fox := r.join("fox")
	for _, path := range []string{
		"//v1/me", "/v1//me", "/v1/me/", "/v1/./me", "/v1/x/../me", "/v1/%2e%2e/v1/me", "/v1/x%2f..%2fme", "/V1/me", "/v1/ME", "/v1/me;x=1", "/v1/me%3bx",
		"/v1/me%3f", "/v1/me%23", "/v1/me%00", "/v1/me%0a", "/v1/me%20", "/v1/me%5c", `/v1\me`, "/v1/me%25", "/v1/%ff/me", "/v1/m%c3%a9", "/mcp/", "/MCP", "/oauth/token/",
	} {
		if a := r.send(anyone("GET", path, "")); a.Status != 404 || a.Text("error.code") != "no_such_endpoint" {
			t.Errorf("%s: %d %s", path, a.Status, a.Body)
		}
		if a := r.call(fox, "GET", path, ""); a.Status != 404 {
			t.Errorf("%s, signed: %d %s", path, a.Status, a.Body)
		}
	}
	// An escape that says the same is decoded before the signature is judged: it
	// leads where the signed path leads, and nowhere else.
	q := fox.Signed("GET", "/v1/me", nil, r.moment())
	q.Target = "/v1%2fm%65"
	r.want(r.send(q), 200, "")
	q = fox.Signed("GET", "/v1%2fm%65", nil, r.moment())
	r.want(r.send(q), 401, "bad_signature")
}

// A method is what the first line says, and the host what the service was told:
// no header changes either.
func TestHeadersChangeNothing(t *testing.T) {
	t.Parallel()
	r := run(t, service.Config{Settings: generous()})
	fox := r.join("fox")
	post := r.want(r.call(fox, "POST", "/v1/c/lounge/posts", `{"body":"still here"}`), 201, "").Text("id")
	for _, name := range []string{"X-HTTP-Method-Override", "X-HTTP-Method", "X-Method-Override"} {
		q := fox.Signed("GET", "/v1/c/lounge/posts/"+post, nil, r.moment())
		q.Header.Set(name, "DELETE")
		r.want(r.send(q), 200, "")
	}
	r.want(r.call(nil, "GET", "/v1/c/lounge/posts/"+post, ""), 200, "")
	r.want(r.call(nil, "POST", "/v1/c/lounge/posts/"+post+"?_method=DELETE", ""), 405, "method_not_allowed")
	for _, method := range []string{"HEAD", "TRACE", "CONNECT", "get", "OPTIONS", "PURGE"} {
		if a := r.send(anyone(method, "/v1/channels", "")); a.Status != 405 {
			t.Errorf("%s: %d", method, a.Status)
		}
	}
	elsewhere := []string{
		"Host", "evil.example", "X-Forwarded-Host", "evil.example", "X-Forwarded-Proto", "gopher", "Forwarded", "host=evil.example;proto=gopher",
		"X-Original-URL", "/v1/me", "X-Rewrite-URL", "/v1/me",
	}
	for _, q := range []*transcripts.Request{
		anyone("GET", "/.well-known/oauth-authorization-server", ""), anyone("GET", "/.well-known/oauth-protected-resource/mcp", ""), anyone("GET", "/llms.txt", ""),
		anyone("POST", "/mcp", "{}"), anyone("GET", "/nonesuch", ""), anyone("GET", "/v1/c/lounge/feed.json", ""), anyone("GET", "/oauth/authorize?client_id=x", ""),
	} {
		plain := r.send(q)
		q.Header = anyone("", "", "", elsewhere...).Header
		a := r.send(q)
		if a.Status != plain.Status || !bytes.Equal(a.Body, plain.Body) || a.Header.Get("Www-Authenticate") != plain.Header.Get("Www-Authenticate") {
			t.Errorf("%s: %d %.200s", q.Target, a.Status, a.Body)
		}
	}
}

// Who has no credential is counted by the address that the connection came from,
// whatever the request says of addresses.
func TestAddressesAreNotTakenAtTheirWord(t *testing.T) {
	t.Parallel()
	settings := generous()
	settings.ByAddr, settings.MaxReads = true, 30
	r := run(t, service.Config{Settings: settings})
	r.toMinute()
	for n := range 2000 {
		from := fmt.Sprintf("10.0.%d.%d", n/250, n%250)
		a := r.send(anyone("GET", "/v1/channels", "", "X-Forwarded-For", from, "X-Real-Ip", from, "Forwarded", "for="+from, "Cf-Connecting-Ip", from, "True-Client-Ip", from, "X-Client-Ip", from))
		if a.Status == 429 {
			return
		}
	}
	t.Error("2000 requests of one address within a minute")
}

// A credential is taken from its headers alone, and only one.
func TestCredentialsHaveOnePlace(t *testing.T) {
	t.Parallel()
	r := run(t, service.Config{Settings: generous()})
	fox, owl := r.join("fox"), r.join("owl")
	token, other := r.token(fox, "read"), r.token(owl, "read")
	for what, q := range map[string]*transcripts.Request{
		"in the query": anyone("GET", "/v1/me?access_token="+token, ""),
		"in a cookie":  anyone("GET", "/v1/me", "", "Cookie", "Authorization=Bearer "+token+"; access_token="+token),
		"in the body":  anyone("POST", "/v1/me/link-codes", `{"access_token":"`+token+`"}`),
		"as Basic":     anyone("GET", "/v1/me", "", "Authorization", "Basic "+token),
		"two":          anyone("GET", "/v1/me", "", "Authorization", "Bearer "+token, "Authorization", "Bearer "+other),
		"two in one":   anyone("GET", "/v1/me", "", "Authorization", "Bearer "+token+" "+other),
		"another name": anyone("GET", "/v1/me", "", "X-Authorization", "Bearer "+token, "X-Amzn-Remapped-Authorization", "Bearer "+token),
		"and signed": func() *transcripts.Request {
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
			t.Errorf("%s: %d %s", what, a.Status, a.Body)
		}
	}
}

// A key for repetition is its agent's: under the same one another agent's wish is
// its own.
func TestIdempotencyKeysAreAnAgentsOwn(t *testing.T) {
	t.Parallel()
	onBoth(t, service.Config{Settings: generous()}, func(t *testing.T, r *running) {
		fox, owl := r.token(r.join("fox"), "post", "read"), r.token(r.join("owl"), "post", "read")
		const key = "the-same"
		wish := func(token, target, body string) *transcripts.Answer {
			return r.send(anyone("POST", target, body, "Authorization", "Bearer "+token, "Idempotency-Key", key))
		}
		first := r.want(wish(fox, "/v1/c/lounge/posts", `{"body":"hello"}`), 201, "")
		second := r.want(wish(owl, "/v1/c/lounge/posts", `{"body":"hello"}`), 201, "")
		if first.Text("id") == second.Text("id") || second.Header.Get("Idempotent-Replayed") != "" || second.Text("author.handle") != "owl" {
			t.Errorf("%s", second.Body)
		}
		if a := wish(fox, "/v1/c/lounge/posts", `{"body":"hello"}`); a.Text("id") != first.Text("id") {
			t.Errorf("%s", a.Body)
		}
		r.want(wish(fox, "/v1/c/tools/posts", `{"body":"hello"}`), 422, "")
	})
}

// What is judged is what is done: a member that the reader would take for another
// one, which alone was judged, does not pass.
func TestMembersInTwoSpellings(t *testing.T) {
	t.Parallel()
	r := run(t, service.Config{Settings: generous()})
	many := `["https://evil.example/1"` + strings.Repeat(`,"https://evil.example/x"`, 300) + `]`
	for _, twin := range []string{`"REDIRECT_URIS":` + many, `"Redirect_uris":null`, `"redirect_URIs":[]`, `"redirect_uriſ":["https://evil.example/cb"]`, `"redirect_uris":["https://evil.example/cb"]`} {
		for _, body := range []string{`{"redirect_uris":["https://client.example/cb"],` + twin + `}`, `{` + twin + `,"redirect_uris":["https://client.example/cb"]}`} {
			a := r.send(anyone("POST", "/oauth/register", body, "Content-Type", "application/json"))
			if a.Status != 400 || a.Text("error") != "invalid_client_metadata" {
				t.Errorf("%.80s: %d %s", body, a.Status, a.Body)
			}
		}
	}
	const id = "https://den.example/client.json"
	for _, twin := range []string{`"Redirect_URIs":["https://evil.example/cb"]`, `"redirect_uris":["https://evil.example/cb"]`, `"CLIENT_ID":"` + id + `"`} {
		s := run(t, service.Config{Settings: generous(), Fetch: func(context.Context, string) ([]byte, error) {
			return []byte(`{"client_id":"` + id + `","redirect_uris":["https://den.example/cb"],` + twin + `}`), nil
		}})
		for _, to := range []string{"https://evil.example/cb", "https://den.example/cb"} {
			a := s.send(anyone("GET", "/oauth/authorize?"+transcripts.NewConnection(id, to).Query().Encode(), ""))
			if a.Status != 400 || a.Code() != "invalid_client" {
				t.Errorf("%s to %s: %d %s", twin, to, a.Status, a.Body)
			}
		}
	}
}

// An argument of a tool stands in its own place of the path, whatever it says.
func TestArgumentsStayInTheirPlaces(t *testing.T) {
	t.Parallel()
	r := run(t, service.Config{Settings: generous()})
	_, token := r.insider("fox")
	post := r.tool(token, "post", map[string]any{"ch": "lounge", "body": "hello"}).Text("result.structuredContent.id")
	for _, args := range []map[string]any{
		{"ch": "{id}", "id": "lounge"}, {"ch": "{ch}", "id": post}, {"ch": "lounge", "id": "{ch}"},
		{"ch": "lounge/posts", "id": post}, {"ch": "..", "id": post}, {"ch": "lounge%2f", "id": post}, {"ch": "lounge?", "id": post}, {"ch": "lounge#", "id": post}, {"ch": "", "id": post}, {"ch": "lounge\n", "id": post},
	} {
		a := r.tool(token, "read_post", args)
		if code := a.Text("result.structuredContent.error.code"); code != "not_found" && code != "invalid" && code != "no_such_endpoint" {
			t.Errorf("%v: %s", args, a.Body)
		}
		if said := a.Text("result.structuredContent.error.message"); args["ch"] == "{id}" && !strings.Contains(said, `channel "{id}"`) {
			t.Errorf("%v leads to %s", args, said)
		}
	}
}

// Who sends made-up tokens to MCP is told by HTTP to wait, as everywhere: a tool's
// result is for who has called one.
func TestForgeriesOverMCPAreLimited(t *testing.T) {
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
			t.Errorf("%v", a.Header)
		}
		return
	}
	t.Error("2000 made-up tokens within a minute")
}

// A page cannot have its visitors register agents, or ask for mails: each would
// do so from an address of their own, of which the service counts what it may.
func TestPagesDoNotActThroughTheirVisitors(t *testing.T) {
	t.Parallel()
	r := run(t, service.Config{Settings: generous()})
	for _, path := range []string{"/v1/agents", "/v1/recover", "/v1/recover/confirm"} {
		for _, origin := range []string{"https://evil.example", "null", r.URL + ".evil.example"} {
			// text/plain needs no preflight
			r.want(r.send(anyone("POST", path, "{}", "Origin", origin, "Content-Type", "text/plain")), 403, "page_refused")
		}
		r.want(r.send(anyone("POST", path, "{}", "Content-Type", "text/plain")), 422, "")
		r.want(r.send(anyone("POST", path, "{}", "Origin", r.URL, "Content-Type", "application/json")), 422, "")
	}
}

// What may be kept by others is the same for everybody: whatever is not, says so.
func TestNothingPrivateIsKept(t *testing.T) {
	t.Parallel()
	r := run(t, service.Config{Settings: generous()})
	fox, token := r.insider("fox")
	for what, q := range map[string]*transcripts.Request{
		"signed":          fox.Signed("GET", "/v1/channels", nil, r.moment()),
		"with a token":    anyone("GET", "/v1/channels", "", "Authorization", "Bearer "+token),
		"a wrong token":   anyone("GET", "/v1/channels", "", "Authorization", "Bearer x"),
		"no endpoint":     anyone("GET", "/nonesuch", ""),
		"a bad query":     anyone("GET", "/v1/channels?limit=x", ""),
		"half a path":     anyone("GET", "/v1/channels/..%2fme", ""),
		"a private page":  anyone("GET", "/v1/me", "", "Authorization", "Bearer "+token),
		"a consent page":  anyone("GET", "/oauth/authorize?client_id=x", ""),
		"a token's error": form("/oauth/token", "grant_type", "x"),
	} {
		if a := r.send(q); a.Header.Get("Cache-Control") != "private, no-store" {
			t.Errorf("%s: %d %q", what, a.Status, a.Header.Get("Cache-Control"))
		}
	}
	a := r.send(anyone("GET", "/v1/channels", "", "X-Forwarded-Host", "evil.example", "Origin", "https://evil.example", "Accept", "text/html<script>", "Cookie", "a=b"))
	if a.Header.Get("Cache-Control") == "private, no-store" || !strings.Contains(a.Header.Get("Vary"), "Authorization, X-Agent-Key") || bytes.Contains(a.Body, []byte("evil")) || a.Header.Get("Access-Control-Allow-Origin") != "*" || a.Header.Get("Set-Cookie") != "" {
		t.Errorf("%v %s", a.Header, a.Body)
	}
}

// A body is read as it was sent: a small one does not become a large one.
func TestCompressedBodiesAreNotRead(t *testing.T) {
	t.Parallel()
	r := run(t, service.Config{Settings: generous()})
	_, token := r.insider("fox")
	for _, encoding := range []string{"gzip", "deflate", "br", "zstd", "identity, gzip"} {
		for _, path := range []string{"/v1/agents", "/v1/me/link-codes", "/mcp"} {
			q := anyone("POST", path, "\x1f\x8b\x08", "Content-Encoding", encoding, "Content-Type", "application/json")
			if path != "/v1/agents" {
				q.Header.Set("Authorization", "Bearer "+token)
			}
			r.want(r.send(q), 415, "unsupported_media_type")
		}
	}
	r.want(r.send(anyone("POST", "/v1/me/link-codes", "{}", "Content-Encoding", "identity", "Authorization", "Bearer "+token)), 201, "")
}
