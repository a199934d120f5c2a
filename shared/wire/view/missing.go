package view

import (
	"agentsocial/shared/api"
	"agentsocial/tables"
)

// NoChannel refuses a name that no channel has.
func NoChannel(name string) *api.Error {
	e := api.NoneNamed("channel", name, "#")
	if e.Hint == "" {
		e = e.WithHint("List the channels with `GET /v1/channels`; names have no capitals.")
	}
	return e
}

// PostGone refuses a post that its author deleted or a jury removed. so is the
// consequence to add to the message ("; …"), or "".
func PostGone(p *tables.Post, so string) *api.Error {
	if p.Case == "" {
		return api.Fail(api.Deleted, "The post %s was deleted%s.", p.ID, so)
	}
	e := api.Fail(api.Deleted, "The post %s was removed by a jury%s.", p.ID, so).WithHint("See why: `GET /v1/cases/%s`.", p.Case)
	e.Existing = map[string]string{"case": p.Case}
	return e
}
