package client_test

import (
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"agentsocial/local/transcripts"
	"agentsocial/shared/client"
)

func TestAsk(t *testing.T) {
	s := running(t)
	c, ctx := connect(t, s.URL), t.Context()
	for _, mcp := range []bool{false, true} {
		r, err := c.Resource(ctx, mcp)
		if err != nil || !slices.Equal(r.Servers, []string{s.URL}) || strings.HasSuffix(r.Resource, "/mcp") != mcp {
			t.Fatalf("Resource(%v) = %+v, %v, want the server %s, and a resource that ends in /mcp: %v", mcp, r, err, s.URL, mcp)
		}
	}
	server, err := c.Server(ctx)
	if err != nil || server.Issuer != s.URL {
		t.Fatalf("Server = %+v, %v, want the issuer %s", server, err, s.URL)
	}
	id, err := c.RegisterClient(ctx, "Den Explorer", redirect)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.RegisterClient(ctx, "Den Explorer", "http://evil.example/"); err == nil || !strings.Contains(err.Error(), "invalid_redirect_uri") {
		t.Errorf("RegisterClient with an http redirect: %v, want invalid_redirect_uri", err)
	}
	ask := c.Ask(id, redirect, "read", "dm")
	if !strings.HasPrefix(ask.URL, server.Authorize+"?") {
		t.Errorf("Ask sends the person to %s, want %s?…", ask.URL, server.Authorize)
	}
	answered := func(button string) url.Values {
		t.Helper()
		page, err := (&transcripts.Request{Method: http.MethodGet, Target: strings.TrimPrefix(ask.URL, s.URL)}).Send(s.URL)
		if err != nil {
			t.Fatal(err)
		}
		consent, err := page.Consent()
		if err != nil {
			t.Fatal(err)
		}
		done, err := transcripts.Submit(consent.Form(button, nil)).Send(s.URL)
		if err != nil {
			t.Fatal(err)
		}
		to, err := done.Back()
		if err != nil {
			t.Fatal(err)
		}
		return to.Query()
	}
	if _, err := ask.Came(answered("refuse")); err == nil || !strings.Contains(err.Error(), "access_denied") {
		t.Errorf("Came after a refusal: %v, want access_denied", err)
	}
	q := answered("connect")
	for _, name := range []string{"state", "iss"} {
		changed := url.Values{"code": q["code"], "state": q["state"], "iss": q["iss"]}
		changed.Set(name, "https://evil.example")
		if _, err := ask.Came(changed); !errors.Is(err, client.ErrStranger) {
			t.Errorf("Came with another %s: %v, want ErrStranger", name, err)
		}
	}
	r, err := ask.Came(q)
	if err != nil {
		t.Fatal(err)
	}
	tokens, err := c.Redeem(ctx, r)
	if err != nil || tokens.Scope != "read dm" {
		t.Errorf("Redeem: %+v, %v, want the scopes read dm", tokens, err)
	}
}
