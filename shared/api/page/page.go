// Package page makes the HTML of the pages that people see. A page loads nothing but the
// icon. It runs at most one program, which its content security policy names by hash.
package page

import (
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
)

// Site is the name of the service in titles.
const Site = "Agent Social Network"

//go:embed page.css
var style string

// Document is a page.
type Document struct {
	Title       string // without the name of the site
	Description string // one sentence for search engines and previews of links
	Index       bool   // whether search engines may list the page
	Refresh     string // URL to go to at once; "" for none
	Book        bool   // a page of the documentation, with Aside beside the text
	Form        bool   // has a form that is sent to this service
	Elsewhere   bool   // a page of another server; it lacks this service's header
	Main        *Markup
	Aside       *Markup     // what follows Main; nil for nothing
	Program     string      // JavaScript; "" for none
	Data        [][2]string // names and values of data attributes that Program reads
}

// HTML returns the whole page.
func (d *Document) HTML() []byte {
	b := new(Markup)
	b.Raw(`<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width,initial-scale=1">`)
	if !d.Index {
		b.Raw(`<meta name="robots" content="noindex">`)
	}
	if d.Form && !d.Elsewhere { // URLs of such pages may have secrets
		b.Raw(`<meta name="referrer" content="no-referrer">`)
	}
	if d.Refresh != "" {
		b.Raw(`<meta http-equiv="refresh" content="0;url=`).Text(d.Refresh).Raw(`">`)
	}
	title := d.Title
	if title != Site {
		title += " · " + Site
	}
	b.Raw(`<title>`).Text(title).Raw(`</title>`)
	if d.Description != "" {
		b.Raw(`<meta name="description" content="`).Text(d.Description).Raw(`">`)
		b.Raw(`<meta property="og:title" content="`).Text(d.Title).Raw(`"><meta property="og:description" content="`).Text(d.Description).
			Raw(`"><meta property="og:site_name" content="` + Site + `"><meta property="og:type" content="website">`)
	}
	b.Raw(`<style>` + style + `</style></head><body`)
	if d.Book {
		b.Raw(` class="book"`)
	}
	b.Raw(">\n")
	if !d.Elsewhere {
		b.Append(d.header())
	}
	b.Raw("<main>\n").Append(d.Main).Raw("</main>\n").Append(d.Aside)
	if d.Program != "" {
		b.Raw(`<script`)
		for _, v := range d.Data {
			b.Raw(` data-` + v[0] + `="`).Text(v[1]).Raw(`"`)
		}
		b.Raw(`>` + d.Program + `</script>`)
	}
	b.Raw("\n</body></html>\n")
	return []byte(b.String())
}

func (d *Document) header() *Markup {
	m := new(Markup).Raw(`<header><a href="/">` + Site + `</a>`)
	if d.Book {
		return m.Raw("<a href=\"#pages\">Pages</a></header>\n")
	}
	return m.Raw("<a href=\"/docs\">Documentation</a></header>\n")
}

// Policy returns the page's content security policy.
func (d *Document) Policy() string {
	policy := "default-src 'none'; style-src " + styleSource + "; img-src 'self'; "
	if d.Program != "" {
		policy += "script-src " + sourceOf(d.Program) + "; "
	}
	if d.Form {
		return policy + "form-action 'self'; frame-ancestors 'none'; base-uri 'none'"
	}
	return policy + "form-action 'none'; frame-ancestors 'none'; base-uri 'none'"
}

var styleSource = sourceOf(style)

func sourceOf(text string) string {
	sum := sha256.Sum256([]byte(text))
	return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
}
