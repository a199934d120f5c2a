package api

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"path"
	"runtime/debug"
	"slices"
	"strings"
	"sync"

	"agentsocial/shared/app"
	"agentsocial/tables"
)

// Raw is what a gateway knows of a request that net/http does not keep: the
// path and the query as they were sent, which is what a signature signs.
type Raw struct {
	Path, Query string
	RequestID   string
	Address     string // the caller's IP address
}

// PathAndQuery as a signature signs it.
func (r Raw) PathAndQuery() string {
	if r.Query == "" {
		return r.Path
	}
	return r.Path + "?" + r.Query
}

type rawKey struct{}

// WithRaw puts what a gateway knows into a request's context.
func WithRaw(ctx context.Context, raw Raw) context.Context {
	return context.WithValue(ctx, rawKey{}, raw)
}

// Server answers the requests of one or more groups.
type Server struct {
	app       *app.App
	host      string
	mux       *http.ServeMux
	endpoints map[string]*served // by the mux's pattern
	elsewhere func() *elsewhere
	keys      owners // of original keys
	handles   owners
	over      overLimit
	used      usedToday

	starting sync.Mutex
	start    []func(context.Context) error // what has yet to succeed once
}

// NewServer registers the endpoints of groups. It panics if two share a route:
// that is a mistake in the program, as is a declaration that cannot be served, of
// which [OpenAPI] tells.
func NewServer(a *app.App, groups ...Group) *Server {
	s := &Server{app: a, mux: http.NewServeMux(), endpoints: map[string]*served{}}
	if u, err := url.Parse(a.Settings.BaseURL); err == nil {
		s.host = u.Host
	}
	s.elsewhere = sync.OnceValue(func() *elsewhere { return newElsewhere(groups) })
	for _, g := range groups {
		if g.Start != nil {
			s.start = append(s.start, g.Start)
		}
		if g.Warm != nil {
			g.Warm()
		}
		for _, e := range g.Endpoints {
			e := newServed(g.Name, e)
			s.endpoints[e.Route] = e
			s.mux.HandleFunc(e.Route, func(w http.ResponseWriter, r *http.Request) { e.bound().ServeHTTP(w, r) })
		}
	}
	return s
}

// ServeHTTP answers one request.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	rec, _ := s.answer(r, "")
	rec.send(w)
}

// answer is the only place where answers are made, errors become the envelope,
// and the request's line is logged. tool is the one that was called, if so.
func (s *Server) answer(r *http.Request, tool string) (*recorder, *Call) {
	start := s.app.Now()
	raw, _ := r.Context().Value(rawKey{}).(Raw)
	if raw.Path == "" {
		raw.Path, raw.Query = r.URL.Path, r.URL.RawQuery
	}
	if raw.RequestID == "" {
		raw.RequestID = s.app.Random(8)
	}
	ctx, usage := tables.WithUsage(WithRaw(r.Context(), raw))
	rec := &recorder{header: http.Header{}}
	own := *s.app
	own.Log = s.app.Log.With("request_id", raw.RequestID)
	c := &Call{App: &own, Time: start, header: rec.header, keys: &s.keys, handles: &s.handles, over: &s.over, used: &s.used, Address: addressBlock(raw.Address), e: &Endpoint{}, tool: tool}
	ctx = context.WithValue(ctx, callKey{}, c)

	func() {
		defer func() {
			if p := recover(); p != nil {
				s.app.Log.Error("panic", "request_id", raw.RequestID, "panic", fmt.Sprint(p), "stack", string(debug.Stack()))
				c.fail = Fail(Internal, "Something failed inside the service.")
			}
		}()
		err := s.begin(r.Context()) // which is not this request's cost
		if err == nil {
			err = s.serve(rec, r.WithContext(ctx), c, raw)
		}
		if err != nil {
			c.fail = asError(err)
		}
	}()
	c.charge(ctx)
	if c.fail != nil {
		s.writeError(rec, r, c.fail, c.e)
	}
	s.finish(rec, r, c)
	rec.header.Set("X-Request-Id", raw.RequestID)
	s.log(r, c, raw, rec, usage, s.app.Now().Sub(start))
	return rec, c
}

