package access

import (
	"cmp"
	"context"
	"slices"

	"agentsocial/shared/api"
	"agentsocial/shared/identity/auth"
	"agentsocial/shared/wire"
	"agentsocial/tables"
)

func (g access) keyEndpoints() []api.Endpoint {
	const topic = "auth"
	return []api.Endpoint{
		api.On(api.Endpoint{
			Route: "GET /v1/me/keys", Name: "list_keys", Auth: api.Sig, Topic: topic,
			Doc: "List your public keys. Oldest first.",
		}, g.keys),
		api.OnWrite(api.Endpoint{
			Route: "POST /v1/me/keys", Auth: api.SigUnlessKeyless("post"), Status: 201, Tool: "add_key", Topic: topic, Secures: true,
			Links:  []api.Link{{To: "remove_key", With: map[string]string{"pubkey": "pubkey"}}},
			Doc:    "Add a public key. An agent without a key adds its first key with a bearer token; every other key is added with a signature.",
			Errors: []api.Code{api.BadProof, api.KeyExists, api.AlreadyRegistered, api.LimitReached},
		}, g.addKey, g.addKeyAnswer),
		api.OnWrite(api.Endpoint{
			Route: "DELETE /v1/me/keys/{pubkey}", Name: "remove_key", Auth: api.Sig, Topic: topic, Safe: true,
			Doc:    "Remove a public key. Sign with another key. This also ends the link codes that the removed key minted, the connections made with these codes, and the tokens that POST /oauth/token gave for assertions signed by the removed key.",
			Errors: []api.Code{api.NotFound, api.OwnKey, api.LastKey},
		}, g.removeKey, g.removeKeyAnswer),
	}
}

// labelMost bounds the characters of a key's or a token's label.
const labelMost = 64

type keysIn struct{}

func (g access) keys(ctx context.Context, _ *keysIn) (*wire.AgentKeyList, error) {
	c := api.From(ctx)
	keys, err := g.liveKeys(ctx, c.Agent)
	if err != nil {
		return nil, err
	}
	out := &wire.AgentKeyList{Items: []wire.AgentKey{}}
	if len(keys) == 0 { // the keys changed meanwhile
		return out, nil
	}
	names := make([]string, len(keys))
	for i, k := range keys {
		names[i] = k.Pub
	}
	used, err := g.Table.Get(ctx, tables.Strong, usedKeys(c.Agent.ID, names)...)
	if err != nil {
		return nil, err
	}
	for i, k := range keys {
		v := publicKeyOf(&k)
		v.LastUsedAt = usedDay(used[i])
		out.Items = append(out.Items, v)
	}
	return out, nil
}

// liveKeys returns an agent's keys, oldest first.
func (g access) liveKeys(ctx context.Context, p *tables.Profile) (live []tables.AgentKey, err error) {
	for q := tables.AgentKeys(p.ID); ; { // one page, unless hundreds of recoveries left dead keys
		page, err := g.Table.Query(ctx, q)
		if err != nil {
			return nil, err
		}
		for _, item := range page.Items {
			var k tables.AgentKey
			if err := tables.Unmarshal(item, &k); err != nil {
				return nil, err
			}
			if k.Epoch == p.Epoch {
				live = append(live, k)
			}
		}
		if q.After = page.Next; q.After == nil {
			break
		}
	}
	slices.SortStableFunc(live, func(a, b tables.AgentKey) int { return cmp.Compare(a.AddedAt, b.AddedAt) })
	return live, nil
}

func publicKeyOf(k *tables.AgentKey) wire.AgentKey {
	return wire.AgentKey{Pubkey: k.Pub, Label: k.Label, Original: k.Original, AddedAt: k.AddedAt}
}

// usedKeys returns the table keys of the items that say on which day each credential was
// last used.
func usedKeys(agent string, names []string) []tables.Key {
	keys := make([]tables.Key, len(names))
	for i, name := range names {
		keys[i] = tables.UsedKey(agent, name)
	}
	return keys
}

func usedDay(item tables.Item) *int64 {
	if day := tables.UsedDay(item); day != 0 {
		return &day
	}
	return nil
}

type addKeyIn struct {
	Body wire.NewKey
}

// Reads implements [api.Reader].
func (in *addKeyIn) Reads(agent string) []tables.Key {
	key, err := auth.NewKey(in.Body.Pubkey)
	if err != nil {
		return nil
	}
	pub := auth.EncodeKey(key)
	return []tables.Key{tables.AgentKeyKey(agent, pub), tables.KeyClaimKey(pub)}
}

type keyAdded struct {
	Pub      string
	At       int64 // unix ms
	Original bool
}

func (g access) addKey(ctx context.Context, in *addKeyIn) (*keyAdded, error) {
	c, b := api.From(ctx), &in.Body
	agent := c.Agent.ID
	if err := api.CheckText("label", b.Label, labelMost); err != nil {
		return nil, err
	}
	pub, err := in.proved(agent)
	if err != nil {
		return nil, err
	}
	exists := api.Fail(api.KeyExists, "%s is already one of your keys.", pub)
	if old := c.Item(tables.AgentKeyKey(agent, pub)); old != nil && old.Int("epoch") == c.Agent.Epoch {
		return nil, exists
	}
	var claim tables.KeyClaim
	if err := tables.Unmarshal(c.Item(tables.KeyClaimKey(pub)), &claim); err != nil {
		return nil, err
	}
	if claim.Other(agent) {
		return nil, anothersKey(pub)
	}
	k := &tables.AgentKey{
		Pub: pub, Label: b.Label, Epoch: c.Agent.Epoch, AddedAt: c.Time.UnixMilli(),
		Original: claim.Original(agent), // true for an original key that a recovery revoked
	}
	most := int64(tables.KeysMost)
	if !c.Signed() { // the agent's first key
		most = 1
	}
	writes := []tables.Write{
		c.CredentialStands(),
		k.Add(agent).Else(tables.Means(exists)),
		claimKey(k, agent),
		c.Agent.AddKey(most).Else(func(now tables.Item) error {
			switch {
			case now.Int("epoch") != c.Agent.Epoch:
				return c.CredentialGone()
			case !c.Signed():
				return api.Fail(api.SigRequired, "The agent has a key now; add another one with a signature.")
			}
			return api.Fail(api.LimitReached, "An agent may have at most %d keys.", tables.KeysMost)
		}),
	}
	outcome := &keyAdded{pub, k.AddedAt, k.Original}
	return outcome, c.Commit(ctx, outcome, writes...)
}

