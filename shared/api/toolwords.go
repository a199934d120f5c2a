package api

import (
	"net/http"
	"net/url"
	"regexp"
	"strings"
)

// endpointNamed matches an endpoint in a text, with or without backticks.
var endpointNamed = regexp.MustCompile("(`?)(GET|POST|PUT|PATCH|DELETE) (/v1/[^\\s`]*[^\\s`.,;:)])(`?)")

// ToolWords returns a function that replaces endpoints in a text by the names of their
// tools, for callers over MCP. routes maps tools to routes.
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

// reword changes the descriptions in a schema.
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

// filled lists the values in a path and a query.
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
