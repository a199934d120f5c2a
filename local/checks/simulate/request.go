package simulate

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"time"

	"agentsocial/local/checks/contract"
	"agentsocial/local/transcripts"
)

// expectation is the outcome that the model predicts for a request.
type expectation int

const (
	may   expectation = iota
	must              // it is accepted, or refused for a limit
	never             // it is refused
)

// op is one operation: a request, the answers that it may get, and what it changes in the
// model.
type op struct {
	route   string // the endpoint, as declared
	by      *person
	req     *transcripts.Request
	address string
	expect  expectation
	allow   []string // with must: codes of allowed refusals
	codes   []string // with never: codes of the right refusals; nil: any
	touches []string // no other operation of the step may touch these
	traces  bool     // a refusal leaves more than counters, such as a spent puzzle
	once    bool     // a repeat would have another outcome
	final   bool     // it ends its own credential, so a repeat is refused
	about   *person  // no other operation of the step may concern this agent
	beside  []*op    // operations sent at the same time
	quota   *quota

	done    func(a *transcripts.Answer) // called if accepted
	refused func(a *transcripts.Answer)
	unsure  bool // an attempt had an unknown outcome

	command func(context.Context) *transcripts.Answer // the operator's command, instead of a request

	answer *transcripts.Answer
	job    *job
	when   time.Time
	rivals []*op // all operations of the same step
}

func (w *world) ask(ctx context.Context, q *transcripts.Request, address string) *transcripts.Answer {
	a, err := q.AskFrom(ctx, w.parts.Gateway, address)
	if err != nil {
		w.violate("answers", "%s %s: %v", q.Method, q.Target, err)
		return &transcripts.Answer{Status: 599, Header: http.Header{}}
	}
	return a
}

// plainly sends a request without faults.
func (w *world) plainly(q *transcripts.Request, p *person) *transcripts.Answer {
	address := "192.0.2.251"
	if p != nil {
		address = p.address
	}
	return w.send(q, address, true)
}

func (w *world) send(q *transcripts.Request, address string, calm bool) (a *transcripts.Answer) {
	w.sends++
	j := w.start(fmt.Sprintf("%d+%d %s", w.op, w.sends, routeOf(q)), calm, func(ctx context.Context) { a = w.ask(ctx, q, address) })
	w.finish(j)
	if a == nil {
		a = &transcripts.Answer{Status: 599, Header: http.Header{}}
	}
	w.answered(q, a)
	return a
}

func routeOf(q *transcripts.Request) string {
	path, _, _ := strings.Cut(q.Target, "?")
	return q.Method + " " + path
}

func (w *world) answered(q *transcripts.Request, a *transcripts.Answer) {
	w.tracef("  %s: %d %s %s", routeOf(q), a.Status, a.Code(), sha(a.Body)[:12])
	if a.Status == 500 && a.Text("message") != "" { // the gateway's own answer: the process died
		return
	}
	if found := address.Find(a.Body); found != nil {
		w.violate("secrets", "%s answers with the address %s", routeOf(q), found)
	}
	document, err := contract.Load()
	if err == nil {
		err = document.Check(q.Method, q.Target, a.Status, a.Header, a.Body)
	}
	if err != nil && a.Status != 599 {
		w.violate("answers", "%s: %v", routeOf(q), err)
	}
}

func (w *world) does(ctx context.Context, o *op) *transcripts.Answer {
	if o.command != nil {
		a := o.command(ctx)
		w.tracef("  %s: %d %s", o.route, a.Status, a.Body)
		return a
	}
	return w.ask(ctx, o.req, o.address)
}

func (w *world) resend(o *op, calm bool) (a *transcripts.Answer) {
	if o.command == nil {
		return w.send(o.req, o.address, calm)
	}
	w.sends++
	w.finish(w.start(fmt.Sprintf("%d+%d %s", w.op, w.sends, o.route), calm, func(ctx context.Context) { a = w.does(ctx, o) }))
	return a
}

func undecided(a *transcripts.Answer) bool {
	return a.Status >= 500 || a.Code() == "busy"
}

// resends bounds how often an undecided request is sent again. The tries together last
// longer than a dead process keeps its claim on the request.
const resends = 9

func (w *world) step(r *rand.Rand) {
	n := 1
	if r.Float64() < w.c.Rates.Race {
		n = 2 + r.IntN(2)
	}
	var ops []*op
	touched := map[string]bool{}
	for i := range n {
		o := w.draw(r)
		if o == nil || i > 0 && (o.touches == nil || slices.ContainsFunc(o.touches, func(s string) bool { return touched[s] })) {
			continue
		}
		for _, s := range o.touches {
			touched[s] = true
		}
		ops = append(ops, o)
	}
	for _, o := range slices.Clone(ops) {
		if o.about != nil && slices.Contains(ops, o) {
			ops = only(ops, func(other *op) bool { return other == o || !w.concerns(other, o.about) })
			ops = append(ops, o.beside...)
		}
	}
	if len(ops) > 0 {
		w.carry(r, ops)
	}
}

