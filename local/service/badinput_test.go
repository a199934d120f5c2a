package service_test

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"net"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"agentsocial/local/transcripts"
	"agentsocial/shared/api"
	"agentsocial/tables"
)

// Every bad request is refused with a documented 4xx code, and changes nothing but request
// counters.
func TestBadInput(t *testing.T) {
	t.Parallel()
	operations, schemas := readDocument(t)
	r := run(t, keepingFeed(unlimited()))
	b := &badInput{running: r, fox: r.join("fox")}
	post := r.call(b.fox, "POST", "/v1/c/lounge/posts", `{"body":"the first"}`)
	b.post = post.Text("id")
	r.drain()
	_, b.place = r.changes("")

	for _, o := range operations {
		t.Run(o.Method+" "+o.Path, func(t *testing.T) {
			b.t, b.running.t = t, t
			if o.Path == "/mcp" { // TestMCPBadMessages has its messages
				b.signed(o)
				return
			}
			b.parameters(o)
			if b.headers(o); o.RequestBody == nil {
				return
			}
			if _, form := o.RequestBody.Content["application/x-www-form-urlencoded"]; form {
				b.forms(o)
				return
			}
			content, isJSON := o.RequestBody.Content["application/json"]
			if !isJSON {
				b.bytes(o)
				return
			}
			s := content.Schema
			if s.Ref == "" {
				b.unproved(o)
				return
			}
			s = schemas[s.Ref[strings.LastIndexByte(s.Ref, '/')+1:]]
			b.fields(o, s)
			b.garbled(o, s)
		})
	}
	t.Run("paths and methods", func(t *testing.T) {
		b.t, b.running.t = t, t
		b.paths()
		b.unchanged("paths and methods")
	})
	t.Logf("%d requests refused", b.n)
}

type badInput struct {
	*running
	t     *testing.T
	fox   *transcripts.Agent
	post  string
	place string // position of the newest change read from the feed
	n     int    // requests sent
}

var braces = regexp.MustCompile(`\{[a-z]+\}`)

// target returns an operation's path with the names of existing things.
func (b *badInput) target(o operation) string {
	return strings.NewReplacer("{ch}", "lounge", "{id}", b.post, "{ref}", "fox", "{tag}", "den").Replace(o.Path)
}

// asking returns the target with its required query members except omit, plus the members
// in more.
func (b *badInput) asking(o operation, omit, more string) string {
	var members []string
	for _, p := range o.Parameters {
		if p.In == "query" && p.Required && p.Name != omit {
			value := "hello"
			if p.Schema.is("integer") {
				value = "7"
			}
			members = append(members, p.Name+"="+value)
		}
	}
	if more != "" {
		members = append(members, more)
	}
	if members == nil {
		return b.target(o)
	}
	return b.target(o) + "?" + strings.Join(members, "&")
}

func (b *badInput) as(o operation, target, body string) *transcripts.Request {
	if o.signed() {
		return b.request(b.fox, o.Method, target, body)
	}
	return b.request(nil, o.Method, target, body)
}

// refused sends a request, and checks that the answer is a documented refusal and the table
// is unchanged. codes, if given, lists the allowed codes.
func (b *badInput) refused(what string, q *transcripts.Request, codes ...api.Code) *transcripts.Answer {
	b.t.Helper()
	b.n++
	ans := b.send(q)
	code := api.Code(ans.Text("error.code"))
	info, known := api.Info(code)
	_, own := ans.At("error.code") // OAuth and MCP have error forms of their own, which send checks
	say := func(format string, args ...any) {
		b.t.Helper()
		b.t.Errorf("%s %.100s %.120q (%s): %s\n\t%d %.300s", q.Method, q.Target, q.Body, what, fmt.Sprintf(format, args...), ans.Status, ans.Body)
	}
	switch {
	case ans.Status < 400 || ans.Status >= 500:
		say("got status %d, want 4xx", ans.Status)
	case q.Method == http.MethodHead:
	case ans.Envelope(b.URL) != "":
		say("%s", ans.Envelope(b.URL))
	case own && (!known || info.Status != ans.Status):
		say("code %q is not documented with status %d", code, ans.Status)
	case own && len(codes) > 0 && !slices.Contains(codes, code):
		say("got code %q, want one of %q", code, codes)
	}
	b.unchanged(fmt.Sprintf("%s %.100s (%s)", q.Method, q.Target, what))
	return ans
}

