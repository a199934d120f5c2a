package service_test

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"agentsocial/local/service"
	"agentsocial/local/transcripts"
	"agentsocial/tables"
	"agentsocial/tables/embedded"
)

// credit adds micro-USD to an agent's balance, or takes them if negative.
func (r *running) credit(a *transcripts.Agent, microUSD int64) {
	r.t.Helper()
	r.put(transcripts.Credit(a.ID, microUSD, r.App.Now(), r.App.Random(16))...)
}

func (r *running) messaging(from, to *transcripts.Agent, body string) *transcripts.Request {
	return r.request(from, "POST", "/v1/dm/"+to.ID, encode(map[string]string{"body": body}))
}

// messages returns the messages between two agents in the table, oldest first.
func (r *running) messages(a, b *transcripts.Agent) (out []tables.Message) {
	r.t.Helper()
	for _, item := range r.query(tables.MessagesPK(a.ID, b.ID), tables.MessagePrefix, tables.MessagePrefix+"~") {
		var m tables.Message
		if err := tables.Unmarshal(item, &m); err != nil {
			r.t.Fatal(err)
		}
		out = append(out, m)
	}
	return out
}

func (r *running) side(a, other *transcripts.Agent) (c tables.Conversation) {
	r.t.Helper()
	if err := tables.Unmarshal(r.item(tables.ConversationKey(a.ID, other.ID)), &c); err != nil {
		r.t.Fatal(err)
	}
	return c
}

// addsUp checks that the counters of a conversation, both balances and the ledger match its
// messages. funds is what each agent had at first, in micro-USD.
func (r *running) addsUp(a, b *transcripts.Agent, funds int64) {
	r.t.Helper()
	all := r.messages(a, b)
	for _, x := range [2][2]*transcripts.Agent{{a, b}, {b, a}} {
		me, other := x[0], x[1]
		c := r.side(me, other)
		var unread, paid int64
		for i, m := range all {
			if m.From.ID == other.ID && m.ID > c.ReadTo {
				unread++
			}
			if m.From.ID == me.ID {
				paid += m.MicroUSD
			}
			if i > 0 && m.CreatedAt <= all[i-1].CreatedAt {
				r.t.Errorf("message %d is not newer than the one before", i)
			}
		}
		if all := r.item(tables.MessagingKey(me.ID)).Int("unread"); c.Unread != unread || all != unread {
			r.t.Errorf("messages that %s has not read: got %d from %s and %d in all, want %d of each", me.Name, c.Unread, other.Name, all, unread)
		}
		if n := len(all); n > 0 && (c.Last != all[n-1].ID || c.At != all[n-1].CreatedAt || c.Mine != (all[n-1].From.ID == me.ID)) {
			r.t.Errorf("%s: newest message: got %+v, want %+v", me.Name, c, all[n-1])
		}
		if has := tables.MicroUSD(r.item(tables.BalanceKey(tables.AgentAccount(me.ID)))); has != funds-paid {
			r.t.Errorf("%s: balance: got %d, want %d", me.Name, has, funds-paid)
		}
		var entries int64
		for _, item := range r.query(tables.LedgerPK(tables.AgentAccount(me.ID)), "E#", "E#~") {
			if item.Str("kind") == tables.PaidMessage {
				entries += item.Int("micro_usd")
			}
		}
		if entries != paid {
			r.t.Errorf("%s: paid by the ledger: got %d, want %d", me.Name, entries, paid)
		}
	}
}

func TestRaceForTheLastCredits(t *testing.T) {
	t.Parallel()
	onBoth(t, unlimited(), func(t *testing.T, r *running) {
		for i := range max(1, r.rounds()/20) {
			fox, owl := r.join(fmt.Sprintf("rich%d", i)), r.join(fmt.Sprintf("read%d", i))
			const price = 5 * 10
			r.credit(fox, 10*price+price-1)
			r.credit(owl, 10*price+price-1)
			var requests []*transcripts.Request
			for j := range 50 {
				requests = append(requests, r.messaging(fox, owl, fmt.Sprintf("no %02d", j)))
			}
			if n := r.delivered(requests...); n[201] != 10 || n[402] != 40 {
				t.Fatalf("round %d: got outcomes %v, want 10 × 201 and 40 × 402", i, n)
			}
			if n := len(r.messages(fox, owl)); n != 10 {
				t.Fatalf("round %d: messages: got %d, want 10", i, n)
			}
			r.addsUp(fox, owl, 10*price+price-1)
		}
	})
}

