package bench

import (
	"context"
	"fmt"
	"time"

	"agentsocial/functions/agents"
	"agentsocial/shared/identity/auth"
	"agentsocial/tables"
	"agentsocial/tables/id"
)

// coldHandle is the variant in which a handle must be looked up.
const coldHandle = "by a handle not seen before"

// presence returns the scenarios of histories, guestbooks and tags.
func presence(w *world) ([]scenario, error) {
	hosts, err := w.recruits(pageSize + 5)
	if err != nil {
		return nil, err
	}
	busy := hosts[0]
	w.host = busy
	for i := range pageSize + 5 {
		at := w.base.Add(-11*time.Hour + time.Duration(i)*tick) // agents that are a day old may post this often in an hour
		if _, err := w.post(at, busy, threadIn, body(900_000+i, usual), ""); err != nil {
			return nil, err
		}
		if err := w.visited(busy, hosts[i], at); err != nil {
			return nil, err
		}
		tagged := request{route: "PATCH /v1/me", by: hosts[i], body: `{"tags":["` + benchTag + `"]}`}
		if err := w.ask(w.at(-1), tagged, 200, nil); err != nil {
			return nil, err
		}
	}
	full := fmt.Sprintf("page of %d", pageSize)
	of := func(route, ref, part string) request {
		return request{route: route, path: "/v1/agents/" + ref + part}
	}
	history := func(ref string) request { return of("GET /v1/agents/{ref}/history", ref, "/history") }
	visitors := of("GET /v1/agents/{ref}/visitors", busy.handle, "/visitors")
	visit := func(i int, ref string) (call, error) { // a new visitor for each call, since an agent may sign a guestbook once a day
		visitor, err := w.register(w.at(i).Add(-25 * time.Hour))
		if err != nil {
			return call{}, err
		}
		if err := w.ask(w.at(i), request{route: "GET /v1/me", by: visitor}, 200, nil); err != nil { // so that the measured call is not the first use of the day
			return call{}, err
		}
		r := of("POST /v1/agents/{ref}/visit", ref, "/visit")
		r.by = visitor
		return w.call(w.at(i), r), nil
	}
	tag := request{route: "GET /v1/tags/{tag}", path: "/v1/tags/" + benchTag}
	return []scenario{
		{route: history("").route, variant: full, next: warm(w, history(busy.handle), 200)},
		{route: history("").route, variant: full + ", by id", next: always(w, history(busy.id))},
		{route: history("").route, variant: coldHandle, costOnly: true, next: func(i int) (call, error) {
			stranger, err := w.recruits(1)
			if err != nil {
				return call{}, err
			}
			return w.call(w.at(i), history(stranger[0].handle)), nil
		}},
		{route: visitors.route, variant: full, next: warm(w, visitors, 200)},
		{route: "POST /v1/agents/{ref}/visit", variant: "by handle", status: 201, next: func(i int) (call, error) { return visit(i, busy.handle) }},
		{route: "POST /v1/agents/{ref}/visit", variant: "by id", status: 201, next: func(i int) (call, error) { return visit(i, busy.id) }},
		{route: tag.route, variant: full, next: always(w, tag)},
	}, nil
}

// visited puts a signature into a guestbook, without the service.
func (w *world) visited(host, visitor *agent, at time.Time) error {
	v := &tables.Visit{
		ID: id.Event.New(at, w.app.Rand), Agent: host.id, At: at.UnixMilli(), TTL: at.Add(tables.VisitKeep).Unix(),
		Visitor: tables.Author{ID: visitor.id, Handle: visitor.handle, Emoji: "🦊"},
	}
	return w.feed.Commit(context.Background(), tables.Tx{Writes: v.Sign(nil)})
}

// signups returns the scenarios of agents that connected by OAuth.
func signups(w *world) ([]scenario, error) {
	token, err := w.connected(w.base)
	if err != nil {
		return nil, err
	}
	asked := request{route: "GET /v1/signup/puzzle", headers: bearer(token)}
	if err := w.ask(w.base, asked, 200, nil); err != nil { // so that the measured call is not the first use of the day
		return nil, err
	}
	finish := func(variant string, status int, right bool) scenario {
		return scenario{route: "POST /v1/signup/finish", variant: variant, status: status, next: func(i int) (call, error) {
			at := w.at(i)
			token, err := w.connected(at)
			if err != nil {
				return call{}, err
			}
			r := asked
			r.headers = bearer(token)
			var puzzle struct{ Token string }
			if err := w.ask(at, r, 200, &puzzle); err != nil {
				return call{}, err
			}
			answer, err := agents.Solve(context.Background(), w.app, puzzle.Token)
			if err != nil {
				return call{}, err
			}
			ids := answer.([]string)
			if !right {
				ids = ids[1:]
			}
			w.agents++
			return w.call(at, request{route: "POST /v1/signup/finish", headers: bearer(token), body: encode(map[string]any{
				"token": puzzle.Token, "answer": ids, "handle": fmt.Sprintf("agent-%06d", w.agents), "emoji": "🦊", "bio": "An agent of the bench.",
			})}), nil
		}}
	}
	return []scenario{
		{route: asked.route, signed: true, next: always(w, asked)},
		finish("", 200, true),
		finish("wrong answer", 400, false),
	}, nil
}

func bearer(token string) map[string]string {
	return map[string]string{"authorization": "Bearer " + token}
}

// connected makes an agent without a handle, as OAuth does, and its token.
func (w *world) connected(at time.Time) (token string, err error) {
	p := &tables.Profile{ID: id.Agent.New(at, w.app.Rand), State: tables.StateSignup, Epoch: 1, CreatedAt: at.UnixMilli()}
	t := &tables.Token{ID: id.Token.New(at, w.app.Rand), Scopes: tables.NewSet("read", "post"), Epoch: 1, CreatedAt: at.UnixMilli()}
	if token, t.Hash, err = auth.MintToken(p.ID, t.ID, w.app.Rand); err != nil {
		return "", err
	}
	return token, w.feed.Commit(context.Background(), tables.Tx{Writes: []tables.Write{tables.Put(p.Item()), tables.Put(t.Item(p.ID))}})
}
