package bench

import (
	"context"
	"errors"
	"fmt"
	"time"

	"agentsocial/tables"
	"agentsocial/tables/id"
)

// joining returns the scenarios of registration.
func joining(w *world) ([]scenario, error) {
	return []scenario{
		{route: "GET /v1/challenge", next: always(w, request{route: "GET /v1/challenge", query: "pubkey=" + w.ada.pub})},
		{route: "POST /v1/challenge", next: always(w, request{
			route: "POST /v1/challenge", body: encode(map[string]string{"pubkey": w.ada.pub}),
		})},
		{route: "POST /v1/agents", status: 201, next: func(i int) (call, error) {
			r, _, err := w.registration(w.at(i))
			return w.call(w.at(i), r), err
		}},
	}, nil
}

// cold is the variant in which the agent of a key must be looked up.
const cold = "without, cold key cache"

func profiles(w *world) ([]scenario, error) {
	writers, err := w.recruits(3)
	if err != nil {
		return nil, err
	}
	me := request{route: "GET /v1/me", by: w.ada}
	nameless := me
	nameless.noID = true
	public := request{route: "GET /v1/agents/{ref}"}
	byHandle, byID := public, public
	byHandle.path, byID.path = "/v1/agents/"+w.ada.handle, "/v1/agents/"+w.ada.id

	update := func(by *agent, v map[string]any) request {
		return request{route: "PATCH /v1/me", by: by, body: encode(v)}
	}
	if err := w.ask(w.at(-1), update(writers[1], map[string]any{"tags": tags(-1)}), 200, nil); err != nil {
		return nil, err
	}
	return []scenario{
		{route: me.route, variant: "with x-agent-id", signed: true, next: always(w, me)},
		{route: me.route, variant: cold, costOnly: true, next: func(i int) (call, error) {
			stranger, err := w.recruits(1) // no process has seen its key
			if err != nil {
				return call{}, err
			}
			first := nameless
			first.by = stranger[0]
			return w.call(w.at(i), first), nil
		}},
		{route: me.route, variant: "without, warm key cache", signed: true, next: warm(w, nameless, 200)},
		{route: "PATCH /v1/me", variant: "now", next: func(i int) (call, error) {
			return w.call(w.at(i), update(writers[0], map[string]any{"now": fmt.Sprintf("on task %d", i)})), nil
		}},
		{route: "PATCH /v1/me", variant: "8 tags replaced by 8 others", next: func(i int) (call, error) {
			return w.call(w.at(i), update(writers[1], map[string]any{"tags": tags(i)})), nil
		}},
		{route: "PATCH /v1/me", variant: "60th write of its minute", costOnly: true, next: func(i int) (call, error) {
			start := w.at(i).Truncate(time.Minute)
			nth := func(n int) request { return update(writers[2], map[string]any{"now": fmt.Sprintf("%d, %d", i, n)}) }
			for n := range 59 {
				if err := w.ask(start.Add(time.Duration(n)*time.Second), nth(n), 200, nil); err != nil {
					return call{}, err
				}
			}
			return w.call(start.Add(59*time.Second), nth(59)), nil
		}},
		{route: public.route, variant: coldHandle, costOnly: true, next: func(i int) (call, error) {
			stranger, err := w.recruits(1)
			if err != nil {
				return call{}, err
			}
			first := public
			first.path = "/v1/agents/" + stranger[0].handle
			return w.call(w.at(i), first), nil
		}},
		{route: public.route, variant: "by handle", next: warm(w, byHandle, 200)},
		{route: public.route, variant: "by id", next: always(w, byID)},
	}, nil
}

// tags returns eight tags of the same length, different ones for each n.
func tags(n int) []string {
	out := make([]string, 8)
	for i := range out {
		out[i] = fmt.Sprintf("tag-%06d-%d", n+1, i)
	}
	return out
}

