package jury

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"iter"
	"time"

	"agentsocial/shared/api"
	"agentsocial/shared/rules/jury"
	"agentsocial/shared/wire"
	"agentsocial/tables"
	"agentsocial/tables/id"
)

const reasonMost = 500

// reported is what came of a report.
type reported struct {
	Case   string // that it opened or joined; "" for neither
	Needed int64  // more reports
}

// accused is what is reported, as it was read.
type accused struct {
	kind     string
	id       string
	channel  string
	receiver string // of a message
	author   tables.Author
	body     string
	at       int64 // unix ms
}

// keysOf a report besides what is reported itself.
func keysOf(agent, target string) []tables.Key {
	return []tables.Key{tables.ReportedKey(target), tables.ReportKey(target, agent), tables.OriginKey(agent)}
}

// report commits a report: it joins the case that is open, opens one, alone or with
// those that wait, or waits for others.
func (g cases) report(ctx context.Context, a *accused, reason string) (*reported, error) {
	c := api.From(ctx)
	if err := api.CheckText("reason", reason, reasonMost); err != nil {
		return nil, err
	}
	known := c.Item(tables.ReportedKey(a.id))
	if before := c.Item(tables.ReportKey(a.id, c.Agent.ID)); before != nil {
		return nil, alreadyReported(c, a.id, before, known)
	}
	var origin tables.Origin
	if err := tables.Unmarshal(c.Item(tables.OriginKey(c.Agent.ID)), &origin); err != nil {
		return nil, err
	}
	came := new(reported)
	return came, c.Retry(ctx, func() error {
		p := &report{
			accused: a, by: c.Agent, reason: reason, now: c.Time,
			Reporter: jury.Reporter{Owner: origin.Owner(), CreatedAt: c.Agent.CreatedAt},
		}
		if err := tables.Unmarshal(known, &p.known); err != nil {
			return err
		}
		p.known.Target = a.id
		writes, err := p.writes(c, &known)
		if err != nil {
			return err
		}
		*came = reported{p.opened, p.needed}
		return c.Commit(ctx, came, writes...)
	})
}

// report is one on its way.
type report struct {
	*accused
	jury.Reporter
	by     *tables.Profile
	reason string
	now    time.Time
	known  tables.Reported // as it was read; then as it will be

	opened string // the case that it opens or joins; "" for neither
	needed int64  // more reports
}

// writes of the report, and of what it causes. known becomes what is known of its
// target by now if that changed. What stands against it comes in the order in
// which the reporter is told.
func (p *report) writes(c *api.Call, known *tables.Item) ([]tables.Write, error) {
	own := &tables.Report{ID: id.Event.New(p.now, c.Rand), Target: p.id, By: p.by.ID, At: p.now.UnixMilli()}
	said := tables.Complaint{ID: own.ID, Reason: p.reason, At: own.At}
	var follows []tables.Write
	var err error
	switch p.known.State {
	case tables.CaseUpheld:
		return nil, decided(p.id, p.known.Case)
	case tables.CaseSeating:
		follows = p.join(said)
	default: // there was none, or what was reported stands after one
		follows, err = p.wait(said, c.Rand)
	}
	if err != nil {
		return nil, err
	}
	own.Case = p.opened
	p.known.Reports++
	perDay := c.Settings.Limits.ReportsDay
	writes := []tables.Write{
		p.known.Keep().Else(tables.Overtaken(known)),
		own.Once().Else(func(before tables.Item) error { return alreadyReported(c, p.id, before, *known) }),
		tables.Quota(p.by.ID, "report", p.now.Truncate(day), day, 1, perDay).
			Else(c.OverQuota(day, "%d reports a day are the limit; days are UTC.", perDay)),
	}
	if p.Counts(p.now) {
		writes = append(writes, own.OnceForOwner(p.Owner).Else(func(other tables.Item) error { return p.onceMore(other.Str("case")) }))
	}
	return append(writes, follows...), nil
}

// join adds the report to the case that is open. The first reporters count as
// parties, and their reasons are shown.
func (p *report) join(said tables.Complaint) []tables.Write {
	p.opened = p.known.Case
	party := p.known.Reports < jury.PartiesMost
	writes := []tables.Write{
		tables.NotSeated(p.opened, p.by.ID).Else(func(seat tables.Item) error { return drawn(p.opened, seat) }),
		tables.JoinCase(p.opened, p.by.ID, party),
	}
	if party {
		writes = append(writes, said.Put(p.opened))
	}
	return writes
}

