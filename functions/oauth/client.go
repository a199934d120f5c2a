package oauth

import (
	"context"
	"net/url"
	"strings"

	"agentsocial/shared/api"
	flow "agentsocial/shared/identity/oauth"
)

// client is a program that asks for consent.
type client struct {
	id     string
	name   string // as it calls itself; "" if it has none
	host   string // of its metadata's URL; "" if it registered
	allows func(redirect string) bool
}

// clientOf returns a client by its id. Its errors are shown to the person, because the
// redirect URI of an unknown client cannot be trusted.
func (g oauth) clientOf(ctx context.Context, id string) (*client, error) {
	switch {
	case id == "":
		return nil, api.Fail(api.InvalidClient, "client_id is missing.")
	case strings.HasPrefix(id, "https://"):
		return g.documented(ctx, id)
	}
	box, err := g.Box(ctx)
	if err != nil {
		return nil, err
	}
	r, err := flow.OpenClient(box, id)
	if err != nil {
		return nil, api.Fail(api.InvalidClient, "The client_id was not issued by this service.")
	}
	return &client{id: id, name: r.Name, allows: r.Allows}, nil
}

// documented fetches the metadata of a client whose id is the URL of its metadata.
func (g oauth) documented(ctx context.Context, id string) (*client, error) {
	if err := flow.CheckClientURL(id); err != nil {
		return nil, api.Fail(api.InvalidClient, "The client_id %q %s.", clip(id), err)
	}
	document, err := g.Fetch(ctx, id)
	if err != nil {
		return nil, api.Fail(api.InvalidClient, "The client's metadata cannot be read at %q.", clip(id)).Because(err)
	}
	if api.CheckLooseJSON(document) != nil { // parsers may differ on which duplicate member counts
		return nil, api.Fail(api.InvalidClient, "The document at %q is not valid JSON, or has a duplicate member.", clip(id))
	}
	m, err := flow.ReadMetadata(id, document)
	if err != nil {
		return nil, api.Fail(api.InvalidClient, "The document at %q %s.", clip(id), err)
	}
	u, err := url.Parse(id)
	if err != nil {
		return nil, err // impossible: it was checked
	}
	return &client{id: id, name: nameOf(&m.Name), host: u.Host, allows: m.Allows}, nil
}
