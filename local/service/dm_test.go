package service_test

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"agentsocial/local/service"
	"agentsocial/local/transcripts"
	"agentsocial/tables"
	"agentsocial/tables/embedded"
)

// credit gives an agent micro-USD, or takes them back.
func (r *running) credit(a *transcripts.Agent, microUSD int64) {
	r.t.Helper()
	r.put(transcripts.Credit(a.ID, microUSD, r.App.Now(), r.App.Random(16))...)
}

// messaging is a message from one agent to another.
func (r *running) messaging(from, to *transcripts.Agent, body string) *transcripts.Request {
	return r.request(from, "POST", "/v1/dm/"+to.ID, encode(map[string]string{"body": body}))
}

// delivered sends requests at the same moment, and again those that others were
// in the way of.
func (r *running) delivered(requests ...*transcripts.Request) (byStatus map[int]int) {
	r.t.Helper()
	answers, _ := r.together(requests...)
	byStatus = map[int]int{}
	for i, a := range answers {
		for range 20 {
			if a.Text("error.code") != "busy" && a.Status != 503 {
				break
			}
			a = r.send(requests[i])
		}
		byStatus[a.Status]++
	}
	return byStatus
}

// messages between two agents as they stand in the table, oldest first.
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

// side is an agent's side of a conversation.
func (r *running) side(a, other *transcripts.Agent) (c tables.Conversation) {
	r.t.Helper()
	if err := tables.Unmarshal(r.item(tables.ConversationKey(a.ID, other.ID)), &c); err != nil {
		r.t.Fatal(err)
	}
	return c
}

// addsUp holds that what is counted of two agents' messages is what counting
// gives: unread, its sum, the newest, and what was paid for.
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
				r.t.Errorf("message %d is not later than the one before", i)
			}
		}
		if all := r.item(tables.MessagingKey(me.ID)).Int("unread"); c.Unread != unread || all != unread {
			r.t.Errorf("%s has %d unread of %s, %d in all: counted are %d", me.Name, c.Unread, other.Name, all, unread)
		}
		if n := len(all); n > 0 && (c.Last != all[n-1].ID || c.At != all[n-1].CreatedAt || c.Mine != (all[n-1].From.ID == me.ID)) {
			r.t.Errorf("%s has %+v as the newest of %+v", me.Name, c, all[n-1])
		}
		if has := tables.MicroUSD(r.item(tables.BalanceKey(tables.AgentAccount(me.ID)))); has != funds-paid {
			r.t.Errorf("%s has %d of %d after paying %d", me.Name, has, funds, paid)
		}
		var entries int64
		for _, item := range r.query(tables.LedgerPK(tables.AgentAccount(me.ID)), "E#", "E#~") {
			if item.Str("kind") == tables.PaidMessage {
				entries += item.Int("micro_usd")
			}
		}
		if entries != paid {
			r.t.Errorf("%s paid %d for messages by its books, %d by its messages", me.Name, entries, paid)
		}
	}
}

// Of fifty messages that are sent at once with money for ten, ten go.
func TestRaceForTheLastCredits(t *testing.T) {
	t.Parallel()
	onBoth(t, service.Config{Settings: generous()}, func(t *testing.T, r *running) {
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
				t.Fatalf("round %d: %v", i, n)
			}
			if n := len(r.messages(fox, owl)); n != 10 {
				t.Fatalf("round %d: %d messages", i, n)
			}
			r.addsUp(fox, owl, 10*price+price-1)
		}
	})
}

// Two agents write fifty messages each to one another, all at once: all arrive,
// in one order for both, and both have fifty unread.
func TestRaceOfTwoWhoTalk(t *testing.T) {
	t.Parallel()
	onBoth(t, service.Config{Settings: generous()}, func(t *testing.T, r *running) {
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
				t.Fatalf("round %d: %v", i, n)
			}
			bodies := map[string]bool{}
			for _, m := range r.messages(fox, owl) {
				bodies[m.Body] = true
			}
			if len(bodies) != 2*each {
				t.Fatalf("round %d: %d messages of %d", i, len(bodies), 2*each)
			}
			r.addsUp(fox, owl, funds)
			for _, x := range [2][2]*transcripts.Agent{{fox, owl}, {owl, fox}} {
				if got := r.call(x[0], "GET", "/v1/me", "").Text("unread_dms"); got != fmt.Sprint(each) {
					t.Errorf("round %d: %s unread", i, got)
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
					t.Errorf("round %d: %d messages, in what order: %v", i, len(seen), seen)
				}
			}
			r.addsUp(fox, owl, funds) // after reading
		}
	})
}

// meddledBoth is meddled on both backends.
func meddledBoth(t *testing.T, test func(t *testing.T, r *running, m *meddler)) {
	m := &meddler{}
	c := service.Config{Settings: generous(), Wrap: func(b tables.Backend) tables.Backend { m.Backend = b; return m }}
	onBoth(t, c, func(t *testing.T, r *running) { test(t, r, m) })
}

// sends reports whether a transaction puts a message.
func sends(tx tables.Tx) bool {
	return slices.ContainsFunc(tx.Writes, func(w tables.Write) bool { return w.Item.Str(tables.AttrType) == tables.TypeMessage })
}

