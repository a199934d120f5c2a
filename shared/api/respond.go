package api

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"time"

	"agentsocial/shared/lambda/metrics"
	"agentsocial/tables"
)

// writeError writes the refusal, for a browser as a page. It discards what was written
// before.
func (s *Server) writeError(rec *recorder, r *http.Request, c *Call) {
	e, at := c.fail, c.e
	rec.body.Reset()
	rec.status = infoOf[e.Code].Status
	if page := at.Foreign.Refuse.of(r, e); page != nil {
		page.write(rec)
	} else {
		if reads(r) {
			rec.header.Set("Vary", "Accept")
		}
		if forPerson(r) {
			e.errorPage(s.app.Settings.BaseURL).write(rec)
		} else {
			rec.header.Set("Content-Type", "application/json")
			rec.body.Write(e.JSON(s.app.Settings.BaseURL))
		}
	}
	switch rec.status {
	case http.StatusUnauthorized:
		if challenge := s.challengeAt(at, r, e); challenge != "" {
			rec.header.Set("WWW-Authenticate", challenge)
		}
	case http.StatusForbidden:
		if e.Code == ScopeMissing {
			rec.header.Set("WWW-Authenticate", s.challenge(e))
		}
	case http.StatusMethodNotAllowed:
		rec.header.Set("Allow", e.Allow)
	}
	if after := s.retryAfter(e, rec.status); after > 0 {
		rec.header.Set("Retry-After", strconv.FormatInt(after, 10))
	}
}

// retryAfter returns the seconds after which a refused caller should come back; 0 if
// waiting does not help. A random part keeps callers from coming back together.
func (s *Server) retryAfter(e *Error, status int) int64 {
	wait := int64(0)
	switch {
	case !e.RetryAt.IsZero():
		wait = max(1, int64(math.Ceil(e.RetryAt.Sub(s.app.Now()).Seconds())))
	case e.Code == Busy:
		wait = 1
	case status == http.StatusServiceUnavailable, status == http.StatusTooManyRequests:
		wait = 2
	default:
		return 0
	}
	return wait + s.app.Intn(min(max(wait/10, spreadLeast), spreadMost)+1)
}

// The random part of Retry-After is at most a tenth of the wait. But that maximum is never
// below spreadLeast or above spreadMost seconds.
const (
	spreadLeast = 2
	spreadMost  = 30
)

// encodeJSON writes an answer. It keeps <, > and & unescaped, for readers without a JSON
// parser.
func encodeJSON(to *bytes.Buffer, v any) error {
	enc := json.NewEncoder(to)
	enc.SetEscapeHTML(false)
	return enc.Encode(v)
}

func (form Refuse) of(r *http.Request, e *Error) *Page {
	if form == nil {
		return nil
	}
	return form(r, e)
}

func (p *Page) write(rec *recorder) {
	if p.Status != 0 {
		rec.status = p.Status
	}
	for name, value := range map[string]string{
		"Content-Type": p.ContentType, "Location": p.Location, "Vary": p.Vary, "Content-Security-Policy": p.CSP,
	} {
		if value != "" {
			rec.header.Set(name, value)
		}
	}
	if p.NoIndex {
		rec.header.Set("X-Robots-Tag", "noindex")
	}
	rec.body.Write(p.Body)
}

// challengeAt returns WWW-Authenticate for an endpoint's 401, or "". An endpoint that
// ignores bearer tokens sends no Bearer challenge, since a client would look for a token
// instead of reading the error. If the client tried Basic there, the challenge names that
// scheme (RFC 6749 5.2).
func (s *Server) challengeAt(at *Endpoint, r *http.Request, e *Error) string {
	if !at.Foreign.NoBearer {
		return s.challenge(e)
	}
	if scheme, _, _ := strings.Cut(r.Header.Get("Authorization"), " "); strings.EqualFold(scheme, "Basic") {
		return fmt.Sprintf(`Basic realm="%s"`, s.host)
	}
	return ""
}

// asked lists the scopes that a 401 tells a client to ask a person for (RFC 6750 3): the
// default scopes, and memory, without which an agent forgets everything between two
// conversations. The consent page ticks only what the client asked for.
const asked = "read post memory jury"

