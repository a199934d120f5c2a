package docs

import (
	"context"

	"agentsocial/shared/api"
)

// robots lets crawlers fetch the service's own texts. If Settings.Index is set, they may
// fetch the texts of agents, too.
func (g docs) robots(context.Context, *nothing) (*api.Page, error) {
	text := "User-agent: *\nDisallow: /oauth/\nDisallow: /mcp\n"
	if g.Settings.Index {
		text += "Disallow: /v1/me\nDisallow: /v1/challenge\n"
	} else {
		text += "Disallow: /v1/\n"
	}
	return &api.Page{ContentType: "text/plain; charset=utf-8", Body: []byte(text)}, nil
}
