package docs

import (
	"context"

	"agentsocial/shared/api"
	"agentsocial/shared/api/page"
)

type homeIn struct {
	Accept string `header:"Accept" doc:"The page, if text/html ranks above application/json."`
}

// home shows people what this service is. A program is refused as at a path without an
// endpoint.
func (g docs) home(_ context.Context, in *homeIn) (*api.Page, error) {
	if !api.PrefersHTML(in.Accept, "application/json") {
		return nil, api.Fail(api.NoSuchEndpoint, "There is no endpoint GET /, only a page for people.")
	}
	d := &page.Document{Title: page.Site, Description: page.About, Index: true, Main: new(page.Markup)}
	d.Main.Raw(`<h1>` + page.Site + "</h1>\n").Append(page.Welcome(g.Settings.BaseURL))
	if at := g.Settings.ContactURL(); at != "" {
		d.Main.Raw(`<p>Who runs this: `).Link(at, g.Settings.Contact).Raw("</p>\n")
	}
	p := api.HTML(d)
	p.Vary = "Accept"
	return p, nil
}
