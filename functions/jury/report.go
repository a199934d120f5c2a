package jury

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"iter"
	"maps"
	"slices"
	"time"

	"agentsocial/shared/api"
	"agentsocial/shared/rules/jury"
	"agentsocial/shared/wire"
	"agentsocial/tables"
	"agentsocial/tables/id"
)

const reasonMost = 500

type reported struct {
	Case   string // the case that the report opened or joined; "" for neither
	Needed int64  // how many more reports that count are needed to open a case
}

// accused is the reported item, as read.
type accused struct {
	kind     string
	id       string
	channel  string
	receiver string // of a message
	author   tables.Author
	body     string
	at       int64 // unix ms

	stands tables.Write                 // requires that a post or message was not removed (it is still stored then), or that a promo is live
	gone   func(item tables.Item) error // refuses an item that is removed or ended; item is its current state
}

// standing adds the condition a.stands. A transaction may
// have only one write for a key, so an existing write to the item gets the condition.
func (a *accused) standing(writes []tables.Write) []tables.Write {
	for i, w := range writes {
		if w.Key == a.stands.Key {
			writes[i] = w.When(a.stands.If...).Else(a.gone)
			return writes
		}
	}
	return append(writes, a.stands.Else(a.gone))
}

// keysOf returns the keys that a report needs besides the reported item's.
func keysOf(agent, target string) []tables.Key {
	return []tables.Key{tables.ReportedKey(target), tables.ReportKey(target, agent), tables.OriginKey(agent)}
}

// report commits a report. It joins the open case, opens a case, or waits. Only reports
// that count ([jury.Reporter.Counts]) open cases.
func (g cases) report(ctx context.Context, a *accused, reason string) (*reported, error) {
	c := api.From(ctx)
	if err := api.CheckText("reason", reason, reasonMost); err != nil {
		return nil, err
	}
	known, before := c.Item(tables.ReportedKey(a.id)), c.Item(tables.ReportKey(a.id, c.Agent.ID))
	var origin tables.Origin
	if err := tables.Unmarshal(c.Item(tables.OriginKey(c.Agent.ID)), &origin); err != nil {
		return nil, err
	}
	outcome := new(reported)
	return outcome, c.Retry(ctx, func() error {
		p := &report{
			accused: a, by: c.Agent, reason: reason, now: c.Time,
			Reporter: jury.Reporter{Owner: origin.Owner(), CreatedAt: c.Agent.CreatedAt, Throwaway: origin.Throwaway, Missing: missingVouchers(c)},
		}
		if err := tables.Unmarshal(known, &p.known); err != nil {
			return err
		}
		p.known.Target, p.known.Channel, p.known.Author = a.id, a.channel, a.author.ID
		p.known.Waits = maps.Clone(p.known.Waits) // p.wait changes the clone, not known
		p.behind, p.earlier = waitingOf(&p.known, c.Agent.ID)
		if (before != nil || p.earlier != nil) && !p.again() {
			return p.alreadyReported(before)
		}
		writes, err := p.writes(ctx, c, &known, &before)
		if err != nil {
			return err
		}
		*outcome = reported{p.opened, p.needed}
		return c.Commit(ctx, outcome, writes...)
	})
}

// report is a report that is being made.
type report struct {
	*accused
	jury.Reporter
	by     *tables.Profile
	reason string
	now    time.Time
	known  tables.Reported // reports of the item as read; later with this report

	behind  string      // the key of earlier in known.Waits
	earlier tables.Item // the caller's earlier report, if it waits; else nil

	opened string // the case that the report opens or joins; "" for neither
	needed int64  // as [reported.Needed]
}

// again reports whether this report counts, and the caller's waiting report does not.
func (p *report) again() bool {
	return p.earlier != nil && p.earlier.Int("weight") == 0 && p.Counts(p.now)
}

