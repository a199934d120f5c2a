package service

import (
	"context"
	"encoding/base64"
	"errors"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"unicode/utf8"

	"github.com/aws/aws-lambda-go/events"

	"agentsocial/functions"
	"agentsocial/shared/api"
	"agentsocial/shared/app"
	"agentsocial/shared/lambda/host"
)

// gateway stands in for API Gateway's HTTP API: it calls the function of a route with an
// event in payload format 2.0 (path decoded, query unchanged), or that of $default.
type gateway struct {
	app      *app.App
	routes   *http.ServeMux
	handlers map[string]host.GatewayHandler // by route
	fallback host.GatewayHandler
}

// newGateway makes a function for each group.
func newGateway(a *app.App, groups []func(*app.App) api.Group, from handlers) (*gateway, error) {
	g := &gateway{app: a, routes: http.NewServeMux(), handlers: map[string]host.GatewayHandler{}}
	for _, declare := range groups {
		h, err := from.Group(declare)
		if err != nil {
			return nil, err
		}
		group := declare(&app.App{})
		for _, e := range group.Endpoints {
			g.handlers[e.Route] = h
			g.routes.Handle(e.Route, http.NotFoundHandler())
		}
		if group.Name == functions.Fallback {
			g.fallback = h
		}
	}
	return g, nil
}

func (g *gateway) route(method, path string) host.GatewayHandler {
	probe := &http.Request{Method: method, URL: &url.URL{Path: path}}
	if _, pattern := g.routes.Handler(probe); g.handlers[pattern] != nil && method != http.MethodHead { // Go's mux matches HEAD with GET
		return g.handlers[pattern]
	}
	return g.fallback
}

// A function gets at most Lambda's 6 MB of a body. Every endpoint refuses far smaller
// ones, so a larger body is cut. The rest is read and dropped, so that a caller that
// is still sending gets the answer.
const (
	bodyMost = 1 << 20
	dropMost = 64 << 20
)

func (g *gateway) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(io.LimitReader(r.Body, bodyMost))
	if err == nil {
		_, err = io.CopyN(io.Discard, r.Body, dropMost)
	}
	if err != nil && !errors.Is(err, io.EOF) { // cut off, or badly chunked
		http.Error(w, `{"message":"Bad Request"}`, http.StatusBadRequest) // as API Gateway answers
		return
	}
	ip, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil {
		ip = r.RemoteAddr
	}
	e := events.APIGatewayV2HTTPRequest{
		Version: "2.0", RawPath: r.URL.Path, RawQueryString: r.URL.RawQuery, Headers: map[string]string{},
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
		e.Headers[strings.ToLower(name)] = strings.Join(values, ",")
	}
	e.Headers["host"] = r.Host
	if utf8.Valid(body) {
		e.Body = string(body)
	} else {
		e.Body, e.IsBase64Encoded = base64.StdEncoding.EncodeToString(body), true
	}
	g.send(r.Context(), w, g.route(r.Method, r.URL.Path), e)
}

func (g *gateway) send(ctx context.Context, w http.ResponseWriter, h host.GatewayHandler, e events.APIGatewayV2HTTPRequest) {
	// A function continues until its timeout, even if its caller is gone.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), host.GroupSize.Timeout)
	defer cancel()
	res, err := h(ctx, e)
	if err != nil {
		g.app.Log.Error("function failed", "error", err.Error())
		http.Error(w, `{"message":"Internal Server Error"}`, http.StatusInternalServerError) // as API Gateway answers
		return
	}
	for name, value := range res.Headers {
		w.Header().Set(name, value)
	}
	for _, c := range res.Cookies {
		w.Header().Add("Set-Cookie", c)
	}
	out := []byte(res.Body)
	if res.IsBase64Encoded {
		if out, err = base64.StdEncoding.DecodeString(res.Body); err != nil {
			g.app.Log.Error("function answered no base64", "error", err.Error())
		}
	}
	w.WriteHeader(res.StatusCode)
	_, _ = w.Write(out) // the caller may be gone
}
