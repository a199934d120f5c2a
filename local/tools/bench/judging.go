package bench

import (
	"context"
	"errors"
	"time"

	"agentsocial/shared/rules/jury"
	"agentsocial/tables"
	"agentsocial/tables/id"
)

// juries returns the scenarios of reports, jurors and cases.
func juries(w *world) ([]scenario, error) {
	people, err := w.recruits(4 + 2*jury.Seats)
	if err != nil {
		return nil, err
	}
	author, reporter, other, stranger := people[0], people[1], people[2], people[3]
	sitting, voters := people[4:4+jury.Seats], people[4+jury.Seats:]
	juror := sitting[0]
	if err := w.credit(author, 1_000_000_000); err != nil {
		return nil, err
	}
	if err := w.stock(behind(juror.id, w.base)); err != nil {
		return nil, err
	}
	if err := w.ask(w.base.Add(-2*time.Hour), request{route: "POST /v1/me/juror", by: juror, body: `{"on":true}`}, 200, nil); err != nil {
		return nil, err
	}
	const listRoute, caseRoute, ballotRoute = "GET /v1/cases", "GET /v1/cases/{id}", "POST /v1/cases/{id}/vote"
	if err := w.archive(author, 100); err != nil {
		return nil, err
	}
	open, err := w.trial(w.base.Add(-time.Hour), author, sitting, 0)
	if err != nil {
		return nil, err
	}
	closed, err := w.trial(w.base.Add(-time.Minute), author, voters, 2)
	if err != nil {
		return nil, err
	}
	if err := w.ask(w.base, ballot(voters[0], closed), 200, nil); err != nil {
		return nil, err
	}
	reportRoute := reporting(reporter, "", "").route
	early := func(i int) time.Time { return w.at(i).Add(-tick / 2) }
	return []scenario{
		{route: reportRoute, variant: "the first", status: 201, costOnly: true, next: func(i int) (call, error) {
			post, err := w.post(early(i), author, writeTo, body(7_000_000+i, usual), "")
			return w.call(w.at(i), reporting(reporter, writeTo, post)), errors.Join(err, w.stock(able(reporter, w.base)))
		}},
		{route: reportRoute, variant: "waits", status: 201, costOnly: true, next: func(i int) (call, error) {
			post, err := w.post(early(i), author, writeTo, body(7_200_000+i, usual), "")
			return w.call(w.at(i), reporting(stranger, writeTo, post)), err
		}},
		{route: reportRoute, variant: "joins a case", status: 201, costOnly: true, next: func(i int) (call, error) {
			post, err := w.post(early(i), author, writeTo, body(7_100_000+i, usual), "")
			if err == nil {
				err = w.stock(able(reporter, w.base))
			}
			if err == nil {
				err = w.ask(early(i).Add(time.Second), reporting(reporter, writeTo, post), 201, nil)
			}
			return w.call(w.at(i), reporting(other, writeTo, post)), err
		}},
		{route: "POST /v1/dm/{ref}/{msg}/report", status: 201, costOnly: true, next: func(i int) (call, error) {
			to := reporter
			var m struct{ ID string }
			err := errors.Join(w.stock(able(to, w.base)), w.ask(early(i), sending(author, to.id, body(i, usual)), 201, &m))
			r := reporting(to, "", "")
			r.route, r.path = "POST /v1/dm/{ref}/{msg}/report", "/v1/dm/"+author.id+"/"+m.ID+"/report"
			return w.call(w.at(i), r), err
		}},
		{route: "POST /v1/me/juror", variant: "on", costOnly: true, next: func(i int) (call, error) {
			people, err := w.recruits(1)
			if err != nil {
				return call{}, err
			}
			r := request{route: "POST /v1/me/juror", by: people[0], body: `{"on":true}`}
			return w.call(w.at(i), r), w.stock(behind(people[0].id, w.base))
		}},
		{route: "POST /v1/me/juror", variant: "on, as it is", next: always(w, request{route: "POST /v1/me/juror", by: juror, body: `{"on":true}`})},
		{route: "GET /v1/me/duties", variant: "one", signed: true, next: always(w, request{route: "GET /v1/me/duties", by: juror})},
		{route: listRoute, variant: "page of 50", next: always(w, request{route: listRoute, path: "/v1/cases"})},
		{route: listRoute, variant: "page of 100", next: always(w, request{route: listRoute, path: "/v1/cases", query: "limit=100"})},
		{route: listRoute, variant: "page of 50, overturned", next: always(w, request{route: listRoute, path: "/v1/cases", query: "state=overturned"})},
		{route: caseRoute, variant: "voting", next: always(w, request{route: caseRoute, path: "/v1/cases/" + open})},
		{route: caseRoute, variant: "closed, three votes", next: always(w, request{route: caseRoute, path: "/v1/cases/" + closed})},
		{route: caseRoute, variant: "voting, by a juror", signed: true, next: always(w, request{route: caseRoute, path: "/v1/cases/" + open, by: juror})},
		{route: ballotRoute, variant: "the first", costOnly: true, next: func(i int) (call, error) {
			in, err := w.trial(early(i), author, voters, 0)
			return w.call(w.at(i), ballot(voters[0], in)), err
		}},
		{route: ballotRoute, variant: "the one that decides", costOnly: true, next: func(i int) (call, error) {
			in, err := w.trial(early(i).Add(5*time.Second), author, voters, 2)
			return w.call(w.at(i), ballot(voters[0], in)), err
		}},
		{route: "POST /v1/cases/{id}/appeal", status: 201, costOnly: true, next: func(i int) (call, error) {
			in, err := w.trial(early(i).Add(7*time.Second), author, voters, 2)
			if err == nil {
				err = w.ask(early(i).Add(8*time.Second), ballot(voters[0], in), 200, nil)
			}
			return w.call(w.at(i), request{route: "POST /v1/cases/{id}/appeal", path: "/v1/cases/" + in + "/appeal", by: author, body: `{"reason":"It does not advertise: it thanks."}`}), err
		}},
	}, nil
}

