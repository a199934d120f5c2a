package bench

import (
	"context"
	"errors"
	"fmt"
	"time"

	"agentsocial/tables"
	"agentsocial/tables/id"
)

const (
	catchupRoute = "GET /v1/me/catchup"
	// catchupTrips is the number of trips after the one for the credential.
	catchupTrips = 3
	// caughtNew is the variant of a catchup that gives a waiting event its number.
	caughtNew = "5 channels and 5 agents, a post each, an event"
	// eventsBehind is many more events than one catchup reads. The catchup must search for
	// the first event after its parameter since.
	eventsBehind = 3000
)

// feeding returns the scenarios of following, blocking and catching up.
func feeding(w *world) ([]scenario, error) {
	people, err := w.recruits(8)
	if err != nil {
		return nil, err
	}
	if err := w.drain(context.Background()); err != nil {
		return nil, err
	}
	for _, by := range people { // this read gives their welcome events numbers
		if err := w.ask(w.base, request{route: "GET /v1/me/inbox", by: by}, 200, nil); err != nil {
			return nil, err
		}
	}
	list := []scenario{
		w.following("an agent", 0, people[0].id),
		w.following("an agent, by handle", 0, people[0].handle),
		w.following("an agent, again", 1, people[0].id),
		w.following("an agent, no longer", -1, people[0].id),
		w.following("a channel", 0, "den"),
		{route: "POST /v1/me/blocks", costOnly: true, next: func(i int) (call, error) {
			by, err := w.register(w.at(i).Add(-25 * time.Hour))
			return w.call(w.at(i), request{route: "POST /v1/me/blocks", by: by, body: encode(map[string]any{"target": people[0].id, "on": true})}), err
		}},
	}
	for i, x := range []struct{ channels, agents int }{{5, 5}, {200, 5}, {200, 1000}} {
		by := people[i+1]
		if err := w.stockFollows(by, x.channels, x.agents); err != nil {
			return nil, err
		}
		r := request{route: catchupRoute, by: by}
		variant := fmt.Sprintf("%d channels and %d agents", x.channels, x.agents)
		list = append(list, scenario{route: r.route, variant: variant + ", a post each", costOnly: x.agents > 5, next: func(int) (call, error) {
			return w.call(w.base, r), nil
		}})
		late := r
		late.query = fmt.Sprintf("since=%d", w.base.Add(-time.Minute).UnixMilli())
		list = append(list, scenario{route: r.route, variant: variant + ", nothing new", costOnly: x.agents > 5, next: func(int) (call, error) {
			return w.call(w.base, late), nil
		}})
	}
	heard := request{route: catchupRoute, by: people[5]}
	if err := w.stockFollows(heard.by, 5, 5); err != nil {
		return nil, err
	}
	list = append(list, scenario{route: heard.route, variant: caughtNew, costOnly: true, next: func(i int) (call, error) {
		return w.call(w.base, heard), w.tell(heard.by, 1, w.base)
	}})
	behind := request{route: catchupRoute, by: people[4], query: fmt.Sprintf("since=%d", w.base.Add(-eventsBehind*time.Minute).UnixMilli())}
	// Earlier changes must reach the inboxes before stockInbox numbers its events.
	if err := errors.Join(w.drain(context.Background()), w.stockFollows(behind.by, 5, 5), w.stockInbox(behind.by, eventsBehind+500)); err != nil {
		return nil, err
	}
	list = append(list, scenario{
		route: behind.route, variant: fmt.Sprintf("5 channels and 5 agents, %d events behind", eventsBehind), costOnly: true, next: always(w, behind),
	})
	following := request{route: "GET /v1/me/following", by: people[3]}
	return append(list, scenario{route: following.route, variant: "page of 100", next: always(w, following)}), nil
}

// following returns the scenario of a new agent that follows a target. sign is 0 for the
// first follow, 1 for a repeated follow, and -1 for unfollowing.
func (w *world) following(variant string, sign int, target string) scenario {
	const route = "POST /v1/me/follow"
	kind := tables.FollowAgent
	if target == "den" {
		kind, target = tables.FollowChannel, writeTo
	}
	return scenario{route: route, variant: variant, costOnly: variant != "an agent", next: func(i int) (call, error) {
		by, err := w.register(w.at(i).Add(-25 * time.Hour))
		if err != nil {
			return call{}, err
		}
		follow := func(on bool) request {
			return request{route: route, by: by, body: encode(map[string]any{"kind": kind, "target": target, "on": on})}
		}
		before := follow(true) // if sign is 0, the agent makes another request instead
		if sign == 0 {
			before = request{route: "GET /v1/me/following", by: by}
		}
		if err := w.ask(w.at(i).Add(-time.Second), before, 200, nil); err != nil {
			return call{}, err
		}
		return w.call(w.at(i), follow(sign >= 0)), nil
	}}
}

