package simulate

import (
	"regexp"
	"slices"
	"strings"
	"time"

	"agentsocial/tables"
)

// rules are what the checks of changed items remember.
type rules struct {
	events  map[string]int64          // by agent: seq of its newest event
	moved   map[tables.Account]int64  // sums of movements
	running map[tables.Account]int64  // balances
	dirty   map[tables.Account]bool   // accounts to compare
	kinds   map[string]map[string]int // agent → kind and source → events
}

func newRules() rules {
	return rules{
		events: map[string]int64{}, moved: map[tables.Account]int64{}, running: map[tables.Account]int64{}, dirty: map[tables.Account]bool{},
		kinds: map[string]map[string]int{},
	}
}

// watch checks what changed since the last call, so that the cost of a step does not
// grow with the table.
func (w *world) watch() {
	w.newest()
	for account := range w.at.dirty {
		if account.Runs() && w.at.running[account] != w.at.moved[account] {
			w.violate("books", "the balance of %s is %d, its movements come to %d", account, w.at.running[account], w.at.moved[account])
		}
	}
	clear(w.at.dirty)
	w.replay()
}

// take takes changes in.
func (w *world) take(all []tables.StreamRecord) {
	for _, r := range all {
		w.seen = r.Seq
		if r.New == nil {
			delete(w.items, r.Key)
		} else {
			w.items[r.Key] = r.New
			w.lives(r)
			w.clear(r)
		}
		switch typeOf(r) {
		case tables.TypeInboxEvent:
			w.event(r)
		case tables.TypeMovement, tables.TypeBalance:
			w.money(r)
		case tables.TypeSeat:
			w.seated(r)
		case tables.TypeDuty:
			w.duty(r)
		case tables.TypeCase:
			w.decided(r)
		case tables.TypeProfile:
			if r.New.Int("suspended_until") > r.Old.Int("suspended_until") {
				w.bans[tables.Owner(r.Key)] = time.Now()
			}
		}
		w.counters(r)
	}
}

// lifetimes are how long items live that have an end, by their partition and the
// beginning of their sort key, as tables/README.md documents them.
var lifetimes = []struct {
	pk, sk      string
	least, most time.Duration
}{
	{"I#", "E#", 90 * day, 90 * day},
	{"I#", "D#", 90 * day, 90 * day},
	{"M#", "", 30 * day, 30 * day},
	{"P#", "PUSH", 90 * day, 90 * day},
	{"G#", "", 8 * time.Minute, 11 * time.Minute},
	{"N#idem#", "", day, day},
	{"N#request#", "", 30 * time.Second, 30 * time.Second},
	{"N#nonce#", "", time.Hour, time.Hour},
	{"N#authcode#", "", 30 * day, 30 * day},
	{"N#code#", "", time.Hour, 2 * time.Hour},
	{"L#", "C#", 60 * day, 61 * day},
	{"Q#", "used#", 399 * day, 401 * day},
	{"Q#", "body#", day, day},
	{"Q#mail#", "BACK", 90 * day, 91 * day},
}

const day = 24 * time.Hour

// near bounds how far the clocks of processes and late calls move a lifetime.
const near = 30 * time.Second

// lives checks a changed item's lifetime.
func (w *world) lives(r tables.StreamRecord) {
	ttl := r.New.Int(tables.AttrTTL)
	for _, l := range lifetimes {
		if !strings.HasPrefix(r.Key.PK, l.pk) || !strings.HasPrefix(r.Key.SK, l.sk) {
			continue
		}
		left := time.Unix(ttl, 0).Sub(r.At)
		if r.Event == "INSERT" && ttl == 0 || ttl != 0 && r.Event == "INSERT" && (left < l.least-near || left > l.most+near) {
			w.violate("lifetimes", "%s%s lives for %s, want %s to %s", l.pk, l.sk, left, l.least, l.most)
		}
		return
	}
	if ttl > 1<<33 {
		w.violate("lifetimes", "%s has a ttl of %d: not in seconds", familyOf(r.Key.PK), ttl)
	}
}

// secret matches what may be a credential: the prefixes of tokens, refresh tokens, link
// codes and authorization codes with something secret behind them.
var secret = regexp.MustCompile(`a(st|sr|sc)_[0-9A-Za-z_-]{20,}|lc_[0-9a-z]{26}\.[0-9A-Za-z_-]+|[a-z0-9+]+@(gmail\.com|zoo\d+\.example\.org)`)

