package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"agentsocial/shared/client"
	"agentsocial/shared/wire"
)

// visitor checks a stage from outside.
type visitor struct {
	*report
	client *client.Client
	files  [2]keyFile
	solve  solver
	within time.Duration // bounds the wait for the stream's readers

	version string // the version that /health names
}

type answer struct {
	status int
	header http.Header
	body   []byte
}

// code returns the code in the error envelope, or "" without an envelope.
func (a *answer) code() string {
	var e wire.ErrorEnvelope
	if json.Unmarshal(a.body, &e) != nil {
		return ""
	}
	return e.Error.Code
}

func (a *answer) String() string {
	return fmt.Sprintf("%d %.120q", a.status, a.body)
}

// call sends one request without retries. It adds no credentials to the headers.
func (v *visitor) call(ctx context.Context, method, path, body string, headers ...string) (*answer, error) {
	r, err := http.NewRequestWithContext(ctx, method, v.client.URL()+path, strings.NewReader(body))
	if err != nil {
		return nil, err
	}
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	r.Header.Set("Accept", "application/json")
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	res, err := v.client.HTTP.Do(r)
	if err != nil {
		return nil, err
	}
	defer res.Body.Close()
	b, err := io.ReadAll(io.LimitReader(res.Body, 16<<20))
	return &answer{res.StatusCode, res.Header, b}, err
}

// public makes the checks that need no credential. It reports whether GET /health answered
// 200.
func (v *visitor) public(ctx context.Context) bool {
	begun := time.Now()
	a, err := v.call(ctx, http.MethodGet, "/health", "")
	if err != nil || a.status != http.StatusOK {
		saw := fmt.Sprint(err)
		if err == nil {
			saw = a.String()
		}
		v.fail("health", `infra/RUNBOOK.md, "Alarm: Unreachable".`, "GET /health: %s", saw)
		v.skip("everything else from outside", "GET %s/health does not answer 200", v.client.URL())
		return false
	}
	v.ok("health", "GET /health answers 200 within %s", time.Since(begun).Round(time.Millisecond))
	var health wire.Health
	if err := json.Unmarshal(a.body, &health); err == nil {
		v.version = health.Version
	}
	v.document(ctx)
	v.address(ctx)
	v.challenge(ctx)
	v.head(ctx)
	v.large(ctx)
	v.unknown(ctx)
	return true
}

// expect makes a call and reports whether an answer came. It reports a missing answer as
// failed.
func (v *visitor) expect(ctx context.Context, what, method, path, body string, headers ...string) (*answer, bool) {
	a, err := v.call(ctx, method, path, body, headers...)
	if err != nil {
		v.fail(what, `infra/RUNBOOK.md, "Alarm: Unreachable".`, "%s %s: %v", method, path, err)
	}
	return a, err == nil
}

// document checks the version and the server in the OpenAPI document. The server's URL may be
// relative to the document.
func (v *visitor) document(ctx context.Context) {
	a, ok := v.expect(ctx, "version", http.MethodGet, "/openapi.json", "")
	if !ok {
		return
	}
	var d struct {
		Info struct {
			Build string `json:"x-build"`
		}
		Servers []struct{ URL string }
	}
	if err := json.Unmarshal(a.body, &d); a.status != http.StatusOK || err != nil {
		v.fail("version", `Run logs docs 1h ("First of all").`, "GET /openapi.json: %s", a)
		return
	}
	switch {
	case d.Info.Build != v.version:
		v.fail("version", "An edge stores the document for a while. Otherwise run make deploy again.", "/health says %q, and the x-build of /openapi.json is %q", v.version, d.Info.Build)
	case v.version == "":
		v.skip("version", "/health and /openapi.json have none, since make deploy did not deploy this stage")
	default:
		v.ok("version", "%s is deployed", v.version)
	}
	own, err := url.Parse(v.client.URL() + "/openapi.json")
	if err != nil || len(d.Servers) == 0 {
		v.fail("the OpenAPI document's server", "See functions/docs/docs.go.", "/openapi.json names %d servers", len(d.Servers))
		return
	}
	server, err := own.Parse(d.Servers[0].URL)
	if err != nil || strings.TrimSuffix(server.String(), "/") != v.client.URL() {
		v.fail("the OpenAPI document's server", "Set domain in cdk.json, or give URL the output BaseUrl.", "it is %q; want %s", d.Servers[0].URL, v.client.URL())
		return
	}
	v.ok("the OpenAPI document's server", "%q is %s", d.Servers[0].URL, v.client.URL())
}