func TestTruncatedBodyIsRefused(t *testing.T) {
	t.Parallel()
	r := run(t, unlimited())
	for _, request := range []string{
		"Content-Length: 100\r\n\r\n{}",
		"Transfer-Encoding: chunked\r\n\r\nzz\r\n{}\r\n",
		"Transfer-Encoding: chunked\r\n\r\n2\r\n{}",
	} {
		conn, err := net.Dial("tcp", strings.TrimPrefix(r.URL, "http://"))
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprint(conn, "POST /v1/challenge HTTP/1.1\r\nHost: x\r\n", request)
		if err := conn.(*net.TCPConn).CloseWrite(); err != nil {
			t.Fatal(err)
		}
		answer, _ := io.ReadAll(conn)
		conn.Close()
		if !strings.HasPrefix(string(answer), "HTTP/1.1 400 ") {
			t.Errorf("%q: got %q, want status 400", request, answer)
		}
	}
}

// unchanged fails the test if anything but a request counter was written.
func (b *badInput) unchanged(by string) {
	b.t.Helper()
	changed, place := b.changes(b.place)
	b.place = place
	for _, c := range changed {
		if !c.Expired && !isCount(c) { // old counters expire
			b.t.Errorf("%s: got the write %s of %v, want none", by, c.Event, c.Key)
		}
	}
}

// isCount reports whether a change only counts a request. A refused write records no
// outcome.
func isCount(c tables.StreamRecord) bool {
	switch c.New.Str(tables.AttrType) {
	case tables.TypeQuota:
		return true
	case tables.TypeGuard:
		for attr := range c.New {
			if strings.HasPrefix(attr, "d:") && c.Old[attr] == nil {
				return false
			}
		}
		return true
	}
	return false
}

func (b *badInput) parameters(o operation) {
	for _, p := range o.Parameters {
		var values []string
		if p.Schema.is("integer") {
			values = append(values, "x", "1.5", "1e-2", "0x10", "٣", "99999999999999999999", "+-1", "true")
		}
		if p.Schema.Minimum != nil {
			values = append(values, fmt.Sprint(int64(*p.Schema.Minimum)-1))
		}
		if p.Schema.Maximum != nil {
			values = append(values, fmt.Sprint(int64(*p.Schema.Maximum)+1))
		}
		if p.Schema.is("boolean") {
			values = append(values, "maybe", "2", "nope")
		}
		if p.Schema.Enum != nil {
			values = append(values, "none of them", "WORK")
		}
		if p.Schema.MaxLength != nil {
			values = append(values, strings.Repeat("a", *p.Schema.MaxLength+1), strings.Repeat("a", 5000))
		}
		for _, v := range values {
			switch p.In {
			case "query":
				b.refused("query member "+p.Name, b.as(o, b.asking(o, p.Name, p.Name+"="+escape(v)), ""), api.Invalid)
			case "path":
				there := strings.Replace(o.Path, "{"+p.Name+"}", escape(v), 1)
				there = strings.NewReplacer("{ch}", "lounge", "{id}", b.post, "{ref}", "fox", "{tag}", "den").Replace(there)
				b.refused("path", b.as(o, there, "{}"), api.Invalid, api.NotFound)
			}
		}
		if p.In == "query" {
			b.refused("a member twice", b.as(o, b.asking(o, p.Name, p.Name+"=1&"+p.Name+"=1"), ""), api.Invalid)
			if o.LooseQuery && o.Path != "/oauth/authorize" { // documents and feeds ignore what they do not know
				continue
			}
			b.refused("a member in capitals", b.as(o, b.asking(o, "", strings.ToUpper(p.Name)+"=1"), ""), api.Invalid)
		}
		if p.Name == "before" {
			for _, v := range []string{"%00", "%FF", "AAAA", "po_", "%20", "IwAj"} {
				b.refused("cursor", b.as(o, b.asking(o, "", "before="+v), ""), api.Invalid, api.BadCursor)
			}
		}
	}
	queries := []string{"a=%zz", "%zz=a", "a;b", "a=%F", "a=%"}
	if !o.LooseQuery {
		queries = append(queries, "colour=red", "=", "=x", "aud=x&aud=y", "limit[]=1")
	}
	for _, q := range queries {
		b.refused("query", b.as(o, b.asking(o, "", q), ""), api.Invalid, api.BadSignature)
	}
	for _, v := range []string{"%00", "%20", "%0a", "%C3%A9", "%F0%9F%A6%8A", "%FF", "a%2Fb", "%2e%2e", "..", ".", "a%3Fb", "a%23b", "a%25b", "%5c", "a//b"} {
		if braces.MatchString(o.Path) {
			there := braces.ReplaceAllString(o.Path, strings.ReplaceAll(v, "$", "$$"))
			b.refused("path", b.as(o, there, ""), api.NoSuchEndpoint, api.NotFound, api.BadSignature, api.MethodNotAllowed)
		}
	}
}