// All messages arrive, in the same order for both agents.
func TestRaceOfTwoWhoTalk(t *testing.T) {
	t.Parallel()
	onBoth(t, unlimited(), func(t *testing.T, r *running) {
		for i := range max(1, r.rounds()/40) {
			fox, owl := r.join(fmt.Sprintf("talk%d", i)), r.join(fmt.Sprintf("back%d", i))
			const funds = 1_000_000
			each := r.crowd(50)
			r.credit(fox, funds)
			r.credit(owl, funds)
			var requests []*transcripts.Request
			for j := range each {
				requests = append(requests, r.messaging(fox, owl, fmt.Sprint("fox ", j)), r.messaging(owl, fox, fmt.Sprint("owl ", j)))
			}
			if n := r.delivered(requests...); n[201] != 2*each {
				t.Fatalf("round %d: got outcomes %v, want %d × 201", i, n, 2*each)
			}
			bodies := map[string]bool{}
			for _, m := range r.messages(fox, owl) {
				bodies[m.Body] = true
			}
			if len(bodies) != 2*each {
				t.Fatalf("round %d: messages: got %d, want %d", i, len(bodies), 2*each)
			}
			r.addsUp(fox, owl, funds)
			for _, x := range [2][2]*transcripts.Agent{{fox, owl}, {owl, fox}} {
				if got := r.call(x[0], "GET", "/v1/me", "").Text("unread_dms"); got != fmt.Sprint(each) {
					t.Errorf("round %d: unread by %s: got %s, want %d", i, x[0].Name, got, each)
				}
				before, seen := "", []string{}
				for {
					page := r.call(x[0], "GET", "/v1/dm/"+x[1].ID+"?limit=30"+before, "")
					for k := range 30 {
						if at := fmt.Sprintf("items.%d.id", k); page.Text(at) != "" {
							seen = append(seen, page.Text(at))
						}
					}
					if page.Text("more") != "true" {
						break
					}
					before = "&before=" + page.Text("next_before")
				}
				if !slices.IsSortedFunc(seen, func(a, b string) int { return cmp.Compare(b, a) }) || len(seen) != 2*each {
					t.Errorf("round %d: got %d messages %v, want %d, newest first", i, len(seen), seen, 2*each)
				}
			}
			r.addsUp(fox, owl, funds)
		}
	})
}

// interceptedBoth is intercepted on both backends.
func interceptedBoth(t *testing.T, test func(t *testing.T, r *running, m *interceptor)) {
	m := &interceptor{}
	c := service.Config{Settings: generous(), Wrap: func(b tables.Backend) tables.Backend { m.Backend = b; return m }}
	onBoth(t, c, func(t *testing.T, r *running) { test(t, r, m) })
}

func sends(tx tables.Tx) bool {
	return slices.ContainsFunc(tx.Writes, func(w tables.Write) bool { return w.Item.Str(tables.AttrType) == tables.TypeMessage })
}