// metadataPath is the path of the metadata from which MCP clients learn how to sign in (RFC
// 9728).
const metadataPath = "/.well-known/oauth-protected-resource/mcp"

// address checks the address that the service gives to MCP clients.
func (v *visitor) address(ctx context.Context) {
	const what = "the service's own address"
	a, ok := v.expect(ctx, what, http.MethodGet, metadataPath, "")
	if !ok {
		return
	}
	var metadata struct{ Resource string }
	if err := json.Unmarshal(a.body, &metadata); a.status != http.StatusOK || err != nil || metadata.Resource != v.client.URL()+"/mcp" {
		v.fail(what, "Set domain in cdk.json, or give URL the output BaseUrl.", "%s has the resource %q; want %s/mcp", metadataPath, metadata.Resource, v.client.URL())
		return
	}
	v.ok(what, "%s has the resource %s", metadataPath, metadata.Resource)
}

// challenge checks that the gateway keeps WWW-Authenticate. API Gateway's REST APIs rename
// this header.
func (v *visitor) challenge(ctx context.Context) {
	const what, name, renamed = "WWW-Authenticate of POST /mcp", "WWW-Authenticate", "X-Amzn-Remapped-Www-Authenticate"
	a, ok := v.expect(ctx, what, http.MethodPost, "/mcp", `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`)
	if !ok {
		return
	}
	const remedy = "MCP clients that know only this header cannot sign in; others look at " + metadataPath + ". See shared/api/respond.go, challenge: send the header in a way that the gateway leaves unchanged."
	got := a.header.Get(name)
	switch {
	case a.status != http.StatusUnauthorized:
		v.fail(what, `Run logs mcp 1h ("First of all").`, "want 401 without a credential, got %s", a)
	case got == "" && a.header.Get(renamed) != "":
		v.fail(what, remedy, "the gateway renamed it to %s", renamed)
	case got == "":
		v.fail(what, remedy, "the 401 does not have it")
	case !strings.HasPrefix(got, "Bearer ") || !strings.Contains(got, `resource_metadata="`+v.client.URL()+metadataPath+`"`):
		v.fail(what, remedy, "the gateway changed it: %s", got)
	default:
		v.ok(what, "%s", got)
	}
}

// head checks that HEAD reaches the functions.
func (v *visitor) head(ctx context.Context) {
	const what = "HEAD"
	for _, path := range []string{"/v1/c/lounge", "/openapi.json"} {
		a, ok := v.expect(ctx, what, http.MethodHead, path, "")
		if !ok {
			return
		}
		if a.status != http.StatusOK || len(a.body) > 0 || a.header.Get("ETag") == "" {
			v.fail(what, "Link checkers and monitors send it. See infra/routes.go: does the route have HEAD?",
				"HEAD %s: got %d, %d bytes and the ETag %q; want 200, no bytes and an ETag", path, a.status, len(a.body), a.header.Get("ETag"))
			return
		}
	}
	v.ok(what, "200 with an ETag and without a body")
}

// bodyMost is the limit of most endpoints for a body, in bytes (shared/api/endpoint.go).
const bodyMost = 64 << 10

// large checks that the service, not the gateway, refuses a body above the limit.
func (v *visitor) large(ctx context.Context) {
	const what = "a body above the limit"
	body := `{"handle":"` + strings.Repeat("x", bodyMost) + `"}`
	a, ok := v.expect(ctx, what, http.MethodPost, "/v1/agents", body)
	if !ok {
		return
	}
	if a.status != http.StatusRequestEntityTooLarge || a.code() != "too_large" {
		v.fail(what, "Agents expect the envelope. Something before the function refuses bodies of this size: the web ACL of the edge?",
			"%d bytes: got %s; want 413 too_large in the envelope", len(body), a)
		return
	}
	v.ok(what, "%d bytes: 413 too_large, in the envelope", len(body))
}

// unknown checks that unknown paths reach the route $default.
func (v *visitor) unknown(ctx context.Context) {
	const what, path = "an unknown path", "/v1/first-day"
	a, ok := v.expect(ctx, what, http.MethodGet, path, "")
	if !ok {
		return
	}
	if a.status != http.StatusNotFound || a.code() == "" {
		v.fail(what, "The API lacks its route $default: make deploy REVERT_DRIFT=1.", "GET %s: got %s; want 404 in the envelope", path, a)
		return
	}
	v.ok(what, "404 %s, in the envelope", a.code())
}
