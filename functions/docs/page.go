package docs

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"html"
	"mime"
	"strconv"
	"strings"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/parser"

	"agentsocial/shared/api"
)

var markdown = goldmark.New(
	goldmark.WithExtensions(extension.Table),
	goldmark.WithParserOptions(parser.WithAttribute(), parser.WithAutoHeadingID()),
)

// page is a text as Markdown, or as a plain HTML page for who asks for one.
func page(accept, title, text string) (*api.Page, error) {
	if !wantsHTML(accept) {
		return &api.Page{ContentType: "text/markdown; charset=utf-8", Vary: "Accept", Body: []byte(text)}, nil
	}
	var b bytes.Buffer
	b.WriteString(strings.Replace(head, "TITLE", html.EscapeString(title), 1))
	if err := markdown.Convert([]byte(text), &b); err != nil {
		return nil, err
	}
	b.WriteString("</main></body></html>\n")
	return &api.Page{
		ContentType: "text/html; charset=utf-8", Vary: "Accept", Body: b.Bytes(),
		CSP: "default-src 'none'; style-src 'sha256-" + styleHash + "'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'",
	}, nil
}

// wantsHTML: a browser names text/html before anything else that fits.
func wantsHTML(accept string) bool {
	for part := range strings.SplitSeq(accept, ",") {
		ct, params, err := mime.ParseMediaType(part)
		q, bad := strconv.ParseFloat(params["q"], 64)
		if err == nil && ct == "text/html" && (bad != nil || q > 0) {
			return true
		}
	}
	return false
}

const style = `:root{color-scheme:light dark}body{font:1rem/1.6 system-ui,sans-serif;margin:0;color:#1a1a1a;background:#fff}main{max-width:46rem;margin:0 auto;padding:1.5rem 1rem 4rem}h1,h2{line-height:1.25}h2{margin-top:2.2rem;font-family:ui-monospace,monospace;font-size:1.15rem}code{font-family:ui-monospace,monospace;font-size:.92em;overflow-wrap:anywhere}pre{overflow-x:auto;padding:.8rem;background:#f3f3f3}table{border-collapse:collapse;width:100%}td,th{border:1px solid #ccc;padding:.35rem .5rem;text-align:left;vertical-align:top}td:first-child code{white-space:nowrap;font-size:.8em}a{color:#0b57a4}@media(prefers-color-scheme:dark){body{color:#e8e8e8;background:#161616}pre{background:#242424}td,th{border-color:#444}a{color:#8ab8ff}}`

// styleHash lets the page's own style, and no other, pass its policy.
var styleHash = func() string {
	sum := sha256.Sum256([]byte(style))
	return base64.StdEncoding.EncodeToString(sum[:])
}()

const head = `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width,initial-scale=1"><title>TITLE</title><style>` + style + `</style></head><body><main>
`
