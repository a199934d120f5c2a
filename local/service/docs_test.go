package service_test

import (
	"html"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"

	"agentsocial/local/transcripts"
	"agentsocial/shared/api"
)

// crawler follows every link of the service's pages.
type crawler struct {
	r       *running
	anchors map[string][]string // by page
	seen    map[string]bool
	beyond  []string // links to other sites
}

var (
	hrefs   = regexp.MustCompile(`<a href="([^"]*)"`)
	anchors = regexp.MustCompile(` id="([^"]*)"`)
	links   = regexp.MustCompile(`\]\(([^)\s]+)\)`)
)

func (c *crawler) follow(page, link string) {
	from, err := url.Parse(c.r.URL + page)
	if err != nil {
		c.r.t.Fatal(err)
	}
	to, err := from.Parse(link)
	if err != nil {
		c.r.t.Errorf("%s: %v", page, err)
		return
	}
	if to.Scheme+"://"+to.Host != c.r.URL {
		if !slices.Contains(c.beyond, link) {
			c.beyond = append(c.beyond, link)
		}
		return
	}
	c.visit(page, to.RequestURI())
	if to.Fragment != "" && !slices.Contains(c.anchors[to.Path], to.Fragment) {
		c.r.t.Errorf("%s links to %s, which has no anchor %q", page, to.Path, to.Fragment)
	}
}

// visit reads a page as text and as HTML, and follows its links.
func (c *crawler) visit(from, at string) {
	if c.seen[at] {
		return
	}
	c.seen[at] = true
	page := c.get(from, at, "text/html")
	text := page
	if at != "/" { // the path / has only a page for people
		text = c.get(from, at, "")
	}
	if text == nil || page == nil {
		return
	}
	for _, m := range anchors.FindAllStringSubmatch(string(page.Body), -1) {
		c.anchors[at] = append(c.anchors[at], html.UnescapeString(m[1]))
	}
	for _, m := range hrefs.FindAllStringSubmatch(string(page.Body), -1) {
		c.follow(at, html.UnescapeString(m[1]))
	}
	if contentType := text.Header.Get("Content-Type"); !strings.HasPrefix(contentType, "text/") || strings.Contains(contentType, "html") {
		return
	}
	for _, m := range links.FindAllStringSubmatch(string(text.Body), -1) {
		c.follow(at, m[1])
	}
	bare := regexp.MustCompile(regexp.QuoteMeta(c.r.URL) + "(/[^\\s`\"')\\]|,]*)")
	for _, m := range bare.FindAllStringSubmatch(string(text.Body), -1) {
		target := strings.TrimRight(m[1], ".:")
		if i := strings.IndexAny(target, "?#"); i >= 0 { // anchors were followed as links
			target = target[:i]
		}
		if strings.HasPrefix(target, "/docs") || strings.HasSuffix(target, ".txt") || target == "/privacy" || target == "/about" {
			c.follow(at, target)
		} else if a := c.r.call(nil, "GET", target, ""); a.Text("error.code") == string(api.NoSuchEndpoint) {
			c.r.t.Errorf("%s names %s, which does not exist", at, target)
		}
	}
}

func (c *crawler) get(from, at, accept string) *transcripts.Answer {
	q := &transcripts.Request{Method: http.MethodGet, Target: at, Header: http.Header{}}
	if accept != "" {
		q.Header.Set("Accept", accept)
	}
	a := c.r.send(q)
	if a.Status != http.StatusOK {
		c.r.t.Errorf("%s links to %s: got %d, want 200", from, at, a.Status)
		return nil
	}
	return a
}

func TestAllLinksResolve(t *testing.T) {
	t.Parallel()
	r := run(t, unlimited())
	c := &crawler{r: r, anchors: map[string][]string{}, seen: map[string]bool{}}
	for _, start := range []string{"/", "/docs", "/llms.txt", "/llms-full.txt", "/skill.md", "/about", "/privacy"} {
		c.visit("the test", start)
	}
	for _, code := range api.Codes {
		c.follow("/an-error", r.URL+"/docs/errors#"+string(code.Code))
	}
	for target, code := range map[string]string{
		"/nothing": "no_such_endpoint", "/v1/agents/nobody": "not_found", "/v1/channels?limit=0": "invalid", "/v1/me": "unauthenticated", "/docs/nothing": "not_found",
	} {
		a := r.call(nil, "GET", target, "")
		if link := a.Text("error.docs"); a.Text("error.code") != code || !strings.HasSuffix(link, "/docs/errors#"+code) {
			t.Errorf("%s: got %s, want %s with its link", target, a.Body, code)
		} else {
			c.follow(target, link)
		}
	}
	if len(c.seen) < 20 {
		t.Errorf("pages found: got %d, want at least 20", len(c.seen))
	}
	if want := []string{"https://www.jsonfeed.org/version/1.1/"}; !slices.Equal(c.beyond, want) {
		t.Errorf("links to other sites: got %q, want %q", c.beyond, want)
	}
}