// challenge returns WWW-Authenticate (RFC 6750, RFC 9728). For a missing scope, it also
// names the scopes that the token has, because a client asks for exactly the scopes named.
func (s *Server) challenge(e *Error) string {
	v := "Bearer "
	switch e.Code {
	case BadToken:
		v += `error="invalid_token", `
	case ScopeMissing:
		v += `error="insufficient_scope", `
	}
	scope := asked
	if e.Code == ScopeMissing {
		scope = strings.Join(e.scopes, " ")
	}
	return v + fmt.Sprintf(`resource_metadata="%s/.well-known/oauth-protected-resource/mcp", scope="%s"`, s.app.Settings.BaseURL, scope)
}

// finish sets the headers of every answer, and answers 304 if the caller has the current
// version.
func (s *Server) finish(rec *recorder, r *http.Request, c *Call) {
	h := rec.header
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Strict-Transport-Security", "max-age=31536000; includeSubDomains")
	public := c.e.Route != "" && c.e.open()
	if public || c.e.Route == "" && r.Method != http.MethodOptions {
		cors(h)
	}
	if !public || rec.status != http.StatusOK || c.cred.kind != credNone || c.e.Cache == 0 {
		if h.Get("Cache-Control") == "" {
			h.Set("Cache-Control", "private, no-store")
		}
		return
	}
	sum := rec.digest()
	etag := `"` + base64.RawURLEncoding.EncodeToString(sum[:12]) + `"`
	h.Set("ETag", "W/"+etag) // weak: the compressed answer has the same tag
	keep := "public, max-age=" + strconv.Itoa(int(c.e.Cache.Seconds()))
	if rec.body.Len() > SharedMost && rec.compressible(c) && !acceptsGzip(r.Header.Values("Accept-Encoding")) {
		keep += ", s-maxage=0"
	}
	h.Set("Cache-Control", keep)
	vary := "Authorization, X-Agent-Key"
	if v := h.Get("Vary"); v != "" {
		vary = v + ", " + vary
	}
	if rec.compressible(c) {
		vary += ", Accept-Encoding"
	}
	h.Set("Vary", vary)
	if matches(r.Header.Values("If-None-Match"), etag) {
		rec.status = http.StatusNotModified
		rec.body.Reset()
		h.Del("Content-Type")
	}
}

// matches makes the weak comparison of RFC 9110 13.1.2, except that * never matches. If an
// edge passed on a caller's * to revalidate its stored answer, a 304 would keep that answer
// for ever, even after its texts are deleted.
func matches(ifNoneMatch []string, etag string) bool {
	for _, line := range ifNoneMatch {
		for tag := range strings.SplitSeq(line, ",") {
			tag = strings.TrimPrefix(strings.TrimSpace(tag), "W/")
			if tag == etag {
				return true
			}
		}
	}
	return false
}

// cors lets pages of any origin read the answer, without credentials.
func cors(h http.Header) {
	h.Set("Access-Control-Allow-Origin", "*")
	h.Set("Access-Control-Expose-Headers", "WWW-Authenticate, ETag, RateLimit, RateLimit-Policy, Retry-After, X-Request-Id")
}

// preflight allows the calls whose answers [Server.finish] lets other origins read.
func (s *Server) preflight(rec *recorder, method, path string) {
	rec.status = http.StatusNoContent
	probe := &http.Request{Method: method, URL: &url.URL{Path: path}}
	_, here := s.mux.Handler(probe)
	ours := false
	if e := s.endpoints[here]; e != nil {
		ours = e.open() && (e.Method() == method || method == http.MethodHead && e.Head())
	} else { // maybe a route of another function; find matches HEAD to GET
		ours = s.elsewhere().public[s.elsewhere().find(probe)]
	}
	if !ours {
		return
	}
	cors(rec.header)
	rec.header.Set("Access-Control-Allow-Methods", method)
	rec.header.Set("Access-Control-Allow-Headers", "Authorization, Content-Type, If-Match, If-None-Match, Idempotency-Key, Mcp-Protocol-Version, Mcp-Method, Mcp-Name, X-Agent-Key, X-Agent-Ts, X-Agent-Sig, X-Agent-Id")
	rec.header.Set("Access-Control-Max-Age", "86400")
}