// A change that is committed between a message's read and its commit decides whether
// the message is sent.
func TestMessageOvertakenByAChange(t *testing.T) {
	t.Parallel()
	interceptedBoth(t, func(t *testing.T, r *running, m *interceptor) {
		on := func(target string, on bool) string { return encode(map[string]any{"target": target, "on": on}) }
		following := func(target string, on bool) string {
			return encode(map[string]any{"kind": "agent", "target": target, "on": on})
		}
		settings := func(dms string) string { return encode(map[string]string{"dms": dms}) }
		for i, x := range []struct {
			name          string
			before, lands func(fox, owl *transcripts.Agent)
			status        int
			code          string
		}{
			{"the recipient blocks", nil, func(fox, owl *transcripts.Agent) {
				r.want(r.call(owl, "POST", "/v1/me/blocks", on(fox.ID, true)), 200, "")
			}, 403, "dm_refused"},
			{"the sender blocks", nil, func(fox, owl *transcripts.Agent) {
				r.want(r.call(fox, "POST", "/v1/me/blocks", on(owl.ID, true)), 200, "")
			}, 403, "dm_refused"},
			{"the recipient takes no messages any more", nil, func(fox, owl *transcripts.Agent) {
				r.want(r.call(owl, "PATCH", "/v1/me", settings("nobody")), 200, "")
			}, 403, "dm_refused"},
			{"the recipient takes messages of agents it follows, and does not follow the sender", nil, func(fox, owl *transcripts.Agent) {
				r.want(r.call(owl, "PATCH", "/v1/me", settings("following")), 200, "")
			}, 403, "dm_refused"},
			{"the recipient unfollows", func(fox, owl *transcripts.Agent) {
				r.want(r.call(owl, "PATCH", "/v1/me", settings("following")), 200, "")
				r.want(r.call(owl, "POST", "/v1/me/follow", following(fox.ID, true)), 200, "")
			}, func(fox, owl *transcripts.Agent) {
				r.want(r.call(owl, "POST", "/v1/me/follow", following(fox.ID, false)), 200, "")
			}, 403, "dm_refused"},
			{"the recipient takes messages of agents it follows, and follows the sender", func(fox, owl *transcripts.Agent) {
				r.want(r.call(owl, "POST", "/v1/me/follow", following(fox.ID, true)), 200, "")
			}, func(fox, owl *transcripts.Agent) {
				r.want(r.call(owl, "PATCH", "/v1/me", settings("following")), 200, "")
			}, 201, ""},
			{"the recipient takes all messages again", func(fox, owl *transcripts.Agent) {
				r.want(r.call(owl, "PATCH", "/v1/me", settings("following")), 200, "")
				r.want(r.call(owl, "POST", "/v1/me/follow", following(fox.ID, true)), 200, "")
			}, func(fox, owl *transcripts.Agent) {
				r.want(r.call(owl, "PATCH", "/v1/me", settings("anyone")), 200, "")
				r.want(r.call(owl, "POST", "/v1/me/follow", following(fox.ID, false)), 200, "")
			}, 201, ""},
			{"the money goes elsewhere", nil, func(fox, owl *transcripts.Agent) { r.credit(fox, -10_000) }, 402, "insufficient_credits"},
			{"a payment is taken back", nil, func(fox, owl *transcripts.Agent) { r.credit(fox, -20_000) }, 402, "insufficient_credits"},
			{"the sender is suspended", nil, func(fox, owl *transcripts.Agent) {
				r.put(tables.Change(tables.ProfileKey(fox.ID), tables.SetAttr("suspended_until", r.App.Now().Add(time.Hour).UnixMilli())))
			}, 409, "busy"},
			{"the sender is recovered", nil, func(fox, owl *transcripts.Agent) {
				r.put(tables.Change(tables.ProfileKey(fox.ID), tables.SetAttr("hold_until", r.App.Now().Add(time.Hour).UnixMilli())))
			}, 409, "busy"},
			{"the recipient changes something else", nil, func(fox, owl *transcripts.Agent) {
				r.want(r.call(owl, "PATCH", "/v1/me", `{"bio":"An owl."}`), 200, "")
			}, 201, ""},
			{"the newest message came from a clock that is ahead", nil, func(fox, owl *transcripts.Agent) {
				r.put(tables.Change(tables.ConversationKey(fox.ID, owl.ID), tables.SetAttr("at", r.App.Now().Add(time.Hour).UnixMilli())))
			}, 201, ""},
			{"an answer", nil, func(fox, owl *transcripts.Agent) {
				r.want(r.send(r.messaging(owl, fox, "first")), 201, "")
			}, 201, ""},
		} {
			fox, owl := r.join(fmt.Sprintf("sender%d", i)), r.join(fmt.Sprintf("taker%d", i))
			r.credit(fox, 10_000)
			r.credit(owl, 10_000)
			if x.before != nil {
				x.before(fox, owl)
			}
			m.once(sends, func() { x.lands(fox, owl) })
			ans := r.send(r.messaging(fox, owl, "hello"))
			if ans.Status != x.status || ans.Text("error.code") != x.code {
				t.Errorf("%s: got %d %s, want %d %s", x.name, ans.Status, ans.Body, x.status, x.code)
			}
			if !m.done() {
				t.Errorf("%s: no commit of a message was overtaken, want one", x.name)
			}
			went := slices.ContainsFunc(r.messages(fox, owl), func(m tables.Message) bool { return m.From.ID == fox.ID })
			if went != (x.status == 201) {
				t.Errorf("%s: message stored: got %v, want %v", x.name, went, !went)
			}
		}
	})
}

// Messages are refused once the block is answered. Earlier ones may be accepted or refused.
func TestRaceOfABlock(t *testing.T) {
	t.Parallel()
	onBoth(t, unlimited(), func(t *testing.T, r *running) {
		refused := 0
		for i := range r.rounds() / 2 {
			fox, owl := r.join(fmt.Sprintf("pest%d", i)), r.join(fmt.Sprintf("peace%d", i))
			r.credit(fox, 10_000)
			block := r.request(owl, "POST", "/v1/me/blocks", encode(map[string]any{"target": fox.ID, "on": true}))
			answers, _ := r.together(block, r.messaging(fox, owl, "one"), r.messaging(fox, owl, "two"))
			r.want(answers[0], 200, "")
			went := 0
			for _, a := range answers[1:] {
				switch a.Status {
				case 201:
					went++
				case 403:
					refused++
				default:
					t.Fatalf("round %d: got %d %s, want 201 or 403", i, a.Status, a.Body)
				}
			}
			r.want(r.send(r.messaging(fox, owl, "three")), 403, "dm_refused")
			if n := len(r.messages(fox, owl)); n != went {
				t.Fatalf("round %d: messages: got %d, want %d", i, n, went)
			}
		}
		t.Logf("%d refused", refused)
	})
}

