package api

import (
	"bytes"
	"cmp"
	"context"
	"io"
	"log/slog"
	"maps"
	"net/http"
	"net/url"
	"path"
	"slices"
	"strings"
	"sync"

	"agentsocial/shared/app"
)

// Raw holds what a gateway knows about a request and net/http does not keep. Path is
// decoded. Query is as sent.
type Raw struct {
	Path, Query string
	RequestID   string
	Address     string // the caller's IP address
}

// PathAndQuery returns the path and query that a signature covers.
func (r Raw) PathAndQuery() string {
	if r.Query == "" {
		return r.Path
	}
	return r.Path + "?" + r.Query
}

type rawKey struct{}

// WithRaw adds raw to a request's context.
func WithRaw(ctx context.Context, raw Raw) context.Context {
	return context.WithValue(ctx, rawKey{}, raw)
}

// Server answers the requests of one or more groups.
type Server struct {
	app       *app.App
	host      string
	mux       *http.ServeMux
	endpoints map[string]*served    // by mux pattern
	literal   map[[2]string]*served // endpoints without path parameters, by method and path: faster than the mux
	elsewhere func() *elsewhere
	keys      owners // the agents of original keys
	handles   owners
	over      overLimit
	used      usedToday
	writers   writers
	packed    packed

	starting chan struct{}                 // has an element while begin runs
	start    []func(context.Context) error // the Start functions that have not succeeded yet
}

// NewServer registers the endpoints of groups. It panics if two endpoints share a route;
// [OpenAPI] panics if a declaration cannot be served.
func NewServer(a *app.App, groups ...Group) *Server {
	s := &Server{app: a, mux: http.NewServeMux(), endpoints: map[string]*served{}, literal: map[[2]string]*served{}, starting: make(chan struct{}, 1)}
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
			served := newServed(e)
			s.endpoints[e.pattern()] = served
			if !strings.Contains(e.Route, "{") {
				s.literal[[2]string{e.Method(), e.Path()}] = served
			}
			s.mux.Handle(e.pattern(), http.NotFoundHandler()) // for matching only
		}
	}
	return s
}

// ServeHTTP answers one request.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	rec := s.answer(r)
	rec.send(w)
	rec.done()
}

// noEndpoint is a call's endpoint until the route is matched.
var noEndpoint Endpoint

func (s *Server) newCall(raw Raw) *Call {
	made := &struct {
		Call
		own app.App
		log requestLog
	}{own: *s.app, log: requestLog{s.app.Log.Handler(), raw.RequestID}}
	made.own.Log = slog.New(&made.log)
	made.Call = Call{
		App: &made.own, Time: s.app.Now(), header: make(http.Header, 8), e: &noEndpoint, Address: addressBlock(raw.Address),
		keys: &s.keys, handles: &s.handles, over: &s.over, used: &s.used, writers: &s.writers,
	}
	return &made.Call
}

func (s *Server) answer(r *http.Request) *recorder {
	raw, _ := r.Context().Value(rawKey{}).(Raw)
	if raw.Path == "" {
		raw.Path, raw.Query = r.URL.Path, r.URL.RawQuery
	}
	if raw.RequestID == "" {
		raw.RequestID = s.app.Random(8)
	}
	c := s.newCall(raw)
	c.Head = r.Method == http.MethodHead
	rec := recorders.Get().(*recorder)
	rec.header = c.header
	ctx := WithRaw(r.Context(), raw)
	usage := s.carry(ctx, c, func(ctx context.Context) error { return s.serve(rec, r.WithContext(ctx), c, raw) })
	if c.fail != nil {
		s.writeError(rec, r, c)
	}
	s.finish(rec, r, c)
	s.compress(rec, r, c)
	if r.Method == http.MethodHead { // only now: the ETag depends on the body
		rec.body.Reset()
	}
	rec.header.Set("X-Request-Id", raw.RequestID)
	s.log(ctx, r.Method, c, raw, rec.status, rec.body.Len(), usage)
	return rec
}