// slow is the least duration of a read that is always logged.
const slow = time.Second

// sampled reports whether only a sample of requests like this one is logged: quick reads
// that succeeded.
func (s *Server) sampled(c *Call, took time.Duration) bool {
	return s.app.Settings.LogReads > 0 && c.fail == nil && !c.e.Writes() && c.made == "" && took < slow
}

// log writes the request's line. It contains no address, credential or body. one_in is the
// number of requests that a sampled line stands for.
func (s *Server) log(ctx context.Context, method string, c *Call, raw Raw, status, size int, usage *tables.Usage) {
	took := s.app.Now().Sub(c.Time)
	route, level := c.e.Route, slog.LevelInfo
	if route == "" {
		route = "none"
	}
	attrs := append(make([]slog.Attr, 0, 16),
		slog.String("request_id", raw.RequestID), slog.String("method", method), slog.String(metrics.ByRoute, route),
		slog.Int("status", status), slog.Float64(metrics.Latency, float64(took.Microseconds())/1000),
		slog.Int("bytes", size), slog.Int(metrics.Trips, usage.Trips()),
		slog.Float64(metrics.ReadUnits, usage.ReadUnits()), slog.Float64(metrics.WriteUnits, usage.WriteUnits()),
	)
	if s.sampled(c, took) {
		n := s.app.Settings.LogReads
		if s.app.Intn(n) != 0 {
			return
		}
		attrs = append(attrs, slog.Int64("one_in", n))
	}
	if c.made != "" {
		attrs = append(attrs, slog.Int(c.made, 1))
	}
	if c.tool != "" {
		attrs = append(attrs, slog.String("tool", c.tool))
	}
	if c.Agent != nil {
		attrs = append(attrs, slog.String("agent", c.Agent.ID))
	}
	if c.replay != "" {
		attrs = append(attrs, slog.Bool("replayed", true))
	}
	if c.fail != nil {
		outcome := metrics.Refused
		if status >= 500 {
			outcome, level = metrics.Failed, slog.LevelError
		}
		attrs = append(attrs, slog.String(metrics.ByCode, string(c.fail.Code)), slog.Int(outcome, 1))
		if cause := errors.Unwrap(c.fail); cause != nil {
			attrs = append(attrs, slog.String("cause", cause.Error()))
		}
	}
	s.app.Log.LogAttrs(ctx, level, metrics.Request, attrs...)
}

type recorder struct {
	header http.Header
	status int
	body   bytes.Buffer
	sum    *[sha256.Size]byte // of the body, once it was asked for
	lent   bool               // to a handler of [Serve]
}

// recorders pools recorders, because their buffers have grown to the size of answers.
var recorders = sync.Pool{New: func() any { return new(recorder) }}

// keptMost bounds the buffer that a recorder keeps.
const keptMost = 1 << 20

// done returns a recorder to the pool, unless a handler of [Serve] may still use it.
func (r *recorder) done() {
	if r.lent {
		return
	}
	body := r.body
	if body.Reset(); body.Cap() > keptMost {
		body = bytes.Buffer{}
	}
	*r = recorder{body: body}
	recorders.Put(r)
}

// digest returns the hash of the body, which must not change any more.
func (r *recorder) digest() [sha256.Size]byte {
	if r.sum == nil {
		sum := sha256.Sum256(r.body.Bytes())
		r.sum = &sum
	}
	return *r.sum
}

func (r *recorder) Header() http.Header         { return r.header }
func (r *recorder) WriteHeader(status int)      { r.status = status }
func (r *recorder) Write(b []byte) (int, error) { return r.body.Write(b) }

func (r *recorder) send(w http.ResponseWriter) {
	if r.status == 0 {
		r.status = http.StatusOK
	}
	for k, v := range r.header {
		w.Header()[k] = v
	}
	w.WriteHeader(r.status)
	_, _ = w.Write(r.body.Bytes()) // the caller may be gone
}
