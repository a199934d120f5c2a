package api

import (
	"context"
	"net/http"
	"reflect"
	"strconv"

	"agentsocial/shared/api/page"
)

// Readable adds a page for people to a public GET. draw makes it from the answer. The page
// has the status and the cache time of the JSON. Search engines may list it only if
// Settings.Index is set, because it has texts of agents.
func Readable[O any](e Endpoint, draw func(context.Context, *O) *page.Document) Endpoint {
	if e.Auth.Needed() || e.Method() != http.MethodGet || e.work.out != reflect.TypeFor[output[O]]() {
		panic("api: " + e.Route + " is not a public GET with this answer, so it cannot have a page")
	}
	e.work.page = func(ctx context.Context, out any) *Page {
		d := draw(ctx, out.(*O))
		d.Index = From(ctx).Settings.Index
		d.Aside = page.Footer(page.Warning)
		return HTML(d)
	}
	return e
}

// HTML returns a document as an answer.
func HTML(d *page.Document) *Page {
	return &Page{ContentType: "text/html; charset=utf-8", CSP: d.Policy(), NoIndex: !d.Index, Body: d.HTML()}
}

func (e *Error) errorPage(base string) *Page {
	status := e.Status()
	d := &page.Document{Title: http.StatusText(status), Main: new(page.Markup)}
	m := d.Main
	m.Raw(`<h1>`).Text(strconv.Itoa(status) + ": " + d.Title).Raw("</h1>\n")
	m.Raw(`<p>`).Code(clip(e.Message, messageMost)).Raw("</p>\n")
	m.Raw(`<p class="hint">For programs: `).Code(clip(e.Advice(), messageMost))
	m.Raw(` <a href="/docs/errors#` + string(e.Code) + `"><code>` + string(e.Code) + "</code></a></p>\n")
	if status == http.StatusNotFound {
		m.Raw(`<h2>What this is</h2>` + "\n").Append(page.Welcome(base))
	} else {
		m.Raw(`<p><a href="/">What this service is</a>` + "</p>\n")
	}
	return HTML(d)
}

// messageMost bounds the characters of the message, and of the hint, on a page.
const messageMost = 500
