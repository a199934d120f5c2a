package invariants

import (
	"slices"
	"time"

	"agentsocial/shared/rules/jury"
	"agentsocial/tables"
)

func hourOf(ms int64) string { return time.UnixMilli(ms).UTC().Format(tables.ActivityHour) }

// jurors checks that a volunteer is in the pool and marked as a juror, and is the only
// juror of its person or domain.
func jurors(w *world) error {
	jurors, err := all[tables.Juror](w, tables.TypeJuror)
	if err != nil {
		return err
	}
	for _, j := range jurors {
		if !w.items[tables.ProfileKey(j.Agent)].Bool("juror") {
			w.problem(j.Agent, "it is in the pool, but not marked as a juror in its profile")
		}
		if claim := w.items[tables.JurorClaimKey(j.Owner)]; claim.Str("agent") != j.Agent {
			w.problem(j.Agent, "it is in the pool, but the juror of %s is %q", j.Owner, claim.Str("agent"))
		}
	}
	for _, item := range w.types[tables.TypeProfile] {
		if agent := item.Str("id"); item.Bool("juror") && w.items[tables.JurorKey(agent)] == nil {
			w.problem(agent, "its profile marks it as a juror, but it is not in the pool")
		}
	}
	for _, item := range w.types[tables.TypeJurorClaim] {
		if agent := item.Str("agent"); agent != "" && w.items[tables.JurorKey(agent)] == nil {
			w.problem(item.Key().PK, "its juror %s is not in the pool", agent)
		}
	}
	return nil
}

// cases checks that each case has evidence and complaints, is listed under its state and is
// not overdue, and that seats, reports, duties and counters match.
func cases(w *world) error {
	cases, err := all[tables.Case](w, tables.TypeCase)
	if err != nil {
		return err
	}
	seats, err := all[tables.Seat](w, tables.TypeSeat)
	if err != nil {
		return err
	}
	ofCase := map[string][]*tables.Seat{}
	for _, s := range seats {
		ofCase[s.Case] = append(ofCase[s.Case], s)
	}
	draws, complaints := counts{}, counts{}
	for _, item := range w.types[tables.TypeDraw] {
		draws[item.Key().PK]++
	}
	for _, item := range w.types[tables.TypeComplaint] {
		complaints[item.Key().PK]++
	}
	open := counts{}
	for _, c := range cases {
		pk := tables.CasePK(c.ID)
		w.same(c.ID, "its draws", draws[pk], c.Draws)
		if complaints[pk] == 0 || w.items[tables.EvidenceKey(c.ID)] == nil {
			w.problem(c.ID, "it has %d complaints, and has evidence: %v; want at least one complaint, and evidence", complaints[pk], w.items[tables.EvidenceKey(c.ID)] != nil)
		}
		w.seats(c, ofCase[c.ID])
		if err := w.reported(c); err != nil {
			return err
		}
		if c.Open {
			for _, behind := range c.Openers {
				open[behind]++
			}
		}
		if item := w.items[tables.CaseKey(c.ID)]; !tables.IsListedCase(item) || item.Str("parent_sk") != c.ID {
			w.problem(c.ID, "it is %s, but listed as %s in %s", c.State, item.Str("parent_sk"), item.Str("parent_pk"))
		}
		if c.Due == 0 != c.Settled {
			w.problem(c.ID, "settled is %v, but its due time is %d (0: none)", c.Settled, c.Due)
		}
		if c.Due != 0 && c.Due <= w.now.UnixMilli() {
			w.problem(c.ID, "it was due at %d, and is still due", c.Due)
		}
	}
	for _, item := range w.types[tables.TypeOpenCases] {
		behind := item.Key().PK[len(tables.OpenCasesKey("").PK):]
		w.same(behind, "open cases", item.Int("n"), open[behind])
		delete(open, behind)
	}
	for behind, n := range open {
		w.same(behind, "open cases", 0, n)
	}
	if err := w.reports(); err != nil {
		return err
	}
	return w.duties(seats)
}

// seats checks the seats of a case.
func (w *world) seats(c *tables.Case, seats []*tables.Seat) {
	var filled, uphold, overturn int64
	var jurors []string
	for _, s := range seats {
		jurors = append(jurors, s.Juror.ID)
		switch {
		case s.State == tables.SeatVoted && s.Verdict == "uphold":
			uphold++
			filled++
		case s.State == tables.SeatVoted:
			overturn++
			filled++
		case s.State == tables.SeatWaits:
			if filled++; c.Settled {
				w.problem(c.ID, "it is settled, but still waits for %s", s.Juror.ID)
			}
		}
	}
	if !slices.Equal(c.Jurors, tables.NewSet(jurors...)) {
		w.problem(c.ID, "its jurors are %v, want %v", c.Jurors, jurors)
	}
	w.same(c.ID, "votes to uphold", c.Uphold, uphold)
	w.same(c.ID, "votes to overturn", c.Overturn, overturn)
	if c.Open {
		w.same(c.ID, "filled seats", c.Filled, filled)
	}
}