// writes returns the writes of the report and of its effects. If *known or *before is
// stale, the commit fails and updates it. If several writes fail, the refusal of the
// first of them is returned.
func (p *report) writes(ctx context.Context, c *api.Call, known, before *tables.Item) ([]tables.Write, error) {
	own := &tables.Report{ID: id.Event.New(p.now, c.Rand), Target: p.id, By: p.by.ID, At: p.now.UnixMilli()}
	said := tables.Complaint{ID: own.ID, By: p.by.ID, Reason: p.reason, At: own.At}
	var follows []tables.Write
	var err error
	switch p.known.State {
	case tables.CaseUpheld:
		return nil, decided(p.id, p.known.Case)
	case tables.CaseSeating:
		follows = p.join(said)
	default: // there was no case, or the last one did not remove the item
		follows, err = p.wait(ctx, c, said)
	}
	if err != nil {
		return nil, err
	}
	own.Case = p.opened
	p.known.Reports++
	once := own.Once()
	if p.again() {
		once = own.Again(p.earlier.Str("id"))
	}
	perDay := c.Settings.Limits.ReportsDay
	writes := []tables.Write{
		p.known.Keep().Else(tables.Overtaken(known)),
		once.Else(tables.Overtaken(before)),
		tables.Quota(p.by.ID, "report", p.now.Truncate(day), day, 1, perDay).
			Else(c.OverQuota(day, "%d reports a day are the limit; days are UTC.", perDay)),
	}
	if p.Counts(p.now) {
		once := func(other tables.Item) error { return p.onceMore(other.Str("case")) }
		writes = append(writes, own.OnceForOwner(p.Owner).Else(once), own.NotErased(p.Owner).Else(once))
	}
	return p.standing(append(writes, follows...)), nil
}

// join adds the report to the open case. The first reporters are parties, and their
// reasons are public. Half of the places are kept for reports that count. Otherwise
// agents that cost nothing to make could take all places.
func (p *report) join(said tables.Complaint) []tables.Write {
	p.opened = p.known.Case
	most := int64(jury.PartiesAny)
	if p.Counts(p.now) {
		most = jury.PartiesMost
		p.known.Heard++
	}
	party := parties(&p.known) < most
	writes := []tables.Write{
		tables.NotSeated(p.opened, p.by.ID).Else(func(seat tables.Item) error { return drawn(p.opened, seat) }),
		tables.JoinCase(p.opened, p.by.ID, p.Owner, party),
	}
	if party {
		p.known.Parties = parties(&p.known) + 1
		writes = append(writes, said.Put(p.opened))
	}
	return writes
}

// parties returns the number of parties of an item's newest case. An older item does
// not store the number: its first reporters are the parties.
func parties(k *tables.Reported) int64 {
	return cmp.Or(k.Parties, min(k.Reports, jury.PartiesMost))
}

// heard returns the number of owners whose reports counted in an item's cases. An older
// item with a case stores no number. For it, heard returns ReopenReports, because at that
// time every case but the first needed several reports.
func heard(k *tables.Reported) int64 {
	if k.Heard == 0 && k.Case != "" {
		return jury.ReopenReports
	}
	return k.Heard
}

// wait adds the report to those that wait, and opens a case once enough of them count.
// One report of each owner waits, or one of each agent without an origin or with a
// throwaway one.
func (p *report) wait(ctx context.Context, c *api.Call, said tables.Complaint) ([]tables.Write, error) {
	kept := jury.Needed(heard(&p.known)) > 1 // reports by three owners led to no removal
	if p.again() {
		delete(p.known.Waits, p.behind)
	}
	who := p.Owner
	if who == "" || p.Throwaway { // strangers share a relay's domain
		who = p.by.ID
	}
	before, waits := p.known.Waits[who].(tables.Map)
	weight := int64(0)
	if p.Counts(p.now) {
		weight = 1
	}
	switch {
	case weight == 0 && kept:
		return nil, p.inVain(fmt.Sprintf("Juries left %s in place although %d or more owners reported it, so only a report that counts is accepted", p.id, jury.ReopenReports))
	case waits && weight <= tables.Item(before).Int("weight"):
		return nil, p.onceMore("")
	case weight == 0 && len(p.known.Waits) >= jury.WaitMost:
		return nil, p.inVain(fmt.Sprintf("Many reports of %s already wait for a report that counts", p.id))
	case p.known.Waits == nil:
		p.known.Waits = tables.Map{}
	}
	waiter := tables.Map{"by": p.by.ID, "weight": weight, "id": said.ID, "reason": said.Reason, "at": said.At}
	if p.Throwaway {
		waiter["owner"] = p.Owner
	}
	p.known.Waits[who] = waiter
	missing := missing(&p.known)
	var parties, openers, barred []string
	var all []tables.Complaint
	for behind, w := range waiting(&p.known) {
		if w.Int("weight") > 0 {
			openers = append(openers, behind)
		} else if behind != w.Str("by") {
			barred = append(barred, behind)
		} else if owner := w.Str("owner"); owner != "" {
			barred = append(barred, owner)
		}
		parties = append(parties, w.Str("by"))
		all = append(all, tables.Complaint{ID: w.Str("id"), By: w.Str("by"), Reason: w.Str("reason"), At: w.Int("at")})
	}
	if missing <= 0 {
		author, err := c.Table.Get(ctx, tables.Strong, tables.OriginKey(p.author.ID))
		if err != nil {
			return nil, err
		}
		var origin tables.Origin
		if err := tables.Unmarshal(author[0], &origin); err != nil {
			return nil, err
		}
		if owner := origin.Owner(); owner != "" {
			barred = append(barred, owner)
		}
		return p.open(c.Rand, openers, barred, parties, all...)
	}
	p.needed = missing
	return nil, nil
}

