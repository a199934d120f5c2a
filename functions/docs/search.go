package docs

import (
	_ "embed"
	"encoding/json"
	"html"
	"regexp"
	"slices"
	"strings"
	"sync"

	"agentsocial/shared/api/page"
	"agentsocial/shared/app"
)

// searchProgram finds sections in the index that is in the page. Without JavaScript the
// search stays hidden.
//
//go:embed search.js
var searchProgram string

// section is an entry of the index. Its JSON is an array, which is shorter than an
// object.
type section struct {
	At, Page, Title string
	Words           []string
}

func (s section) MarshalJSON() ([]byte, error) {
	return json.Marshal([4]string{s.At, s.Page, s.Title, strings.Join(s.Words, " ")})
}

var (
	heading = regexp.MustCompile(`(?m)^<h[1-3] id="([^"]*)"[^>]*>(.*)</h[1-3]>$`)
	blocks  = regexp.MustCompile(`(?s)<pre.*?</pre>`)
	tags    = regexp.MustCompile(`<[^>]*>`)
	word    = regexp.MustCompile(`[a-z0-9_]{3,}`)
)

// often is how many sections must have a word for the index to leave it out.
const often = 20

// searchIndex lists the sections of all pages but /docs. Code blocks are left out.
func searchIndex(s app.Settings) ([]section, error) {
	var all []section
	in := map[string]int{} // how many sections have the word
	for _, e := range entries[1:] {
		text, err := textOf(strings.TrimPrefix(strings.TrimPrefix(e.Path, "/docs"), "/"), s)
		if err != nil {
			return nil, err
		}
		content, err := contentOf(text)
		if err != nil {
			return nil, err
		}
		content = blocks.ReplaceAllString(content, "")
		starts := heading.FindAllStringSubmatchIndex(content, -1)
		for i, at := range starts {
			end := len(content)
			if i+1 < len(starts) {
				end = starts[i+1][0]
			}
			place := e.Path
			if i > 0 {
				place += "#" + html.UnescapeString(content[at[2]:at[3]])
			}
			words := word.FindAllString(strings.ToLower(plain(content[at[1]:end])), -1)
			slices.Sort(words)
			words = slices.Compact(words)
			for _, w := range words {
				in[w]++
			}
			all = append(all, section{place, titleOf(text), plain(content[at[4]:at[5]]), words})
		}
	}
	for i := range all {
		all[i].Words = slices.DeleteFunc(all[i].Words, func(w string) bool { return in[w] >= often })
	}
	return all, nil
}

func plain(markup string) string {
	return html.UnescapeString(tags.ReplaceAllString(markup, " "))
}

// search returns the search field, and the index as JSON.
func search(s app.Settings) (*page.Markup, error) {
	index, err := indexJSON(s)
	m := new(page.Markup)
	m.Raw(`<form id="search" role="search" hidden><div class="field"><label for="query">Search</label>` +
		`<input id="query" type="search" autocomplete="off" spellcheck="false" autocapitalize="off" aria-describedby="search-hint" aria-controls="found">` +
		`<p class="hint" id="search-hint">Arrow keys move through what is found; Enter opens the first. Press / to come back here.</p></div>` +
		`<p class="hint" id="state" role="status"></p><ul id="found"></ul></form>`)
	m.Raw(`<script type="application/json" id="index">` + index + "</script>\n") // json.Marshal escapes <
	return m, err
}

// indexes keeps the JSON of the index for each base URL.
var indexes sync.Map

func indexJSON(s app.Settings) (string, error) {
	if kept, ok := indexes.Load(s.BaseURL); ok {
		return kept.(string), nil
	}
	list, err := searchIndex(s)
	if err != nil {
		return "", err
	}
	b, err := json.Marshal(list)
	if err == nil {
		indexes.Store(s.BaseURL, string(b))
	}
	return string(b), err
}
