package simulate

import (
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"net/http"
	"time"

	"agentsocial/local/tools/operate/moderate"
	"agentsocial/local/transcripts"
	"agentsocial/tables"
)

// operating are the commands of the operator: `make takedown` and the like. They are
// given again until they succeed.
var operating = []maker{
	{
		weight: .02,
		make: func(w *world, r *rand.Rand, _ *person) *op {
			x := w.recent(r)
			for range r.IntN(10) { // rather what was reported: cases have copies of it
				if x == nil || len(x.reporters) > 0 {
					break
				}
				x = w.recent(r)
			}
			if x == nil {
				return nil
			}
			return w.operates("takedown", "c/"+x.channel+"/posts/"+x.id, []string{"post " + x.id}, func() {
				if !x.gone() {
					x.goneAt = time.Now()
				}
				x.taken = true
			})
		},
	},
	{
		weight: .01,
		make: func(w *world, r *rand.Rand, p *person) *op {
			q := w.somebody(r, p)
			if q == nil || len(p.messages[q.id]) == 0 {
				return nil
			}
			m := p.messages[q.id][r.IntN(len(p.messages[q.id]))]
			return w.operates("takedown", "dm/"+p.name+"/"+q.id+"/"+m.id, []string{"message " + m.id, "pair " + p.id + q.id, "pair " + q.id + p.id}, func() {
				m.taken = true
				w.gone(m.body)
			})
		},
	},
	{
		weight: .01,
		make: func(w *world, r *rand.Rand, _ *person) *op {
			if len(w.ideas) == 0 {
				return nil
			}
			x := w.ideas[r.IntN(len(w.ideas))]
			return w.operates("takedown", "ideas/"+x.id, []string{"idea " + x.id}, func() {
				w.ideas = only(w.ideas, func(y *idea) bool { return y != x })
				w.gone(x.title)
			})
		},
	},
	{
		weight: .01,
		make: func(w *world, r *rand.Rand, _ *person) *op {
			if len(w.promos) == 0 {
				return nil
			}
			x := w.promos[r.IntN(len(w.promos))]
			if !x.by.endedAt.IsZero() {
				return nil
			}
			return w.operates("takedown", "c/"+x.channel+"/promos/"+x.id, []string{"promo " + x.id, "board " + x.channel}, func() { w.gone(x.body) })
		},
	},
	{
		weight: .01,
		make: func(w *world, r *rand.Rand, p *person) *op {
			if p == nil {
				return nil
			}
			return w.operates("takedown", "agents/"+p.name, []string{"me " + p.id}, func() { p.bio = "" })
		},
	},
	{
		weight: .01, likes: []character{spammer},
		make: func(w *world, r *rand.Rand, p *person) *op {
			if p == nil || p == w.people[0] {
				return nil
			}
			verb := "suspend"
			if w.profile(p.id).Int("suspended_until") > ms() && r.IntN(3) > 0 {
				verb = "lift"
			}
			o := w.operates(verb, p.name, []string{"me " + p.id}, func() {})
			o.about = p
			return o
		},
	},
	{
		weight: .002,
		make: func(w *world, r *rand.Rand, p *person) *op {
			if p == nil || p == w.people[0] {
				return nil
			}
			o := w.operates("erase", p.name, []string{"keys " + p.id}, func() { w.ends(p) })
			o.about = p
			if r.IntN(2) == 0 {
				o.beside = append(o.beside, w.lastWord(r, p))
			}
			return o
		},
	},
}

// operates makes a command of the operator about something.
func (w *world) operates(verb, what string, touches []string, done func()) *op {
	env := map[string]string{"OPERATOR": "ann", "REASON": "spam: It is an advertisement.", "WHAT": what, "AGENT": what, "DAYS": "2"}
	return &op{
		route: "operator " + verb, expect: must, once: true, touches: touches, done: func(*transcripts.Answer) { done() },
		command: func(ctx context.Context) *transcripts.Answer {
			desk := moderate.Open(w.table, time.Now, func(name string) string { return env[name] }, io.Discard)
			err := moderate.Verbs[verb](ctx, desk)
			a := &transcripts.Answer{Status: http.StatusOK, Header: http.Header{}}
			switch {
			case err == nil:
				return a
			case errors.Is(err, errUnreachable), errors.Is(err, tables.ErrThrottled), errors.Is(err, tables.ErrConflict), errors.Is(err, tables.ErrUnknownOutcome):
				a.Status = http.StatusServiceUnavailable
			default:
				a.Status = http.StatusBadRequest
			}
			a.Body = []byte(err.Error())
			return a
		},
	}
}
