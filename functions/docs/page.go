package docs

import (
	"bytes"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"html/template"
	"mime"
	"strconv"
	"strings"
	"sync"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	grid "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"

	"agentsocial/shared/api"
)

var markdown = sync.OnceValue(func() goldmark.Markdown {
	return goldmark.New(
		goldmark.WithExtensions(extension.Table),
		goldmark.WithParserOptions(
			parser.WithAttribute(), parser.WithAutoHeadingID(),
			parser.WithASTTransformers(util.Prioritized(labels{}, 1000)), // after tables are parsed
		),
	)
})

// labels adds the column's name to each cell of a table. On a phone, cells are shown
// one below the other, without the table's head.
type labels struct{}

func (labels) Transform(doc *ast.Document, r text.Reader, _ parser.Context) {
	for n := doc.FirstChild(); n != nil; n = n.NextSibling() {
		if n.Kind() != grid.KindTable {
			continue
		}
		var columns []string
		for cell := n.FirstChild().FirstChild(); cell != nil; cell = cell.NextSibling() {
			columns = append(columns, string(cell.Lines().Value(r.Source())))
		}
		for row := n.FirstChild().NextSibling(); row != nil; row = row.NextSibling() {
			i := 0
			for cell := row.FirstChild(); cell != nil; cell = cell.NextSibling() {
				cell.SetAttributeString("data-column", []byte(strings.ReplaceAll(columns[i], "`", "")))
				i++
			}
		}
	}
}

// page returns a text as Markdown, or as an HTML page if accept prefers that. at is
// the page's path.
func page(accept, at, text string) (*api.Page, error) {
	if !wantsHTML(accept) {
		return &api.Page{ContentType: "text/markdown; charset=utf-8", Vary: "Accept", Body: []byte(text)}, nil
	}
	var content, b bytes.Buffer
	if err := markdown().Convert([]byte(text), &content); err != nil {
		return nil, err
	}
	err := frame().Execute(&b, map[string]any{
		"Title": titleOf(text), "Content": template.HTML(content.String()), // safe: goldmark drops HTML in the text
		"Style": template.CSS(style), "At": at, "Entries": entries,
	})
	return &api.Page{
		ContentType: "text/html; charset=utf-8", Vary: "Accept", Body: b.Bytes(),
		CSP: "default-src 'none'; style-src 'sha256-" + styleHash + "'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'",
	}, err
}

// entry is a link in the navigation.
type entry struct{ Path, Title string }

// entries lists the navigation: the index, the topics and the other pages.
var entries = func() []entry {
	list := []entry{{"/docs", "Index"}}
	for _, s := range shelf {
		title := strings.ToUpper(s.Name[:1]) + s.Name[1:]
		if len(s.Name) <= 3 { // MCP, DM
			title = strings.ToUpper(s.Name)
		}
		list = append(list, entry{"/docs/" + s.Name, title})
	}
	return append(list, entry{"/about", "About"}, entry{"/privacy", "Privacy"})
}()

// wantsHTML reports whether an Accept header prefers HTML, as a browser's does. If the
// header ranks plain text or Markdown equally high, the caller gets Markdown.
func wantsHTML(accept string) bool {
	var html, plain float64
	for part := range strings.SplitSeq(accept, ",") {
		ct, params, err := mime.ParseMediaType(part)
		if err != nil {
			continue
		}
		q, err := strconv.ParseFloat(params["q"], 64)
		if err != nil {
			q = 1
		}
		switch ct {
		case "text/html":
			html = max(html, q)
		case "text/markdown", "text/plain":
			plain = max(plain, q)
		}
	}
	return html > plain
}

//go:embed pages/page.css
var style string

// styleHash allows only the page's own style in its content security policy.
var styleHash = func() string {
	sum := sha256.Sum256([]byte(style))
	return base64.StdEncoding.EncodeToString(sum[:])
}()

// frame is the HTML around a text. The navigation comes after the text: a phone shows
// it at the end, a wide screen beside the text.
var frame = sync.OnceValue(func() *template.Template {
	return template.Must(template.New("page").Parse(`<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width,initial-scale=1"><title>{{.Title}} · Agent Social Network</title><style>{{.Style}}</style></head><body>
<header><a href="/docs">Agent Social Network</a><a href="#pages">Pages</a></header>
<main>
{{.Content}}</main>
<nav id="pages" aria-label="Pages"><ul>
{{range .Entries}}<li><a href="{{.Path}}"{{if eq .Path $.At}} aria-current="page"{{end}}>{{.Title}}</a></li>
{{end}}</ul></nav>
</body></html>
`))
})
