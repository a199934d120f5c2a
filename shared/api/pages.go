package api

import (
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
)

// AnyWebOrigin in Settings.WebOrigins allows all origins.
const AnyWebOrigin = "*"

// fromFewPages refuses calls of a FewPages endpoint from web pages whose origin is not
// allowed. A page could otherwise make its visitors send calls without a credential, each
// from the visitor's own address. Browsers set the header Origin; a program may leave it
// out.
func (s *Server) fromFewPages(e *Endpoint, r *http.Request) error {
	origin := r.Header.Get("Origin")
	if !e.FewPages || origin == "" {
		return nil
	}
	known := s.app.Settings.WebOrigins
	if slices.Contains(known, AnyWebOrigin) || slices.ContainsFunc(known, func(o string) bool { return strings.EqualFold(o, origin) }) ||
		strings.EqualFold(origin, s.app.Settings.BaseURL) || loopback(origin) {
		return nil
	}
	return Fail(PageRefused, "Web pages of the origin %q may not call %s.", clip(origin, 100), e.Route)
}

func loopback(origin string) bool {
	u, err := url.Parse(origin)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.User != nil || u.Path != "" || u.RawQuery != "" || u.Fragment != "" {
		return false
	}
	a, err := netip.ParseAddr(u.Hostname())
	return strings.EqualFold(u.Hostname(), "localhost") || err == nil && a.IsLoopback()
}
