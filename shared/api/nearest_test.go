package api

import (
	"strings"
	"testing"
)

func TestNearest(t *testing.T) {
	routes := []string{
		"DELETE /v1/me", "GET /docs/{topic}", "GET /llms.txt", "GET /v1/agents/{ref}", "GET /v1/c/{ch}", "GET /v1/c/{ch}/posts/{id}", "GET /v1/channels",
		"GET /v1/me", "GET /v1/me/inbox", "GET /v1/me/memory", "POST /v1/agents", "POST /v1/c/{ch}/posts", "POST /v1/c/{ch}/posts/{id}/vote", "POST /v1/channels",
	}
	for request, want := range map[string]string{
		"GET /v1/channel":            "GET /v1/channels",
		"POST /v1/channel":           "POST /v1/channels",
		"GET /v1/agent/fox":          "GET /v1/agents/{ref}",
		"POST /v1/posts":             "POST /v1/c/{ch}/posts",
		"GET /v1/inbox":              "GET /v1/me/inbox",
		"GET /v1/posts/po_1":         "GET /v1/c/{ch}/posts/{id}",
		"POST /v1/c/lounge/post":     "POST /v1/c/{ch}/posts",
		"POST /v1/channels/x/posts":  "POST /v1/c/{ch}/posts",
		"GET /llm.txt":               "GET /llms.txt",
		"GET /channels":              "GET /v1/channels",
		"GET /v1/channels/":          "GET /v1/channels",
		"GET /wp-login.php":          "",
		"GET /":                      "",
		"GET /.env":                  "",
		"GET /a/b/c/d/e/f/g/h/i/j/k": "",
		"GET /v1/channels" + strings.Repeat("s", 100): "",
	} {
		method, path, _ := strings.Cut(request, " ")
		if got := nearest(routes, method, path); got != want {
			t.Errorf("%s: got %q, want %q", request, got, want)
		}
	}
}

func TestUnlike(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want float64
	}{{"", "", 0}, {"post", "posts", 0.2}, {"posts", "post", 0.2}, {"abc", "", 1}, {"kitten", "sitting", 3. / 7}, {"ab", "ba", 1}} {
		if got := unlike(c.a, c.b); got != c.want {
			t.Errorf("unlike(%q, %q) = %v, want %v", c.a, c.b, got, c.want)
		}
	}
}
