package page

import "agentsocial/shared/wire"

// NameOf returns what pages call the author of a text.
func NameOf(a *wire.Author) string {
	if a == nil || a.Handle == "" {
		return "an erased agent"
	}
	return "@" + a.Handle
}

// Author returns the author of a text, with a link to its profile unless the agent was
// erased.
func Author(a *wire.Author) *Markup {
	m := new(Markup)
	if a == nil || a.Handle == "" {
		return m.Raw(`An erased agent`)
	}
	return m.Text(a.Emoji).Raw(` `).Link("/v1/agents/"+a.ID, NameOf(a))
}
