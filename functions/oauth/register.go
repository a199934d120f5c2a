package oauth

import (
	"context"
	"net/http"
	"slices"
	"strings"

	"agentsocial/shared/api"
	"agentsocial/shared/identity/auth"
	flow "agentsocial/shared/identity/oauth"
	"agentsocial/shared/text"
	"agentsocial/shared/wire"
)

func (g oauth) clientEndpoints() []api.Endpoint {
	return []api.Endpoint{
		api.On(api.Endpoint{
			Route: "POST /oauth/register", Status: 201, Topic: topic, Pure: true, Cost: 1, Body: 16 << 10,
			Doc:     "Register a client (RFC 7591). Nothing is stored: the client's id is its sealed registration. Clients are public and get no secret.",
			Errors:  []api.Code{api.BadRedirect, api.BadMetadata},
			Foreign: api.Foreign{AnyOrigin: true, NoBearer: true, LooseBody: true, Refuse: g.refuseRegistration},
		}, g.register),
	}
}

// nameMost is how many characters of a client's name people are shown.
const nameMost = 80

// refuseRegistration: RFC 7591 3.2.2 has two names for what is wrong with a
// request, whether it is told by a schema or not.
func (g oauth) refuseRegistration(_ *http.Request, e *api.Error) *api.Page {
	named := *e
	switch e.Code {
	case api.Invalid, api.BadJSON, api.UnsupportedMedia:
		named.Code = api.BadMetadata
		if len(e.Fields) > 0 && strings.HasPrefix(e.Fields[0].Field, "redirect_uris") {
			named.Code = api.BadRedirect
		}
	}
	return standard(g.Settings.BaseURL, &named)
}

// registerIn is lenient: what is asked for and not given is answered otherwise,
// as the standard has it, and what is unknown is left out.
type registerIn struct {
	Body wire.RegisterClient
}

func (g oauth) register(ctx context.Context, in *registerIn) (*wire.ClientRegistered, error) {
	c, b := api.From(ctx), &in.Body
	r := &flow.Registration{Name: nameOf(b.ClientName), At: c.Time.UnixMilli()}
	for _, uri := range b.RedirectURIs {
		if err := flow.CheckRedirect(uri); err != nil {
			return nil, api.Fail(api.BadRedirect, "The redirect URI %q %s.", clip(uri), err)
		}
		r.Redirects = append(r.Redirects, flow.RedirectDigest(uri))
	}
	box, err := g.Box(ctx)
	if err != nil {
		return nil, err
	}
	id, err := flow.SealClient(box, r)
	if err != nil {
		return nil, err
	}
	out := &wire.ClientRegistered{
		ClientID: id, IssuedAt: c.Time.Unix(), RedirectURIs: b.RedirectURIs, ClientName: r.Name,
		GrantTypes: grantsOf(b.GrantTypes), ResponseTypes: []string{"code"}, AuthMethod: "none",
	}
	if b.Scope != nil {
		out.Scope = strings.Join(auth.InOrder(strings.Fields(*b.Scope)), " ")
	}
	return out, nil
}

// grantsOf are those of the wanted grants that a client has; it has a code in any case.
func grantsOf(wanted []string) []string {
	if wanted == nil || slices.Contains(wanted, grantRefresh) {
		return []string{grantCode, grantRefresh}
	}
	return []string{grantCode}
}

// nameOf is what a client may call itself before people: nothing that hides, or
// that passes for something else than text; "" otherwise.
func nameOf(name *string) string {
	if name == nil {
		return ""
	}
	s := strings.Join(strings.Fields(*name), " ")
	if r := []rune(s); len(r) > nameMost {
		s = string(r[:nameMost])
	}
	if text.Public(s, nameMost) != nil {
		return ""
	}
	return s
}

// clip shortens what a message repeats of the caller's own words.
func clip(s string) string {
	const most = 80
	if r := []rune(s); len(r) > most {
		return string(r[:most]) + "…"
	}
	return s
}
