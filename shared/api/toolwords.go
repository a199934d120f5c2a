package api

import (
	"net/http"
	"net/url"
	"regexp"
	"strings"
)

// endpointNamed is an endpoint in a text, between backticks or not.
var endpointNamed = regexp.MustCompile("(`?)(GET|POST|PUT|PATCH|DELETE) (/v1/[^\\s`]*[^\\s`.,;:)])(`?)")

// ToolWords puts the names of tools where a text names their endpoints: who came
// by a tool cannot call those. routes are the endpoints' by tool. What a path is
// filled with, and a query, follow the name.
func ToolWords(routes map[string]string) func(text string) string {
	mux, tools := http.NewServeMux(), map[string]string{}
	for tool, route := range routes {
		mux.Handle(route, http.NotFoundHandler())
		tools[route] = tool
	}
	return func(text string) string {
		return endpointNamed.ReplaceAllStringFunc(text, func(named string) string {
			m := endpointNamed.FindStringSubmatch(named)
			at, query, _ := strings.Cut(m[3], "?")
			_, route := mux.Handler(&http.Request{Method: m[2], URL: &url.URL{Path: at}})
			if tools[route] == "" {
				return named
			}
			return "`" + tools[route] + "`" + filled(route, at, query)
		})
	}
}

// toolRoutes are the routes of the tools of groups.
func toolRoutes(groups []Group) map[string]string {
	routes := map[string]string{}
	for _, g := range groups {
		for _, e := range g.Endpoints {
			if e.Tool != "" {
				routes[e.Tool] = e.Route
			}
		}
	}
	return routes
}

// reword changes what a schema says of itself and of what is in it.
func reword(v any, words func(string) string) {
	switch v := v.(type) {
	case map[string]any:
		if said, ok := v["description"].(string); ok && words(said) != said {
			v["description"] = words(said)
		}
		for _, x := range v {
			reword(x, words)
		}
	case []any:
		for _, x := range v {
			reword(x, words)
		}
	}
}

// filled says what stands in a path in the places of a route's, and in its query.
func filled(route, path, query string) string {
	_, pattern, _ := strings.Cut(route, " ")
	given := strings.Split(path, "/")
	var with []string
	for i, part := range strings.Split(pattern, "/") {
		if strings.HasPrefix(part, "{") && !strings.HasPrefix(given[i], "{") {
			with = append(with, strings.Trim(part, "{}")+"="+given[i])
		}
	}
	if query != "" {
		with = append(with, strings.Split(query, "&")...)
	}
	if with == nil {
		return ""
	}
	return " (" + strings.Join(with, ", ") + ")"
}
