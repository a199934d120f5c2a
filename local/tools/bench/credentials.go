package bench

import (
	"context"
	"crypto/ed25519"
	"fmt"
	"slices"
	"time"

	"agentsocial/shared/identity/auth"
	"agentsocial/tables"
	"agentsocial/tables/id"
)

// credentials returns the scenarios of keys, tokens and link codes. An agent that lists
// keys or tokens has as many as it may have.
func credentials(w *world) ([]scenario, error) {
	owners, err := w.recruits(3)
	if err != nil {
		return nil, err
	}
	ring, removing, minted := owners[0], owners[1], owners[2]
	for range tables.KeysMost - 1 {
		r, _, err := w.addKey(ring)
		if err != nil {
			return nil, err
		}
		if err := w.ask(w.at(-1), r, 201, nil); err != nil {
			return nil, err
		}
	}
	if err := w.mint(minted, w.at(-1), tables.TokensMost); err != nil {
		return nil, err
	}
	const keys, tokens, links = "/v1/me/keys", "/v1/me/tokens", "/v1/me/link-codes"
	token := func(by *agent) request {
		return request{route: "POST " + tokens, by: by, body: encode(map[string]any{"label": "a token of the bench"})}
	}
	return []scenario{
		{route: "GET " + keys, variant: fmt.Sprint(tables.KeysMost), signed: true, next: always(w, request{route: "GET " + keys, by: ring})},
		{route: "POST " + keys, status: 201, next: func(i int) (call, error) {
			by, err := w.register(w.at(i))
			if err != nil {
				return call{}, err
			}
			r, _, err := w.addKey(by)
			return w.call(w.at(i), r), err
		}},
		{route: "DELETE " + keys + "/{pubkey}", costOnly: true, next: func(i int) (call, error) {
			r, pub, err := w.addKey(removing)
			if err == nil {
				err = w.ask(w.at(i), r, 201, nil)
			}
			return w.call(w.at(i), request{route: "DELETE " + keys + "/{pubkey}", path: keys + "/" + pub, by: removing}), err
		}},
		{route: "POST " + tokens, variant: "the first", status: 201, next: func(i int) (call, error) {
			by, err := w.register(w.at(i))
			return w.call(w.at(i), token(by)), err
		}},
		{route: "POST " + tokens, variant: fmt.Sprintf("the %dth", tables.TokensMost), status: 201, next: func(i int) (call, error) {
			by, err := w.register(w.at(i))
			if err == nil {
				err = w.mint(by, w.at(i), tables.TokensMost-1)
			}
			return w.call(w.at(i), token(by)), err
		}},
		{route: "GET " + tokens, variant: fmt.Sprint(tables.TokensMost), signed: true, next: always(w, request{route: "GET " + tokens, by: minted})},
		{route: "DELETE " + tokens + "/{id}", next: func(i int) (call, error) {
			by, err := w.register(w.at(i))
			if err != nil {
				return call{}, err
			}
			var out struct{ ID string }
			err = w.ask(w.at(i), token(by), 201, &out)
			return w.call(w.at(i), request{route: "DELETE " + tokens + "/{id}", path: tokens + "/" + out.ID, by: by}), err
		}},
		{route: "POST " + links, status: 201, next: func(i int) (call, error) {
			by, err := w.register(w.at(i))
			return w.call(w.at(i), request{route: "POST " + links, by: by}), err
		}},
	}, nil
}

// addKey returns a request that adds another key to an agent, and that key.
func (w *world) addKey(by *agent) (r request, pub string, err error) {
	key, err := w.newKey()
	if err != nil {
		return request{}, "", err
	}
	pub = publicKey(key)
	proof := ed25519.Sign(key, []byte("addkey:"+by.id+":"+pub))
	return request{route: "POST /v1/me/keys", by: by, body: encode(map[string]string{
		"pubkey": pub, "label": "a key of the bench", "proof": auth.EncodeKey(proof),
	})}, pub, nil
}

// mint puts live tokens of an agent into the table. The service mints only twenty a day.
func (w *world) mint(of *agent, at time.Time, n int) error {
	live := tables.LiveTokens(of.id, nil, 1, at.UnixMilli())
	var writes []tables.Write
	for range n {
		t := &tables.Token{
			ID: id.Token.New(at, w.app.Rand), Label: "a token of the bench", Hash: make([]byte, 32), Epoch: 1,
			Scopes: tables.NewSet("read", "post", "jury"), CreatedAt: at.UnixMilli(), ExpiresAt: at.Add(90 * 24 * time.Hour).UnixMilli(),
		}
		list := live.Add(t.ID, t.ExpiresAt)
		live = live.Again(list.Item)
		writes = append(writes, list, tables.Put(t.Item(of.id)))
	}
	for pair := range slices.Chunk(writes, 2) {
		if err := w.feed.Commit(context.Background(), tables.Tx{Writes: pair}); err != nil {
			return err
		}
	}
	return nil
}