// carry carries out operations at the same time, repeats each until it is decided, and then
// tells the model.
func (w *world) carry(r *rand.Rand, ops []*op) {
	var jobs []*job
	for i, o := range ops {
		w.counts[o.route]++
		if o.address == "" {
			o.address = "192.0.2.252"
			if o.by != nil {
				o.address = o.by.address
			}
		}
		o.when, o.rivals = time.Now(), ops
		o.job = w.start(fmt.Sprintf("%d.%d %s", w.op, i, o.route), false, func(ctx context.Context) { o.answer = w.does(ctx, o) })
		jobs = append(jobs, o.job)
	}
	w.tracef("%d at %d: %d", w.op, ms(), len(ops))
	if r.Float64() < .7 {
		w.ran(w.background()...)
	}
	if r.IntN(20) == 0 { // a schedule at the same time
		s := w.schedules[r.IntN(len(w.schedules))]
		s.next = time.Now()
		w.ran(w.call(s, false)...)
	}
	w.finish(jobs...)
	for _, o := range ops {
		if o.answer == nil {
			o.answer = &transcripts.Answer{Status: 599, Header: http.Header{}}
		}
		if o.req != nil {
			w.answered(o.req, o.answer)
		}
	}
	for _, o := range ops {
		for try := 1; undecided(o.answer); try++ {
			o.unsure = true
			if try > resends {
				w.violate("requests", "%s is never decided: %d %s", o.route, o.answer.Status, o.answer.Body)
				return
			}
			pause := time.Duration(200+r.IntN(1300)) * time.Millisecond
			if o.answer.Code() == "busy" { // a dead process keeps its claim for half a minute
				pause += 7 * time.Second
			}
			w.turns.Pass(time.Now().Add(pause))
			o.answer = w.resend(o, try > 2)
		}
	}
	for _, o := range ops {
		w.decide(o)
	}
	for _, o := range ops {
		if o.answer.Status/100 == 2 && !o.once && r.Float64() < w.c.Rates.Deaf {
			w.again(o)
		}
		if o.answer.Status/100 == 2 && o.by != nil && o.req != nil && o.req.Header.Get("x-agent-sig") != "" && r.Float64() < w.c.Rates.Later {
			w.later = append(w.later, o)
		}
	}
}

// limits are the codes of refusals for a limit or a passing state.
var limits = []string{"rate_limited", "too_soon", "limit_reached"}

func (w *world) decide(o *op) {
	a := o.answer
	ok := a.Status/100 == 2 || a.Status == 302 || a.Status == 303 || o.final && o.unsure && (a.Code() == "unknown_key" || a.Code() == "bad_token")
	if ok && o.expect == never {
		w.violate("model", "%s by %s was accepted: %d %s\n%s", o.route, o.name(), a.Status, a.Body, o.said())
		return
	}
	if ok && o.route == "POST /v1/c/{ch}/posts" && w.suspended(o) {
		w.violate("model", "%s by %s, which is suspended, was accepted", o.route, o.name())
		return
	}
	code := a.Code()
	if !ok && o.expect == must && !slices.Contains(append(o.allow, limits...), code) && !w.barred(o, code) {
		w.violate("model", "%s by %s was refused: %d %s\n%s", o.route, o.name(), a.Status, a.Body, o.said())
		return
	}
	if !ok && o.expect == never && o.codes != nil && !slices.Contains(append(o.codes, "rate_limited"), code) && !w.barred(o, code) {
		w.violate("model", "%s by %s was refused with %s, want %v", o.route, o.name(), code, o.codes)
		return
	}
	w.count(o, ok, code)
	if ok {
		w.accepted[o.route]++
	}
	if !ok && !o.unsure && !o.traces {
		w.left(o)
	}
	if ok && o.done != nil {
		o.done(a)
	}
	if !ok && o.refused != nil {
		o.refused(a)
	}
}

func (o *op) said() []byte {
	if o.req == nil {
		return nil
	}
	return o.req.Body
}

func (o *op) name() string {
	if o.by == nil {
		return "nobody"
	}
	return o.by.name
}