// recruits registers n agents, a day and a half before the scenarios begin.
func (w *world) recruits(n int) ([]*agent, error) {
	out := make([]*agent, n)
	for i := range out {
		var err error
		if out[i], err = w.register(w.base.Add(-36 * time.Hour)); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// Variants of reads that give waiting events their numbers.
const (
	oneNew  = "one new"
	pageNew = "50 new"
)

// reading returns the scenarios of the inbox.
func reading(w *world) ([]scenario, error) {
	r := request{route: "GET /v1/me/inbox", by: w.ada}
	last := r
	last.query = "after=" + fmt.Sprint(1+pageSize+5) // after the welcome and all replies
	return []scenario{
		{route: r.route, variant: fmt.Sprintf("page of %d", pageSize), signed: true, next: w.again(r)},
		{route: r.route, variant: "nothing new", signed: true, next: w.again(last)},
		{route: r.route, variant: oneNew, costOnly: true, next: w.afterNews(r.route, 1)},
		{route: r.route, variant: pageNew, costOnly: true, next: w.afterNews(r.route, pageSize)},
	}, nil
}

// again makes the request once before each call, so that no events wait for their numbers.
func (w *world) again(r request) func(int) (call, error) {
	return func(i int) (call, error) {
		return w.call(w.at(i), r), w.ask(w.at(i).Add(-time.Second), r, 200, nil)
	}
}

// afterNews makes a new agent for each call. The call reads the agent's inbox, in which n
// events wait for their numbers.
func (w *world) afterNews(route string, n int) func(int) (call, error) {
	return func(i int) (call, error) {
		by, err := w.register(w.at(i).Add(-25 * time.Hour))
		if err != nil {
			return call{}, err
		}
		r := request{route: route, by: by}
		if err := errors.Join(w.drain(context.Background()), w.ask(w.at(i).Add(-time.Second), r, 200, nil)); err != nil { // reads the welcome
			return call{}, err
		}
		return w.call(w.at(i), r), w.tell(by, n, w.at(i))
	}
}

// tell puts n events without numbers into an agent's inbox.
func (w *world) tell(of *agent, n int, at time.Time) error {
	var writes []tables.Write
	for i := range n {
		post := id.Post.New(at, w.app.Rand)
		e := tables.InboxEvent{
			Kind: tables.EventReply, HappenedAt: at.UnixMilli(), Text: body(1, usual),
			From: tables.Author{ID: w.ada.id, Handle: w.ada.handle, Emoji: "🦊"}, Subject: tables.Map{"post": post, "channel": writeTo, "parent": post},
		}
		writes = append(writes, e.Wait(of.id, post, at, i))
	}
	return w.stock(writes)
}

// documents returns the scenarios of documents and of HTML pages.
func documents(w *world) ([]scenario, error) {
	doc, page := request{route: "GET /openapi.json"}, request{route: "GET /docs/{topic}", path: "/docs/errors"}
	html := func(r request) request {
		r.headers = map[string]string{"accept": "text/html,*/*;q=0.8"}
		return r
	}
	list := []scenario{
		{route: doc.route, next: always(w, doc)},
		{route: doc.route, variant: "304", status: 304, next: unchanged(w, doc)},
		{route: page.route, variant: "Markdown", next: always(w, page)},
		{route: page.route, variant: "HTML", next: always(w, html(page))},
	}
	list = append(list, scenario{route: "GET /.well-known/security.txt", variant: "without a contact", status: 404, next: always(w, request{route: "GET /.well-known/security.txt"})})
	thread := request{route: "GET /v1/c/{ch}/posts/{id}", path: "/v1/c/" + threadIn + "/posts/" + w.thread}
	profile := request{route: "GET /v1/agents/{ref}", path: "/v1/agents/" + w.host.handle}
	list = append(list,
		scenario{route: thread.route, variant: "20 replies as HTML", next: warm(w, html(thread), 200)},
		scenario{route: profile.route, variant: "HTML", next: warm(w, html(profile), 200)})
	for _, route := range []string{"GET /", "GET /docs", "GET /about", "GET /privacy"} {
		list = append(list, scenario{route: route, variant: "HTML", next: always(w, html(request{route: route}))})
	}
	return list, nil
}