// escape percent-encodes a value for a path or a query.
func escape(s string) string {
	var b strings.Builder
	for _, c := range []byte(s) {
		if c > ' ' && c <= '~' && !strings.ContainsRune("%+&#?/;", rune(c)) {
			b.WriteByte(c)
		} else {
			fmt.Fprintf(&b, "%%%02X", c)
		}
	}
	return b.String()
}

// headers tests missing, repeated and bad credentials.
func (b *badInput) headers(o operation) {
	q := b.request(b.fox, o.Method, b.asking(o, "", ""), b.body(o))
	names := []string{"X-Agent-Key", "X-Agent-Ts", "X-Agent-Sig"}
	for _, name := range names {
		less := q.Clone()
		less.Header.Del(name)
		if ans := b.refused(name+" is missing", less, api.Unauthenticated); !strings.Contains(strings.ToLower(said(ans)), strings.ToLower(name)) {
			b.t.Errorf("%s %s without %s: got %s, want a message that names the header", o.Method, o.Path, name, ans.Body)
		}
		twice := q.Clone()
		twice.Header.Add(name, twice.Header.Get(name))
		b.refused(name+" twice", twice, api.BadSignature, api.BadTimestamp)
		for _, v := range []string{"x", "0", "-1", "AAAA", "1e3", " ", strings.Repeat("A", 43), strings.Repeat("A", 86), strings.Repeat("9", 30), strings.Repeat("A", 4000), q.Header.Get(name) + "=", "\xff\xfe"} {
			other := q.Clone()
			other.Header.Set(name, v)
			b.refused(name+" is "+v, other, api.BadSignature, api.BadTimestamp, api.Unauthenticated)
		}
	}
	for _, id := range []string{"x", "ag_", b.post, "ag_01j9z3k4m5n6p7q8r9s0t1v2w3", "AG_01J9Z3K4M5N6P7Q8R9S0T1V2W3"} {
		if slices.Contains(o.Tags, "docs") {
			continue // these endpoints identify no agents
		}
		other := q.Clone()
		other.Header.Set("X-Agent-Id", id)
		b.refused("x-agent-id is "+id, other, api.UnknownKey)
	}
	for _, auth := range []string{"Bearer", "Bearer ", "Bearer ast_", "Basic Zm94OmZveA==", "ast_" + strings.Repeat("0", 92), "Bearer ast_" + strings.Repeat("0", 92)} {
		bearer := b.request(nil, o.Method, b.asking(o, "", ""), b.body(o))
		bearer.Header = http.Header{"Authorization": {auth}}
		b.refused("authorization "+auth, bearer, api.BadToken)
		both := q.Clone()
		both.Header.Set("Authorization", auth)
		b.refused("both credentials", both, api.BadSignature)
	}
	if o.signed() {
		b.refused("no credential", b.request(nil, o.Method, b.asking(o, "", ""), b.body(o)), api.Unauthenticated)
	}
}

func (b *badInput) body(o operation) string {
	if o.RequestBody == nil {
		return ""
	}
	return `{"body":"hello"}`
}

