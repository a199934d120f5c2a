package main

import (
	"errors"
	"fmt"
	"regexp"
	"strings"

	"agentsocial/functions"
	"agentsocial/shared/api"
)

// DefaultGroup answers requests without a route: those with an unknown path or method, and
// all OPTIONS requests. The gateway's own CORS setting is off, because it would answer
// OPTIONS for unknown paths, too.
const DefaultGroup = functions.Fallback

// maxRoutes is AWS's default quota of routes in an HTTP API.
const maxRoutes = 300

// route is one route of the HTTP API.
type route struct {
	Key   string // "POST /v1/c/{ch}/posts", or "$default"
	ID    string // the key without the names of its parameters
	Group string
	Rate  int // requests a second; 0: the stage's rate
}

var (
	parameter = regexp.MustCompile(`^\{[A-Za-z_][A-Za-z0-9_]*\}$`)
	greedy    = regexp.MustCompile(`^\{([A-Za-z_][A-Za-z0-9_]*)\.\.\.\}$`)
	literal   = regexp.MustCompile(`^[A-Za-z0-9._~@-]*$`)
	methods   = regexp.MustCompile(`^(GET|POST|PUT|PATCH|DELETE)$`)
)

// routesOf lists the gateway's routes: one per endpoint, one more for HEAD if the
// endpoint is a public GET, and the default. The gateway does not match HEAD with GET.
// Routes that the gateway cannot tell apart are an error, even if Go's ServeMux can.
func routesOf(groups []api.Group) ([]route, error) {
	var routes []route
	var problems []error
	owner := map[string]string{}
	hasDefault := false
	for _, g := range groups {
		if g.Name == DefaultGroup {
			hasDefault = true
			routes = append(routes, route{Key: "$default", ID: "$default", Group: g.Name})
		}
		for _, e := range g.Endpoints {
			r, err := routeOf(e.Method(), e.Path())
			if err != nil {
				problems = append(problems, fmt.Errorf("group %s: route %q: %w", g.Name, e.Route, err))
				continue
			}
			r.Group, r.Rate = g.Name, e.Rate
			if other, ok := owner[r.ID]; ok {
				problems = append(problems, fmt.Errorf("group %s: route %q is already in group %s", g.Name, e.Route, other))
				continue
			}
			owner[r.ID] = g.Name
			routes = append(routes, r)
			if e.Head() {
				routes = append(routes, r.head())
			}
		}
	}
	if !hasDefault {
		problems = append(problems, fmt.Errorf("there is no group %q to answer requests without a route", DefaultGroup))
	}
	if len(routes) > maxRoutes {
		problems = append(problems, fmt.Errorf("%d routes; an HTTP API allows %d", len(routes), maxRoutes))
	}
	return routes, errors.Join(problems...)
}

func (r route) head() route {
	r.Key, r.ID = "HEAD"+strings.TrimPrefix(r.Key, "GET"), "HEAD"+strings.TrimPrefix(r.ID, "GET")
	return r
}

// routeOf converts a pattern of http.ServeMux to the gateway's form. They differ only
// in how they write the rest of a path: {name...} and {name+}.
func routeOf(method, path string) (route, error) {
	if !methods.MatchString(method) {
		return route{}, fmt.Errorf("%q is not an endpoint's method", method)
	}
	if !strings.HasPrefix(path, "/") {
		return route{}, errors.New("the path does not begin with /")
	}
	segments := strings.Split(path[1:], "/")
	names := append([]string(nil), segments...)
	for i, s := range segments {
		last := i == len(segments)-1
		switch m := greedy.FindStringSubmatch(s); {
		case m != nil && last:
			segments[i], names[i] = "{"+m[1]+"+}", "{+}"
		case parameter.MatchString(s):
			names[i] = "{}"
		case !literal.MatchString(s), s == "" && len(segments) > 1:
			return route{}, fmt.Errorf("the gateway cannot match the segment %q", s)
		}
	}
	return route{
		Key: method + " /" + strings.Join(segments, "/"),
		ID:  method + " /" + strings.Join(names, "/"),
	}, nil
}
