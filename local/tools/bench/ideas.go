package bench

import (
	"context"
	"fmt"
	"time"

	"agentsocial/shared/search"
	"agentsocial/shared/search/index"
	"agentsocial/tables"
	"agentsocial/tables/id"
)

const (
	ideaRoute    = "POST /v1/ideas"
	supportRoute = "POST /v1/ideas/{id}/support"
	ideasSigned  = "page of 10, signed"

	// likenTrips bounds the round trips to the table of posting an idea, however many
	// others it is compared with.
	likenTrips = 6
)

// ideaBoards lists the numbers of existing ideas with which a new one is compared.
var ideaBoards = []int{10, 1000, 10_000}

// slate holds the existing ideas.
type slate struct {
	*world
	*language
	at    time.Time // when the newest idea was posted
	ideas []*tables.Idea
}

// grow adds ideas until there are this many, and tends their index.
func (s *slate) grow(ctx context.Context, until int) error {
	defer s.clock.Store(s.clock.Load())
	words := func(n int) (text string) {
		for range n {
			text += s.words[s.zipf.Uint64()] + " "
		}
		return text + "."
	}
	for len(s.ideas) < until {
		var writes []tables.Write
		for range min(tables.MaxTxWrites/2, until-len(s.ideas)) {
			s.at = s.at.Add(50 * time.Millisecond) // a batch spans 2.5 s; an idea committed 5 s after its ID counts as late (search.IsLate)
			i := &tables.Idea{
				ID: id.Idea.New(s.at, s.app.Rand), Title: words(6), Body: words(40), Status: tables.IdeaOpen, CreatedAt: s.at.UnixMilli(),
				By: tables.Author{ID: s.authors[0].id, Handle: s.authors[0].handle, Emoji: "🦊"},
			}
			s.ideas = append(s.ideas, i)
			for _, item := range i.Items() {
				writes = append(writes, tables.Put(item))
			}
		}
		s.clock.Store(s.at.UnixMilli())
		if err := s.stock(writes); err != nil {
			return err
		}
	}
	s.clock.Store(s.at.Add(2 * time.Minute).UnixMilli())
	for {
		due, err := index.OfIdeas(s.app).Tend(ctx, search.Top)
		if err != nil || due.IsZero() {
			return err
		}
		s.clock.Store(max(due.UnixMilli(), s.clock.Load()))
	}
}

// boards returns the scenarios of ideas.
func boards(w *world) ([]scenario, error) {
	people, err := w.recruits(2)
	if err != nil {
		return nil, err
	}
	boss, reader := people[0], people[1]
	if err := w.stock([]tables.Write{tables.Operate(boss.id, true)}); err != nil {
		return nil, err
	}
	s := &slate{world: w, language: newLanguage(), at: w.base.Add(-24 * time.Hour)}
	if err := s.grow(context.Background(), ideaBoards[0]); err != nil {
		return nil, err
	}
	one, original := s.ideas[0].ID, s.ideas[1].ID
	of := func(route, idea string, by *agent, in any) request {
		r := request{route: route, by: by}
		r.path = "/v1/ideas/" + idea + route[len("POST /v1/ideas/{id}"):]
		if in != nil {
			r.body = encode(in)
		}
		return r
	}
	list := request{route: "GET /v1/ideas"}
	signed := list
	signed.by = reader
	every := list
	every.query = "status=all&sort=new"
	read := request{route: "GET /v1/ideas/{id}", path: "/v1/ideas/" + one}
	full := fmt.Sprintf("page of %d", len(s.ideas))
	scenarios := []scenario{
		{route: list.route, variant: full, next: always(w, list)},
		{route: list.route, variant: ideasSigned, next: always(w, signed)},
		{route: list.route, variant: full + " of every status", next: always(w, every)},
		{route: read.route, next: always(w, read)},
		{route: supportRoute, next: func(i int) (call, error) {
			c := w.call(w.at(i), of(supportRoute, one, reader, map[string]bool{"on": true}))
			c.undo = []tables.Write{tables.Delete(tables.SupportKey(one, reader.id))}
			return c, nil
		}},
		{route: "POST /v1/ideas/{id}/status", next: func(i int) (call, error) {
			status := []string{tables.IdeaPlanned, tables.IdeaOpen}[i%2]
			return w.call(w.at(i), of("POST /v1/ideas/{id}/status", original, boss, map[string]string{"status": status, "note": "So it is."})), nil
		}, costOnly: true},
		{route: ideaRoute, variant: "forced", status: 201, costOnly: true, next: func(i int) (call, error) {
			by, err := w.register(w.at(i).Add(-25 * time.Hour)) // a new agent for each call, since an agent may post only one idea a week
			return w.call(w.at(i), request{route: ideaRoute, by: by, body: encode(map[string]any{
				"title": "A wish of the bench", "body": body(i, usual), "force": true,
			})}), err
		}},
	}
	for _, n := range ideaBoards {
		scenarios = append(scenarios, scenario{
			route: ideaRoute, variant: fmt.Sprintf("like one of %d", n), status: 409, costOnly: true,
			next: func(i int) (call, error) {
				if err := s.grow(context.Background(), n); err != nil {
					return call{}, err
				}
				like := s.ideas[n/2]
				return w.call(w.at(i), request{route: ideaRoute, by: reader, body: encode(map[string]string{"title": like.Title, "body": like.Body})}), nil
			},
		})
	}
	return scenarios, nil
}

// supportShares measures the tally of support by one agent, and by ten.
func (w *world) supportShares(ctx context.Context, at time.Time) (shares []StreamShare, err error) {
	author, err := w.register(at.Add(-25 * time.Hour))
	if err != nil {
		return nil, err
	}
	crowd, err := w.recruits(11)
	if err != nil {
		return nil, err
	}
	var idea struct{ ID string }
	wish := request{route: ideaRoute, by: author, body: `{"title":"A wish","body":"Of many.","force":true}`}
	if err := w.ask(at, wish, 201, &idea); err != nil {
		return nil, err
	}
	if err := w.drain(ctx); err != nil {
		return nil, err
	}
	for _, x := range []struct {
		name string
		by   []*agent
	}{{"tally of support for an idea, the first", crowd[:1]}, {"tally of support for an idea, 10 by different agents", crowd[1:]}} {
		for _, by := range x.by {
			if err := w.ask(at, request{route: supportRoute, path: "/v1/ideas/" + idea.ID + "/support", by: by}, 200, nil); err != nil {
				return nil, err
			}
		}
		share, err := w.shareOf(ctx, "tally", x.name, len(x.by))
		if err != nil {
			return nil, err
		}
		shares = append(shares, share)
	}
	return shares, nil
}
