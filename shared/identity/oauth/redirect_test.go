package oauth

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"net/url"
	"strings"
	"testing"

	"agentsocial/shared/identity/seal"
)

// crafted lists URIs that must not pass for https://client.example/cb or
// http://127.0.0.1/cb.
var crafted = []string{
	// another host, scheme, port or path
	"https://evil.example/cb", "https://client.example.evil.example/cb", "https://evilclient.example/cb", "https://client.example:8443/cb",
	"https://client.example/cb/", "https://client.example/cb2", "https://client.example/", "https://client.example", "https://client.example/CB",
	"https://client.example/./cb", "https://client.example/x/../cb", "https://client.example//cb", "https://client.example/cb/../../evil",
	"https://client.example/%63b", "https://client.example/cb%2f", "https://client.example/cb%00", "https://client.example/cb;x",
	"http://client.example/cb", "ftp://client.example/cb", "ws://client.example/cb", "client.example/cb", "//client.example/cb", "/cb", "cb", "",
	// queries and fragments
	"https://client.example/cb?", "https://client.example/cb?x=1", "https://client.example/cb#", "https://client.example/cb#x", "https://client.example/cb?code=stolen",
	"https://client.example/cb?next=https://evil.example", "https://client.example/cb#@evil.example/",
	// user names and passwords
	"https://client.example@evil.example/cb", "https://evil.example@client.example/cb", "https://user:pw@client.example/cb", "https://@client.example/cb",
	"https://client.example:443@evil.example/cb", "https://client.example%40evil.example/cb", "https://client.example%2f@evil.example/cb",
	// URIs that parsers read in different ways
	`https://client.example\@evil.example/cb`, `https:\\client.example\cb`, `https:/client.example/cb`, `https:///client.example/cb`, `https:client.example/cb`,
	`https://client.example\.evil.example/cb`, `https://evil.example\client.example/cb`, "https://client.example\t/cb", "https://client.example\n/cb", "https://client.example/cb\r\nLocation: https://evil.example",
	" https://client.example/cb", "https://client.example/cb ", "https://client.example /cb", "https://client.example\u00a0/cb", "https://client.example\x00.evil.example/cb", "\x01https://client.example/cb",
	"https://client。example/cb", "https://client.examp1e/cb", "https://cliеnt.example/cb", "https://client.example\u200b/cb", "https://ⓒlient.example/cb", "https://client.example\u202e/cb",
	"HTTPS://client.example/cb", "hTTps://client.example/cb", "https://CLIENT.example/cb", "https://client.example./cb", "https://.client.example/cb", "https://client..example/cb",
	"https://client.example:/cb", "https://client.example:443/cb", "https://client.example:0443/cb", "https://client.example:99999/cb", "https://client.example:x/cb",
	// scripts and programs
	"javascript:alert(1)", "javascript://client.example/%0aalert(1)", "JaVaScRiPt:alert(1)", "data:text/html,<script>alert(1)</script>", "vbscript:x", "file:///etc/passwd", "blob:https://client.example/x", "about:blank", "view-source:https://client.example/cb", "intent://client.example/cb#Intent;end",
	"cursor://anysphere.cursor-mcp/oauth/callback", "cursor://evil/oauth/callback", "vscode://x.y/cb", "myapp:/cb", "urn:ietf:wg:oauth:2.0:oob",
	// near 127.0.0.1/cb
	"http://127.0.0.2/cb", "http://127.1/cb", "http://0.0.0.0/cb", "http://2130706433/cb", "http://0x7f000001/cb", "http://0177.0.0.1/cb", "http://127.0.0.1.evil.example/cb", "http://127.0.0.1@evil.example/cb",
	"http://localhost/cb", "http://localhost.evil.example/cb", "http://[::1]/cb", "http://[::ffff:127.0.0.1]/cb", "http://[::1%25lo]/cb", "http://127.0.0.1:0x50/cb", "http://127.0.0.1:080/cb", "http://127.0.0.1:123456/cb",
	"https://127.0.0.1/cb", "https://127.0.0.1:8080/cb", "http://127.0.0.1/cb2", "http://127.0.0.1/cb?x", "http://127.0.0.1/cb#", "http://127.0.0.1:80\\@evil.example/cb", "http://127.0.0.1:8080@evil.example/cb",
}