// address matches the mail addresses of this world.
var address = regexp.MustCompile(`[a-z0-9+]+@(gmail\.com|zoo\d+\.example\.org)`)

// inClear returns what may stand nowhere in clear: an address, a token or a code.
func (w *world) inClear(text string) string {
	if m := secret.FindString(text); m != "" {
		return m
	}
	for _, m := range codeForm.FindAllString(text, -1) {
		if w.codes[strings.ReplaceAll(m, "-", "")] != "" {
			return m
		}
	}
	return w.codes[text]
}

// clear checks that a changed item has no secret in clear.
func (w *world) clear(r tables.StreamRecord) {
	eachText(r.New, func(s string) {
		if found := w.inClear(s); found != "" {
			w.violate("secrets", "an item of type %s holds %.12s…", typeOf(r), found)
		}
	})
}

// logged checks a line of the log.
func (w *world) logged(line string) {
	if found := w.inClear(line); found != "" {
		w.violate("secrets", "the log holds %.12s…: %.200s", found, line)
	}
}

// eachText visits the strings of an item.
func eachText(v any, visit func(string)) {
	switch v := v.(type) {
	case string:
		visit(v)
	case tables.Item:
		for _, x := range v {
			eachText(x, visit)
		}
	case tables.Map:
		for _, x := range v {
			eachText(x, visit)
		}
	case tables.List:
		for _, x := range v {
			eachText(x, visit)
		}
	case tables.Set:
		for _, x := range v {
			visit(x)
		}
	}
}

// event checks that inboxes have no gap and no event twice.
func (w *world) event(r tables.StreamRecord) {
	if r.Event != "INSERT" {
		return
	}
	agent := strings.TrimPrefix(r.Key.PK, tables.InboxPK(""))
	var e tables.InboxEvent
	if err := tables.Unmarshal(r.New, &e); err != nil {
		w.violate("inboxes", "%v", err)
		return
	}
	if want := w.at.events[agent] + 1; e.Seq != want {
		w.violate("inboxes", "%s: event %d after %d", agent, e.Seq, want-1)
	}
	w.at.events[agent] = e.Seq
	if w.at.kinds[agent] == nil {
		w.at.kinds[agent] = map[string]int{}
	}
	source := ""
	switch e.Kind {
	case tables.EventReply, tables.EventMention, tables.EventPost:
		source, _ = e.Subject["post"].(string)
	case tables.EventDM:
		source, _ = e.Subject["message"].(string)
	case tables.EventDuty, tables.EventCaseOpened:
		source, _ = e.Subject["case"].(string)
	case tables.EventHelpful:
		source, _ = e.Subject["post"].(string)
	case tables.EventWelcome:
	default:
		return
	}
	w.at.kinds[agent][e.Kind+" "+source]++
	if w.at.kinds[agent][e.Kind+" "+source] > 1 {
		w.violate("inboxes", "%s: event %d is the second %s of %s", agent, e.Seq, e.Kind, source)
	}
	if e.Kind == tables.EventReply || e.Kind == tables.EventMention || e.Kind == tables.EventPost {
		for _, other := range []string{tables.EventReply, tables.EventMention, tables.EventPost} {
			if other != e.Kind && w.at.kinds[agent][other+" "+source] > 0 {
				w.violate("inboxes", "%s: %s and %s of %s", agent, other, e.Kind, source)
			}
		}
	}
}

// money adds up movements and balances.
func (w *world) money(r tables.StreamRecord) {
	if typeOf(r) == tables.TypeBalance {
		item := r.New
		if item == nil {
			item = r.Old
		}
		account := tables.BalanceOwner(item)
		w.at.running[account] = tables.MicroUSD(r.New)
		w.at.dirty[account] = true
		return
	}
	var m tables.Movement
	if r.Event != "INSERT" {
		if r.Event == "REMOVE" {
			w.violate("books", "a movement was removed")
		}
		return
	}
	if err := tables.Unmarshal(r.New, &m); err != nil {
		w.violate("books", "%v", err)
		return
	}
	if m.MicroUSD <= 0 || !m.Fits() {
		w.violate("books", "%d of kind %s from %s to %s", m.MicroUSD, m.Kind, m.From, m.To)
	}
	w.at.moved[m.From] -= m.MicroUSD
	w.at.moved[m.To] += m.MicroUSD
	w.at.dirty[m.From], w.at.dirty[m.To] = true, true
}

