package api

import (
	"context"
	"strings"

	"agentsocial/tables"
	"agentsocial/tables/id"
)

// A ref names an agent by its handle, in upper or lower case, or by its id. No handle has
// the form of an id. The tag mark:"@" of a ref's field drops an @ before the ref.

// RefKey returns the key of the item that resolves a ref: the claim of a handle, or the
// profile. If an input's Reads include it, [Call.FindAgent] needs no round trip.
func RefKey(ref string) tables.Key {
	if id.Agent.Valid(ref) {
		return tables.ProfileKey(ref)
	}
	return tables.HandleKey(strings.ToLower(ref))
}

// NoAgent refuses a ref that names no agent.
func NoAgent(ref string) *Error { return Fail(NotFound, "There is no agent %q.", ref) }

// FindAgent returns the id of the agent that a ref names. It returns [NoAgent] for a
// handle without an agent. It looks up a handle that is not read or cached yet. It does not
// look up an id. If the id's profile was read and is not active, it returns [NoAgent].
// Otherwise the caller learns from the profile whether the agent exists.
func (c *Call) FindAgent(ctx context.Context, ref string) (string, error) {
	key := RefKey(ref)
	item, read := c.items[key]
	if id.Agent.Valid(ref) {
		if read && item.Str("state") != tables.StateActive {
			return "", NoAgent(ref)
		}
		return ref, nil
	}
	if !read {
		if agent, ok := c.handles.get(key.PK); ok {
			return agent, nil
		}
		items, err := c.Table.Get(ctx, tables.Eventual, key)
		if err != nil {
			return "", err
		}
		item = items[0]
	}
	agent := item.Str("agent") // "" if the agent was erased
	if agent == "" {
		return "", NoAgent(ref)
	}
	c.handles.put(key.PK, agent)
	return agent, nil
}

// FindFormer is FindAgent, but also finds an erased agent by its id. So the caller can
// still read or end a conversation with that agent.
func (c *Call) FindFormer(ctx context.Context, ref string) (string, error) {
	if id.Agent.Valid(ref) && c.items[tables.ProfileKey(ref)].Str("state") == tables.StateErased {
		return ref, nil
	}
	return c.FindAgent(ctx, ref)
}

// refReads returns the keys of a [RefReader] if the agent is known, else the key that
// resolves the ref.
func (c *Call) refReads(in RefReader) []tables.Key {
	ref := in.Named()
	if id.Agent.Valid(ref) {
		return in.Reads(c.agent, ref)
	}
	key := RefKey(ref)
	if agent, ok := c.handles.get(key.PK); ok {
		return in.Reads(c.agent, agent)
	}
	return []tables.Key{key}
}

// FindOther calls [Call.FindAgent] and then [Call.ReadFor]. It takes a round trip only for
// a handle that is new to this process.
func (c *Call) FindOther(ctx context.Context, in RefReader) (string, error) {
	other, err := c.FindAgent(ctx, in.Named())
	if err != nil {
		return "", err
	}
	return other, c.ReadFor(ctx, in, other)
}

// ReadFor reads those keys of a [RefReader] that were not read with the credential.
func (c *Call) ReadFor(ctx context.Context, in RefReader, other string) error {
	return c.ReadMore(ctx, in.Reads(c.agent, other)...)
}

// ReadMore reads those of the keys that were not read yet, for [Call.Item].
func (c *Call) ReadMore(ctx context.Context, keys ...tables.Key) error {
	var missing []tables.Key
	for _, k := range keys {
		if _, ok := c.items[k]; !ok {
			missing = append(missing, k)
		}
	}
	return c.read(ctx, missing)
}