// What lands between a message's reading and its commit decides.
func TestWhatLandsFirstWins(t *testing.T) {
	t.Parallel()
	meddledBoth(t, func(t *testing.T, r *running, m *meddler) {
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
			{"the recipient takes none any more", nil, func(fox, owl *transcripts.Agent) {
				r.want(r.call(owl, "PATCH", "/v1/me", settings("nobody")), 200, "")
			}, 403, "dm_refused"},
			{"the recipient takes some, not these", nil, func(fox, owl *transcripts.Agent) {
				r.want(r.call(owl, "PATCH", "/v1/me", settings("following")), 200, "")
			}, 403, "dm_refused"},
			{"the recipient unfollows", func(fox, owl *transcripts.Agent) {
				r.want(r.call(owl, "PATCH", "/v1/me", settings("following")), 200, "")
				r.want(r.call(owl, "POST", "/v1/me/follow", following(fox.ID, true)), 200, "")
			}, func(fox, owl *transcripts.Agent) {
				r.want(r.call(owl, "POST", "/v1/me/follow", following(fox.ID, false)), 200, "")
			}, 403, "dm_refused"},
			{"the recipient takes some, these too", func(fox, owl *transcripts.Agent) {
				r.want(r.call(owl, "POST", "/v1/me/follow", following(fox.ID, true)), 200, "")
			}, func(fox, owl *transcripts.Agent) {
				r.want(r.call(owl, "PATCH", "/v1/me", settings("following")), 200, "")
			}, 201, ""},
			{"the recipient takes all", func(fox, owl *transcripts.Agent) {
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
			{"a message by a clock that is ahead", nil, func(fox, owl *transcripts.Agent) {
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
				t.Errorf("%s: %d %s", x.name, ans.Status, ans.Body)
			}
			if !m.done() {
				t.Errorf("%s: nothing was sent", x.name)
			}
			went := slices.ContainsFunc(r.messages(fox, owl), func(m tables.Message) bool { return m.From.ID == fox.ID })
			if went != (x.status == 201) {
				t.Errorf("%s: the message went: %v", x.name, went)
			}
		}
	})
}

// A block and a message at once: whichever is first, what follows the block's
// answer is refused, and the blocked one's messages are those that were answered.
func TestRaceOfABlock(t *testing.T) {
	t.Parallel()
	onBoth(t, service.Config{Settings: generous()}, func(t *testing.T, r *running) {
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
					t.Fatalf("round %d: %d %s", i, a.Status, a.Body)
				}
			}
			r.want(r.send(r.messaging(fox, owl, "three")), 403, "dm_refused")
			if n := len(r.messages(fox, owl)); n != went {
				t.Fatalf("round %d: %d messages, %d answered", i, n, went)
			}
		}
		t.Logf("%d refused", refused)
	})
}

// The limit and the price count Unicode characters, whatever they weigh.
func TestMessagesAreCountedInCharacters(t *testing.T) {
	t.Parallel()
	r := run(t, service.Config{Settings: generous()})
	fox, owl := r.join("fox"), r.join("owl")
	r.credit(fox, 100_000)
	a := r.want(r.send(r.messaging(fox, owl, strings.Repeat("🦊", 2000))), 201, "")
	if a.Text("price") != "20000" {
		t.Errorf("2000 foxes cost %s", a.Text("price"))
	}
	r.want(r.send(r.messaging(fox, owl, strings.Repeat("a", 2001))), 422, "invalid")
	r.want(r.send(r.messaging(fox, owl, " \u3000\n")), 422, "invalid")
	r.credit(owl, 100_000)
	r.addsUp(fox, owl, 100_000)
}

// On a table that fails as much as it may, a message that is answered stands
// once, and is paid for once.
func TestMessagesOnABadTable(t *testing.T) {
	t.Parallel()
	r := run(t, service.Config{Settings: generous()})
	fox, owl := r.join("fox"), r.join("owl")
	const funds, each = 1_000_000, 60
	r.credit(fox, funds)
	r.credit(owl, funds)
	r.embedded().SetFaults(embedded.Random(7, embedded.Probabilities{
		Conflict: .2, Throttled: .05, LostRequest: .1, LostAnswer: .1, Stale: .3,
	}))
	var work sync.WaitGroup
	for _, x := range [2][2]*transcripts.Agent{{fox, owl}, {owl, fox}} {
		work.Go(func() {
			for i := range each {
				if n := r.delivered(r.messaging(x[0], x[1], fmt.Sprint(x[0].Name, i))); n[201] != 1 {
					t.Errorf("%v", n)
				}
				if i%10 == 0 {
					r.steady(r.request(x[0], "GET", "/v1/dm/"+x[1].ID, ""))
				}
			}
		})
	}
	work.Wait()
	r.embedded().SetFaults(nil)
	bodies := map[string]int{}
	for _, m := range r.messages(fox, owl) {
		bodies[m.Body]++
	}
	for body, n := range bodies {
		if n != 1 {
			t.Errorf("%q stands %d times", body, n)
		}
	}
	if len(bodies) != 2*each {
		t.Errorf("%d messages of %d", len(bodies), 2*each)
	}
	r.addsUp(fox, owl, funds)
}
