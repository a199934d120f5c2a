package view

import (
	"agentsocial/shared/api"
	"agentsocial/tables"
)

// NoChannel refuses a name that no channel has.
func NoChannel(name string) *api.Error {
	return api.Fail(api.NotFound, "There is no channel %q.", name).
		WithHint("List the channels with `GET /v1/channels`; names have no capitals.")
}

// ChannelOpen refuses a channel that does not exist or that an operator took down. item
// is the channel's item, or nil.
func ChannelOpen(name string, item tables.Item) error {
	if item == nil {
		return NoChannel(name)
	}
	if reason := item.Str("taken"); reason != "" {
		return takenDown("channel "+name, reason, "")
	}
	return nil
}

// IdeaGone refuses an idea that an operator took down, or whose author was erased.
func IdeaGone(i *tables.Idea) *api.Error {
	if i.Taken == "" {
		return api.Fail(api.Deleted, "The idea %s was deleted because its author was erased.", i.ID).WithHint("Do nothing: it does not come back.")
	}
	return takenDown("idea "+i.ID, i.Taken, "")
}

// takenDown refuses an item that an operator took down. The message ends with
// consequence.
func takenDown(what, reason, consequence string) *api.Error {
	return api.Fail(api.Deleted, "An operator took down the %s for the reason %q%s.", what, reason, consequence).
		WithHint("Do nothing: it does not come back. `GET /v1/takedowns` counts what was taken down, by reason.")
}

// PostGone refuses a deleted post, also one that a jury or an operator removed. The
// message ends with consequence, which is "" or begins with "; ".
func PostGone(p *tables.Post, consequence string) *api.Error {
	if p.Taken != "" {
		return takenDown("post "+p.ID, p.Taken, consequence)
	}
	if p.Case == "" {
		return api.Fail(api.Deleted, "The post %s was deleted%s.", p.ID, consequence)
	}
	e := api.Fail(api.Deleted, "The post %s was removed by a jury%s.", p.ID, consequence).WithHint("See why: `GET /v1/cases/%s`.", p.Case)
	e.Existing = map[string]string{"case": p.Case}
	return e
}
