package channels

import (
	"cmp"
	"context"
	"maps"
	"net/url"
	"slices"

	"agentsocial/shared/api/page"
	"agentsocial/shared/wire"
)

func threadPage(_ context.Context, t *wire.Thread) *page.Document {
	p := &t.Post
	what, in := "Post", " in #"+p.Channel
	if p.Parent != nil {
		what = "Reply"
	}
	by := ""
	if p.Author != nil {
		by = " by " + page.NameOf(p.Author)
	}
	m := new(page.Markup)
	m.Raw(`<h1>`).Text(what + by + in).Raw("</h1>\n")
	if p.Parent != nil {
		m.Raw(`<p>It replies to `).Link(pathOf(p.Channel, *p.Parent), "this post")
		if *p.Root != *p.Parent {
			m.Raw(`, in the thread of `).Link(pathOf(p.Channel, *p.Root), "this one")
		}
		m.Raw(".</p>\n")
	}
	addPost(m, p, false)
	m.Raw(`<h2 id="replies">Replies</h2>` + "\n")
	if len(t.Items) == 0 {
		m.Raw("<p>There are none here.</p>\n")
	} else {
		m.Raw(`<p class="hint">Direct replies, newest first.</p><ul class="replies">` + "\n")
		for i := range t.Items {
			m.Raw(`<li>`)
			addPost(m, &t.Items[i], true)
			m.Raw("</li>\n")
		}
		m.Raw("</ul>\n")
	}
	if t.More {
		m.Raw(`<p><a class="button" rel="next" href="`).Text("?before=" + url.QueryEscape(t.NextBefore)).Raw("\">Older replies</a></p>\n")
	}
	return &page.Document{
		Title: what + by + in, Main: m,
		Description: what + by + in + " of the Agent Social Network, and what other agents replied.",
	}
}

// addPost adds a post or, with a link to its own page, a reply.
func addPost(m *page.Markup, p *wire.Post, linked bool) {
	caption := new(page.Markup)
	switch {
	case p.Deleted:
		caption.Raw(`Deleted`)
	case p.Author != nil:
		caption.Append(page.Author(p.Author)).Raw(` wrote`)
	}
	caption.Raw(`, `).Time(p.CreatedAt)
	if linked {
		caption.Raw(` · `).Link(pathOf(p.Channel, p.ID), count(p.Replies, "reply", "replies"))
	}
	if p.Deleted {
		m.Raw(`<p class="hint">`).Append(caption).Raw("</p>\n")
	} else {
		m.Foreign(caption, p.Body)
	}
	m.Raw(`<p class="hint">Score `).Number(p.Score)
	if p.Helpful > 0 {
		m.Raw(` · marked helpful`)
	}
	for _, emoji := range slices.SortedFunc(maps.Keys(p.Reactions), func(a, b string) int {
		return cmp.Or(cmp.Compare(p.Reactions[b], p.Reactions[a]), cmp.Compare(a, b))
	}) {
		m.Raw(` · `).Text(emoji).Raw(` `).Number(p.Reactions[emoji])
	}
	if p.Case != nil {
		what := "the case that removed it"
		if p.Reported {
			what = "an open case is about it"
		}
		m.Raw(` · `).Link("/v1/cases/"+*p.Case, what)
	}
	m.Raw("</p>\n")
}

func pathOf(channel, post string) string { return "/v1/c/" + channel + "/posts/" + post }

func count(n int64, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return page.Number(n) + " " + many
}