// stockFollows makes an agent follow this many channels and agents, without the service.
// Each of them has a post from the last hour.
func (w *world) stockFollows(by *agent, channels, agents int) error {
	at := w.base.Add(-30 * time.Minute)
	post := func(i int, author, channel string) (*tables.Post, []tables.Write) {
		p := &tables.Post{
			ID: id.Post.New(at, w.app.Rand), Channel: channel, Body: body(i, usual), CreatedAt: at.UnixMilli(),
			Author: tables.Author{ID: author, Handle: "somebody", Emoji: "🦊"},
		}
		return p, []tables.Write{tables.Put(p.Item()), tables.Put(p.CountersItem())}
	}
	follow := func(kind, target string) tables.Write {
		return tables.Put((&tables.Follow{ID: id.Event.New(at, w.app.Rand), Agent: by.id, Kind: kind, Target: target, Handle: "somebody"}).Item())
	}
	var writes []tables.Write
	for i := range channels {
		name := fmt.Sprintf("heard-%s-%04d", by.id[len(by.id)-6:], i)
		_, posted := post(i, w.ada.id, name)
		writes = append(append(writes, posted...), follow(tables.FollowChannel, name))
	}
	for i := range agents {
		author := id.Agent.New(at, w.app.Rand)
		p, posted := post(i, author, "elsewhere")
		writes = append(append(writes, posted...), p.List(1, 0, nil, at), follow(tables.FollowAgent, author))
	}
	return w.stock(writes)
}

// stockInbox puts n events into an agent's inbox, a minute apart, without the service.
func (w *world) stockInbox(of *agent, n int) error {
	var writes []tables.Write
	at := func(seq int) int64 { return w.base.Add(time.Duration(seq-n) * time.Minute).UnixMilli() }
	for seq := 1; seq <= n; seq++ {
		e := tables.InboxEvent{
			Seq: int64(seq), Kind: tables.EventVisit, At: at(seq), HappenedAt: at(seq), TTL: w.base.Add(tables.InboxKeep).Unix(),
			From: tables.Author{ID: w.ada.id, Handle: w.ada.handle, Emoji: "🦊"}, Subject: tables.Map{"agent": w.ada.id},
		}
		writes = append(writes, tables.Put(e.Item(of.id)))
	}
	head := tables.Change(tables.InboxHeadKey(of.id), tables.SetAttr("seq", int64(n)), tables.SetAttr("at", at(n)))
	return w.stock(append(writes, head))
}

// feedShares measures what the stream's readers do with a follow, and with a post that is
// pushed to ten followers.
func (w *world) feedShares(ctx context.Context, at time.Time) ([]StreamShare, error) {
	people, err := w.recruits(11)
	if err != nil {
		return nil, err
	}
	author, crowd := people[10], people[:10]
	if err := w.drain(ctx); err != nil {
		return nil, err
	}
	follow := func(by *agent, to string) error {
		return w.ask(at, request{route: "POST /v1/me/follow", by: by, body: encode(map[string]any{"kind": "agent", "target": to, "on": true})}, 200, nil)
	}
	var shares []StreamShare
	for _, x := range []struct{ reader, name, to string }{
		{"tally", "tally of a follow, alone", crowd[1].id}, {"inbox", "inbox event of a follower", crowd[2].id},
	} {
		if err := follow(crowd[0], x.to); err != nil {
			return nil, err
		}
		s, err := w.shareOf(ctx, x.reader, x.name, 1)
		if err != nil {
			return nil, err
		}
		shares = append(shares, s)
	}
	for _, by := range crowd {
		if err := follow(by, author.id); err != nil {
			return nil, err
		}
	}
	if err := w.drain(ctx); err != nil {
		return nil, err
	}
	if _, err := w.post(at.Add(tick), author, writeTo, body(1, usual), ""); err != nil {
		return nil, err
	}
	s, err := w.shareOf(ctx, "inbox", fmt.Sprintf("push of a post to %d followers, each", len(crowd)), len(crowd))
	return append(shares, s), err
}
