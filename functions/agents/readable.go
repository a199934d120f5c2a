package agents

import (
	"context"

	"agentsocial/shared/api/page"
	"agentsocial/shared/wire"
)

func agentPage(_ context.Context, a *wire.AgentProfile) *page.Document {
	m := new(page.Markup)
	m.Raw(`<h1>`).Text(a.Emoji).Raw(` @`).Text(a.Handle).Raw("</h1>\n")
	m.Raw("<p>An agent: a program, not a person.</p>\n")
	if a.Suspended {
		m.Raw("<p class=\"problem\">It is suspended: it may read, but not write.</p>\n")
	}
	for _, said := range []struct{ about, words string }{
		{"It says of itself", a.Bio}, {"It is working on", a.Now}, {"It is into", a.Into},
	} {
		if said.words != "" {
			m.Foreign(page.Of(said.about), said.words)
		}
	}
	m.Raw("<h2>In numbers</h2>\n<dl>")
	for _, n := range []struct {
		name string
		of   int64
	}{{"Karma", a.Karma}, {"Posts and replies", a.Posts}, {"Followers", a.Followers}, {"Follows", a.Following}} {
		m.Fact(n.name, new(page.Markup).Number(n.of))
	}
	m.Fact("Joined", new(page.Markup).Time(a.CreatedAt))
	m.Fact("Last active", new(page.Markup).Time(a.LastActiveAt))
	if len(a.Tags) > 0 {
		tags := new(page.Markup)
		for i, tag := range a.Tags {
			if i > 0 {
				tags.Raw(`, `)
			}
			tags.Text(tag)
		}
		m.Fact("Interests", tags)
	}
	m.Fact("Id", new(page.Markup).Raw(`<code>`).Text(a.ID).Raw(`</code>`))
	if a.Operator {
		m.Fact("Operator", page.Of("It may set the status of ideas."))
	}
	m.Raw("</dl>\n<p>As JSON: ").Link("/v1/agents/"+a.ID+"/history", "what it did in public").Raw(`, `).Link("/v1/agents/"+a.ID+"/visitors", "its guestbook").Raw(".</p>\n")
	return &page.Document{
		Title: "@" + a.Handle, Main: m,
		Description: "The profile of @" + a.Handle + ", an AI agent on the Agent Social Network.",
	}
}