// summons is a duty of a juror.
type summons struct{ agent, of string }

func (w *world) duty(r tables.StreamRecord) {
	item := r.New
	if item == nil {
		item = r.Old
	}
	s := summons{tables.Owner(r.Key), item.Str("case")}
	w.summoned = only(w.summoned, func(t summons) bool { return t != s })
	if r.New != nil {
		w.summoned = append(w.summoned, s)
	}
}

// seated checks that a new juror is neither a party nor a reporter, has an origin, and
// shares it with no party and no other juror.
func (w *world) seated(r tables.StreamRecord) {
	if r.Event != "INSERT" {
		return
	}
	var s tables.Seat
	var c tables.Case
	if tables.Unmarshal(r.New, &s) != nil || tables.Unmarshal(w.items[tables.CaseKey(s.Case)], &c) != nil {
		w.violate("juries", "an unreadable seat")
		return
	}
	w.seats[s.Case] = append(w.seats[s.Case], s.Juror.ID)
	w.counts["seats"]++
	j := w.byID[s.Juror.ID]
	if j == nil {
		return // its registration is not known yet
	}
	if s.Juror.ID == c.Author.ID {
		w.violate("juries", "the author judges %s", s.Case)
	}
	if w.items[tables.ReportKey(c.Target, s.Juror.ID)] != nil {
		w.violate("juries", "a reporter judges %s", s.Case)
	}
	if time.Since(j.at) < 3*day-near {
		w.violate("juries", "an agent that is %s old judges %s", time.Since(j.at), s.Case)
	}
	others := append([]string{c.Author.ID}, c.Parties...)
	for _, other := range append(others, w.seats[s.Case]...) {
		o := w.byID[other]
		if o == nil || o == j || o.settled() == "" || j.settled() == "" {
			continue
		}
		if owner(o.verified) == owner(j.verified) {
			w.violate("juries", "a juror of %s is of the same owner as a party or another juror", s.Case)
		}
	}
}

// settled returns the origin if it is old enough to have been known to a draw.
func (p *person) settled() string {
	if time.Since(p.verifiedAt) < 5*time.Minute {
		return ""
	}
	return p.verified
}

// decided learns from a case's end what is removed.
func (w *world) decided(r tables.StreamRecord) {
	if r.New.Str("state") == tables.CaseUpheld && r.Old.Str("state") != tables.CaseUpheld {
		if x := w.byPost[r.New.Str("target")]; x != nil {
			x.removed, x.goneAt = true, time.Now()
		}
		w.counts["upheld"]++
	}
	if r.Event == "INSERT" {
		w.counts["cases"]++
	}
}

// counters checks that no counter falls below zero.
func (w *world) counters(r tables.StreamRecord) {
	switch typeOf(r) {
	case tables.TypePostCounters:
		w.least(r, "replies", "helpful")
	case tables.TypeCounters:
		w.least(r, "posts", "followers", "following", "duties")
	case tables.TypeChannel:
		w.least(r, "posts", "followers")
	case tables.TypeMessaging:
		w.least(r, "unread")
	}
}

func (w *world) least(r tables.StreamRecord, names ...string) {
	for _, n := range names {
		if v := r.New.Int(n); v < 0 {
			w.violate("counters", "%s of %s is %d", n, typeOf(r), v)
		}
	}
}

// said matches the beginning of the texts of this world, which are all different.
var said = regexp.MustCompile(`[a-z]+\d+ says \d+`)

// erased returns a text in s that was deleted or removed longer ago than d; "" if there
// is none.
func (w *world) erased(s string, d time.Duration) string {
	for _, m := range said.FindAllString(s, -1) {
		all := w.byText[m]
		if len(all) > 0 && !slices.ContainsFunc(all, func(x *posted) bool { return !x.gone() || time.Since(x.goneAt) < d }) {
			return m
		}
	}
	return ""
}

func textOf(body string) string { return said.FindString(body) }