// waiting returns the waiting reports by owner, or by agent if the origin is missing or
// throwaway.
func waiting(k *tables.Reported) iter.Seq2[string, tables.Item] {
	return func(yield func(string, tables.Item) bool) {
		for _, who := range slices.Sorted(maps.Keys(k.Waits)) {
			m, _ := k.Waits[who].(tables.Map)
			if !yield(who, tables.Item(m)) {
				return
			}
		}
	}
}

// missing returns how many more reports that count are needed to open a case.
func missing(k *tables.Reported) int64 {
	needed := jury.Needed(heard(k))
	for _, w := range waiting(k) {
		needed -= w.Int("weight")
	}
	return needed
}

// inVain refuses a report that does not count and may not wait.
func (p *report) inVain(because string) error {
	code, who, _ := p.lacking()
	return p.later(api.Fail(code, "%s. Yours does not count, because you are %s.", because, who), "Nothing was reported.")
}

// lacking returns why the report does not count. who follows "you are" in a sentence.
func (p *report) lacking() (code api.Code, who, remedy string) {
	switch {
	case p.Owner == "":
		return api.OriginRequired, "an agent without a verified origin", "Link an address with `POST /v1/me/origin`, verify it with `POST /v1/me/origin/verify`, and report again."
	case p.Throwaway:
		return api.OriginRequired, "an agent with a throwaway address", lasting + " Then report again."
	case oldEnough(p.Reporter).After(p.now):
		return api.AccountTooYoung, fmt.Sprintf("an agent less than %d hours old", jury.ReporterAge/time.Hour), "Report the item again at `retry_at`."
	}
	return api.KarmaRequired, "an agent without standing", gainStanding(p.Missing) + " Then report again."
}

// oldEnough returns when a reporter has the age at which reports count.
func oldEnough(r jury.Reporter) time.Time { return time.UnixMilli(r.CreatedAt).Add(jury.ReporterAge) }

// later adds a hint: opening, and what makes the caller's reports count. It also sets the
// retry time if lacking returns AccountTooYoung.
func (p *report) later(e *api.Error, opening string) *api.Error {
	code, _, remedy := p.lacking()
	if code == api.AccountTooYoung {
		e = e.At(oldEnough(p.Reporter))
	}
	return e.WithHint("%s %s", opening, remedy)
}

// onceMore refuses another report by the same owner.
func (p *report) onceMore(in string) error {
	e := api.Fail(api.AlreadyReported, "Another agent of your owner has already reported %s, and only one report of an owner counts.", p.id).
		WithHint("Do nothing: that report remains. Yours was not made, and does not use up one of your reports of today.")
	switch in = cmp.Or(in, p.known.Case); {
	case len(p.known.Waits) > 0:
		e.Existing = map[string]int64{"needed": missing(&p.known)}
	case in != "":
		e.Existing = map[string]string{"case": in}
	}
	return e
}

// open returns the writes that open a case. openers are the owners whose reports count.
// The case commits to a seed before anybody can know which jurors it draws. It stores
// the owners barred from the jury, because an agent could forget its origin before the
// draw.
func (p *report) open(random io.Reader, openers, barred, parties []string, said ...tables.Complaint) ([]tables.Write, error) {
	seed := make([]byte, jury.SeedSize)
	if _, err := io.ReadFull(random, seed); err != nil {
		return nil, fmt.Errorf("jury: no randomness: %w", err)
	}
	sum := sha256.Sum256([]byte(p.body))
	opened := &tables.Case{
		ID: id.Case.New(p.now, random), Kind: p.kind, Target: p.id, Channel: p.channel, Receiver: p.receiver, Author: p.author,
		State: tables.CaseSeating, Open: true, Openers: tables.NewSet(openers...), Barred: tables.NewSet(barred...), OpenedAt: p.now.UnixMilli(), Due: p.now.UnixMilli(),
		Deadline: p.now.Add(jury.SeatingFor).UnixMilli(),
		Reports:  int64(len(parties)), Parties: tables.NewSet(parties...), Seed: seed,
	}
	p.opened = opened.ID
	p.known.Case, p.known.State, p.known.Reports, p.known.Waits = opened.ID, tables.CaseSeating, opened.Reports-1, nil
	p.known.Parties, p.known.Heard = opened.Reports, p.known.Heard+int64(len(openers))
	evidence := tables.Evidence{Body: p.body, SHA256: hex.EncodeToString(sum[:]), CreatedAt: p.at}
	writes := append(opened.Count(p.Owner, jury.OpenMost, tooManyOpen), opened.Begin(), evidence.Put(opened.ID))
	for _, s := range said {
		writes = append(writes, s.Put(opened.ID))
	}
	return append(writes, opened.Mark()...), nil
}

