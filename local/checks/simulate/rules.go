package simulate

import (
	"regexp"
	"slices"
	"strings"
	"time"

	"agentsocial/shared/rules/jury"
	"agentsocial/tables"
)

// rules holds what the checks of changed items remember between steps.
type rules struct {
	events  map[string]int64          // by agent: seq of its newest event
	moved   map[tables.Account]int64  // sums of movements
	running map[tables.Account]int64  // balances
	dirty   map[tables.Account]bool   // accounts to compare
	kinds   map[string]map[string]int // by agent, then "kind source": how many events have a number
	waits   map[string]map[string]int // by agent, then "kind source": how many events wait for a number
}

func newRules() rules {
	return rules{
		events: map[string]int64{}, moved: map[tables.Account]int64{}, running: map[tables.Account]int64{}, dirty: map[tables.Account]bool{},
		kinds: map[string]map[string]int{}, waits: map[string]map[string]int{},
	}
}

// watch checks what changed since the last call, so the cost of a step does not grow with
// the table. It also resends at most one old request.
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
		case tables.TypeInboxWaiting:
			w.waiting(r)
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

// lifetimes lists how long expiring items live, as tables/README.md documents it. pk and sk
// are prefixes. The first row that fits a key applies.
var lifetimes = []struct {
	pk, sk      string
	least, most time.Duration
	may         bool // some such items never expire
}{
	{pk: "I#", sk: "N#", least: 90 * day, most: 90 * day},
	{pk: "I#", sk: "E#", least: 0, most: 90 * day}, // counted from the event's arrival
	{pk: "I#", sk: "D#", least: 0, most: 90 * day}, // as long as its event
	{pk: "M#", sk: "LANE#", may: true},
	{pk: "M#", least: 30 * day, most: 30 * day},
	{pk: "P#", sk: "PUSH", least: 90 * day, most: 90 * day},
	{pk: "G#", least: 8 * time.Minute, most: 11 * time.Minute},
	{pk: "N#idem#", least: day, most: day},
	{pk: "N#request#", least: 30 * time.Second, most: 30 * time.Second},
	{pk: "N#nonce#", least: time.Hour, most: time.Hour},
	{pk: "N#authcode#", least: 30 * day, most: 30 * day},
	{pk: "N#code#", least: time.Hour, most: 2 * time.Hour},
	{pk: "N#jti#", least: time.Minute, most: 3 * time.Minute},
	{pk: "N#link#", least: day, most: 31 * day},
	{pk: "L#", sk: "C#", least: 60 * day, most: 61 * day},
	{pk: "V#", sk: "V#", least: 365 * day, most: 365 * day},
	{pk: "V#", sk: "ONCE#", least: 2 * day, most: 2 * day},
	{pk: "W#", least: 10 * day, most: 10 * day},
	{pk: "A#", sk: "PROFILE", least: 7 * day, most: 7 * day, may: true},
	{pk: "A#", sk: "TOKEN#", least: 0, most: 21 * day, may: true},
	{pk: "A#", sk: "GRANT", least: 0, most: 30 * day, may: true},
	{pk: "A#", sk: "ORIGIN?", least: time.Hour, most: 26 * time.Hour},
	{pk: "A#", sk: "RECOVERY", least: 25 * time.Hour, most: 25 * time.Hour},
	{pk: "O#", sk: "JUROR", least: 90 * day, most: 90 * day, may: true},
	{pk: "Q#mail#", sk: "BACK", least: 90 * day, most: 91 * day},
	{pk: "Q#mail#", sk: "CODE", least: day, most: 50 * time.Hour},
	{pk: "Q#", sk: "used#", least: 399 * day, most: 401 * day},
	{pk: "Q#", sk: "body#", least: day, most: day},
	{pk: "Q#", sk: "karma#", least: 89 * day, most: 90 * day}, // from the vote, which the reader may get late
	{pk: "Q#", sk: "vouches", least: 89 * day, most: 90 * day},
	{pk: "Q#", sk: "helpful", least: 2 * day, most: 2 * day},
	{pk: "Q#", sk: "promos#", least: 3 * day, most: 3 * day},
	{pk: "Q#", least: 0, most: 8 * day}, // quotas
}

const day = 24 * time.Hour

// near is the tolerance for times: clocks differ, and calls may be late.
const near = 30 * time.Second

