package bench

import (
	"context"
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"net/url"
	"time"

	"agentsocial/shared/identity/auth"
	flow "agentsocial/shared/identity/oauth"
)

// tokensLink is the variant in which a token minted the link code. The token's lifetime has
// to be looked up.
const tokensLink = "code, with a token's link code"

// granting returns the scenarios in which clients get, use and revoke tokens.
func granting(w *world) ([]scenario, error) {
	owners, err := w.recruits(3)
	if err != nil {
		return nil, err
	}
	const token, revoke, me = "POST /oauth/token", "POST /oauth/revoke", "GET /v1/me"
	refreshing := func(refresh string) request {
		return formed(token, "grant_type", "refresh_token", "refresh_token", refresh)
	}
	// given returns the first tokens of a client that connects a new agent.
	given := func(i int) (tokens, error) {
		r, err := w.redeeming(w.at(i), nil)
		if err != nil {
			return tokens{}, err
		}
		return w.tokens(w.at(i), r)
	}
	linked := func(variant string, mint request) scenario {
		return scenario{route: token, variant: variant, next: func(i int) (call, error) {
			var link struct{ Code string }
			if err := w.ask(w.at(i), mint, 201, &link); err != nil {
				return call{}, err
			}
			hash, _ := auth.LinkCodeHash(link.Code)
			r, err := w.redeeming(w.at(i), &flow.Bound{Agent: owners[0].id, Epoch: 1, Link: hash})
			return w.call(w.at(i), r), err
		}, costOnly: true} // not timed, since an agent may have only ten codes and fifty connections
	}
	mint := request{route: "POST /v1/me/link-codes", by: owners[0]}
	var minter struct{ Token string }
	if err := w.ask(w.at(-1), request{route: "POST /v1/me/tokens", by: owners[0], body: `{"label":"of the bench"}`}, 201, &minter); err != nil {
		return nil, err
	}
	byToken := request{route: mint.route, headers: bearer(minter.Token)}
	if err := w.ask(w.at(-1), byToken, 201, nil); err != nil { // so that no scenario has the first use of the token
		return nil, err
	}
	steady, err := given(-1)
	if err != nil {
		return nil, err
	}
	return []scenario{
		{route: token, variant: "code, a new agent", next: func(i int) (call, error) {
			r, err := w.redeeming(w.at(i), nil)
			return w.call(w.at(i), r), err
		}},
		linked("code, with a key's link code", mint),
		linked(tokensLink, byToken),
		{route: token, variant: "refresh", next: func(i int) (call, error) {
			first, err := given(i)
			return w.call(w.at(i), refreshing(first.Refresh)), err
		}},
		{route: token, variant: "refresh, the answer again", next: func(i int) (call, error) {
			first, err := given(i)
			if err == nil {
				_, err = w.tokens(w.at(i), refreshing(first.Refresh))
			}
			return w.call(w.at(i), refreshing(first.Refresh)), err
		}},
		{route: token, variant: "assertion", next: func(i int) (call, error) {
			r, err := w.asserting(w.at(i), owners[1])
			return w.call(w.at(i), r), err
		}},
		{route: revoke, variant: "refresh token", next: func(i int) (call, error) {
			first, err := given(i)
			return w.call(w.at(i), formed(revoke, "token", first.Refresh)), err
		}},
		{route: revoke, variant: "access token", next: func(i int) (call, error) {
			first, err := given(i)
			return w.call(w.at(i), formed(revoke, "token", first.Access)), err
		}},
		{route: me, variant: "with a connection's token", costOnly: true, next: func(i int) (call, error) {
			first, err := w.tokens(w.at(i), refreshing(steady.Refresh))
			if err != nil {
				return call{}, err
			}
			steady = first
			r := request{route: me, headers: bearer(first.Access)}
			if err := w.ask(w.at(i), r, 200, nil); err != nil { // so that the call is not the first use of the token
				return call{}, err
			}
			return w.call(w.at(i), r), nil
		}},
	}, nil
}

type tokens struct {
	Access  string `json:"access_token"`
	Refresh string `json:"refresh_token"`
}

func (w *world) tokens(at time.Time, r request) (t tokens, err error) {
	err = w.ask(at, r, 200, &t)
	return t, err
}

// formed returns a request with a form of these names and values.
func formed(route string, pairs ...string) request {
	form := url.Values{}
	for i := 0; i < len(pairs); i += 2 {
		form.Set(pairs[i], pairs[i+1])
	}
	return request{route: route, body: form.Encode(), headers: map[string]string{"content-type": "application/x-www-form-urlencoded"}}
}

// redeeming returns a request that redeems a new code, made as the consent page makes it.
func (w *world) redeeming(at time.Time, bound *flow.Bound) (request, error) {
	const back = "http://127.0.0.1:33418/callback"
	box, err := w.app.Box(context.Background())
	if err != nil {
		return request{}, err
	}
	client, err := flow.SealClient(box, &flow.Registration{Redirects: [][]byte{flow.RedirectDigest(back)}, Name: "A client"})
	if err != nil {
		return request{}, err
	}
	verifier := w.app.Random(32)
	sum := sha256.Sum256([]byte(verifier))
	code, err := flow.SealCode(box, &flow.Code{
		ID: w.app.Random(16), Client: client, Name: "A client", Redirect: back, Challenge: auth.EncodeKey(sum[:]),
		Scopes: auth.DefaultScopes, Bound: bound, At: at.UnixMilli(),
	})
	return formed("POST /oauth/token", "grant_type", "authorization_code",
		"code", code, "code_verifier", verifier, "redirect_uri", back, "client_id", client), err
}

// asserting returns a request for a token, with an assertion.
func (w *world) asserting(at time.Time, by *agent) (request, error) {
	jti := make([]byte, 16)
	if _, err := io.ReadFull(w.app.Rand, jti); err != nil {
		return request{}, err
	}
	part := func(v map[string]any) string {
		b, err := json.Marshal(v)
		if err != nil {
			panic(err) // cannot fail: only strings and numbers
		}
		return auth.EncodeKey(b)
	}
	signed := part(map[string]any{"alg": "EdDSA", "kid": by.pub}) + "." + part(map[string]any{
		"iss": by.id, "sub": by.id, "aud": w.app.Settings.BaseURL, "iat": at.Unix(), "exp": at.Unix() + 60, "jti": fmt.Sprintf("%x", jti),
	})
	return formed("POST /oauth/token", "grant_type", "urn:ietf:params:oauth:grant-type:jwt-bearer",
		"assertion", signed+"."+auth.EncodeKey(ed25519.Sign(by.key, []byte(signed)))), nil
}
