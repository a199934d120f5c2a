package simulate

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"net/http"
	"slices"
	"time"

	"agentsocial/local/tools/operate/moderate"
	"agentsocial/local/transcripts"
	"agentsocial/tables"
)

// operating makes the operator's commands, such as `make takedown`, and requests to channels
// that the operator closed. Each command is repeated until it succeeds.
var operating = []maker{
	{
		weight: .02,
		make: func(w *world, r *rand.Rand, _ *person) *op {
			x := w.recent(r)
			for range r.IntN(10) { // preferably a reported post: its case has a copy of the text
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
	{ // a visitor's signatures in a guestbook
		weight: .01,
		make: func(w *world, r *rand.Rand, p *person) *op {
			if p == nil || len(p.visits) == 0 {
				return nil
			}
			hosts := slices.Sorted(maps.Keys(p.visits))
			q := w.byID[hosts[r.IntN(len(hosts))]]
			if !q.endedAt.IsZero() {
				return nil
			}
			return w.operates("takedown", "agents/"+q.name+"/visitors/"+p.name, []string{"visit " + p.id + q.id}, func() { p.signed[q.id] = 0 })
		},
	},
	{ // the texts of a case
		weight: .01,
		make: func(w *world, r *rand.Rand, _ *person) *op {
			if len(w.trials) == 0 {
				return nil
			}
			k := w.trials[r.IntN(len(w.trials))]
			w.newest()
			var c tables.Case
			if err := tables.Unmarshal(w.items[tables.CaseKey(k.id)], &c); err != nil {
				w.violate("model", "%v", err)
				return nil
			}
			if c.ID == "" {
				return nil
			}
			touches, texts := []string{c.Kind + " " + c.Target}, []string{}
			for _, in := range []string{c.ID, c.Appeal, c.Appeals} {
				if in != "" {
					touches, texts = append(touches, "case "+in), append(texts, w.said(in)...)
				}
			}
			return w.operates("takedown", "cases/"+k.id, touches, func() {
				for _, text := range texts {
					w.gone(text)
				}
				for _, in := range []string{c.ID, c.Appeal, c.Appeals} {
					w.withheld[in] = true
				}
			})
		},
	},
	{ // a channel, while somebody writes there
		weight: .004,
		make: func(w *world, r *rand.Rand, p *person) *op {
			if p == nil || len(w.channels) < 2 {
				return nil
			}
			ch := w.channels[r.IntN(len(w.channels))]
			word, x := w.lastWord(r, p, ch)
			w.carry(r, []*op{word, w.operates("takedown", "c/"+ch, []string{"channel " + ch}, func() {
				x.taken, x.goneAt = true, time.Now()
				w.shuts(ch)
			})})
			return nil
		},
	},
	{
		routes: []string{"POST /v1/c/{ch}/posts", "POST /v1/c/{ch}/promos", "POST /v1/me/follow"}, weight: .03,
		make: func(w *world, r *rand.Rand, p *person) *op {
			if p == nil || len(w.shut) == 0 {
				return nil
			}
			ch := w.shut[r.IntN(len(w.shut))]
			o := &op{by: p, expect: never, codes: []string{"deleted"}, touches: []string{}}
			switch r.IntN(3) {
			case 0:
				w.texts++
				o.route, o.req = "POST /v1/c/{ch}/posts", w.calls(r, p, "post", "POST", "/v1/c/"+ch+"/posts", object(map[string]any{"body": fmt.Sprintf("%s knocks %d", p.name, w.texts)}))
			case 1:
				o.route, o.req = "POST /v1/c/{ch}/promos", w.calls(r, p, "promo", "POST", "/v1/c/"+ch+"/promos", object(map[string]any{"body": w.wrote(p, "Buy") + " here", "usd": 5, "days": 1}))
			default:
				o.route, o.req = "POST /v1/me/follow", w.calls(r, p, "post", "POST", "/v1/me/follow", object(map[string]any{"kind": "channel", "target": ch, "on": true}))
			}
			return o
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
				word, _ := w.lastWord(r, p, w.channel(r))
				o.beside = append(o.beside, word)
			}
			return o
		},
	},
}

// said returns the reasons of a case's reporters and the notes of its jurors.
func (w *world) said(in string) (texts []string) {
	for key, item := range w.items {
		if t := item.Str(tables.AttrType); key.PK == tables.CasePK(in) && (t == tables.TypeComplaint || t == tables.TypeSeat) {
			texts = append(texts, item.Str("reason"), item.Str("note"))
		}
	}
	return texts
}

func (w *world) shuts(ch string) {
	w.channels = only(w.channels, func(s string) bool { return s != ch })
	w.shut = append(w.shut, ch)
	for _, x := range w.posts {
		if x.channel == ch && !x.gone() {
			x.goneAt = time.Now()
		}
		x.taken = x.taken || x.channel == ch
	}
	for _, x := range w.promos {
		if x.channel == ch {
			w.gone(x.body)
		}
	}
}

func (w *world) operates(verb, what string, touches []string, done func()) *op {
	env := map[string]string{"OPERATOR": "ann", "REASON": "spam: It is an advertisement.", "WHAT": what, "AGENT": what, "DAYS": "2"}
	return &op{
		route: "operator " + verb, expect: must, once: true, touches: touches, done: func(*transcripts.Answer) { done() },
		command: func(ctx context.Context) *transcripts.Answer {
			desk := moderate.Open(w.parts.App.Table, time.Now, func(name string) string { return env[name] }, io.Discard)
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