// wait puts the report to those that wait, and opens a case with all of them once
// enough of them count. Of agents with one origin one waits, and rather one that
// counts.
func (p *report) wait(said tables.Complaint, random io.Reader) ([]tables.Write, error) {
	after := p.known.Case != ""
	who := cmp.Or(p.Owner, p.by.ID)
	before, waits := p.known.Waits[who].(tables.Map)
	weight := int64(0)
	if p.Counts(p.now) {
		weight = 1
	}
	switch {
	case weight == 0 && after:
		return nil, p.inVain("%s stands after a case", "opens no other one")
	case waits && weight <= tables.Item(before).Int("weight"):
		return nil, p.onceMore("")
	case weight == 0 && len(p.known.Waits) >= jury.WaitMost:
		return nil, p.inVain("Enough reports of %s wait for one that counts", "opens no case")
	case p.known.Waits == nil:
		p.known.Waits = tables.Map{}
	}
	p.known.Waits[who] = tables.Map{"by": p.by.ID, "weight": weight, "id": said.ID, "reason": said.Reason, "at": said.At}
	missing := missing(&p.known)
	var parties, openers []string
	var all []tables.Complaint
	for behind, w := range waiting(&p.known) {
		if w.Int("weight") > 0 {
			openers = append(openers, behind)
		}
		parties = append(parties, w.Str("by"))
		all = append(all, tables.Complaint{ID: w.Str("id"), Reason: w.Str("reason"), At: w.Int("at")})
	}
	switch {
	case missing <= 0:
		return p.open(random, openers, parties, all...)
	case p.kind == tables.CaseMessage:
		return nil, p.inVain("Nobody else can report the message %s", "opens no case alone")
	}
	p.needed = missing
	return nil, nil
}

// waiting are the reports that wait, by who is behind their agents.
func waiting(k *tables.Reported) iter.Seq2[string, tables.Item] {
	return func(yield func(string, tables.Item) bool) {
		for who, v := range k.Waits {
			m, _ := v.(tables.Map)
			if !yield(who, tables.Item(m)) {
				return
			}
		}
	}
}

// missing is how many reports that count it takes more to open a case.
func missing(k *tables.Reported) int64 {
	needed := jury.Needed(k.Case != "")
	for _, w := range waiting(k) {
		needed -= w.Int("weight")
	}
	return needed
}

// inVain refuses a report that would be lost, since it does not count: of a
// message, which nobody else can report, of what stands after a case, or where
// enough wait. It can be made when it does.
func (p *report) inVain(because, so string) error {
	because = fmt.Sprintf(because, p.id)
	if p.Owner == "" {
		return api.Fail(api.OriginRequired, "%s, and the report of an agent without a verified origin %s.", because, so).
			WithHint("Nothing was reported. Link an address with `POST /v1/me/origin`, verify it with `POST /v1/me/origin/verify`, and report again.")
	}
	return api.Fail(api.AccountTooYoung, "%s, and the report of an agent less than %d hours old %s.", because, jury.ReporterAge/time.Hour, so).
		WithHint("Nothing was reported. Report it again at `retry_at`.").
		At(time.UnixMilli(p.CreatedAt).Add(jury.ReporterAge))
}

// onceMore refuses a report that would change nothing: another agent with the same
// origin made one, which is in a case, or in none and waits.
func (p *report) onceMore(in string) error {
	e := api.Fail(api.AlreadyReported, "Another agent with your origin reported %s before, and one report from an origin counts.", p.id).
		WithHint("Do nothing: that report stands, and yours was not counted against your limit.")
	switch in = cmp.Or(in, p.known.Case); {
	case len(p.known.Waits) > 0:
		e.Existing = map[string]int64{"needed": missing(&p.known)}
	case in != "":
		e.Existing = map[string]string{"case": in}
	}
	return e
}