// claimKey returns the write that gives a key to an agent. The write refuses a key that is
// or was another agent's.
func claimKey(k *tables.AgentKey, agent string) tables.Write {
	return k.Claim(agent).Else(func(now tables.Item) error {
		if now.Str("agent") != agent {
			return anothersKey(k.Pub)
		}
		return tables.ErrConflict // the key was removed meanwhile, and is no longer the original
	})
}

// anothersKey refuses a key that is or was another agent's. x-agent-id is not signed. If
// two agents had the same key, a request of one agent could be sent as the other's.
func anothersKey(pub string) *api.Error {
	return api.Fail(api.AlreadyRegistered, "%s is a key of another agent, or was one.", pub).
		WithHint("Make another key for this agent: a public key belongs to the first agent that has it, even after that agent removed it.")
}

// proved returns the new key in normalised form, or an error if the key or the proof is
// invalid.
func (in *addKeyIn) proved(agent string) (pub string, err error) {
	b := &in.Body
	key, err := auth.NewKey(b.Pubkey)
	if err != nil {
		return "", api.BadField("pubkey", "%s", err)
	}
	pub = auth.EncodeKey(key)
	message := func(pub string) string { return "addkey:" + agent + ":" + pub }
	if auth.VerifyBody(key, b.Proof, message(pub)) != nil && auth.VerifyBody(key, b.Proof, message(b.Pubkey)) != nil {
		return "", api.Fail(api.BadProof, "proof is not a signature of %q by the new key.", message(pub))
	}
	return pub, nil
}

func (g access) addKeyAnswer(ctx context.Context, in *addKeyIn, outcome *keyAdded) (*wire.KeyResult, error) {
	c := api.From(ctx)
	why := "sign with the key: send x-agent-id: " + c.Agent.ID
	if outcome.Original {
		why = "sign with the key"
	}
	k := &tables.AgentKey{Pub: outcome.Pub, Label: in.Body.Label, AddedAt: outcome.At, Original: outcome.Original}
	return &wire.KeyResult{AgentKey: publicKeyOf(k), Written: c.Next(
		wire.Next{Do: "GET /v1/me", Why: why, Tool: "me"},
		wire.Next{Do: "GET /v1/me/keys", Why: "see every key that acts for you"},
	)}, nil
}

type removeKeyIn struct {
	Pubkey string `path:"pubkey" maxLength:"64" doc:"base64url of the raw 32 bytes."`
}

// pub returns the key in normalised form; "" if it is not a key.
func (in *removeKeyIn) pub() string {
	b, err := auth.DecodeBody(in.Pubkey)
	if err != nil || len(b) != 32 {
		return ""
	}
	return auth.EncodeKey(b)
}

// Reads implements [api.Reader].
func (in *removeKeyIn) Reads(agent string) []tables.Key {
	pub := in.pub()
	if pub == "" {
		return nil
	}
	return []tables.Key{tables.AgentKeyKey(agent, pub)}
}

type keyRemoved struct{ Pub string }

func (g access) removeKey(ctx context.Context, in *removeKeyIn) (*keyRemoved, error) {
	c := api.From(ctx)
	agent, pub := c.Agent.ID, in.pub()
	none := api.Fail(api.NotFound, "%q is not one of your keys.", in.Pubkey)
	var k tables.AgentKey
	if err := tables.Unmarshal(c.Item(tables.AgentKeyKey(agent, pub)), &k); err != nil {
		return nil, err
	}
	switch {
	case k.Pub == "" || k.Epoch != c.Agent.Epoch:
		return nil, none
	case c.Agent.Keys < 2:
		return nil, lastKey()
	case pub == c.Key():
		return nil, api.Fail(api.OwnKey, "The request is signed with %s, the key that it would remove.", pub)
	}
	writes := []tables.Write{
		c.CredentialStands(),
		k.Remove(agent).Else(tables.Means(none)),
		c.Agent.RemoveKey().Else(func(now tables.Item) error {
			if now.Int("epoch") != c.Agent.Epoch {
				return c.CredentialGone()
			}
			return lastKey()
		}),
	}
	if k.Original {
		writes = append(writes, k.EndOriginal(agent))
	}
	outcome := &keyRemoved{pub}
	return outcome, c.Commit(ctx, outcome, writes...)
}

func lastKey() *api.Error {
	return api.Fail(api.LastKey, "This is the agent's last key; without a key, the agent would be lost.")
}

func (g access) removeKeyAnswer(ctx context.Context, _ *removeKeyIn, outcome *keyRemoved) (*wire.KeyRemovalResult, error) {
	return &wire.KeyRemovalResult{Removed: outcome.Pub, Written: api.From(ctx).Next(
		wire.Next{Do: "GET /v1/me/keys", Why: "see the remaining keys"},
		wire.Next{Do: "GET /v1/me/tokens", Why: "see which tokens and connections still act for you: removing a key does not end all of them"},
	)}, nil
}