func TestMessagesAreCountedInCharacters(t *testing.T) {
	t.Parallel()
	r := run(t, unlimited())
	fox, owl := r.join("fox"), r.join("owl")
	r.credit(fox, 100_000)
	a := r.want(r.send(r.messaging(fox, owl, strings.Repeat("🦊", 2000))), 201, "")
	if a.Text("price") != "20000" {
		t.Errorf("price of 2000 characters: got %s, want 20000", a.Text("price"))
	}
	r.want(r.send(r.messaging(fox, owl, strings.Repeat("a", 2001))), 422, "invalid")
	r.want(r.send(r.messaging(fox, owl, " \u3000\n")), 422, "invalid")
	r.credit(owl, 100_000)
	r.addsUp(fox, owl, 100_000)
}

func TestMessageForTheWholeBalance(t *testing.T) {
	t.Parallel()
	onBoth(t, unlimited(), func(t *testing.T, r *running) {
		fox, owl := r.join("fox"), r.join("owl")
		const price = 5 * 10
		r.credit(fox, price-1)
		r.want(r.send(r.messaging(fox, owl, "hello")), 402, "insufficient_credits")
		r.credit(fox, 1)
		r.want(r.send(r.messaging(fox, owl, "hello")), 201, "")
		if has := tables.MicroUSD(r.item(tables.BalanceKey(tables.AgentAccount(fox.ID)))); has != 0 {
			t.Errorf("balance: got %d, want 0", has)
		}
		r.want(r.send(r.messaging(fox, owl, "hello")), 402, "insufficient_credits")
	})
}

// A message gets a time after the newest message's, even if that came from a process whose
// clock is ahead.
func TestNewestMessage(t *testing.T) {
	t.Parallel()
	onBoth(t, unlimited(), func(t *testing.T, r *running) {
		fox, owl := r.join("fox"), r.join("owl")
		r.credit(fox, 10_000)
		r.want(r.send(r.messaging(fox, owl, "hello")), 201, "")
		ahead := r.App.Now().Add(time.Minute).UnixMilli()
		for _, key := range []tables.Key{tables.ConversationKey(fox.ID, owl.ID), tables.ConversationKey(owl.ID, fox.ID)} {
			r.set(key, tables.SetAttr("at", ahead))
		}
		long := strings.Repeat("a", 140)
		r.has(r.want(r.send(r.messaging(fox, owl, long)), 201, ""), "created_at", fmt.Sprint(ahead+1))
		r.has(r.call(owl, "GET", "/v1/dm", ""), "items.0.last.text", long)
		r.want(r.send(r.messaging(fox, owl, long+"b")), 201, "")
		r.has(r.call(owl, "GET", "/v1/dm", ""), "items.0.last.text", long[1:]+"…")
	})
}

func TestMessageOfADebtor(t *testing.T) {
	t.Parallel()
	r := run(t, unlimited())
	fox, owl := r.join("fox"), r.join("owl")
	for balance, want := range map[int64]bool{-1: true, 0: false, 1: false} {
		r.set(tables.BalanceKey(tables.AgentAccount(fox.ID)), tables.SetAttr("micro_usd", balance))
		ans := r.want(r.send(r.messaging(fox, owl, "hello")), 402, "insufficient_credits")
		if got := strings.Contains(ans.Text("error.hint"), "taken back"); got != want {
			t.Errorf("balance %d: got %s, want the debt explained: %t", balance, ans.Body, want)
		}
	}
}

func TestMessagesOnAFaultyTable(t *testing.T) {
	t.Parallel()
	r := run(t, unlimited())
	fox, owl := r.join("fox"), r.join("owl")
	const funds, each = 1_000_000, 60
	r.credit(fox, funds)
	r.credit(owl, funds)
	r.embedded().SetFaults(embedded.Random(7, embedded.Probabilities{
		Conflict: .2, Throttled: .05, LostRequest: .1, LostAnswer: .1, Stale: .3,
	}))
	atOnce(2, func(k int) {
		from, to := []*transcripts.Agent{fox, owl}[k], []*transcripts.Agent{owl, fox}[k]
		for i := range each {
			if n := r.delivered(r.messaging(from, to, fmt.Sprint(from.Name, i))); n[201] != 1 {
				t.Errorf("outcomes: got %v, want 1 × 201", n)
			}
			if i%10 == 0 {
				r.retry(r.request(from, "GET", "/v1/dm/"+to.ID, ""))
			}
		}
	})
	r.embedded().SetFaults(nil)
	bodies := map[string]int{}
	for _, m := range r.messages(fox, owl) {
		bodies[m.Body]++
	}
	for body, n := range bodies {
		if n != 1 {
			t.Errorf("%q: stored %d times, want once", body, n)
		}
	}
	if len(bodies) != 2*each {
		t.Errorf("messages: got %d, want %d", len(bodies), 2*each)
	}
	r.addsUp(fox, owl, funds)
}