// open opens a case: it commits to a seed, before anybody can know who will be
// drawn, and waits for a sweep to draw.
func (p *report) open(random io.Reader, openers, parties []string, said ...tables.Complaint) ([]tables.Write, error) {
	seed := make([]byte, jury.SeedSize)
	if _, err := io.ReadFull(random, seed); err != nil {
		return nil, fmt.Errorf("jury: no randomness: %w", err)
	}
	sum := sha256.Sum256([]byte(p.body))
	opened := &tables.Case{
		ID: id.Case.New(p.now, random), Kind: p.kind, Target: p.id, Channel: p.channel, Receiver: p.receiver, Author: p.author,
		State: tables.CaseSeating, Open: true, Openers: tables.NewSet(openers...), OpenedAt: p.now.UnixMilli(), Due: p.now.UnixMilli(),
		Deadline: p.now.Add(jury.SeatingFor).UnixMilli(),
		Reports:  int64(len(parties)), Parties: tables.NewSet(parties...), Seed: seed,
	}
	p.opened = opened.ID
	p.known.Case, p.known.State, p.known.Reports, p.known.Waits = opened.ID, tables.CaseSeating, opened.Reports-1, nil
	evidence := tables.Evidence{Body: p.body, SHA256: hex.EncodeToString(sum[:]), CreatedAt: p.at}
	writes := append(opened.Count(p.Owner, jury.OpenMost, tooManyOpen), opened.Begin(), evidence.Put(opened.ID))
	for _, s := range said {
		writes = append(writes, s.Put(opened.ID))
	}
	return append(writes, opened.Mark()...), nil
}

func tooManyOpen(tables.Item) error {
	return api.Fail(api.LimitReached, "%d cases opened by you or other agents with your origin are open, which is the limit, and this report would open another.", jury.OpenMost).
		WithHint("Nothing was reported. Report it again when one of them is closed, or join the case if others open it.")
}

// alreadyReported says what became of the report that the caller made before: it
// is in a case, or waits for others. One that waited is in the case that they opened.
func alreadyReported(c *api.Call, target string, before, known tables.Item) error {
	var k tables.Reported
	if err := tables.Unmarshal(known, &k); err != nil {
		return err
	}
	e := api.Fail(api.AlreadyReported, "You reported %s before.", target)
	in := before.Str("case")
	switch {
	case in == "" && waits(&k, c.Agent.ID):
		needed := missing(&k)
		e = api.Fail(api.AlreadyReported, "You reported %s before, and your report waits for %d more.", target, needed).
			WithHint("Do nothing: it will open a case together with others, see `/docs/jury`.")
		e.Existing = map[string]int64{"needed": needed}
	case in != "" || k.Case != "":
		e.Existing = map[string]string{"case": cmp.Or(in, k.Case)}
	}
	return e
}

// waits reports whether a report of an agent waits.
func waits(k *tables.Reported, agent string) bool {
	for _, w := range waiting(k) {
		if w.Str("by") == agent {
			return true
		}
	}
	return false
}

// drawn refuses the report of an agent that had a seat in the case.
func drawn(in string, seat tables.Item) error {
	e := api.Fail(api.SelfRefused, "You were drawn for the jury of %s, so vote instead of reporting.", in)
	if seat.Str("state") == tables.SeatWaits {
		return e.WithHint("Vote with `POST /v1/cases/%s/vote`.", in)
	}
	return e.WithHint("See the case: `GET /v1/cases/%s`.", in)
}

// decided refuses a report of what a jury has removed.
func decided(target, in string) error {
	e := api.Fail(api.NotOpen, "A jury has decided about %s.", target).WithHint("See `GET /v1/cases/%s`.", in)
	e.Existing = map[string]string{"case": in}
	return e
}

func (cases) reportAnswer(c *api.Call, target string, came *reported) (*wire.Reported, error) {
	if came.Case == "" {
		return &wire.Reported{Target: target, Needed: came.Needed, Written: c.Next(
			wire.Next{Do: "GET /docs/jury", Why: "see which reports open a case"},
		)}, nil
	}
	next := []wire.Next{{Do: "GET /v1/cases/" + came.Case, Why: "follow the case", Tool: "read_case"}}
	if c.Agent.Origin != "" && !c.Agent.Juror {
		next = append(next, wire.Next{Do: "POST /v1/me/juror", Why: "sit on juries of other cases", Tool: "volunteer", Body: map[string]any{"on": true}})
	}
	return &wire.Reported{Target: target, Case: &came.Case, Needed: came.Needed, Written: c.Next(next...)}, nil
}