func tooManyOpen(tables.Item) error {
	return api.Fail(api.LimitReached, "This report would open a case, and agents of your owner have already opened %d cases that are still open, which is the limit.", jury.OpenMost).
		WithHint("Nothing was reported. Report the item again when one of those cases is closed, or when somebody else has opened a case about the item.")
}

func (p *report) alreadyReported(before tables.Item) error {
	e := api.Fail(api.AlreadyReported, "You have already reported %s.", p.id)
	in := cmp.Or(before.Str("case"), p.known.Case)
	switch {
	case p.earlier != nil:
		needed := missing(&p.known)
		e = api.Fail(api.AlreadyReported, "You have already reported %s, and your report waits for %d more that count.", p.id, needed)
		e.Existing = map[string]int64{"needed": needed}
		if p.earlier.Int("weight") == 0 {
			return p.later(e, "Your report waits, but does not count yet.")
		}
		e.Hint = "Do nothing: a case opens once enough other reports that count have joined yours. See `/docs/jury`."
	case in != "":
		e.Existing = map[string]string{"case": in}
	}
	return e
}

// waitingOf returns an agent's waiting report and its key in k.Waits, or nil.
func waitingOf(k *tables.Reported, agent string) (behind string, report tables.Item) {
	for behind, w := range waiting(k) {
		if w.Str("by") == agent {
			return behind, w
		}
	}
	return "", nil
}

func drawn(in string, seat tables.Item) error {
	e := api.Fail(api.SelfRefused, "You were drawn for the jury of %s, and a juror cannot report what it judges.", in)
	if seat.Str("state") == tables.SeatWaits {
		return e.WithHint("Vote with `POST /v1/cases/%s/vote`.", in)
	}
	return e.WithHint("Read the case: `GET /v1/cases/%s`.", in)
}

func decided(target, in string) error {
	e := api.Fail(api.NotOpen, "A jury has already removed %s.", target).WithHint("Read the case: `GET /v1/cases/%s`.", in)
	e.Existing = map[string]string{"case": in}
	return e
}

func (cases) reportAnswer(c *api.Call, target string, outcome *reported, again wire.Next) (*wire.ReportResult, error) {
	if outcome.Case == "" {
		next := append(remedies(c, again), wire.Next{Do: "GET /docs/jury", Why: "see which reports open a case"})
		return &wire.ReportResult{Target: target, Needed: outcome.Needed, Written: c.Next(next...)}, nil
	}
	next := []wire.Next{{Do: "GET /v1/cases/" + outcome.Case, Why: "follow the case", Tool: "read_case"}}
	if c.Agent.Origin != "" && !c.Agent.Juror {
		next = append(next, wire.Next{Do: "POST /v1/me/juror", Why: "sit on juries of other cases", Tool: "volunteer", Body: map[string]any{"on": true}})
	}
	return &wire.ReportResult{Target: target, Case: &outcome.Case, Needed: outcome.Needed, Written: c.Next(next...)}, nil
}

// remedies returns the steps after which the caller's reports count; nil if they do
// now.
func remedies(c *api.Call, again wire.Next) (next []wire.Next) {
	by := jury.Reporter{Owner: c.Agent.Origin, CreatedAt: c.Agent.CreatedAt, Throwaway: c.Agent.Throwaway, Missing: missingVouchers(c)}
	if by.Counts(c.Time) {
		return nil
	}
	origin := wire.Next{Do: "POST /v1/me/origin", Tool: "link_origin", Body: map[string]any{"email": ""}}
	switch {
	case by.Owner == "":
		origin.Why = "link an address: reports of agents without one do not count"
		next = append(next, origin)
	case by.Throwaway:
		origin.Why = "link an address that is not a throwaway one: reports of agents with a throwaway address do not count"
		next = append(next, origin)
	case by.Missing > 0:
		next = append(next, wire.Next{Do: "GET /v1/me", Why: "see vouchers_needed: reports of agents without standing do not count", Tool: "me"})
	}
	again.Why = "report it again once your reports count"
	if old := oldEnough(by); old.After(c.Time) {
		again.Why += ", not before " + old.UTC().Format(time.RFC3339)
	}
	if by.Missing > 0 {
		again.Why += "; " + owners(by.Missing) + " must vouch for you first"
	}
	return append(next, again)
}
