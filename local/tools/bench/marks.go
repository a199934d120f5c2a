package bench

import (
	"context"
	"fmt"
	"time"
)

const (
	voteRoute  = "POST /v1/c/{ch}/posts/{id}/vote"
	votesBatch = "tally of a vote, 10 by different agents"
)

// mark returns a request that marks a post. The route says which mark.
func mark(route string, by *agent, channel, post string, in any) request {
	verb := route[len("POST /v1/c/{ch}/posts/{id}"):]
	r := request{route: route, path: "/v1/c/" + channel + "/posts/" + post + verb, by: by}
	if in != nil {
		r.body = encode(in)
	}
	return r
}

func voting(by *agent, post string, v int) request {
	return mark(voteRoute, by, writeTo, post, map[string]int{"v": v})
}

func reacting(by *agent, post, emoji string, on bool) request {
	return mark("POST /v1/c/{ch}/posts/{id}/react", by, writeTo, post, map[string]any{"emoji": emoji, "on": on})
}

func marks(w *world) ([]scenario, error) {
	people, err := w.recruits(15) // two for each of the first seven scenarios, and one who answers
	if err != nil {
		return nil, err
	}
	// `again` returns a scenario. Before each call, one agent posts, and another makes the
	// requests `before`. The call itself is the request `last`.
	n := 0
	again := func(variant string, before []func(by *agent, post string) request, last func(by *agent, post string) request) scenario {
		author, by := people[n], people[n+1]
		n += 2
		return scenario{route: last(by, "").route, variant: variant, next: func(i int) (call, error) {
			post, err := w.post(w.at(i), author, writeTo, body(i, usual), "")
			if err != nil {
				return call{}, err
			}
			for j, ask := range before {
				if err := w.ask(w.at(i).Add(-time.Duration(len(before)-j)*time.Second), ask(by, post), 200, nil); err != nil {
					return call{}, err
				}
			}
			return w.call(w.at(i), last(by, post)), nil
		}}
	}
	vote := func(v int) func(*agent, string) request {
		return func(by *agent, post string) request { return voting(by, post, v) }
	}
	react := func(emoji string, on bool) func(*agent, string) request {
		return func(by *agent, post string) request { return reacting(by, post, emoji, on) }
	}
	type asked = []func(*agent, string) request
	list := []scenario{
		again("", nil, vote(1)),
		again("changed mind", asked{vote(1)}, vote(-1)),
		again("taken back", asked{vote(1)}, vote(0)),
		again("the same again", asked{vote(1)}, vote(1)),
		again("", nil, react("👍", true)),
		again("the third", asked{react("👍", true), react("🎉", true)}, react("🦊", true)),
		again("taken back", asked{react("👍", true)}, react("👍", false)),
	}
	const helpful = "POST /v1/c/{ch}/posts/{id}/helpful"
	return append(list, scenario{route: helpful, next: func(i int) (call, error) {
		asker, err := w.register(w.at(i).Add(-25 * time.Hour)) // a new asker for each call, since an agent may mark only ten replies a day
		if err != nil {
			return call{}, err
		}
		reply, err := w.answered(w.at(i), asker, people[14], i)
		return w.call(w.at(i), mark(helpful, asker, writeTo, reply, nil)), err
	}}), nil
}

func (w *world) answered(at time.Time, asker, by *agent, n int) (reply string, err error) {
	question, err := w.post(at, asker, writeTo, body(n, usual), "")
	if err != nil {
		return "", err
	}
	return w.post(at, by, writeTo, body(n, usual-1), question)
}

// markShares measures what marks cost the stream's readers: one mark alone, and ten on one
// post.
func (w *world) markShares(ctx context.Context, at time.Time) ([]StreamShare, error) {
	people, err := w.recruits(11)
	if err != nil {
		return nil, err
	}
	author, crowd := people[10], people[:10]
	var shares []StreamShare
	share := func(reader, name string, by []*agent, ask func(by *agent, post string) request) error {
		at = at.Add(tick)
		post, err := w.post(at, author, writeTo, body(len(shares), usual), "")
		if err != nil {
			return err
		}
		if err := w.drain(ctx); err != nil {
			return err
		}
		for _, b := range by {
			if err := w.ask(at, ask(b, post), 200, nil); err != nil {
				return err
			}
		}
		s, err := w.shareOf(ctx, reader, name, len(by))
		shares = append(shares, s)
		return err
	}
	up := func(by *agent, post string) request { return voting(by, post, 1) }
	heart := func(by *agent, post string) request { return reacting(by, post, "❤️", true) }
	for _, x := range []struct {
		reader, name string
		by           []*agent
		ask          func(by *agent, post string) request
	}{
		{"tally", "tally of a vote, alone", crowd[:1], up},
		{"tally", votesBatch, crowd, up},
		{"tally", "tally of a reaction, alone", crowd[:1], heart},
		{"tally", "tally of a reaction, 10 by different agents", crowd, heart},
		{"inbox", "inbox event of a reaction, 10 for one inbox", crowd, heart},
	} {
		if err := share(x.reader, x.name, x.by, x.ask); err != nil {
			return nil, fmt.Errorf("%s: %w", x.name, err)
		}
	}
	reply, err := w.answered(at.Add(tick), author, crowd[0], 7)
	if err != nil {
		return nil, err
	}
	if err := w.drain(ctx); err != nil {
		return nil, err
	}
	helpful := mark("POST /v1/c/{ch}/posts/{id}/helpful", author, writeTo, reply, nil)
	if err := w.ask(at.Add(2*tick), helpful, 200, nil); err != nil {
		return nil, err
	}
	s, err := w.shareOf(ctx, "tally", "tally of a helpful mark, alone", 1)
	return append(shares, s), err
}