// serve runs the endpoint, in the order of the package comment.
func (s *Server) serve(rec *recorder, r *http.Request, c *Call, raw Raw) error {
	if err := s.throughEdge(c, r); err != nil {
		return err
	}
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
	if a.body, err = readBody(r, c.e); err != nil {
		return err
	}
	if err := s.credential(c, r, raw, a.body); err != nil {
		return err
	}
	if err := c.screen(r.Context()); err != nil {
		return err
	}
	a.bad = b.checkForm(a, r, raw.Query)
	if e.work.serve != nil {
		rec.lent = true
		return e.serveAs(rec, r, c, a)
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
	if e.work.page != nil {
		rec.header.Set("Vary", "Accept")
		if forPerson(r) {
			e.work.page(r.Context(), out).write(rec)
			return nil
		}
	}
	rec.header.Set("Content-Type", "application/json")
	return encodeJSON(&rec.body, out)
}

// checkForm decodes the query into a.query. It checks the query and the body as far as no
// schema is needed.
func (b *bound) checkForm(a *Arguments, r *http.Request, query string) (err error) {
	e := b.e
	if a.query, err = parseQuery(query); err != nil {
		return err
	}
	if err := b.queryOnce(a.query); err != nil {
		return err
	}
	if len(a.body) > 0 && !b.takesBody {
		if body := bytes.TrimSpace(a.body); len(body) > 0 && string(body) != "{}" {
			return BadField(wholeBody, "is not empty, but %s takes no body", e.Route)
		}
		a.body = nil
	}
	if len(a.body) == 0 {
		return nil
	}
	if enc := r.Header.Get("Content-Encoding"); enc != "" && !strings.EqualFold(enc, "identity") {
		return Fail(UnsupportedMedia, "The body has Content-Encoding %q; send it without an encoding.", clip(enc, 40))
	}
	if e.Foreign.Media != nil {
		return checkMedia(r, e.Foreign.Media)
	}
	if err := checkContentType(r); err != nil {
		return err
	}
	if e.Foreign.LooseBody {
		return CheckLooseJSON(a.body)
	}
	return checkJSON(a.body, maxValues, false)
}

var methods = []string{"GET", "POST", "PUT", "PATCH", "DELETE"}

func (s *Server) match(r *http.Request, raw Raw) (*served, error) {
	none := func() *Error {
		e := Fail(NoSuchEndpoint, "There is no endpoint %s %s.", r.Method, clip(raw.Path, 100))
		if strings.Contains(raw.Path, "/#") {
			return e.WithHint("Write a channel's name in a path without the #.")
		}
		if route := nearest(s.elsewhere().all, r.Method, raw.Path); route != "" {
			return e.WithHint("Perhaps you mean `%s`. %s", route, infoOf[NoSuchEndpoint].Do)
		}
		return e
	}
	if !PlainPath(raw.Path) || raw.Path != path.Clean(raw.Path) {
		return nil, none()
	}
	if e := s.literal[[2]string{r.Method, raw.Path}]; e != nil {
		return e, nil
	}
	probe := &http.Request{Method: r.Method, URL: &url.URL{Path: raw.Path}, Host: r.Host}
	_, pattern := s.mux.Handler(probe)
	if e := s.endpoints[pattern]; e != nil && (e.Method() == r.Method || r.Method == http.MethodHead && e.Head()) { // the mux matches HEAD to GET
		return e, nil
	}
	var allow []string
	for _, m := range methods {
		probe.Method = m
		_, here := s.mux.Handler(probe)
		e, there := s.endpoints[here], s.elsewhere().find(probe)
		if e != nil || there != "" {
			allow = append(allow, m)
		}
		if m == http.MethodGet && (e != nil && e.Head() || s.elsewhere().public[there]) {
			allow = append(allow, http.MethodHead)
		}
	}
	if allow == nil {
		return nil, none()
	}
	e := Fail(MethodNotAllowed, "%s is not allowed on %s; allowed: %s.", r.Method, clip(raw.Path, 100), strings.Join(allow, ", "))
	e.Allow = strings.Join(allow, ", ")
	return nil, e
}

// begin runs the groups' Start functions before the first answer.
func (s *Server) begin(ctx context.Context) error {
	select {
	case s.starting <- struct{}{}:
	case <-ctx.Done():
		return ctx.Err()
	}
	defer func() { <-s.starting }()
	for len(s.start) > 0 {
		if err := s.start[0](ctx); err != nil {
			return err
		}
		s.start = s.start[1:]
	}
	return nil
}

// PlainPath reports whether a decoded path can stand in a URL as it is. The gateway decodes
// paths, and no path of the service needs an escape.
func PlainPath(path string) bool {
	return strings.HasPrefix(path, "/") && PlainQuery(path) && !strings.ContainsAny(path, "?#%\\")
}

// PlainQuery reports whether a query, as it was sent, is printable ASCII.
func PlainQuery(query string) bool {
	return !strings.ContainsFunc(query, func(r rune) bool { return r <= ' ' || r > '~' })
}

func parseQuery(raw string) (url.Values, error) {
	if !PlainQuery(raw) {
		return nil, BadField("query", "has a character that must be written as %%XX")
	}
	if raw == "" {
		return nil, nil
	}
	q, err := url.ParseQuery(raw)
	if err != nil {
		return nil, BadField("query", "cannot be decoded: %s", "a % is not followed by two hexadecimal digits, or a ; separates members")
	}
	return q, nil
}

// queryOnce refuses query members that are unknown, sent twice or empty.
func (b *bound) queryOnce(q url.Values) error {
	if b.e.Foreign.LooseQuery {
		return nil
	}
	isKnown := func(name string) bool { return name == "aud" || slices.Contains(b.query, name) }
	isWrong := func(name string) bool {
		if !isKnown(name) {
			return !b.e.Foreign.ExtraQuery
		}
		return len(q[name]) > 1 || q[name][0] == ""
	}
	var wrong problems
	for _, name := range firstNames(maps.Keys(q), isWrong) {
		switch values := q[name]; {
		case !isKnown(name):
			wrong.add(clip(name, 40), "is not a query member of %s (known are %s)", b.e.Route, cmp.Or(strings.Join(b.query, ", "), "none"))
		case len(values) > 1:
			wrong.add(name, "is in the query %d times", len(values))
		default:
			wrong.add(name, "is empty; give it a value or, if it is optional, leave it out")
		}
	}
	if len(wrong.fields) > 0 {
		return badFields(wrong.fields)
	}
	return nil
}

// bodyMost bounds the bytes of a body.
func (e *Endpoint) bodyMost() int64 {
	if e.Body > 0 {
		return e.Body
	}
	return DefaultBody
}

func (e *Endpoint) tooLarge() *Error {
	return Fail(TooLarge, "The body has more than %d bytes, the limit of %s.", e.bodyMost(), e.Route)
}

func readBody(r *http.Request, e *Endpoint) ([]byte, error) {
	limit := e.bodyMost()
	if r.ContentLength > limit {
		return nil, e.tooLarge()
	}
	if r.Body == nil || r.Body == http.NoBody {
		return nil, nil
	}
	var body bytes.Buffer
	if r.ContentLength > 0 {
		body.Grow(int(r.ContentLength) + bytes.MinRead)
	}
	if _, err := body.ReadFrom(io.LimitReader(r.Body, limit+1)); err != nil {
		return nil, Fail(BadJSON, "The body ended before it was complete.").Because(err)
	}
	if int64(body.Len()) > limit {
		return nil, e.tooLarge()
	}
	return body.Bytes(), nil
}
