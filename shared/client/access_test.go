package client_test

import (
	"errors"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"agentsocial/shared/client"
	"agentsocial/shared/wire"
)

func TestKeys(t *testing.T) {
	s := running(t)
	c, ctx := connect(t, s.URL), t.Context()
	fox := join(t, c, "fox")
	laptop, err := client.GenerateKey()
	if err != nil {
		t.Fatal(err)
	}
	added, err := fox.AddKey(ctx, laptop, "laptop")
	if err != nil || added.Pubkey != client.PublicKey(laptop) || added.Original || added.LastUsedAt != nil || len(added.Next) == 0 {
		t.Fatalf("AddKey = %+v, %v, want the key laptop, not original, not used yet, with Next", added, err)
	}
	other := c.As(laptop, fox.ID())
	if me, err := other.Me(ctx); err != nil || me.Handle != "fox" || me.Keys != 2 {
		t.Fatalf("Me with the new key = %+v, %v, want fox with two keys", me, err)
	}
	keys, err := other.Keys(ctx)
	if err != nil || len(keys.Items) != 2 || !keys.Items[0].Original || keys.Items[1].Label != "laptop" || keys.Items[1].LastUsedAt == nil {
		t.Fatalf("Keys = %+v, %v, want the original key, then laptop, which was used", keys, err)
	}
	if err := fox.RemoveKey(ctx, keys.Items[0].Pubkey); !client.IsCode(err, "own_key") {
		t.Errorf("RemoveKey of the key that signs: %v, want own_key", err)
	}
	if err := other.RemoveKey(ctx, keys.Items[0].Pubkey); err != nil {
		t.Fatal(err)
	}
	if _, err := fox.Me(ctx); !client.IsCode(err, "unknown_key") {
		t.Errorf("Me with a removed key: %v, want unknown_key", err)
	}
}

func TestAddKeyLearnsTheID(t *testing.T) {
	s := running(t)
	c, ctx := connect(t, s.URL), t.Context()
	first, err := client.GenerateKey()
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := c.Register(ctx, first, client.Registration{Handle: "fox", Emoji: "🦊"}, solved(c.URL())); err != nil {
		t.Fatal(err)
	}
	second, err := client.GenerateKey()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.As(first, "").AddKey(ctx, second, "second"); err != nil {
		t.Fatal(err)
	}
}

func TestTokens(t *testing.T) {
	s := running(t)
	c, ctx := connect(t, s.URL), t.Context()
	fox := join(t, c, "fox")
	day := 24 * time.Hour.Milliseconds()
	for _, test := range []struct {
		ask    wire.NewToken
		scopes string
		days   int64
	}{
		{wire.NewToken{Label: "a"}, "read post jury", 90},
		{wire.NewToken{Label: "b", Scopes: []string{"dm"}, Days: 1}, "dm", 1},
		{wire.NewToken{Label: "c", Days: wire.NoExpiry}, "read post jury", 0},
	} {
		time.Sleep(2 * time.Millisecond) // ids of the same millisecond have no order
		token, err := fox.MintToken(ctx, test.ask)
		if err != nil || !strings.HasPrefix(token.Value, "ast_") || token.Label != test.ask.Label || strings.Join(token.Scopes, " ") != test.scopes {
			t.Fatalf("MintToken(%+v) = %+v, %v, want a value that begins with ast_, the same label and the scopes %s", test.ask, token, err, test.scopes)
		}
		if test.days == 0 && token.ExpiresAt != nil || test.days > 0 && *token.ExpiresAt-token.CreatedAt != test.days*day {
			t.Errorf("MintToken %+v: got ExpiresAt %s, CreatedAt %d, want %d days between them (0: no expiry)", test.ask, encoded(t, token.ExpiresAt), token.CreatedAt, test.days)
		}
	}
	tokens, err := fox.Tokens(ctx)
	if err != nil || len(tokens.Items) != 3 || tokens.Items[1].Label != "b" {
		t.Fatalf("Tokens = %+v, %v, want three, b in the middle", tokens, err)
	}
	if err := fox.RevokeToken(ctx, tokens.Items[1].ID); err != nil {
		t.Fatal(err)
	}
	if err := fox.RevokeToken(ctx, tokens.Items[1].ID); !client.IsCode(err, "not_found") {
		t.Errorf("RevokeToken again: %v, want not_found", err)
	}
	if tokens, err = fox.Tokens(ctx); err != nil || len(tokens.Items) != 2 {
		t.Fatalf("Tokens after a revocation = %+v, %v, want two", tokens, err)
	}

	code, err := fox.LinkCode(ctx, 30, 2)
	if err != nil || !strings.HasPrefix(code.Code, "lc_") || code.Uses != 2 || len(code.Scopes) != 6 || code.ExpiresAt-code.CreatedAt != 30*day {
		t.Fatalf("LinkCode(30, 2) = %+v, %v, want a code that begins with lc_, two uses, 30 days and six scopes", code, err)
	}
	if code, err = fox.LinkCode(ctx, 0, 0); err != nil || code.Uses != 1 || code.ExpiresAt-code.CreatedAt != 7*day {
		t.Fatalf("LinkCode(0, 0) = %+v, %v, want one use in 7 days", code, err)
	}
}

// forgetful loses the first answer from each of the paths.
type forgetful struct {
	paths []string
	lost  map[string]bool
	sent  []string
}

func (f *forgetful) RoundTrip(r *http.Request) (*http.Response, error) {
	f.sent = append(f.sent, r.URL.RequestURI())
	res, err := http.DefaultTransport.RoundTrip(r)
	if err == nil && slices.Contains(f.paths, r.URL.Path) && !f.lost[r.URL.Path] {
		f.lost[r.URL.Path] = true
		res.Body.Close()
		return nil, io.ErrUnexpectedEOF
	}
	return res, err
}

func TestLostValues(t *testing.T) {
	s := running(t)
	f := &forgetful{paths: []string{"/v1/me/tokens", "/v1/me/link-codes"}, lost: map[string]bool{}}
	c, ctx := connect(t, s.URL, client.WithTransport(f)), t.Context()
	fox := join(t, c, "fox")
	token, err := fox.MintToken(ctx, wire.NewToken{Label: "lost"})
	if !errors.Is(err, client.ErrValueLost) || token == nil || token.ID == "" || token.Value != "" {
		t.Fatalf("MintToken = %+v, %v, want an id, no value and ErrValueLost", token, err)
	}
	if err := fox.RevokeToken(ctx, token.ID); err != nil {
		t.Fatal(err)
	}
	code, err := fox.LinkCode(ctx, 0, 0)
	if !errors.Is(err, client.ErrValueLost) || code == nil || code.ID == "" || code.Code != "" {
		t.Fatalf("LinkCode = %+v, %v, want an id, no code and ErrValueLost", code, err)
	}
	if me, err := fox.Me(ctx); err != nil || me.Tokens != 0 {
		t.Errorf("Me: %+v, %v, want no tokens", me, err)
	}
	for _, uri := range f.sent {
		if strings.Contains(uri, "/v1/me/") && !strings.HasSuffix(uri, "?aud="+strings.ReplaceAll(strings.TrimPrefix(s.URL, "http://"), ":", "%3A")) {
			t.Errorf("requested %s, want the query aud with the host of %s", uri, s.URL)
		}
	}
}
