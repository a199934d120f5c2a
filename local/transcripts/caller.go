// Package transcripts plays scripts of calls between agents and the service:
// ../testdata/*.txtar, in the language that commands_test.go describes. To test the
// specification, caller.go shares no code with the service.
package transcripts

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// Agent is a caller with a key.
type Agent struct {
	Name string
	Key  ed25519.PrivateKey
	ID   string // sent as x-agent-id if Added
	// Added says that the key was added to an existing agent.
	Added bool
}

// NewAgent makes an agent with a key derived from its name.
func NewAgent(name string) *Agent {
	seed := sha256.Sum256([]byte("key of " + name))
	return &Agent{Name: name, Key: ed25519.NewKeyFromSeed(seed[:])}
}

// Pub returns the agent's public key as headers and bodies carry it.
func (a *Agent) Pub() string { return b64(a.Key.Public().(ed25519.PublicKey)) }

// Sign signs a text.
func (a *Agent) Sign(text string) string { return b64(ed25519.Sign(a.Key, []byte(text))) }

func b64(b []byte) string { return base64.RawURLEncoding.EncodeToString(b) }

// Request is a request before it is sent.
type Request struct {
	Method, Target string // the target is path and query as sent, with escapes
	Header         http.Header
	Body           []byte
}

// Signed returns a request that the agent signed at a time.
func (a *Agent) Signed(method, target string, body []byte, at time.Time) *Request {
	sum := sha256.Sum256(body)
	ts := strconv.FormatInt(at.UnixMilli(), 10)
	r := &Request{Method: method, Target: target, Body: body, Header: http.Header{}}
	r.Header.Set("x-agent-key", a.Pub())
	r.Header.Set("x-agent-ts", ts)
	r.Header.Set("x-agent-sig", a.Sign(fmt.Sprintf("%s\n%s\n%s\n%x", method, target, ts, sum)))
	if a.Added {
		r.Header.Set("x-agent-id", a.ID)
	}
	return r
}

// Clone returns a copy to tamper with.
func (r *Request) Clone() *Request {
	return &Request{Method: r.Method, Target: r.Target, Header: r.Header.Clone(), Body: bytes.Clone(r.Body)}
}

// Answer is the answer to a request.
type Answer struct {
	Status int
	Header http.Header
	Body   []byte
	value  any // a decoded JSON body; numbers are json.Number
}

var client = &http.Client{
	Timeout:       2 * time.Minute,
	Transport:     &http.Transport{MaxIdleConnsPerHost: 64, DisableCompression: true},
	CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
}

// Send sends the request byte for byte.
func (r *Request) Send(base string) (*Answer, error) {
	req, err := http.NewRequest(r.Method, base, bytes.NewReader(r.Body))
	if err != nil {
		return nil, err
	}
	path, query, _ := strings.Cut(r.Target, "?")
	req.URL.Opaque, req.URL.RawQuery = path, query
	if strings.HasPrefix(path, "//") { // Opaque would take it for a host
		req.URL.Opaque = base + path
	}
	req.Header = r.Header.Clone()
	if host := req.Header.Get("Host"); host != "" { // net/http sends req.Host, not the header
		req.Host = host
	}
	if req.Header == nil {
		req.Header = http.Header{}
	}
	res, err := client.Do(req)
	if err != nil {
		return nil, err
	}
	return read(res)
}

// Ask gives the request to a handler in this process.
func (r *Request) Ask(h http.Handler) (*Answer, error) {
	return r.AskFrom(context.Background(), h, "192.0.2.1")
}

// AskFrom is Ask with a context, from a network address.
func (r *Request) AskFrom(ctx context.Context, h http.Handler, address string) (*Answer, error) {
	req := httptest.NewRequestWithContext(ctx, r.Method, r.Target, bytes.NewReader(r.Body))
	req.RemoteAddr = net.JoinHostPort(address, "1234")
	maps.Copy(req.Header, r.Header)
	w := httptest.NewRecorder()
	h.ServeHTTP(w, req)
	return read(w.Result())
}

