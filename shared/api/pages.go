package api

import (
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
)

// AnyWebOrigin in Settings.WebOrigins stands for all.
const AnyWebOrigin = "*"

// fromFewPages refuses what a browser's page asks of an endpoint that is not for
// the pages of everybody: of one that needs no credential, it would have each of
// its visitors ask, from as many addresses. (The header Origin is the page's; who has it sent by a
// program of its own could leave it out.)
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
	return Fail(PageRefused, "The header Origin says %q, whose pages may not call %s.", clip(origin, 100), e.Route)
}

// loopback reports whether an origin is of the machine that the browser runs on.
func loopback(origin string) bool {
	u, err := url.Parse(origin)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.User != nil || u.Path != "" || u.RawQuery != "" || u.Fragment != "" {
		return false
	}
	a, err := netip.ParseAddr(u.Hostname())
	return strings.EqualFold(u.Hostname(), "localhost") || err == nil && a.IsLoopback()
}
