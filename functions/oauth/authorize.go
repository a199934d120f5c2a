package oauth

import (
	"context"
	"encoding/base64"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"agentsocial/shared/api"
	"agentsocial/shared/identity/auth"
	flow "agentsocial/shared/identity/oauth"
)

func (g oauth) consentEndpoints() []api.Endpoint {
	return []api.Endpoint{
		api.OnPage(api.Endpoint{
			Route: "GET /oauth/authorize", Name: "ask_consent", Secret: true, Topic: topic,
			Cost: 10, Rate: 50, // it may fetch a document
			Doc:     "Ask a person for consent. Returns an HTML page. If the redirect URI is valid, errors are sent there: to a program by a redirect, to a website by a link that the person follows.",
			Errors:  []api.Code{api.InvalidClient, api.BadRedirect, api.InvalidRequest},
			Foreign: api.Foreign{Answers: []string{"text/html"}, Redirects: true, LooseQuery: true, NoBearer: true, Refuse: g.refusePage},
		}, g.authorize),
		api.OnPage(api.Endpoint{
			Route: "POST /oauth/authorize", Name: "answer_consent", Secret: true, Topic: topic, Body: 16 << 10, Cost: 5,
			Doc:    "Consent or refuse. The consent page sends this, with a proof of work. The answer is a page that takes the person back to the client: with a code that is valid for a minute, or with the error access_denied.",
			Errors: []api.Code{api.InvalidRequest, api.BadPow, api.BadCode, api.PageRefused},
			Foreign: api.Foreign{
				Media: []string{"application/x-www-form-urlencoded"}, Answers: []string{"text/html"}, NoBearer: true, Refuse: g.refusePage,
			},
		}, g.consent),
	}
}

const (
	stateMost    = 2048 // bytes; a state is ASCII (RFC 6749 A.5), and returns in a URL
	consentLives = 30 * time.Minute
	sealedAsked  = "oauth consent"
)

type authorizeIn struct {
	ResponseType string `query:"response_type" doc:"code"`
	ClientID     string `query:"client_id" doc:"An id from registration, or the https URL of the client's metadata document."`
	RedirectURI  string `query:"redirect_uri" doc:"A redirect URI that the client registered, unchanged; only the port of a loopback URI may differ."`
	State        string `query:"state" doc:"Sent back unchanged; at most 2048 characters."`
	Challenge    string `query:"code_challenge" doc:"base64url SHA-256 of the code verifier."`
	Method       string `query:"code_challenge_method" doc:"S256"`
	Scope        string `query:"scope" doc:"The scopes to ask for, separated by spaces; read, post and jury if left out. The person may choose others."`
	Resource     string `query:"resource" doc:"The base URL of this service or of its MCP endpoint."`

	query url.Values
}

// TakeQuery keeps the query as it was sent, with repeated parameters.
func (in *authorizeIn) TakeQuery(q url.Values) { in.query = q }

// asked is a client's checked request. The page carries it sealed.
type asked struct {
	Nonce     string   `json:"n"`
	Exp       int64    `json:"e"` // unix ms
	Bits      int      `json:"b"` // leading zero bits of the proof of work
	Client    string   `json:"c"`
	Name      string   `json:"m,omitempty"`
	Host      string   `json:"h,omitempty"` // host of the client's metadata; "" if it registered
	Redirect  string   `json:"u"`
	State     string   `json:"t,omitempty"`
	Challenge string   `json:"p"`
	Scopes    []string `json:"s"`
	Resource  string   `json:"r,omitempty"`
}

func (g oauth) authorize(ctx context.Context, in *authorizeIn) (*api.Page, error) {
	q := in.query
	for _, name := range []string{"client_id", "redirect_uri"} {
		if len(q[name]) > 1 {
			return nil, api.Fail(api.InvalidRequest, "The request has %s %d times; send it once.", name, len(q[name]))
		}
	}
	c, err := g.clientOf(ctx, q.Get("client_id"))
	if err != nil {
		return nil, err
	}
	a := &asked{Client: c.id, Name: c.name, Host: c.host, Redirect: q.Get("redirect_uri"), State: q.Get("state")}
	switch {
	case a.Redirect == "":
		return nil, api.Fail(api.BadRedirect, "redirect_uri is missing.")
	case !c.allows(a.Redirect):
		return nil, api.Fail(api.BadRedirect, "%q is not one of the client's redirect URIs.", clip(a.Redirect))
	}
	if problem := g.ask(a, q); problem != nil {
		if elsewhere(a.Redirect) {
			return g.sendBack(ctx, a, problem), nil
		}
		return problem.page(g.Settings.BaseURL, a), nil
	}
	return g.page(ctx, a, view{granted: a.Scopes})
}

