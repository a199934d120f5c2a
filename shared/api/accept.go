package api

import (
	"mime"
	"net/http"
	"strconv"
	"strings"

	"agentsocial/shared/identity/auth"
)

// PrefersHTML reports whether an Accept header ranks text/html above each content type in
// others (RFC 9110 12.5.1). `*/*` does not name text/html.
func PrefersHTML(accept string, others ...string) bool {
	if !strings.Contains(strings.ToLower(accept), "html") { // most programs
		return false
	}
	html, ranks := 0.0, make([]rank, len(others))
	for part := range strings.SplitSeq(accept, ",") {
		media, params, err := mime.ParseMediaType(part)
		if err != nil {
			continue
		}
		q, err := strconv.ParseFloat(params["q"], 64)
		if err != nil {
			q = 1
		}
		if media == mediaHTML {
			html = max(html, q)
		}
		for i, other := range others {
			ranks[i].take(media, other, q)
		}
	}
	for _, r := range ranks {
		if r.q >= html {
			return false
		}
	}
	return html > 0
}

const mediaHTML = "text/html"

type rank struct {
	q     float64
	exact int // exactness of the range that gave q: 1 for */*, 2 for text/*, 3 for text/plain
}

// take applies media, a range of the header such as text/*, if it covers the content type
// of. The most exact range decides; of equally exact ones, the greatest weight.
func (r *rank) take(media, of string, q float64) {
	kind, _, _ := strings.Cut(of, "/")
	exact := map[string]int{"*/*": 1, kind + "/*": 2, of: 3}[media]
	if exact == 0 || exact < r.exact {
		return
	}
	if exact == r.exact {
		q = max(q, r.q)
	}
	*r = rank{q, exact}
}

func reads(r *http.Request) bool { return r.Method == http.MethodGet || r.Method == http.MethodHead }

// forPerson reports whether to answer with a page for people. A caller with a credential is
// a program, whatever it accepts.
func forPerson(r *http.Request) bool {
	return reads(r) && r.Header.Get("Authorization") == "" && r.Header.Get(auth.HeaderKey) == "" &&
		PrefersHTML(strings.Join(r.Header.Values("Accept"), ","), "application/json")
}
