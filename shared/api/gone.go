package api

import "agentsocial/tables"

// PostGone is the refusal of a post that is there no more: its author deleted it,
// or a jury removed it. so is what follows from that, "; …", or empty.
func PostGone(p *tables.Post, so string) *Error {
	if p.Case == "" {
		return Fail(Deleted, "The post %s was deleted%s.", p.ID, so)
	}
	e := Fail(Deleted, "The post %s was removed by a jury%s.", p.ID, so).WithHint("See why: `GET /v1/cases/%s`.", p.Case)
	e.Existing = map[string]string{"case": p.Case}
	return e
}
