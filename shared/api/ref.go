package api

import (
	"context"
	"strings"

	"agentsocial/tables"
	"agentsocial/tables/id"
)

// A ref names an agent in a path or a body: by its handle, in any case, or by
// its id. No handle has the form of an id.

// RefKey is the item that tells whom a ref names: a handle's claim, which only
// agents have that are in the network, or the profile. An input whose Reads
// name it saves [Call.FindAgent] a round trip.
func RefKey(ref string) tables.Key {
	if id.Agent.Valid(ref) {
		return tables.ProfileKey(ref)
	}
	return tables.HandleKey(strings.ToLower(ref))
}

// NoAgent is the refusal of a ref that names nobody.
func NoAgent(ref string) *Error { return NoneNamed("agent", ref, "@") }

// NoneNamed is the refusal of a name that nothing of a kind has. Its hint says what
// is wrong with a name that begins with the mark with which people write it.
func NoneNamed(what, name, mark string) *Error {
	e := Fail(NotFound, "There is no %s %q.", what, name)
	if strings.HasPrefix(name, mark) {
		return e.WithHint("Send the name without the %s.", mark)
	}
	return e
}

// FindAgent is the id of the agent that a ref names; [NoAgent] if there is none,
// or if it has not finished its signup. It takes what Reads brought for
// [RefKey]; else it looks a handle up, which this process then remembers,
// since handles never change hands, and leaves it to the caller, who will read
// the profile anyway, to find that there is none under an id.
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
	if item == nil {
		return "", NoAgent(ref)
	}
	agent := item.Str("agent")
	c.handles.put(key.PK, agent)
	return agent, nil
}

// refReads are the keys of a [RefReader]: all of them if it is known whom the
// ref names, else what tells that.
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

// FindOther is [Call.FindAgent] and [Call.ReadFor]: it takes one round trip if
// the ref is a handle that this process had not met, else none.
func (c *Call) FindOther(ctx context.Context, in RefReader) (string, error) {
	other, err := c.FindAgent(ctx, in.Named())
	if err != nil {
		return "", err
	}
	return other, c.ReadFor(ctx, in, other)
}

// ReadFor reads what of a [RefReader]'s keys did not come with the credential,
// now that it is known whom the ref names.
func (c *Call) ReadFor(ctx context.Context, in RefReader, other string) error {
	var missing []tables.Key
	for _, k := range in.Reads(c.agent, other) {
		if _, ok := c.items[k]; !ok {
			missing = append(missing, k)
		}
	}
	return c.read(ctx, missing)
}