func said(a *transcripts.Answer) string {
	return cmp.Or(a.Text("error.message"), a.Text("error_description"), string(a.Body))
}

// named returns the field that a refusal names. An OAuth error has no such field; its
// description must contain name or mention the body.
func named(a *transcripts.Answer, name string) string {
	if d := a.Text("error_description"); strings.Contains(d, name) || strings.Contains(d, "request body") {
		return name
	}
	return a.Text("error.fields.0.field")
}

// fields tests bad values and bad names of every member of a body.
func (b *badInput) fields(o operation, s schema) {
	target := b.target(o)
	for name, field := range s.Properties {
		required := slices.Contains(s.Required, name)
		for _, v := range field.wrong(required) {
			ans := b.refused(name+" is "+v, b.as(o, target, s.example(name, v)), api.Invalid)
			if f := named(ans, name); f != name && !strings.HasPrefix(f, name+"[") && f != "request body" {
				b.t.Errorf("%s = %.60s: the refusal names %q, want %q or \"request body\"; the answer is %.300s", name, v, f, name, ans.Body)
			}
		}
		if required {
			ans := b.refused(name+" is missing", b.as(o, target, s.example(name, "")), api.Invalid)
			if f := named(ans, name); f != name {
				b.t.Errorf("%s is missing: the refusal names %q, want %q", name, f, name)
			}
		}
		v := good[name]
		if v == "" {
			v = `"x"`
		}
		whole := s.example(name, v)
		upper := strings.ToUpper(name[:1]) + name[1:]
		b.refused("a member in another case", b.as(o, target, strings.Replace(whole, strconv.Quote(name), strconv.Quote(upper), 1)), api.Invalid)
		b.refused("a member in two cases", b.as(o, target, whole[:len(whole)-1]+","+strconv.Quote(upper)+":"+v+"}"), api.Invalid)
		b.refused("a member twice", b.as(o, target, whole[:len(whole)-1]+","+strconv.Quote(name)+":"+v+"}"), api.BadJSON)
		b.refused("a member twice, once escaped", b.as(o, target, whole[:len(whole)-1]+fmt.Sprintf(`,"\u%04x%s":%s}`, name[0], name[1:], v)), api.BadJSON)
	}
	whole := s.example("", "")
	for _, more := range []string{"colour", "", "$schema", "__proto__", strings.Repeat("x", 10000), "🦊", "a.b", "id"} {
		comma := ","
		if whole == "{}" {
			comma = ""
		}
		b.refused("an unknown member", b.as(o, target, whole[:len(whole)-1]+comma+encode(more)+":1}"), api.Invalid)
	}
}

// garbled tests bodies that are not JSON objects, are too large, or have a wrong content
// type.
func (b *badInput) garbled(o operation, s schema) {
	target := b.target(o)
	whole := s.example("", "")
	for i := 1; i < len(whole); i++ {
		b.refused("cut short", b.as(o, target, whole[:i]), api.BadJSON)
	}
	for _, body := range []string{
		"\xff", whole[:1] + "\xff" + whole[1:], whole + "\x80", "{\"\xc3\x28\":1}", whole + whole, whole + "x", "x" + whole, "\ufeff" + whole,
		"'" + whole + "'", "{'a':1}", "{a:1}", "{,}", "{\"a\":1,}", "NaN", "Infinity", "undefined", "// no\n{}", "\x00", "{\"a\":\"\n\"}", "{\"a\":01}",
		"[1,2", "]", "}", "{\"a\" 1}", "\"", "tru", "-", "1.", `{"a":"\x"}`, `{"a":"\u12"}`,
		strings.Repeat("[", 34) + strings.Repeat("]", 34), strings.Repeat("[", 30000) + strings.Repeat("]", 30000),
		strings.Repeat(`{"a":`, 10000) + "1" + strings.Repeat("}", 10000), strings.Repeat("[", 60000),
	} {
		b.refused("garbled", b.as(o, target, body), api.BadJSON)
	}
	for _, body := range []string{"null", "true", "7", `"x"`, "[]", "[{}]", "1e400", "[" + whole + "]"} {
		b.refused("no object", b.as(o, target, body), api.Invalid)
	}
	if o.RequestBody.Required {
		b.refused("no body", b.as(o, target, ""), api.Invalid)
		b.refused("blank", b.as(o, target, " \n"), api.BadJSON)
	}
	for _, ct := range []string{"application/xml", "multipart/form-data; boundary=x", "application/json; charset=utf-16", "x", "/", "application/octet-stream"} {
		q := b.as(o, target, whole)
		if q.Header == nil {
			q.Header = http.Header{}
		}
		q.Header.Set("Content-Type", ct)
		b.refused("content type "+ct, q, api.UnsupportedMedia)
	}
	for _, n := range []int{64<<10 + 1, 1 << 20, 1<<20 + 1, 10 << 20} {
		q := b.as(o, target, string(bytes.Repeat([]byte(" "), n)))
		start := time.Now()
		b.refused("large", q, api.TooLarge)
		if took := time.Since(start); took > 20*time.Second { // an idle machine takes milliseconds
			b.t.Errorf("%d bytes: refused after %v, want at most 20s", n, took)
		}
	}
}

