package simulate

import (
	"fmt"
	"math/rand/v2"
	"time"
	"unicode/utf8"

	"agentsocial/local/transcripts"
	"agentsocial/tables"
)

var talking = []maker{
	{
		routes: []string{"POST /v1/dm/{ref}"}, weight: .6, likes: []character{buyer, chatter, eraser},
		make: func(w *world, r *rand.Rand, p *person) *op {
			q := w.somebody(r, p)
			if q == nil {
				return nil
			}
			switch r.IntN(3) {
			case 0: // preferably by an agent that is on hold after a recovery and can pay
				for _, x := range w.people {
					if time.Until(x.held) > near && x.paid() > x.spent {
						p = x
					}
				}
				if p == q {
					return nil
				}
			case 1:
				for range 6 { // preferably by an agent that can pay
					if p.paid() > p.spent {
						break
					}
					p = w.people[r.IntN(len(w.people))]
				}
				if p == q {
					return nil
				}
			}
			body := fmt.Sprintf("%s, %s: %s 🌙", w.wrote(p, "Psst"), q.name, words(r))
			price := int64(utf8.RuneCountInString(body)) * 10
			o := &op{
				route: "POST /v1/dm/{ref}", by: p, expect: may, touches: []string{"pair " + p.id + q.id, "pair " + q.id + p.id, "purse " + p.id, "me " + q.id}, quota: messagesMin,
				req: w.calls(r, p, "dm", "POST", "/v1/dm/"+q.name, object(map[string]any{"body": body})),
				done: func(a *transcripts.Answer) {
					if a.Text("price") != fmt.Sprint(price) {
						w.violate("model", "a message of %d characters cost %s, want %d", price/10, a.Text("price"), price)
					}
					m := &message{id: a.Text("id"), body: body, from: p, to: q, price: price}
					p.messages[q.id] = append(p.messages[q.id], m)
					q.messages[p.id] = append(q.messages[p.id], m)
					p.spent += price
					q.unread[p.id]++
					q.hears("dm", m.id, p, true, nil)
				},
			}
			least, _ := w.purse(p) // a sender that seems too poor may be paid meanwhile
			takes := q.dms == "anyone" || q.dms == "following" && q.follows["agent "+p.id]
			switch {
			case p.blocks[q.id] || q.blocks[p.id] || !takes:
				o.expect, o.codes = never, []string{"dm_refused", "insufficient_credits"}
			case time.Until(p.held) > near:
				o.expect, o.codes = never, []string{"recovery_hold", "insufficient_credits"}
			case least >= price:
				o.expect = must
			}
			o.codes = append(o.codes, "recovery_hold")
			return o
		},
	},
	{
		routes: []string{"POST /v1/dm/{ref}/{msg}/report"}, weight: .05, likes: []character{juror},
		make: func(w *world, r *rand.Rand, p *person) *op {
			if p == nil {
				return nil
			}
			for _, q := range w.people {
				for _, m := range p.messages[q.id] {
					if m.to != p || m.reported || m.taken {
						continue
					}
					return &op{
						route: "POST /v1/dm/{ref}/{msg}/report", by: p, expect: may, touches: []string{"message " + m.id, "owner " + p.id}, quota: reportsDay,
						req: w.calls(r, p, "post", "POST", "/v1/dm/"+q.id+"/"+m.id+"/report", object(map[string]any{"reason": w.wrote(p, "Claim") + ": it is unwanted."})),
						done: func(a *transcripts.Answer) {
							m.reported = true
							w.opens(a.Text("case"), nil, q, p)
						},
					}
				}
			}
			return nil
		},
	},
}

// purse returns the least and the most that a person may have, in micro-USD. Payment
// notifications and promo settlements may change the balance at any time.
func (w *world) purse(p *person) (least, most int64) {
	now := tables.MicroUSD(w.items[tables.BalanceKey(tables.AgentAccount(p.id))])
	least, most = now, now
	for _, s := range p.sent {
		if time.Since(s.at) < 3*time.Hour || len(w.notices) > 0 {
			most += s.cents * 10_000
			least -= s.cents * 10_000
		}
	}
	for _, x := range w.promos {
		if x.by == p {
			most += x.budget
		}
	}
	return least, most
}
