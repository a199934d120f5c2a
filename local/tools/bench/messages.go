package bench

import (
	"context"
	"fmt"
	"time"

	"agentsocial/local/transcripts"
)

// nothingUnread is the variant in which reading messages writes nothing.
const nothingUnread = "page of 50, nothing unread"

func messages(w *world) ([]scenario, error) {
	people, err := w.recruits(pageSize + 12)
	if err != nil {
		return nil, err
	}
	reader, people := people[0], people[1:]
	const route = "POST /v1/dm/{ref}"
	for _, p := range append(people, reader) {
		if err := w.credit(p, 1_000_000_000); err != nil {
			return nil, err
		}
	}
	for i, p := range people[:pageSize+5] { // the list of conversations and one conversation have more than a page
		from, to := p, reader
		if i%2 == 1 {
			from, to = reader, p
		}
		early := w.base.Add(-24*time.Hour + time.Duration(i)*tick)
		if err := w.ask(early, sending(from, to.id, body(i, usual)), 201, nil); err != nil {
			return nil, err
		}
		if err := w.ask(early.Add(tick/2), sending(people[0], reader.id, body(i, usual)), 201, nil); err != nil {
			return nil, err
		}
	}
	list := request{route: "GET /v1/dm", by: reader}
	read := request{route: "GET /v1/dm/{ref}", path: "/v1/dm/" + people[0].id, by: reader}
	if err := w.ask(w.base.Add(-tick), read, 200, nil); err != nil {
		return nil, err
	}
	people = people[pageSize+5:]
	n := 0
	send := func(variant string, size int, ref func(to *agent) string) scenario {
		from, to := people[n], people[n+1]
		n += 2
		return scenario{route: route, variant: variant, status: 201, next: func(i int) (call, error) {
			if i == 0 { // makes the conversation, and lets the process look up a handle
				if err := w.ask(w.at(i).Add(-tick), sending(from, ref(to), body(i, usual)), 201, nil); err != nil {
					return call{}, err
				}
			}
			return w.call(w.at(i), sending(from, ref(to), body(i, size))), nil
		}}
	}
	byID := func(to *agent) string { return to.id }
	byHandle := func(to *agent) string { return to.handle }
	couple := func() (from, to *agent, err error) {
		pair, err := w.recruits(2)
		if err != nil {
			return nil, nil, err
		}
		return pair[0], pair[1], w.credit(pair[0], 1_000_000)
	}
	return []scenario{
		{route: list.route, variant: fmt.Sprintf("page of %d", pageSize), signed: true, next: always(w, list)},
		{route: read.route, variant: nothingUnread, signed: true, next: always(w, read)},
		{route: read.route, variant: "one unread", next: func(i int) (call, error) {
			from, to, err := couple()
			if err != nil {
				return call{}, err
			}
			if err := w.ask(w.at(i).Add(-tick), sending(from, to.id, body(i, usual)), 201, nil); err != nil {
				return call{}, err
			}
			return w.call(w.at(i), request{route: read.route, path: "/v1/dm/" + from.id, by: to}), nil
		}},
		send(fmt.Sprintf("%d characters", usual), usual, byID),
		send("2000 characters", 2000, byID),
		send("by handle", usual, byHandle),
		{route: route, variant: "the first of a conversation", status: 201, next: func(i int) (call, error) {
			from, to, err := couple()
			return w.call(w.at(i), sending(from, to.id, body(i, usual))), err
		}},
		{route: route, variant: coldHandle, status: 201, costOnly: true, next: func(i int) (call, error) {
			from, to, err := couple()
			return w.call(w.at(i), sending(from, to.handle, body(i, usual))), err
		}},
		{route: route, variant: "without credits", status: 402, next: func(i int) (call, error) {
			poor, err := w.recruits(1)
			if err != nil {
				return call{}, err
			}
			return w.call(w.at(i), sending(poor[0], reader.id, body(i, usual))), nil
		}},
	}, nil
}

func sending(by *agent, ref, text string) request {
	return request{route: "POST /v1/dm/{ref}", path: "/v1/dm/" + ref, by: by, body: encode(map[string]string{"body": text})}
}

// credit gives an agent micro-USD.
func (w *world) credit(a *agent, microUSD int64) error {
	return w.app.Transact(context.Background(), transcripts.Credit(a.id, microUSD, w.app.Now(), w.app.Random(16))...)
}

// messageShare measures the inbox event of a message.
func (w *world) messageShare(ctx context.Context, at time.Time) (StreamShare, error) {
	pair, err := w.recruits(2)
	if err != nil {
		return StreamShare{}, err
	}
	if err := w.credit(pair[0], 1_000_000); err != nil {
		return StreamShare{}, err
	}
	if err := w.drain(ctx); err != nil {
		return StreamShare{}, err
	}
	if err := w.ask(at, sending(pair[0], pair[1].id, body(0, usual)), 201, nil); err != nil {
		return StreamShare{}, err
	}
	return w.shareOf(ctx, "inbox", "inbox event of a message", 1)
}