// bytes tests the endpoint whose body is text.
func (b *badInput) bytes(o operation) {
	target := b.target(o)
	for _, body := range []string{"\xff", "a\xc3", "\xed\xa0\x80", "\xc0\x80", strings.Repeat("a", 100_000) + "\x80"} {
		b.refused("no UTF-8", b.as(o, target, body), api.Invalid)
	}
	for _, ct := range []string{"image/png", "multipart/form-data; boundary=x", "text/plain; charset=utf-16", "application/json", "x", "/"} {
		q := b.as(o, target, "text")
		q.Header.Set("Content-Type", ct)
		b.refused("content type "+ct, q, api.UnsupportedMedia)
	}
	for _, n := range []int{256<<10 + 1, 1 << 20, 1<<20 + 1, 10 << 20} {
		b.refused("large", b.as(o, target, strings.Repeat(" ", n)), api.TooLarge)
	}
	for _, h := range []string{"If-Match", "If-None-Match"} {
		for _, v := range []string{"x", `"`, `"a" "b"`, "**", "*, *", `""", "a"`, "W/", "'a'", ",", `"a",`} {
			q := b.as(o, target, "text")
			q.Header.Set(h, v)
			b.refused(h+" is "+v, q, api.Invalid)
		}
	}
}

// signed tests the endpoint that takes a bearer token instead of a signature.
func (b *badInput) signed(o operation) {
	target := b.target(o)
	for _, body := range []string{"{}", "[]", "null", "\xff", "{", strings.Repeat("[", 30000), strings.Repeat(" ", 256<<10)} {
		b.refused("signed", b.as(o, target, body), api.Unauthenticated)
	}
	b.refused("large", b.as(o, target, strings.Repeat(" ", 10<<20)), api.TooLarge)
}

// forms tests the endpoints of OAuth, which take forms.
func (b *badInput) forms(o operation) {
	target := b.target(o)
	as := func(contentType, body string) *transcripts.Request {
		q := b.as(o, target, body)
		if q.Header == nil {
			q.Header = http.Header{}
		}
		if contentType != "" {
			q.Header.Set("Content-Type", contentType)
		}
		return q
	}
	const form, json = "application/x-www-form-urlencoded", "application/json"
	for _, body := range []string{
		"", " ", "\xff", "%", "%zz=1", "a;b", "=", "&&&", "a=%ff", "x=1", "grant_type", "grant_type=", "token=", "token=a&token=b", "do=connect", "asked=x&do=connect",
		"grant_type=\x00", "grant_type=refresh_token", "grant_type=refresh_token&grant_type=refresh_token", "grant_type=authorization_code&code=x",
		"grant_type=refresh_token&refresh_token=asr_" + strings.Repeat("A", 10_000), "{}", "[]", "null", "{", `{"grant_type":1}`, strings.Repeat("[", 10_000),
		strings.Repeat("a=b&", 3000), "grant_type=" + strings.Repeat("%41", 4000),
	} {
		for _, ct := range []string{"", form, form + "; charset=UTF-8"} {
			b.refused("a form of "+ct, as(ct, body))
		}
		b.refused("JSON", as(json, body))
	}
	for _, ct := range []string{"text/html", "multipart/form-data; boundary=x", form + "; charset=utf-16", "x", "/"} {
		b.refused("content type "+ct, as(ct, "grant_type=x"))
	}
	for _, credential := range []string{"Basic eDp5", "Bearer x", "Bearer ast_x", "x"} {
		q := as(form, "grant_type=refresh_token&refresh_token=x")
		q.Header.Set("Authorization", credential)
		b.refused("with "+credential, q)
	}
	for _, n := range []int{64<<10 + 1, 1 << 20, 10 << 20} {
		b.refused("large", as(form, strings.Repeat("a", n)))
	}
}