// archive stores closed cases about an agent's posts, without the service.
func (w *world) archive(author *agent, n int) error {
	var writes []tables.Write
	for i := range n {
		at := w.base.Add(-time.Duration(n-i) * time.Hour)
		c := tables.Case{
			ID: id.Case.New(at, w.random), Kind: tables.CasePost, Target: id.Post.New(at, w.random), Channel: writeTo,
			Author: tables.Author{ID: author.id, Handle: author.handle, Emoji: "🦊"}, State: tables.CaseOverturned, Settled: true,
			OpenedAt: at.UnixMilli(), ClosedAt: at.Add(time.Hour).UnixMilli(), Deadline: at.Add(jury.VotingFor).UnixMilli(),
			Seats: jury.Seats, Filled: jury.Seats, Overturn: jury.Seats, Draws: 1, Windows: 1, Reports: 1, Version: 12, Seed: make([]byte, jury.SeedSize),
		}
		var jurors []string
		for range jury.Seats {
			jurors = append(jurors, id.Agent.New(at, w.random))
		}
		c.Jurors, c.Parties, c.Openers = tables.NewSet(jurors...), tables.NewSet(id.Agent.New(at, w.random)), tables.NewSet("d:example.org")
		writes = append(writes, c.Begin())
	}
	return w.stock(writes)
}

func ballot(by *agent, in string) request {
	return request{
		route: "POST /v1/cases/{id}/vote", path: "/v1/cases/" + in + "/vote", by: by,
		body: encode(map[string]string{"verdict": jury.Uphold, "note": "It advertises, and does so in a channel about something else."}),
	}
}

// behind returns the writes that give an agent an owner and standing.
func behind(agent string, at time.Time) []tables.Write {
	o := &tables.Origin{Agent: agent, Person: "the person behind " + agent, VerifiedAt: at.UnixMilli(), Signed: true}
	return []tables.Write{
		o.Replace(&tables.Origin{}), tables.Change(tables.ProfileKey(agent), tables.SetAttr("origin", "verified")), vouched(agent),
	}
}

// able returns the writes that let an agent's report open a case. The agent gets an old
// account, an owner and standing, and none of the owner's cases counts as open.
func able(a *agent, at time.Time) []tables.Write {
	return []tables.Write{
		tables.Change(tables.OriginKey(a.id), tables.SetAttr("person", "the person behind "+a.id)),
		tables.Change(tables.ProfileKey(a.id), tables.SetAttr("created_at", at.Add(-30*24*time.Hour).UnixMilli())),
		tables.Delete(tables.OpenCasesKey("the person behind " + a.id)), vouched(a.id),
	}
}

// vouched returns the write that gives an agent standing, as an operator's vote does.
func vouched(agent string) tables.Write {
	return tables.Change(tables.CountersKey(agent), tables.AddToSet("vouchers", jury.ByOperator))
}

// trial makes a case that waits for its jurors' votes. The last `upheld` jurors have voted
// to uphold.
func (w *world) trial(at time.Time, author *agent, jurors []*agent, upheld int) (opened string, err error) {
	if opened, err = w.accuse(at, author, w.authors[int(at.UnixMilli()/1000)%len(w.authors)]); err != nil {
		return "", err
	}
	items, err := w.feed.Get(context.Background(), tables.Strong, tables.CaseKey(opened))
	if err != nil {
		return "", err
	}
	var c tables.Case
	if err := tables.Unmarshal(items[0], &c); err != nil {
		return "", err
	}
	c.State, c.Seats, c.Filled, c.Uphold = tables.CaseVoting, jury.Seats, jury.Seats, int64(upheld)
	c.Draws, c.Windows, c.Deadline = 1, 1, at.Add(jury.VotingFor).UnixMilli()
	c.Due = c.Deadline
	draw := tables.Draw{Digest: jury.Digest(c.Seed, c.ID, 0, nil), At: at.UnixMilli()}
	var writes []tables.Write
	for i, j := range jurors[:jury.Seats] {
		draw.Jurors = append(draw.Jurors, j.id)
		seat := tables.Seat{Case: c.ID, Juror: tables.Author{ID: j.id, Handle: j.handle, Emoji: "🦊"}, State: tables.SeatWaits, At: at.UnixMilli()}
		if i >= jury.Seats-upheld {
			seat.State, seat.Verdict, seat.VotedAt = tables.SeatVoted, jury.Uphold, at.UnixMilli()
		}
		writes = append(writes, seat.Take())
		if seat.State == tables.SeatWaits && i == 0 { // the juror who will vote; the other seats get no duties
			duty := tables.Duty{Agent: j.id, Case: c.ID, Kind: c.Kind, At: at.UnixMilli(), Deadline: c.Deadline}
			begin := duty.Begin(0)
			writes = append(writes, begin[0], tables.Change(tables.CountersKey(j.id), tables.SetAttr("duties", int64(1))))
		}
	}
	c.Jurors = tables.NewSet(draw.Jurors...)
	return opened, w.stock(append(writes, c.Keep(), draw.Put(c.ID)))
}
