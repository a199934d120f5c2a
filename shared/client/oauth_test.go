package client_test

import (
	"bytes"
	"encoding/json"
	"net/http"
	"net/url"
	"testing"
	"time"

	"agentsocial/local/transcripts"
	"agentsocial/shared/app"
	"agentsocial/shared/client"
)

const redirect = "http://127.0.0.1/callback"

// consented stands in for a person who consents to a new connection. link is a link code,
// or "".
func consented(t *testing.T, c *client.Client, link string) client.Redemption {
	t.Helper()
	var registered struct {
		ID string `json:"client_id"`
	}
	if err := c.Do(t.Context(), http.MethodPost, "/oauth/register", map[string]any{"redirect_uris": []string{redirect}}, &registered); err != nil {
		t.Fatal(err)
	}
	connection := transcripts.NewConnection(registered.ID, redirect)
	code, err := connection.Connect(c.URL(), url.Values{"link_code": {link}})
	if err != nil {
		t.Fatal(err)
	}
	return client.Redemption{Code: code, Verifier: connection.Verifier, Client: registered.ID, Redirect: redirect}
}

func TestConnection(t *testing.T) {
	s := running(t)
	c, ctx := connect(t, s.URL), t.Context()
	r := consented(t, c, "")
	first, err := c.Redeem(ctx, r)
	if err != nil || first.ExpiresIn != 3600 || first.RefreshToken == "" || len(first.Next) == 0 {
		t.Fatalf("Redeem = %+v, %v, want an access token for an hour, a refresh token, and Next", first, err)
	}
	b := c.WithToken(first.AccessToken)
	puzzle, err := b.SignupPuzzle(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := b.FinishSignup(ctx, puzzle, solvedSignup(t, c, puzzle.Token), client.Registration{Handle: "owl", Emoji: "🦉"}); err != nil {
		t.Fatal(err)
	}
	second, err := c.Refresh(ctx, first.RefreshToken)
	if err != nil || second.AccessToken == first.AccessToken || second.Scope != first.Scope {
		t.Fatalf("Refresh = %+v, %v, want another access token with the scopes %s", second, err, first.Scope)
	}
	key, err := client.GenerateKey()
	if err != nil {
		t.Fatal(err)
	}
	owl, err := c.WithToken(second.AccessToken).AddKey(ctx, key, "den")
	if err != nil {
		t.Fatal(err)
	}
	list, err := owl.Tokens(ctx)
	if err != nil || len(list.Items) != 1 || list.Items[0].Kind != "connection" {
		t.Fatalf("Tokens = %+v, %v, want one connection", list, err)
	}
	if err := owl.RevokeToken(ctx, list.Items[0].ID); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Refresh(ctx, second.RefreshToken); !client.IsCode(err, "invalid_grant") {
		t.Errorf("Refresh of a revoked connection: %v, want invalid_grant", err)
	}
	if _, err := c.Redeem(ctx, r); !client.IsCode(err, "invalid_grant") {
		t.Errorf("a second Redeem: %v, want invalid_grant", err)
	}

	link, err := owl.LinkCode(ctx, 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	linked, err := c.Redeem(ctx, consented(t, c, link.Code))
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Revoke(ctx, linked.RefreshToken); err != nil {
		t.Fatal(err)
	}
	if err := c.Revoke(ctx, linked.RefreshToken); err != nil {
		t.Fatal(err)
	}
	if list, err := owl.Tokens(ctx); err != nil || len(list.Items) != 0 {
		t.Errorf("Tokens after Revoke = %+v, %v, want none", list, err)
	}
}

func TestHourToken(t *testing.T) {
	s := running(t)
	c, ctx := connect(t, s.URL), t.Context()
	fox := join(t, c, "fox")
	for range 2 { // each call needs an assertion of its own
		if got, err := fox.HourToken(ctx); err != nil || got.Scope != "read post jury" || got.RefreshToken != "" {
			t.Fatalf("HourToken = %+v, %v, want the scopes read post jury and no refresh token", got, err)
		}
	}
	got, err := fox.HourToken(ctx, "dm", "read")
	if err != nil || got.Scope != "read dm" {
		t.Fatalf("HourToken(dm, read) = %+v, %v, want the scopes read dm", got, err)
	}
	var me struct{ ID string }
	if err := c.WithToken(got.AccessToken).Do(ctx, http.MethodGet, "/v1/me", nil, &me); err != nil || me.ID != fox.ID() {
		t.Errorf("the token belongs to %q (%v), want %q", me.ID, err, fox.ID())
	}
	if _, err := fox.HourToken(ctx, "everything"); !client.IsCode(err, "invalid_scope") {
		t.Errorf("HourToken with an unknown scope: %v, want invalid_scope", err)
	}
}

func solvedSignup(t *testing.T, c *client.Client, token string) (answer []string) {
	t.Helper()
	in, err := json.Marshal(map[string]string{"token": token})
	if err != nil {
		t.Fatal(err)
	}
	res, err := http.Post(c.URL()+"/_local/solve", "application/json", bytes.NewReader(in))
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	var out struct{ Answer []string }
	if err := json.NewDecoder(res.Body).Decode(&out); err != nil {
		t.Fatal(err)
	}
	return out.Answer
}

func TestRefresh_SentAgain(t *testing.T) {
	if again := app.DefaultSettings().RefreshAgain; again < client.ResendFor+10*time.Second {
		t.Errorf("RefreshAgain = %v, want at least 10 s more than ResendFor, %v", again, client.ResendFor)
	}
}