// problem is an error in the request of a known client. It is sent to the client's
// redirect URI (RFC 6749 4.1.2.1).
type problem struct{ code, text string }

func (p *problem) page(base string, a *asked) *api.Page {
	return &api.Page{Status: http.StatusFound, Location: p.location(base, a)}
}

func (p *problem) location(base string, a *asked) string {
	return back(base, a, url.Values{"error": {p.code}, "error_description": {described(p.text)}})
}

// back returns the client's redirect URI with an answer, the issuer (RFC 9207) and the
// state.
func back(base string, a *asked, answer url.Values) string {
	answer.Set("iss", base)
	if a.State != "" {
		answer.Set("state", a.State)
	}
	return flow.Away(a.Redirect, answer)
}

// ask copies the rest of the query to a, or returns what is wrong with the query.
func (g oauth) ask(a *asked, q url.Values) *problem {
	if len(a.State) > stateMost {
		a.State = ""
		return &problem{"invalid_request", "state has more than 2048 characters."}
	}
	for _, name := range []string{"response_type", "state", "code_challenge", "code_challenge_method", "scope", "response_mode"} {
		if len(q[name]) > 1 {
			return &problem{"invalid_request", name + " is in the request more than once."}
		}
	}
	switch mode := q.Get("response_mode"); {
	case q.Get("response_type") == "":
		return &problem{"invalid_request", "response_type is missing."}
	case q.Get("response_type") != "code":
		return &problem{"unsupported_response_type", "response_type must be code."}
	case mode != "" && mode != "query":
		return &problem{"invalid_request", "response_mode must be query, or left out."}
	case q.Has("request"):
		return &problem{"request_not_supported", "Request objects are not supported: send the parameters in the query."}
	case q.Has("request_uri"):
		return &problem{"request_uri_not_supported", "Request objects are not supported: send the parameters in the query."}
	case q.Get("code_challenge") == "":
		return &problem{"invalid_request", "code_challenge is missing: PKCE is required."}
	case q.Get("code_challenge_method") != "S256":
		return &problem{"invalid_request", "code_challenge_method must be S256."}
	}
	a.Challenge = q.Get("code_challenge")
	if sum, err := base64.RawURLEncoding.Strict().DecodeString(a.Challenge); err != nil || len(sum) != 32 {
		return &problem{"invalid_request", "code_challenge is not a SHA-256 in base64url without padding."}
	}
	for _, resource := range q["resource"] {
		if resource == "" { // as if it were left out (RFC 6749 3.1)
			continue
		}
		if resources := g.resources(); !slices.Contains(resources[:], strings.TrimSuffix(resource, "/")) || a.Resource != "" && a.Resource != resource {
			return &problem{"invalid_target", "resource must be " + resources[0] + " or " + resources[1] + ", and only one of them."}
		}
		a.Resource = resource
	}
	a.Scopes = scopesOf(q.Get("scope"))
	return nil
}

// scopesOf returns the known scopes of a request, or the default ones. Clients also ask
// for scopes of other services, such as openid.
func scopesOf(wish string) []string {
	scopes := auth.InOrder(strings.Fields(wish))
	if len(scopes) == 0 {
		return slices.Clone(auth.DefaultScopes)
	}
	return scopes
}

// seal returns the value of the page's hidden field "asked". Only this service can make or
// read it.
func (g oauth) seal(ctx context.Context, a *asked) (string, error) {
	box, err := g.Box(ctx)
	if err != nil {
		return "", err
	}
	a.Nonce, a.Bits = g.Random(16), g.Settings.PageBits
	a.Exp = api.From(ctx).Time.Add(consentLives).UnixMilli()
	return box.Seal(sealedAsked, a)
}
