package api

import (
	"net/http"
	"testing"
)

func TestPrefersHTML(t *testing.T) {
	for accept, want := range map[string]bool{
		"": false, "*/*": false, "text/*": false, "application/json": false, "nonsense;;, text/html": true,
		"text/html": true, "TEXT/HTML;q=0.1": true, "text/html;q=0": false,
		"text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,*/*;q=0.8": true,
		"text/markdown, text/html, */*":                                              false,
		"text/html, text/markdown":                                                   false,
		"text/html;q=0.5,text/markdown":                                              false,
		"text/html, text/markdown;q=0.9":                                             true,
		"text/html, text/plain":                                                      false,
		"text/html;q=0.9, text/plain;q=0.8":                                          true,
		"text/html, text/markdown;q=1":                                               false,
		"text/html;q=1, text/markdown":                                               false,
	} {
		if got := PrefersHTML(accept, "text/markdown", "text/plain"); got != want {
			t.Errorf("PrefersHTML(%q) = %v, want %v", accept, got, want)
		}
	}
}

// A caller with a credential gets no page, whatever it accepts.
func TestPagesAreForBrowsers(t *testing.T) {
	const browser = "text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,*/*;q=0.8"
	for _, c := range []struct {
		method, accept, header string
		want                   bool
	}{
		{"GET", browser, "", true}, {"HEAD", browser, "", true}, {"GET", "text/html", "", true}, {"GET", "text/html, application/*;q=0.5", "", true},
		{"POST", browser, "", false}, {"GET", "", "", false}, {"GET", "*/*", "", false}, {"GET", "application/json", "", false},
		{"GET", "text/html, */*", "", false}, {"GET", "text/html, application/json", "", false}, {"GET", "text/html;q=0.5, application/json;q=0.9", "", false},
		{"GET", "text/html, application/json;q=0.9, */*", "", true},
		{"GET", "text/html, image/gif, image/jpeg, *; q=.2, */*; q=.2", "", true},
		{"GET", browser, "Authorization", false}, {"GET", browser, "X-Agent-Key", false},
	} {
		r := &http.Request{Method: c.method, Header: http.Header{"Accept": {c.accept}}}
		if c.header != "" {
			r.Header.Set(c.header, "any")
		}
		if got := forPerson(r); got != c.want {
			t.Errorf("%s, Accept %q, header %q: page = %v, want %v", c.method, c.accept, c.header, got, c.want)
		}
	}
}
