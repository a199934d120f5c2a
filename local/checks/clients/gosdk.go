package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"time"

	"github.com/modelcontextprotocol/go-sdk/auth"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/modelcontextprotocol/go-sdk/oauthex"
	"golang.org/x/oauth2"
)

// goClient is the official Go client with golang.org/x/oauth2.
type goClient struct {
	s       *running
	asked   []string // requests and their statuses, such as "POST /mcp 401"
	config  *oauth2.Config
	token   *oauth2.Token
	session *sdk.ClientSession
}

func goSDK(ctx context.Context, s *running) []result {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	g := &goClient{s: s}
	var results []result
	for _, x := range []struct {
		name string
		take func(context.Context) error
	}{
		{"connect", g.connect}, {"tools/list", g.list}, {"tools/call", g.call}, {"refresh", g.refresh}, {"revoke", g.revoke},
	} {
		problem := ""
		if err := x.take(ctx); err != nil {
			problem = err.Error()
		}
		results = append(results, result{x.name, problem})
		if g.session == nil {
			return results // the other steps need the session
		}
	}
	return results
}

// RoundTrip sends the client's requests and notes them.
func (g *goClient) RoundTrip(r *http.Request) (*http.Response, error) {
	a, err := http.DefaultTransport.RoundTrip(r)
	if err == nil {
		g.asked = append(g.asked, fmt.Sprintf("%s %s %d", r.Method, r.URL.Path, a.StatusCode))
	}
	return a, err
}

// asks checks that the noted requests begin with want.
func (g *goClient) asks(want ...string) error {
	if len(g.asked) < len(want) || !slices.Equal(g.asked[:len(want)], want) {
		return fmt.Errorf("got requests %q, want %q", g.asked, want)
	}
	return nil
}

func (g *goClient) connect(ctx context.Context) error {
	h, err := auth.NewAuthorizationCodeHandler(&auth.AuthorizationCodeHandlerConfig{
		DynamicClientRegistrationConfig: &auth.DynamicClientRegistrationConfig{Metadata: &oauthex.ClientRegistrationMetadata{
			ClientName: "Go", RedirectURIs: []string{g.s.person.callback()}, TokenEndpointAuthMethod: "none",
		}},
		AuthorizationCodeFetcher: g.consent,
		Client:                   &http.Client{Transport: g},
		NewTokenSource: func(ctx context.Context, c *oauth2.Config, t *oauth2.Token) (oauth2.TokenSource, error) {
			g.config = c
			return g.remember(c.TokenSource(ctx, t)), nil
		},
	})
	if err != nil {
		return err
	}
	g.session, err = sdk.NewClient(&sdk.Implementation{Name: "test", Version: "1"}, nil).Connect(ctx, &sdk.StreamableClientTransport{
		Endpoint: g.s.URL + "/mcp", HTTPClient: &http.Client{Transport: g}, OAuthHandler: h, DisableStandaloneSSE: true,
	}, nil)
	if err != nil {
		return err
	}
	return g.asks("POST /mcp 401", "GET /.well-known/oauth-protected-resource/mcp 200", "GET /.well-known/oauth-authorization-server 200",
		"POST /oauth/register 201", "POST /oauth/token 200", "POST /mcp 200")
}

func (g *goClient) consent(_ context.Context, args *auth.AuthorizationArgs) (*auth.AuthorizationResult, error) {
	back, err := g.s.person.consent(args.URL)
	if err != nil {
		return nil, err
	}
	u, err := url.Parse(back)
	if err != nil {
		return nil, err
	}
	q := u.Query()
	return &auth.AuthorizationResult{Code: q.Get("code"), State: q.Get("state"), Iss: q.Get("iss")}, nil
}

func (g *goClient) remember(from oauth2.TokenSource) oauth2.TokenSource {
	return sourceFunc(func() (t *oauth2.Token, err error) {
		if t, err = from.Token(); err == nil {
			g.token = t
		}
		return t, err
	})
}

type sourceFunc func() (*oauth2.Token, error)

func (f sourceFunc) Token() (*oauth2.Token, error) { return f() }

func (g *goClient) list(ctx context.Context) error {
	r, err := g.session.ListTools(ctx, nil)
	if err == nil && r.Tools[0].Name != "catchup" {
		err = fmt.Errorf("the first tool is %s, want catchup", r.Tools[0].Name)
	}
	return err
}

func (g *goClient) call(ctx context.Context) error {
	r, err := g.session.CallTool(ctx, &sdk.CallToolParams{Name: "me"})
	if err == nil && r.IsError {
		err = fmt.Errorf("got the error %v, want the agent's profile", r.StructuredContent)
	}
	return err
}

// refresh makes the client get another access token, by letting its token expire.
func (g *goClient) refresh(ctx context.Context) error {
	before := *g.token
	g.asked, g.token.Expiry = nil, time.Now().Add(-time.Second) // the token source holds the same *Token
	if err := g.call(ctx); err != nil {
		return err
	}
	if g.token.AccessToken == before.AccessToken || g.token.RefreshToken == before.RefreshToken {
		return errors.New("the access token or the refresh token did not change")
	}
	return g.asks("POST /oauth/token 200", "POST /mcp 200")
}

// revoke revokes the tokens; afterwards the client must ask the person again.
func (g *goClient) revoke(ctx context.Context) error {
	as, err := auth.GetAuthServerMetadata(ctx, g.s.URL, nil)
	if err != nil {
		return err
	}
	form := url.Values{"token": {g.token.RefreshToken}, "client_id": {g.config.ClientID}}
	a, err := http.PostForm(as.RevocationEndpoint, form)
	if err != nil {
		return err
	}
	if a.Body.Close(); a.StatusCode != http.StatusOK {
		return errors.New(a.Status)
	}
	g.asked = nil
	if err := g.call(ctx); err != nil {
		return err
	}
	return g.asks("POST /mcp 401", "GET /.well-known/oauth-protected-resource/mcp 200")
}