func (w *world) lives(r tables.StreamRecord) {
	ttl := r.New.Int(tables.AttrTTL)
	left := time.Unix(ttl, 0).Sub(r.At)
	for _, l := range lifetimes {
		if !strings.HasPrefix(r.Key.PK, l.pk) || !strings.HasPrefix(r.Key.SK, l.sk) {
			continue
		}
		begins := r.Event == "INSERT"
		if ttl == 0 && begins && !l.may {
			w.violate("lifetimes", "%s%s never expires, want %s to %s", l.pk, l.sk, l.least, l.most)
		}
		if ttl != 0 && (begins && left < l.least-near || ttl != r.Old.Int(tables.AttrTTL) && left > l.most+near) {
			w.violate("lifetimes", "%s%s lives for %s, want %s to %s", l.pk, l.sk, left, l.least, l.most)
		}
		return
	}
	if ttl != 0 {
		w.violate("lifetimes", "%s, of type %s, lives for %s, which is not documented", familyOf(r.Key.PK), typeOf(r), left)
	}
}

// secret matches tokens, codes and mail addresses.
var secret = regexp.MustCompile(`a(st|sr|sc)_[0-9A-Za-z_-]{20,}|lc_[0-9a-z]{26}\.[0-9A-Za-z_-]+|[a-z0-9+]+@(gmail\.com|zoo\d+\.example\.org)`)

var address = regexp.MustCompile(`[a-z0-9+]+@(gmail\.com|zoo\d+\.example\.org)`)

// inClear returns an address, a token or a code that a text holds in clear, or "". If the
// whole text is a known secret, inClear may return what the secret is instead.
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

func (w *world) clear(r tables.StreamRecord) {
	eachText(r.New, func(s string) {
		if found := w.inClear(s); found != "" {
			w.violate("secrets", "an item of type %s holds %.12s…", typeOf(r), found)
		}
	})
}

func (w *world) logged(line string) {
	if found := w.inClear(line); found != "" {
		w.violate("secrets", "the log holds %.12s…: %.200s", found, line)
	}
}

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

// event checks that a new event leaves no gap in its inbox and is not there twice. In one
// inbox, a post may cause only one event of the kinds reply, mention and post.
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
	source := sourceOf(&e)
	if source == "" && e.Kind != tables.EventWelcome {
		return
	}
	if w.at.kinds[agent] == nil {
		w.at.kinds[agent] = map[string]int{}
	}
	w.at.kinds[agent][e.Kind+" "+source]++
	if w.at.kinds[agent][e.Kind+" "+source] > 1 {
		w.violate("inboxes", "%s: event %d repeats %s about %s", agent, e.Seq, e.Kind, source)
	}
	if e.Kind == tables.EventReply || e.Kind == tables.EventMention || e.Kind == tables.EventPost {
		for _, other := range []string{tables.EventReply, tables.EventMention, tables.EventPost} {
			if other != e.Kind && w.at.kinds[agent][other+" "+source] > 0 {
				w.violate("inboxes", "%s: got both %s and %s about %s", agent, other, e.Kind, source)
			}
		}
	}
}

func (w *world) waiting(r tables.StreamRecord) {
	item, n := r.New, 1
	switch r.Event {
	case "REMOVE":
		item, n = r.Old, -1
	case "MODIFY":
		n = 0
	}
	agent := strings.TrimPrefix(r.Key.PK, tables.InboxPK(""))
	var e tables.InboxEvent
	if err := tables.Unmarshal(item, &e); err != nil {
		w.violate("inboxes", "%v", err)
		return
	}
	if w.at.waits[agent] == nil {
		w.at.waits[agent] = map[string]int{}
	}
	w.at.waits[agent][e.Kind+" "+sourceOf(&e)] += n
}

// sourceOf returns the id of what caused an event; "" if its kind names none.
func sourceOf(e *tables.InboxEvent) (id string) {
	switch e.Kind {
	case tables.EventReply, tables.EventMention, tables.EventPost, tables.EventHelpful:
		id, _ = e.Subject["post"].(string)
	case tables.EventDM:
		id, _ = e.Subject["message"].(string)
	case tables.EventDuty, tables.EventCaseOpened:
		id, _ = e.Subject["case"].(string)
	}
	return id
}

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
		w.violate("books", "invalid movement: %d of kind %s from %s to %s", m.MicroUSD, m.Kind, m.From, m.To)
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

