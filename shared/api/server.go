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
	"slices"
	"strings"
	"sync"

	"agentsocial/shared/app"
	"agentsocial/shared/wire"
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
			s.endpoints[e.Route] = newServed(g.Name, e)
			s.mux.Handle(e.Route, http.NotFoundHandler()) // it only matches
		}
	}
	return s
}

// ServeHTTP answers one request.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.answer(r).send(w)
}

// newCall begins a call.
func (s *Server) newCall(raw Raw) *Call {
	own := *s.app
	own.Log = s.app.Log.With("request_id", raw.RequestID)
	return &Call{
		App: &own, Time: s.app.Now(), header: http.Header{}, e: &Endpoint{}, Address: addressBlock(raw.Address),
		keys: &s.keys, handles: &s.handles, over: &s.over, used: &s.used,
	}
}

// answer is the only place where answers to HTTP are made, errors become the
// envelope, and the request's line is logged.
func (s *Server) answer(r *http.Request) *recorder {
	raw, _ := r.Context().Value(rawKey{}).(Raw)
	if raw.Path == "" {
		raw.Path, raw.Query = r.URL.Path, r.URL.RawQuery
	}
	if raw.RequestID == "" {
		raw.RequestID = s.app.Random(8)
	}
	c := s.newCall(raw)
	rec := &recorder{header: c.header}
	ctx := WithRaw(r.Context(), raw)
	usage := s.carry(ctx, c, func(ctx context.Context) error { return s.serve(rec, r.WithContext(ctx), c, raw) })
	if c.fail != nil {
		s.writeError(rec, r, c.fail, c.e)
	}
	s.finish(rec, r, c)
	rec.header.Set("X-Request-Id", raw.RequestID)
	s.log(ctx, r.Method, c, raw, rec.status, rec.body.Len(), usage)
	return rec
}

// serve reads the arguments and the credential of a request, and has the endpoint
// do its work.
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
	c.e = &e.Endpoint
	if err := s.fromFewPages(c.e, r); err != nil {
		return err
	}
	a := &Arguments{path: pathValues(e.Path(), raw.Path), header: r.Header, target: raw.PathAndQuery()}
	if a.query, err = parseQuery(raw.Query); err != nil {
		return err
	}
	if err := queryOnce(c.e, b.query, a.query); err != nil {
		return err
	}
	if a.body, err = readBody(r, c.e); err != nil {
		return err
	}
	if err := s.credential(c, r, raw, a.body); err != nil {
		return err
	}
	if len(a.body) > 0 && !b.takesBody {
		if body := bytes.TrimSpace(a.body); len(body) > 0 && string(body) != "{}" {
			return BadField(wholeBody, "is not empty, and %s takes none", e.Route)
		}
		a.body = nil
	}
	if enc := r.Header.Get("Content-Encoding"); len(a.body) > 0 && enc != "" && !strings.EqualFold(enc, "identity") {
		return Fail(UnsupportedMedia, "The body is sent with Content-Encoding %q; it is read as it is.", clip(enc, 40))
	}
	if len(a.body) > 0 && e.Foreign.Media != nil {
		if err := checkMedia(r, e.Foreign.Media); err != nil {
			return err
		}
	} else if len(a.body) > 0 {
		if err := checkContentType(r); err != nil {
			return err
		}
		if err := checkJSON(a.body, e.Foreign.LooseBody); err != nil {
			return err
		}
	}
	if e.work.serve != nil {
		r.Body = io.NopCloser(bytes.NewReader(a.body))
		return e.serveAs(rec, r, c)
	}
	out, err := b.invoke(r.Context(), c, a)
	if err != nil {
		return err
	}
	rec.status = e.status()
	if page, ok := out.(*Page); ok {
		page.write(rec)
		return nil
	}
	rec.header.Set("Content-Type", "application/json")
	return encodeJSON(&rec.body, out)
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

// parseQuery reads a query as it was sent.
func parseQuery(raw string) (url.Values, error) {
	if !PlainQuery(raw) {
		return nil, BadField("query", "has a character that must be written as %%XX")
	}
	q, err := url.ParseQuery(raw)
	if err != nil {
		return nil, BadField("query", "cannot be decoded: %s", "a % is not followed by two hexadecimal digits, or a ; separates members")
	}
	return q, nil
}

// queryOnce refuses query members that are unknown, sent twice or empty: each would
// be lost silently.
func queryOnce(e *Endpoint, known []string, q url.Values) error {
	if e.Foreign.LooseQuery {
		return nil
	}
	var fields []wire.Field
	for _, name := range slices.Sorted(maps.Keys(q)) {
		values := q[name]
		bad := func(field, format string, args ...any) {
			fields = append(fields, wire.Field{Field: field, Problem: fmt.Sprintf(format, args...)})
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
		return badFields(fields[:min(len(fields), problemsMost)])
	}
	return nil
}

// bodyMost is how many bytes a body has.
func (e *Endpoint) bodyMost() int64 {
	if e.Body > 0 {
		return e.Body
	}
	return DefaultBody
}

func (e *Endpoint) tooLarge() *Error {
	return Fail(TooLarge, "The body has more than %d bytes, the most that %s takes.", e.bodyMost(), e.Route)
}

func readBody(r *http.Request, e *Endpoint) ([]byte, error) {
	limit := e.bodyMost()
	if r.ContentLength > limit {
		return nil, e.tooLarge()
	}
	if r.Body == nil {
		return nil, nil
	}
	body, err := io.ReadAll(io.LimitReader(r.Body, limit+1))
	if err != nil {
		return nil, Fail(BadJSON, "The body ended before it was complete.").Because(err)
	}
	if int64(len(body)) > limit {
		return nil, e.tooLarge()
	}
	return body, nil
}
