package simulate

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"agentsocial/local/transcripts"
)

var posting = []maker{
	{
		routes: []string{"POST /v1/c/{ch}/posts"}, weight: 1, likes: []character{chatter, spammer, connector},
		make: func(w *world, r *rand.Rand, p *person) *op {
			if p == nil {
				return nil
			}
			return w.writes(r, p)
		},
	},
	{ // a burst of posts
		routes: []string{"POST /v1/c/{ch}/posts"}, weight: .01, likes: []character{spammer},
		make: func(w *world, r *rand.Rand, p *person) *op {
			if p == nil {
				return nil
			}
			for range 7 {
				if o := w.writes(r, p); o != nil {
					w.carry(r, []*op{o})
				}
			}
			return w.writes(r, p)
		},
	},
	{ // the same body again, which is refused within a day
		routes: []string{"POST /v1/c/{ch}/posts"}, weight: .1, likes: []character{spammer},
		make: func(w *world, r *rand.Rand, p *person) *op {
			x := w.recent(r)
			if x == nil {
				return nil
			}
			o := &op{
				route: "POST /v1/c/{ch}/posts", by: x.by, expect: may, touches: []string{"text " + x.by.id + x.body},
				req: w.signs(x.by, "POST", "/v1/c/"+x.channel+"/posts", object(map[string]any{"body": x.body})), quota: postsMinute,
			}
			if time.Since(x.at) < 23*time.Hour+50*time.Minute {
				o.expect, o.codes = never, []string{"duplicate_post"}
			}
			if slices.Contains(w.shut, x.channel) {
				o.expect, o.codes = never, []string{"duplicate_post", "deleted"}
			}
			o.done = func(a *transcripts.Answer) { w.posted(x.by, x.channel, x.body, nil, a.Text("id")) }
			return o
		},
	},
	{
		routes: []string{"DELETE /v1/c/{ch}/posts/{id}"}, weight: .2, likes: []character{leaver},
		make: func(w *world, r *rand.Rand, p *person) *op {
			x := w.recent(r)
			if x == nil || x.removed || x.taken {
				return nil
			}
			if r.IntN(5) == 0 { // by somebody who is not the author
				q := w.somebody(r, x.by)
				if q == nil {
					return nil
				}
				return &op{
					route: "DELETE /v1/c/{ch}/posts/{id}", by: q, expect: never, codes: []string{"not_author", "deleted"},
					req: w.signs(q, "DELETE", "/v1/c/"+x.channel+"/posts/"+x.id, ""), touches: []string{},
				}
			}
			o := &op{
				route: "DELETE /v1/c/{ch}/posts/{id}", by: x.by, expect: must, allow: []string{"deleted"}, touches: []string{"post " + x.id},
				req:  w.calls(r, x.by, "post", "DELETE", "/v1/c/"+x.channel+"/posts/"+x.id, ""),
				done: func(*transcripts.Answer) { x.deleted, x.goneAt = true, time.Now() },
			}
			if x.deleted {
				o.expect, o.codes = never, []string{"deleted"}
			}
			return o
		},
	},
	{
		routes: []string{"POST /v1/channels"}, weight: .05,
		make: func(w *world, r *rand.Rand, p *person) *op {
			if p == nil {
				return nil
			}
			name := fmt.Sprintf("den-%d", len(w.channels)+len(w.shut)+1)
			vent := r.IntN(3) == 0
			o := &op{
				route: "POST /v1/channels", by: p, expect: may, touches: []string{"channels"},
				req:  w.signs(p, "POST", "/v1/channels", object(map[string]any{"name": name, "kind": "leisure", "vent": vent, "about": "a den"})),
				done: func(*transcripts.Answer) { w.channels = append(w.channels, name) },
			}
			if time.Since(p.at) < 24*time.Hour-time.Minute {
				o.expect, o.codes = never, []string{"account_too_young"}
			}
			return o
		},
	},
}

func (w *world) channel(r *rand.Rand) string {
	all := append(append([]string{}, public...), w.channels...)
	return all[r.IntN(len(all))]
}

func (w *world) writes(r *rand.Rand, p *person) *op {
	ch := w.channel(r)
	var parent *posted
	if r.IntN(2) == 0 {
		if parent = w.recent(r); parent != nil {
			ch = parent.channel
		}
	}
	w.texts++
	body := fmt.Sprintf("%s says %d: %s", p.name, w.texts, words(r))
	for range r.IntN(3) {
		if q := w.somebody(r, nil); q != nil && r.IntN(2) == 0 {
			body += " @" + q.name
		}
	}
	in := map[string]any{"body": body}
	o := &op{
		route: "POST /v1/c/{ch}/posts", by: p, expect: must, touches: []string{}, quota: postsMinute,
		done: func(a *transcripts.Answer) { w.posted(p, ch, body, parent, a.Text("id")) },
	}
	if parent != nil {
		in["parent"] = parent.id
		o.touches = []string{"post " + parent.id}
		if parent.gone() {
			o.expect, o.codes = never, []string{"deleted"}
		} else if w.judged(parent) {
			o.allow = []string{"deleted"}
		}
	}
	o.req = w.calls(r, p, "post", "POST", "/v1/c/"+ch+"/posts", object(in))
	return o
}

func words(r *rand.Rand) string {
	some := strings.Fields("moon river stone lamp goose winter letter copper meadow engine quiet harbour pepper violin anchor")
	var b strings.Builder
	for range 3 + r.IntN(8) {
		b.WriteString(some[r.IntN(len(some))] + " ")
	}
	return strings.TrimSpace(b.String())
}

func (w *world) posted(p *person, ch, body string, parent *posted, id string) {
	x := &posted{
		id: id, channel: ch, body: body, by: p, parent: parent, at: time.Now(), votes: map[string]int{}, reactions: map[string]map[string]bool{},
		reporters: map[string]bool{},
	}
	if w.byPost[id] != nil {
		w.violate("model", "the post %s exists twice", id)
	}
	w.posts = append(w.posts, x)
	w.byPost[id] = x
	w.byText[textOf(body)] = append(w.byText[textOf(body)], x)
	if parent != nil && parent.by != p {
		parent.by.hears("reply", id, p, true, x)
	}
	for _, q := range w.people {
		if !slices.Contains(strings.Fields(body), "@"+q.name) || q == p || parent != nil && parent.by == q {
			continue
		}
		sure := q.mentions == "anyone" // other settings may refuse the event
		q.hears("mention", id, p, sure, x)
	}
}

// hears notes an event of p's inbox. sure says that the event must arrive.
func (p *person) hears(kind, source string, from *person, sure bool, x *posted) {
	for _, t := range p.told {
		if t.kind == kind && t.source == source {
			return
		}
	}
	if p.blocks[from.id] {
		sure = false
	}
	p.told = append(p.told, &told{kind: kind, source: source, at: time.Now(), sure: sure, post: x, from: from})
}

// judged reports whether a case about a post may have been decided.
func (w *world) judged(x *posted) bool {
	return len(x.reporters) > 0
}

func (w *world) newestOf(p *person) *posted {
	for _, x := range slices.Backward(w.posts) {
		if x.by == p {
			return x
		}
	}
	return nil
}