// barred reports whether the agent's state explains a refusal.
func (w *world) barred(o *op, code string) bool {
	if o.by == nil {
		return false
	}
	switch code {
	case "suspended":
		w.newest() // perhaps it was suspended while the step ran
		return w.profile(o.by.id).Int("suspended_until") > o.when.UnixMilli()-2000
	case "unknown_key", "bad_token":
		return o.raced()
	case "recovery_hold":
		return time.Now().Before(o.by.held.Add(2 * time.Second))
	}
	return false
}

// raced reports whether another operation of the step may have ended the credential.
func (o *op) raced() bool {
	return o.by != nil && slices.ContainsFunc(o.rivals, func(r *op) bool { return r != o && slices.Contains(r.touches, "keys "+o.by.id) })
}

func (w *world) suspended(o *op) bool {
	if o.by == nil {
		return false
	}
	w.newest() // perhaps its suspension ended while the step ran
	since, there := w.bans[o.by.id]
	return there && since.Before(o.when.Add(-time.Second)) && w.profile(o.by.id).Int("suspended_until") > time.Now().Add(near).UnixMilli()
}

// scraps lists the partitions to which a refused request may write: guards, nonces and
// quotas.
var scraps = []string{"G#", "N#", "Q#"}

func (w *world) left(o *op) {
	for _, c := range o.job.wrote {
		if !slices.ContainsFunc(scraps, func(s string) bool { return strings.HasPrefix(c.key.PK, s) }) {
			w.violate("refusals", "%s was refused (%s), and wrote %s", o.route, o.answer.Code(), familyOf(c.key.PK))
		}
	}
}

func familyOf(pk string) string { f, _, _ := strings.Cut(pk, "#"); return f + "#" }

// again sends an accepted request once more, as if its answer had been lost.
func (w *world) again(o *op) {
	a := w.send(o.req, o.address, true)
	if a.Code() == "rate_limited" || a.Status == 401 && o.raced() {
		return
	}
	if a.Status != o.answer.Status || a.Text("id") != o.answer.Text("id") {
		w.violate("repeats", "%s: first %d %s, then %d %s", o.route, o.answer.Status, o.answer.Body, a.Status, a.Body)
	}
}

// replay sends a signed request again, two minutes or more after it was signed.
func (w *world) replay() {
	if len(w.later) == 0 {
		return
	}
	o := w.later[0]
	if time.Since(o.when) < 2*time.Minute {
		return
	}
	w.later = w.later[1:]
	if a := w.send(o.req, o.address, false); !undecided(a) && a.Status != 401 && a.Status != 429 {
		w.violate("replays", "%s, sent again after %s: got %d %s, want 401 or 429", o.route, time.Since(o.when), a.Status, a.Body)
	}
}

// quota is a limit of accepted requests in a window of time.
type quota struct {
	name string // as the refusal's message names it
	per  time.Duration
	most int
}

// perhapsAlso precedes a quota's name for requests that may or may not count against it.
const perhapsAlso = "perhaps "

// count checks that no agent exceeds a quota, or is refused before the quota is used up. A
// request near the boundary of two windows may count in either.
func (w *world) count(o *op, ok bool, code string) {
	q := o.quota
	if q == nil || o.by == nil {
		return
	}
	const near = 3 * time.Second
	start := o.when.UTC().Truncate(q.per)
	inside, perhaps := 0, 0
	for _, t := range o.by.quota[q.name] {
		if !t.Before(start.Add(-near)) && t.Before(start.Add(q.per+near)) {
			perhaps++
		}
		if !t.Before(start.Add(near)) && t.Before(start.Add(q.per-near)) {
			inside++
		}
	}
	for _, t := range o.by.quota[perhapsAlso+q.name] {
		if !t.Before(start.Add(-near)) && t.Before(start.Add(q.per+near)) {
			perhaps++
		}
	}
	sure := o.when.Sub(start) > near && start.Add(q.per).Sub(o.when) > 20*time.Second || q.per <= time.Minute && o.when.Sub(start) > near && start.Add(q.per).Sub(o.when) > near
	if ok {
		if sure && !o.unsure && inside >= q.most {
			w.violate("limits", "%s by %s: %d accepted, want at most %d %s", o.route, o.by.name, inside+1, q.most, q.name)
		}
		o.by.quota[q.name] = append(only(o.by.quota[q.name], func(t time.Time) bool { return time.Since(t) < 2*q.per }), o.when)
	}
	if says := fmt.Sprintf("%d %s", q.most, q.name); !ok && code == "rate_limited" && strings.Contains(o.answer.Text("error.message"), says) && perhaps < q.most {
		w.violate("limits", "%s by %s is refused after %d of %d: %s", o.route, o.by.name, perhaps, q.most, o.answer.Body)
	}
}
