package service

import (
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/aws/aws-lambda-go/events"
	"golang.org/x/time/rate"

	"agentsocial/functions"
	"agentsocial/shared/api"
	"agentsocial/shared/app"
	"agentsocial/shared/lambda/host"
)

// gateway stands in for API Gateway's HTTP API. It calls the function of a route, or of
// $default, with an event in payload format 2.0: path decoded, query unchanged.
type gateway struct {
	app      *app.App
	routes   *http.ServeMux
	handlers map[string]host.GatewayHandler // by route
	head     map[string]bool                // whether a GET route answers HEAD
	fallback host.GatewayHandler

	whole    *rate.Limiter            // shared by routes without a throttle of their own; nil: no throttles
	throttle map[string]*rate.Limiter // by route

	turns chan struct{} // bounds the requests that functions work on at once; nil: unbounded
}

// turnsEach bounds, for each processor, the requests that functions work on at once. This
// number is enough to fill large groups of commits. Go gives all goroutines equal turns,
// so without a bound the stream's readers would hardly run among thousands of requests.
const turnsEach = 32

// refusedFor delays a function's 503 answers, unless turns is nil. Otherwise callers that
// retry at once would take the time that the stream's readers need to catch up.
const refusedFor = 100 * time.Millisecond

// newGateway makes a function for each group. The endpoints share the throttle t, except
// those with a Rate of their own. A zero t means no throttles.
func newGateway(a *app.App, groups []func(*app.App) api.Group, from Groups, t api.Throttle) (*gateway, error) {
	g := &gateway{app: a, routes: http.NewServeMux(), handlers: map[string]host.GatewayHandler{}, head: map[string]bool{}, throttle: map[string]*rate.Limiter{}}
	if t != (api.Throttle{}) {
		g.whole = bucket(t)
	}
	for _, declare := range groups {
		h, err := from.Group(declare)
		if err != nil {
			return nil, err
		}
		group := declare(&app.App{})
		for _, e := range group.Endpoints {
			g.handlers[e.Route] = h
			g.routes.Handle(e.Route, http.NotFoundHandler())
			g.head[e.Route] = e.Head()
			if g.whole != nil && e.Rate > 0 {
				g.throttle[e.Route] = bucket(t.Route(e.Rate))
			}
		}
		if group.Name == functions.Fallback {
			g.fallback = h
		}
	}
	return g, nil
}

func bucket(t api.Throttle) *rate.Limiter { return rate.NewLimiter(rate.Limit(t.Rate), t.Burst) }

// route returns the function of a request's route, and the bucket of its throttle or nil.
func (g *gateway) route(method, path string) (host.GatewayHandler, *rate.Limiter) {
	probe := &http.Request{Method: method, URL: &url.URL{Path: path}}
	_, pattern := g.routes.Handler(probe)
	h := g.handlers[pattern]
	if h == nil || method == http.MethodHead && !g.head[pattern] { // Go's mux matches HEAD with GET
		return g.fallback, g.whole
	}
	if own := g.throttle[pattern]; own != nil {
		return h, own
	}
	return h, g.whole
}

// refuse answers as API Gateway does when no function answers.
func refuse(w http.ResponseWriter, status int) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	fmt.Fprintf(w, "{\"message\":%q}\n", http.StatusText(status))
}

// bodyMost bounds the body that a function gets. It is below Lambda's 6 MB, but above
// every endpoint's limit. Up to dropMost more bytes are read and dropped, so that a
// caller that is still sending gets the answer.
const (
	bodyMost = 1 << 20
	dropMost = 64 << 20
)