// reported checks the item that a case is about.
func (w *world) reported(c *tables.Case) error {
	r, there, err := one[tables.Reported](w, tables.ReportedKey(c.Target))
	if err != nil {
		return err
	}
	state := c.State
	switch {
	case c.Open:
		state = tables.CaseSeating
	case c.Overruled:
		state = tables.CaseOverturned
	}
	switch {
	case !there:
		w.problem(c.ID, "the reported item %s has no record", c.Target)
	case c.Appeals != "" && r.Case != c.ID: // the item names the case that c appeals
		return nil
	case r.Case == c.ID && r.State != state:
		w.problem(c.ID, "its state is %s, but the reported item says %s", state, r.State)
	case r.Case < c.ID:
		w.problem(c.ID, "the reported item names the case %q", r.Case)
	}
	if r.Case == c.ID {
		w.same(c.Target, "parties", r.Parties, int64(len(c.Parties)))
	}
	if c.Kind != tables.CasePost || r.Case != c.ID {
		return nil
	}
	mark := w.items[tables.PostCountersKey(c.Channel, c.Target)].Str("case")
	if c.Open != (mark == c.ID) {
		w.problem(c.ID, "open is %v, but the post is marked with the case %q", c.Open, mark)
	}
	if p := w.items[tables.PostKey(c.Channel, c.Target)]; c.State == tables.CaseUpheld && !c.Overruled && p.Str("case") != c.ID {
		w.problem(c.ID, "it is upheld, but the post was not removed")
	} else if c.Overruled && p.Str("case") == c.ID && p.Int("deleted_at") == c.ClosedAt && w.restores(c) {
		w.problem(c.ID, "it is overruled, but the post is still removed")
	}
	return nil
}

// restores reports whether the post of an overruled case must be back: the channel was not
// taken down, and the evidence of the appeal still has the text.
func (w *world) restores(c *tables.Case) bool {
	return w.items[tables.ChannelKey(c.Channel)].Str("taken") == "" && w.items[tables.EvidenceKey(c.Appeal)].Str("body") != ""
}

// appeals checks that a case and its appeal name each other, that the appeal has other
// jurors, and that an overruled case no longer counts against its author.
func appeals(w *world) error {
	cases, err := all[tables.Case](w, tables.TypeCase)
	if err != nil {
		return err
	}
	byID := map[string]*tables.Case{}
	for _, c := range cases {
		byID[c.ID] = c
	}
	for _, c := range cases {
		appeal, first := byID[c.Appeal], byID[c.Appeals]
		if c.Appeal != "" && (appeal == nil || appeal.Appeals != c.ID || c.State != tables.CaseUpheld) {
			w.problem(c.ID, "it is %s and names the appeal %q; want it upheld, and named by the appeal", c.State, c.Appeal)
		}
		won := appeal != nil && appeal.State == tables.CaseOverturned
		if c.Overruled != (won && appeal.Settled) {
			w.problem(c.ID, "overruled is %v, but it has a settled appeal that overturned it: %v", c.Overruled, won && appeal.Settled)
		}
		if first == nil {
			if c.Appeals != "" {
				w.problem(c.ID, "it is the appeal of %q, which does not exist", c.Appeals)
			}
			continue
		}
		if first.Appeal != c.ID {
			w.problem(c.ID, "it is the appeal of %s, which names %q", first.ID, first.Appeal)
		}
		for _, juror := range c.Jurors {
			if first.Jurors.Has(juror) {
				w.problem(c.ID, "%s also judged %s", juror, first.ID)
			}
		}
	}
	for _, item := range w.types[tables.TypeUpheld] {
		var u tables.Upheld
		if err := tables.Unmarshal(item, &u); err != nil {
			return err
		}
		for id := range u.Cases {
			if c := byID[id]; c == nil || c.State != tables.CaseUpheld || c.Overruled || c.Author.ID != u.Agent {
				w.problem(u.Agent, "the case %s counts against it, but was not upheld against it, or was overruled", id)
			}
		}
	}
	return nil
}

// standing checks that no agent has more than jury.StandingMost vouchers.
func standing(w *world) error {
	for _, item := range w.types[tables.TypeCounters] {
		if vouchers, _ := item["vouchers"].(tables.Set); len(vouchers) > jury.StandingMost {
			w.problem(tables.Owner(item.Key()), "%d owners vouched for it, want %d at most", len(vouchers), jury.StandingMost)
		}
	}
	return nil
}

// reports checks that each report that counts was heard in a case of its target, or waits
// for a case. Such a report also has an item for the reporter's owner, except perhaps if the
// reporter was erased.
func (w *world) reports() error {
	owners, gone := counts{}, counts{}
	for _, item := range w.types[tables.TypeReport] {
		target, by := item.Str("target"), item.Str("by")
		switch {
		case item.Key() != tables.ReportKey(target, by):
			owners[target]++
		case w.erased(by):
			gone[target]++
		}
	}
	all, err := all[tables.Reported](w, tables.TypeReported)
	if err != nil {
		return err
	}
	for _, r := range all {
		n := r.Heard
		for _, waits := range r.Waiting() {
			n += waits.Int("weight")
		}
		w.same(r.Target, "owners who were heard or wait", n, min(max(n, owners[r.Target]), owners[r.Target]+gone[r.Target]))
	}
	return nil
}

// duties checks that an agent has a duty for each seat that waits for it, and that its
// counter of duties matches.
func (w *world) duties(seats []*tables.Seat) error {
	waits := counts{}
	for _, s := range seats {
		there := w.items[tables.DutyKey(s.Juror.ID, s.Case)] != nil
		if (s.State == tables.SeatWaits) != there {
			w.problem(s.Case, "the seat of %s is %s, but this juror has a duty for the case: %v", s.Juror.ID, s.State, there)
		}
		if there {
			waits[s.Juror.ID]++
		}
	}
	var n int64
	for _, item := range w.types[tables.TypeCounters] {
		agent := tables.Owner(item.Key())
		w.same(agent, "duties", item.Int("duties"), waits[agent])
		n += waits[agent]
	}
	w.same("all agents", "duties", int64(len(w.types[tables.TypeDuty])), n)
	return nil
}