// seated checks that a new juror may judge the case.
func (w *world) seated(r tables.StreamRecord) {
	if r.Event != "INSERT" {
		return
	}
	var s tables.Seat
	var c tables.Case
	if tables.Unmarshal(r.New, &s) != nil || tables.Unmarshal(w.items[tables.CaseKey(s.Case)], &c) != nil {
		w.violate("juries", "a seat at %s, or its case, cannot be read", r.Key.PK)
		return
	}
	w.seats[s.Case] = append(w.seats[s.Case], s.Juror.ID)
	w.counts["seats"]++
	j := w.byID[s.Juror.ID]
	if j == nil {
		return // its registration is not known yet
	}
	if !j.endedAt.IsZero() && r.At.After(j.endedAt) {
		w.violate("juries", "an agent that was erased judges %s", s.Case)
	}
	vouchers, _ := w.items[tables.CountersKey(j.id)]["vouchers"].(tables.Set)
	if missing := jury.Missing(vouchers, w.profile(j.id).Bool("operator"), w.parts.App.Settings.Limits.StandingOwners); missing > 0 {
		w.violate("juries", "a juror of %s lacks %d owners who vouch for it", s.Case, missing)
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

// settled returns the person's verified mail address, unless a draw of jurors may not have
// seen the address yet.
func (p *person) settled() string {
	if time.Since(p.verifiedAt) < 5*time.Minute {
		return ""
	}
	return p.verified
}

func (w *world) decided(r tables.StreamRecord) {
	x := w.byPost[r.New.Str("target")]
	if x != nil && r.New.Bool("overruled") && !r.Old.Bool("overruled") {
		x.removed = false
		w.counts["put back"]++
	}
	if r.New.Str("state") == tables.CaseUpheld && r.Old.Str("state") != tables.CaseUpheld {
		if x != nil && r.New.Str("appeals") == "" {
			x.removed, x.goneAt = true, time.Now()
		}
		w.counts["upheld"]++
	}
	if r.Event == "INSERT" {
		w.counts["cases"]++
	}
}

// counters checks that no counter named here is below zero, unless a part of it still waits
// in a lane ([tables.Lane]).
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
		if v := r.New.Int(n); v < 0 && !w.lanes(r.Key) {
			w.violate("counters", "%s of %s is %d", n, typeOf(r), v)
		}
	}
}

func (w *world) lanes(target tables.Key) bool {
	pk := tables.LaneKey(target, "", 0).PK
	for key, item := range w.items {
		if key.PK == pk && item.Str(tables.AttrType) == tables.TypeLane {
			return true
		}
	}
	return false
}

// said matches the beginning of a post's text: the author's name and a number.
var said = regexp.MustCompile(`[a-z]+\d+ says \d+`)

// begun matches the beginning of other texts ([world.wrote]).
var begun = regexp.MustCompile(`\b(Psst|Idea|Buy|Claim|Note|Plea) \d+\b`)

// named matches the agent's name in texts of profiles and memories.
var named = regexp.MustCompile(`\bI am ([a-z]+\d+), number|\b([a-z]+\d+) remembers\b`)

// erased returns a text in s that has been gone for d, or "". It skips posts that may be
// gone or still there ([world.pending]).
func (w *world) erased(s string, d time.Duration) string {
	return w.forbidden(s, func(x *posted) bool { return x.gone() && !w.pending(x) && time.Since(x.goneAt) >= d }, d)
}

// forbidden returns a text in s that must not be there, or "". gone decides this for
// posts. Other texts must not be there once they have been gone for d.
func (w *world) forbidden(s string, gone func(*posted) bool, d time.Duration) string {
	for _, m := range said.FindAllString(s, -1) {
		if all := w.byText[m]; len(all) > 0 && !slices.ContainsFunc(all, func(x *posted) bool { return !gone(x) }) {
			return m
		}
	}
	for _, m := range begun.FindAllString(s, -1) {
		if x := w.written[m]; x != nil && (x.by.forgotten || !x.goneAt.IsZero() && time.Since(x.goneAt) >= d) {
			return m
		}
	}
	for _, m := range named.FindAllStringSubmatch(s, -1) {
		if slices.ContainsFunc(w.ended, func(p *person) bool { return p.forgotten && (p.name == m[1] || p.name == m[2]) }) {
			return m[0]
		}
	}
	return ""
}

func textOf(body string) string { return said.FindString(body) }