func read(res *http.Response) (_ *Answer, err error) {
	defer res.Body.Close()
	a := &Answer{Status: res.StatusCode, Header: res.Header}
	if a.Body, err = io.ReadAll(res.Body); err != nil {
		return nil, err
	}
	form := res.Header.Get("Content-Type")
	if (strings.HasPrefix(form, "application/json") || strings.HasPrefix(form, "application/feed+json")) && len(a.Body) > 0 {
		dec := json.NewDecoder(bytes.NewReader(a.Body))
		dec.UseNumber()
		if err := dec.Decode(&a.value); err != nil {
			return nil, fmt.Errorf("the answer is not JSON: %w: %s", err, a.Body)
		}
	}
	return a, nil
}

// At returns the value at a path of names and indexes, such as items.0.kind. A last part
// "len" is the number of elements or members.
func (a *Answer) At(path string) (any, bool) {
	v := a.value
	for _, part := range strings.Split(path, ".") {
		switch x := v.(type) {
		case map[string]any:
			if part == "len" {
				v = json.Number(strconv.Itoa(len(x)))
				continue
			}
			var ok bool
			if v, ok = x[part]; !ok {
				return nil, false
			}
		case []any:
			if part == "len" {
				v = json.Number(strconv.Itoa(len(x)))
				continue
			}
			i, err := strconv.Atoi(part)
			if i < 0 {
				i += len(x)
			}
			if err != nil || i < 0 || i >= len(x) {
				return nil, false
			}
			v = x[i]
		default:
			return nil, false
		}
	}
	return v, true
}

// Text returns the value at a path as a script writes it: a string without quotes, anything
// else as JSON, "" if it is absent.
func (a *Answer) Text(path string) string {
	v, ok := a.At(path)
	if !ok {
		return ""
	}
	return text(v)
}

func text(v any) string {
	if s, ok := v.(string); ok {
		return s
	}
	return encoded(v)
}

// encoded returns a value of decoded JSON as JSON.
func encoded(v any) string {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(v) // decoded JSON always encodes
	return strings.TrimSpace(b.String())
}

var pageCode = regexp.MustCompile(`<p class="hint">([a-z_]+)</p>`)

// Code returns the error code of an answer: from the envelope, the form of RFC 6749, or a
// page for people.
func (a *Answer) Code() string {
	if e, _ := a.At("error"); e != nil {
		if name, ok := e.(string); ok {
			return name
		}
	}
	if m := pageCode.FindSubmatch(a.Body); a.value == nil && m != nil {
		return string(m[1])
	}
	return a.Text("error.code")
}

// Envelope returns what is wrong with an error answer (spec "Errors"), or "". An error
// in the form of RFC 6749 has only three members. Envelope accepts every HTML page that may
// not be cached.
func (a *Answer) Envelope(base string) string {
	code := a.Text("error.code")
	e, _ := a.At("error")
	_, plain := e.(string)
	switch {
	case strings.HasPrefix(a.Header.Get("Content-Type"), "text/html") && a.Header.Get("Cache-Control") == "private, no-store":
		return ""
	case plain && (a.Text("error_description") == "" || !strings.HasPrefix(a.Text("error_uri"), base+"/docs/errors#")):
		return "error_description is empty, or error_uri is " + a.Text("error_uri")
	case plain:
		return ""
	case a.Header.Get("Content-Type") != "application/json":
		return "its content type is " + a.Header.Get("Content-Type")
	case code == "":
		return "it has no error.code"
	case a.Text("error.docs") != base+"/docs/errors#"+code:
		return "error.docs is " + a.Text("error.docs")
	case a.Text("error.message") == "", a.Text("error.hint") == "":
		return "error.message or error.hint is empty"
	case strings.Contains(a.Text("error.message"), "Go value"), strings.Contains(a.Text("error.message"), "Go struct"):
		return "error.message exposes internals"
	case a.Header.Get("X-Request-Id") == "":
		return "it has no x-request-id"
	case a.Header.Get("Cache-Control") != "private, no-store":
		return "it may be cached: " + a.Header.Get("Cache-Control")
	}
	return ""
}