// unproved tests the webhook, whose body the payment processor signs.
func (b *badInput) unproved(o operation) {
	target := b.target(o)
	for _, body := range []string{"{}", "[]", "null", "\xff", "{", strings.Repeat("[", 30000), strings.Repeat(" ", 256<<10), `{"id":"evt_1","object":"event"}`} {
		b.refused("not signed", b.as(o, target, body), api.BadProof)
		for _, header := range []string{"x", "t=1,v1=00", "t=,v1=", "t=99999999999999999999,v1=00", fmt.Sprintf("t=%d,v1=%064d", time.Now().Unix(), 0)} {
			q := b.as(o, target, body)
			q.Header = http.Header{"Stripe-Signature": {header}}
			b.refused("signed by "+header, q, api.BadProof)
		}
	}
	for _, ct := range []string{"text/html", "multipart/form-data; boundary=x", "application/json; charset=utf-16", "x", "/"} {
		q := b.as(o, target, "{}")
		q.Header = http.Header{"Content-Type": {ct}}
		b.refused("content type "+ct, q, api.UnsupportedMedia)
	}
	for _, n := range []int{256<<10 + 1, 1 << 20, 1<<20 + 1, 10 << 20} {
		b.refused("large", b.as(o, target, strings.Repeat(" ", n)), api.TooLarge)
	}
}

func (b *badInput) paths() {
	for _, path := range []string{
		"/", "/v1", "/v1/", "/v1/me/", "//v1/me", "/v1//me", "/V1/me", "/v1/me/../me", "/v1/./me", "/v1/me%2F", "/v1/me;a=b",
		"/../etc/passwd", "/..%2f..%2fetc/passwd", "/%2e%2e/%2e%2e/etc/passwd", "/v1/c/../../etc", "/v1/%00", "/\x7f"[:1] + "%7F", "/v1/c", "/v1/c/", "/v1/agents/",
		"/v1/agents/fox/", "/v1/agents/fox/history/x", "/docs/errors/", "/openapi.json/", "/openapi.yaml", "/schemas/x.json", "/.env", "/favicon.png",
		"/" + strings.Repeat("a", 8000), "/" + strings.Repeat("a/", 2000), "/v1/agents/" + strings.Repeat("%41", 2000), "/v1/me%3Fx=1", "/_local", "/_localx",
	} {
		for _, method := range []string{"GET", "POST", "DELETE"} {
			b.refused("path", b.request(nil, method, path, ""), api.NoSuchEndpoint, api.MethodNotAllowed, api.NotFound, api.Invalid)
			b.refused("path", b.request(b.fox, method, path, ""), api.NoSuchEndpoint, api.MethodNotAllowed, api.NotFound, api.BadSignature, api.Invalid)
		}
	}
	for _, method := range []string{"PUT", "HEAD", "TRACE", "OPTIONS", "PROPFIND", "get", "Get", "X", "A-B", "POSTX", "M" + strings.Repeat("M", 500)} {
		for _, path := range []string{"/v1/agents", "/v1/c/lounge/posts", "/nowhere"} {
			ans := b.refused("method", b.request(nil, method, path, ""), api.MethodNotAllowed, api.NoSuchEndpoint)
			if path != "/nowhere" && ans.Header.Get("Allow") != "POST" {
				b.t.Errorf("%s %s: Allow: got %q, want POST", method, path, ans.Header.Get("Allow"))
			}
		}
	}
}
