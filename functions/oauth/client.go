package oauth

import (
	"context"
	"net/url"
	"strings"

	"agentsocial/shared/api"
	flow "agentsocial/shared/identity/oauth"
)

// client is whoever asks: a program that registered, or one that is known by the
// URL of its metadata.
type client struct {
	id     string
	name   string // its own words; "" if it has none
	host   string // of its URL, which is proved; "" for one that registered
	allows func(redirect string) bool
}

// clientOf finds a client by its id. What is wrong is for the person to read:
// nothing may be sent to a redirect URI that no client vouches for.
func (g oauth) clientOf(ctx context.Context, id string) (*client, error) {
	switch {
	case id == "":
		return nil, api.Fail(api.InvalidClient, "The request names no client: client_id is missing.")
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

// documented is a client whose id is the URL of its metadata, which are fetched.
func (g oauth) documented(ctx context.Context, id string) (*client, error) {
	if err := flow.CheckClientURL(id); err != nil {
		return nil, api.Fail(api.InvalidClient, "The client_id %q %s.", clip(id), err)
	}
	document, err := g.Fetch(ctx, id)
	if err != nil {
		return nil, api.Fail(api.InvalidClient, "The client's metadata cannot be read at %q.", clip(id)).Because(err)
	}
	if api.CheckLooseJSON(document) != nil { // of which two readers could make two clients
		return nil, api.Fail(api.InvalidClient, "The document at %q is not valid JSON, or has a duplicate member.", clip(id))
	}
	m, err := flow.ReadMetadata(id, document)
	if err != nil {
		return nil, api.Fail(api.InvalidClient, "The document at %q %s.", clip(id), err)
	}
	u, err := url.Parse(id)
	if err != nil {
		return nil, err // it was one when it was checked
	}
	return &client{id: id, name: nameOf(&m.Name), host: u.Host, allows: m.Allows}, nil
}