func box(t *testing.T) *seal.Box {
	t.Helper()
	b, err := seal.New(bytes.Repeat([]byte("k"), seal.MinKey))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestCraftedRedirects(t *testing.T) {
	if len(crafted) < 100 {
		t.Fatalf("only %d crafted URIs, want at least 100", len(crafted))
	}
	registered := []string{"https://client.example/cb", "http://127.0.0.1/cb"}
	r := &Registration{}
	m := &Metadata{Redirects: registered}
	for _, uri := range registered {
		if err := CheckRedirect(uri); err != nil {
			t.Fatal(err)
		}
		r.Redirects = append(r.Redirects, RedirectDigest(uri))
		if !r.Allows(uri) || !m.Allows(uri) {
			t.Errorf("Allows(%s) = false, want true", uri)
		}
	}
	for _, uri := range crafted {
		if r.Allows(uri) || m.Allows(uri) {
			t.Errorf("Allows(%q) = true, want false", uri)
		}
	}
	for _, uri := range []string{"http://127.0.0.1:1/cb", "http://127.0.0.1:65535/cb"} {
		if !r.Allows(uri) || !m.Allows(uri) {
			t.Errorf("Allows(%s) = false, want true: any loopback port is allowed", uri)
		}
	}
}

func TestCheckRedirect(t *testing.T) {
	for _, uri := range []string{
		"https://claude.ai/api/mcp/auth_callback", "https://chatgpt.com/connector_platform_oauth_redirect", "https://vscode.dev/redirect",
		"https://client.example:8443/cb?tenant=1&b", "https://203.0.113.7/cb", "https://[2001:db8::1]/cb", "https://xn--bcher-kva.example/cb",
		"http://127.0.0.1", "http://127.0.0.1:33418/", "http://localhost:1455/auth/callback", "http://[::1]:9/cb", "cursor://anysphere.cursor-mcp/oauth/callback",
	} {
		if err := CheckRedirect(uri); err != nil {
			t.Errorf("CheckRedirect(%s) = %v, want nil", uri, err)
		}
	}
	for _, uri := range []string{
		"", "https://", "https:///x", "http://client.example/", "https://c.example/#", "https://c.example/?code=1", "https://c.example/?%zz", "https://u@c.example/",
		"https://c_d.example/", "https://-c.example/", "https://c.example./", "https://1.2.3/", "https://0x7f.1/", "https://c.example/<", "https://C.example/", "https://c.example:99999/", "https://c.example:65536/", "http://127.0.0.1:0/",
		"javascript:alert(1)", "cursor://anysphere.cursor-mcp/oauth/callback?x", "https://c.example/" + strings.Repeat("x", RedirectMost),
	} {
		if CheckRedirect(uri) == nil {
			t.Errorf("CheckRedirect(%q) = nil, want an error", uri)
		}
	}
	if !SameRedirect("http://127.0.0.1", "http://127.0.0.1:33418/") || SameRedirect("https://c.example", "https://c.example/") {
		t.Error("SameRedirect should equate an empty path with / for loopback only")
	}
}

func FuzzCheckRedirect(f *testing.F) {
	for _, uri := range crafted {
		f.Add(uri)
	}
	f.Fuzz(func(t *testing.T, uri string) {
		if CheckRedirect(uri) != nil {
			return
		}
		u, err := url.Parse(uri)
		if err != nil || u.User != nil || !strings.HasPrefix(uri, u.Scheme+"://"+u.Host) || strings.ContainsAny(uri, " \\\r\n\t#") ||
			u.Scheme != "https" && !(u.Scheme == "http" && loopback(u)) && uri != known[0] {
			t.Errorf("CheckRedirect(%q) = nil, want an error", uri)
		}
	})
}

func TestClientIDs(t *testing.T) {
	b := box(t)
	r := &Registration{Name: strings.Repeat("n", 80), At: 1}
	for i := range 10 {
		r.Redirects = append(r.Redirects, RedirectDigest("https://client.example/"+strings.Repeat("x", 450+i)))
	}
	id, err := SealClient(b, r)
	if err != nil || len(id) > 600 {
		t.Fatalf("SealClient = %d characters, %v, want at most 600", len(id), err)
	}
	got, err := OpenClient(b, id)
	if err != nil || got.Name != r.Name || !got.Allows("https://client.example/"+strings.Repeat("x", 455)) || got.Allows("https://client.example/"+strings.Repeat("x", 449)) {
		t.Errorf("OpenClient = %+v, %v, want the sealed name and redirect URIs", got, err)
	}
	code, err := SealCode(b, &Code{ID: "x"})
	if err != nil {
		t.Fatal(err)
	}
	for _, bad := range []string{"", "dcr_", "x" + id, id[:len(id)-1], id + "A", strings.TrimPrefix(id, ClientPrefix), ClientPrefix + code} {
		if _, err := OpenClient(b, bad); err != ErrClient {
			t.Errorf("OpenClient(%.20q) = %v, want ErrClient", bad, err)
		}
		if _, err := OpenCode(b, bad); err != ErrCode {
			t.Errorf("OpenCode(%.20q) = %v, want ErrCode", bad, err)
		}
	}
}

// The challenge and the verifier are from RFC 7636, appendix B.
func TestProves(t *testing.T) {
	c := &Code{Challenge: "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM"}
	if !c.Proves("dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk") {
		t.Error("Proves refused the RFC's own verifier")
	}
	for _, v := range []string{"", "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXl", c.Challenge, "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk=", strings.Repeat("a", 129)} {
		if c.Proves(v) {
			t.Errorf("Proves(%q) = true, want false", v)
		}
	}
	for _, bad := range []string{strings.Repeat("a", 42), strings.Repeat("a", 42) + " ", strings.Repeat("a", 129)} {
		if own := (&Code{Challenge: challengeOf(bad)}); own.Proves(bad) {
			t.Errorf("Proves accepted the malformed verifier %q", bad)
		}
	}
}

func TestClientURLs(t *testing.T) {
	const id = "https://client.example/oauth/metadata.json"
	for _, ok := range []string{id, "https://client.example/", "https://client.example:8443/a/b", "https://203.0.113.7/x", "https://client.example/a%2fb"} {
		if err := CheckClientURL(ok); err != nil {
			t.Errorf("CheckClientURL(%s) = %v, want nil", ok, err)
		}
	}
	for _, bad := range []string{
		"http://client.example/x", "https://client.example", "https://client.example/#", "https://client.example/x#y", "https://client.example/x?y=1", "https://client.example/?",
		"https://u@client.example/x", "https://u:p@client.example/x", "https://client.example/../x", "https://client.example/./x", "https://client.example/%2e%2e/x", "https://client.example/x/..",
		"https:/client.example/x", "https:client.example/x", "HTTPS://client.example/x", "https://Client.example/x", `https://client.example\x`, "https://client.example/ x", "https:///x", "https://client.example/" + strings.Repeat("x", ClientURLMost),
	} {
		if CheckClientURL(bad) == nil {
			t.Errorf("CheckClientURL(%q) = nil, want an error", bad)
		}
	}
	const document = `{"client_id":"` + id + `","client_name":"Den","redirect_uris":["https://client.example/cb","http://localhost/cb","javascript:alert(1)"]`
	for more, ok := range map[string]bool{
		`}`: true, `,"token_endpoint_auth_method":"none"}`: true, `,"x":{"y":1}}`: true,
		`,"token_endpoint_auth_method":"private_key_jwt","token_endpoint_auth_methods_supported":["private_key_jwt","none"]}`: true,
		`,"token_endpoint_auth_method":"private_key_jwt"}`:                                                                    false, `,"client_secret":"s"}`: false, `,"client_id":"https://other.example/x"}`: false, ``: false, `,"redirect_uris":7}`: false,
	} {
		m, err := ReadMetadata(id, []byte(document+more))
		if (err == nil) != ok {
			t.Errorf("ReadMetadata with %s = %v, want success: %v", more, err, ok)
		}
		if err == nil && (!m.Allows("http://localhost:7/cb") || m.Allows("javascript:alert(1)") || m.Allows("https://evil.example/cb")) {
			t.Errorf("ReadMetadata with %s: of the redirect URIs %v, want only the valid ones allowed", more, m.Redirects)
		}
	}
}

func challengeOf(verifier string) string {
	sum := sha256.Sum256([]byte(verifier))
	return base64.RawURLEncoding.EncodeToString(sum[:])
}