func (g *gateway) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := readBody(r)
	if err != nil { // cut off, or badly chunked
		refuse(w, http.StatusBadRequest)
		return
	}
	handler, throttle := g.route(r.Method, r.URL.Path)
	if throttle != nil && !throttle.AllowN(g.app.Now(), 1) {
		refuse(w, http.StatusTooManyRequests)
		return
	}
	ip, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil {
		ip = r.RemoteAddr
	}
	e := events.APIGatewayV2HTTPRequest{
		Version: "2.0", RawPath: r.URL.Path, RawQueryString: r.URL.RawQuery, Headers: make(map[string]string, len(r.Header)+1),
		RequestContext: events.APIGatewayV2HTTPRequestContext{
			RequestID: g.app.Random(8), Stage: "$default", DomainName: r.Host, TimeEpoch: g.app.Now().UnixMilli(),
			HTTP: events.APIGatewayV2HTTPRequestContextHTTPDescription{
				Method: r.Method, Path: r.URL.Path, Protocol: r.Proto, SourceIP: ip, UserAgent: r.UserAgent(),
			},
		},
	}
	for name, values := range r.Header {
		if name == "Cookie" {
			e.Cookies = strings.Split(strings.Join(values, "; "), "; ")
			continue
		}
		e.Headers[host.LowerHeader(name)] = strings.Join(values, ",")
	}
	e.Headers["host"] = r.Host
	if utf8.Valid(body) {
		e.Body = string(body)
	} else {
		e.Body, e.IsBase64Encoded = base64.StdEncoding.EncodeToString(body), true
	}
	g.send(r.Context(), w, handler, e)
}

// readBody reads a request's body, and drops what is beyond bodyMost.
func readBody(r *http.Request) (body []byte, err error) {
	if r.Body == nil || r.Body == http.NoBody {
		return nil, nil
	}
	var b bytes.Buffer
	if r.ContentLength > 0 {
		b.Grow(int(min(r.ContentLength, api.DefaultBody)) + bytes.MinRead)
	}
	if _, err := b.ReadFrom(io.LimitReader(r.Body, bodyMost)); err != nil {
		return nil, err
	}
	if _, err := io.CopyN(io.Discard, r.Body, dropMost); err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	return b.Bytes(), nil
}

func (g *gateway) send(ctx context.Context, w http.ResponseWriter, h host.GatewayHandler, e events.APIGatewayV2HTTPRequest) {
	// A function continues until its timeout, even if its caller is gone.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), host.GroupSize.Timeout)
	defer cancel()
	if g.turns != nil {
		select {
		case g.turns <- struct{}{}:
		case <-ctx.Done():
			refuse(w, http.StatusServiceUnavailable)
			return
		}
	}
	res, err := h(ctx, e)
	if g.turns != nil {
		if <-g.turns; res.StatusCode == http.StatusServiceUnavailable {
			pause(ctx, refusedFor)
		}
	}
	if err != nil {
		g.app.Log.Error("function failed", "error", err.Error())
		refuse(w, http.StatusInternalServerError)
		return
	}
	header, values := w.Header(), make([]string, 0, len(res.Headers)+1)
	set := func(name, value string) {
		values = append(values, value)
		header[http.CanonicalHeaderKey(name)] = values[len(values)-1 : len(values) : len(values)]
	}
	for name, value := range res.Headers {
		set(name, value)
	}
	for _, c := range res.Cookies {
		header.Add("Set-Cookie", c)
	}
	buffer := bodies.Get().(*[]byte)
	defer func() {
		if cap(*buffer) <= bodyMost {
			bodies.Put(buffer)
		}
	}()
	out := append((*buffer)[:0], res.Body...)
	if res.IsBase64Encoded {
		n, err := base64.StdEncoding.Decode(out, out)
		if err != nil {
			g.app.Log.Error("the function's answer is not base64", "error", err.Error())
		}
		out = out[:n]
	}
	*buffer = out
	if len(out) > 0 {
		set("Content-Length", strconv.Itoa(len(out)))
	}
	w.WriteHeader(res.StatusCode)
	_, _ = w.Write(out) // the caller may be gone
}

// bodies are buffers for answers. A string would be written in small pieces.
var bodies = sync.Pool{New: func() any { return new([]byte) }}
