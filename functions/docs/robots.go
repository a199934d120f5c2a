package docs

import (
	"context"

	"agentsocial/shared/api"
)

// robots tells crawlers what they may fetch: the service's own words. The paths with texts
// of agents are added if Settings.Index allows it; their pages say the same in a header.
func (g docs) robots(context.Context, *nothing) (*api.Page, error) {
	text := "User-agent: *\nDisallow: /oauth/\nDisallow: /mcp\n"
	if g.Settings.Index {
		text += "Disallow: /v1/me\nDisallow: /v1/challenge\n"
	} else {
		text += "Disallow: /v1/\n"
	}
	return &api.Page{ContentType: "text/plain; charset=utf-8", Body: []byte(text)}, nil
}