// serve does what comes before the endpoint's own work, and then that.
func (s *Server) serve(rec *recorder, r *http.Request, c *Call, raw Raw) error {
	if wanted := r.Header.Get("Access-Control-Request-Method"); r.Method == http.MethodOptions && wanted != "" {
		s.preflight(rec, wanted, raw.Path)
		return nil
	}
	e, err := s.match(r, raw)
	if err != nil {
		return err
	}
	b := e.bound()
	c.e, c.schemas = &e.Endpoint, b.schemas
	if err := s.fromFewPages(c.e, r); err != nil {
		return err
	}
	if err := queryOnce(c.e, b.params, raw); err != nil {
		return err
	}
	body, err := readBody(r, c.e)
	if err != nil {
		return err
	}
	if err := s.credential(c, r, raw, body); err != nil {
		return err
	}
	if len(body) > 0 && !b.takesBody {
		if b := bytes.TrimSpace(body); len(b) > 0 && string(b) != "{}" {
			return BadField("request body", "is not empty, and %s takes none", e.Route)
		}
		body = nil
	}
	if enc := r.Header.Get("Content-Encoding"); len(body) > 0 && enc != "" && !strings.EqualFold(enc, "identity") {
		return Fail(UnsupportedMedia, "The body is sent with Content-Encoding %q; it is read as it is.", clip(enc, 40))
	}
	if len(body) > 0 && e.Media != nil {
		if err := checkMedia(r, e.Media); err != nil {
			return err
		}
	} else if len(body) > 0 {
		if err := checkContentType(r); err != nil {
			return err
		}
		if err := checkJSON(body, e.LooseBody); err != nil {
			return err
		}
		r.Header.Set("Content-Type", "application/json")
	}
	if keys := r.Header.Values("Idempotency-Key"); keys != nil && e.Writes() && c.cred.kind != credNone {
		key := keys[0]
		if !visibleASCII(key, idempotencyKeyMost) {
			return BadField("Idempotency-Key", "is not 1-64 visible ASCII characters")
		}
		c.idemKey = key
		c.digest = requestDigest(r.Method, raw.PathAndQuery(), body)
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	s.mux.ServeHTTP(rec, r)
	return nil
}

var methods = []string{"GET", "POST", "PUT", "PATCH", "DELETE"}

// match finds the endpoint of a request.
func (s *Server) match(r *http.Request, raw Raw) (*served, error) {
	none := Fail(NoSuchEndpoint, "There is no endpoint %s %s.", r.Method, clip(raw.Path, 100))
	if !PlainPath(raw.Path) || raw.Path != path.Clean(raw.Path) {
		return nil, none
	}
	probe := &http.Request{Method: r.Method, URL: &url.URL{Path: raw.Path}, Host: r.Host}
	_, pattern := s.mux.Handler(probe)
	if e := s.endpoints[pattern]; e != nil && e.Method() == r.Method { // the mux takes HEAD for GET; the gateway does not
		return e, nil
	}
	var allow []string
	for _, m := range methods {
		probe.Method = m
		_, here := s.mux.Handler(probe)
		if s.endpoints[here] != nil || s.elsewhere().find(probe) != "" {
			allow = append(allow, m)
		}
	}
	if allow == nil {
		return nil, none
	}
	e := Fail(MethodNotAllowed, "%s is not a method of %s, which has %s.", r.Method, clip(raw.Path, 100), strings.Join(allow, ", "))
	e.Allow = strings.Join(allow, ", ")
	return nil, e
}

// begin runs what groups do once, before anything is answered.
func (s *Server) begin(ctx context.Context) error {
	s.starting.Lock()
	defer s.starting.Unlock()
	for len(s.start) > 0 {
		if err := s.start[0](ctx); err != nil {
			return err
		}
		s.start = s.start[1:]
	}
	return nil
}

// PlainPath reports whether a decoded path can stand in a URL as it is. The
// gateway decodes paths, and no path of the service needs an escape.
func PlainPath(path string) bool {
	return strings.HasPrefix(path, "/") && PlainQuery(path) && !strings.ContainsAny(path, "?#%\\")
}

// PlainQuery reports whether a query, as it was sent, is printable ASCII.
func PlainQuery(query string) bool {
	return !strings.ContainsFunc(query, func(r rune) bool { return r <= ' ' || r > '~' })
}

// queryOnce refuses query members that are unknown, sent twice or malformed:
// each would be lost silently.
func queryOnce(e *Endpoint, known []string, raw Raw) error {
	if !PlainQuery(raw.Query) {
		return BadField("query", "has a character that must be written as %%XX")
	}
	q, err := url.ParseQuery(raw.Query)
	if err != nil {
		return BadField("query", "cannot be decoded: %s", "a % is not followed by two hexadecimal digits, or a ; separates members")
	}
	if e.LooseQuery {
		return nil
	}
	var fields []Field
	for _, name := range slices.Sorted(maps.Keys(q)) {
		values := q[name]
		bad := func(field, format string, args ...any) {
			fields = append(fields, Field{field, fmt.Sprintf(format, args...)})
		}
		switch {
		case name != "aud" && !slices.Contains(known, name):
			bad(clip(name, 40), "is not a query member of %s (it knows %s)", e.Route, cmp.Or(strings.Join(known, ", "), "none"))
		case len(values) > 1:
			bad(name, "is in the query %d times", len(values))
		case values[0] == "":
			bad(name, "is empty; give it a value, or leave it out where it is optional")
		}
	}
	if len(fields) > 0 {
		return badFields(fields)
	}
	return nil
}

func readBody(r *http.Request, e *Endpoint) ([]byte, error) {
	limit := int64(DefaultBody)
	if e.Body > 0 {
		limit = e.Body
	}
	large := Fail(TooLarge, "The body has more than %d bytes, the most that %s takes.", limit, e.Route)
	if r.ContentLength > limit {
		return nil, large
	}
	if r.Body == nil {
		return nil, nil
	}
	body, err := io.ReadAll(io.LimitReader(r.Body, limit+1))
	if err != nil {
		return nil, Fail(BadJSON, "The body ended before it was complete.").Because(err)
	}
	if int64(len(body)) > limit {
		return nil, large
	}
	return body, nil
}
