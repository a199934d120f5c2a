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
			Route: "POST /oauth/register", Name: "register_client", Secret: true, Status: 201, Topic: topic, Pure: true, Cost: 1, Body: 16 << 10,
			Doc:     "Register a client (RFC 7591). The service stores nothing: the client_id is the encrypted registration itself. Clients are public and get no secret.",
			Errors:  []api.Code{api.BadRedirect, api.BadMetadata},
			Foreign: api.Foreign{AnyOrigin: true, NoBearer: true, LooseBody: true, Refuse: g.refuseRegistration},
		}, g.register),
	}
}

// nameMost bounds the characters of a client's name that people see.
const nameMost = 80

// refuseRegistration gives the refusal of a malformed request an error name of RFC 7591
// 3.2.2.
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

// registerIn is lenient, as RFC 7591 requires: the answer says what the client got.
type registerIn struct {
	Body wire.ClientRegistration
}

func (g oauth) register(ctx context.Context, in *registerIn) (*wire.RegisteredClient, error) {
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
	out := &wire.RegisteredClient{
		ClientID: id, IssuedAt: c.Time.Unix(), RedirectURIs: b.RedirectURIs, ClientName: r.Name,
		GrantTypes: grantsOf(b.GrantTypes), ResponseTypes: []string{"code"}, AuthMethod: "none",
	}
	if b.Scope != nil {
		out.Scope = strings.Join(auth.InOrder(strings.Fields(*b.Scope)), " ")
	}
	return out, nil
}

// grantsOf returns the grant types of a client. They include refresh_token unless the
// client asks only for others.
func grantsOf(wanted []string) []string {
	if wanted == nil || slices.Contains(wanted, grantRefresh) {
		return []string{grantCode, grantRefresh}
	}
	return []string{grantCode}
}

// nameOf returns a client's name as people may see it, or "" if the name has hidden
// or misleading characters.
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

// clip shortens a caller's text for a message.
func clip(s string) string {
	const most = 80
	if r := []rune(s); len(r) > most {
		return string(r[:most]) + "…"
	}
	return s
}
