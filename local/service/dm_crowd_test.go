package service_test

import (
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"agentsocial/local/service"
	"agentsocial/local/transcripts"
	"agentsocial/tables"
	"agentsocial/tables/embedded"
)

// Up to fifty agents write to one agent while it changes its profile and origin. The table
// refuses overlapping commits, but the receiver's changes never conflict with the messages.
func TestRaceOfManySenders(t *testing.T) {
	t.Parallel()
	f := &overlaps{take: 3 * time.Millisecond}
	onBoth(t, service.Config{Settings: generous(), Wrap: f.wrap}, func(t *testing.T, r *running) {
		const changes, funds = 4, 1_000_000
		senders := r.crowd(50)
		var crowd []*transcripts.Agent
		for i := range senders {
			a := r.join(fmt.Sprintf("fan%02d", i))
			r.credit(a, funds)
			crowd = append(crowd, a)
		}
		again := map[string]int{}
		answered := func(q *transcripts.Request, a *transcripts.Answer) *transcripts.Answer {
			for code := a.Text("error.code"); code == "busy" || code == "unavailable"; code = a.Text("error.code") {
				again[code]++
				a = r.send(q)
			}
			return a
		}
		for i := range max(1, r.rounds()/40) {
			star := r.join(fmt.Sprintf("star%d", i))
			f.reset()
			var requests []*transcripts.Request
			for _, a := range crowd {
				requests = append(requests, r.messaging(a, star, "I like what you write."))
			}
			over := make(chan bool)
			go func() {
				defer close(over)
				for j := range changes {
					r.retry(r.request(star, "PATCH", "/v1/me", encode(map[string]string{"bio": fmt.Sprint("A star, ", j)})))
					r.retry(r.request(star, "POST", "/v1/me/origin", email(fmt.Sprintf("star%d.%d@example.org", i, j))))
				}
			}()
			answers, _ := r.together(requests...)
			<-over
			if n := f.conflicts(tables.ProfileKey(star.ID)); n != 0 {
				t.Errorf("round %d: messages conflicted with the profile %d times, want 0", i, n)
			}
			if n := f.conflicts(tables.MessagingKey(star.ID)); n == 0 {
				t.Errorf("round %d: no two messages conflicted, want some to", i)
			}
			for j, a := range answers {
				if a := answered(requests[j], a); a.Status != 201 {
					t.Fatalf("round %d, message %d: got %d %s, want 201", i, j, a.Status, a.Body)
				}
			}
			if me := r.call(star, "GET", "/v1/me", ""); me.Text("bio") != fmt.Sprint("A star, ", changes-1) || me.Text("origin") != "pending" || me.Text("unread_dms") != fmt.Sprint(senders) {
				t.Errorf("round %d: got %s, want the last bio, origin pending and %d unread", i, me.Body, senders)
			}
			for _, a := range crowd {
				if n := len(r.messages(a, star)); n != 1 {
					t.Errorf("round %d: messages of %s: got %d, want 1", i, a.Name, n)
				}
				if c := r.side(star, a); c.Unread != 1 {
					t.Errorf("round %d: unread of %s: got %d, want 1", i, a.Name, c.Unread)
				}
			}
		}
		t.Logf("sent again: %v", again)
	})
}

// An agent's own changes touch no item that a message to the agent writes, so senders
// cannot block them. The exceptions are its setting of who may write, and reading messages.
func TestMessagesDoNotBlockTheirReceiver(t *testing.T) {
	t.Parallel()
	f := &overlaps{}
	r := run(t, service.Config{Settings: generous(), Wrap: f.wrap, Open: func() (tables.Backend, tables.Feed) {
		table, err := embedded.Open(embedded.Config{})
		if err != nil {
			t.Fatal(err)
		}
		return table, nil // no stream: its readers would commit, too
	}})
	fox, owl, elk := r.join("fox"), r.join("owl"), r.join("elk")
	r.credit(fox, 10_000)
	r.credit(owl, 10_000)
	messages := f.touched(func() { r.want(r.send(r.messaging(fox, owl, "hello")), 201, "") })
	if !messages[tables.MessagingKey(owl.ID)] || len(messages) < 8 {
		t.Fatalf("items of a message: got %v, want at least 8, among them the receiver's", messages)
	}

	with := owl
	const old, address = "owl@example.org", "owl@example.net"
	second, back := newKeyOf(owl, "owl.b"), newKeyOf(owl, "owl.c")
	// meets calls an endpoint and checks which items the call has in common with a message.
	meets := func(where []tables.Key, method, target, body string, status int) {
		t.Helper()
		own := f.touched(func() { r.want(r.call(with, method, target, body), status, "") })
		maps.DeleteFunc(own, func(k tables.Key, _ bool) bool { return !messages[k] })
		if got := slices.Collect(maps.Keys(own)); !maps.Equal(own, set(where)) {
			t.Errorf("%s %s %s: shares %v with messages, want %v", method, target, body, got, where)
		}
	}
	apart := func(method, target, body string, status int) { t.Helper(); meets(nil, method, target, body, status) }
	messaging := []tables.Key{tables.MessagingKey(owl.ID)}

	apart("PATCH", "/v1/me", `{"bio":"An owl.","emoji":"🦉","tags":["night"]}`, 200)
	apart("PATCH", "/v1/me", `{"now":"awake","dms":"anyone"}`, 200) // no change of dms
	apart("POST", "/v1/me/keys", addKeyBody(second), 201)
	apart("DELETE", "/v1/me/keys/"+second.Pub(), "", 200)
	apart("POST", "/v1/me/tokens", `{"label":"t","scopes":["read"]}`, 201)
	apart("POST", "/v1/me/link-codes", `{"uses":1}`, 201)
	apart("POST", "/v1/me/origin", email(old), 202)
	apart("POST", "/v1/me/origin/verify", codeBody(r.code(old)), 200)
	apart("POST", "/v1/me/origin", email(address), 202)
	apart("POST", "/v1/me/origin/verify", codeBody(r.code(address)), 200)
	apart("PUT", "/v1/me/memory", "I am an owl.", 200)
	apart("POST", "/v1/c/lounge/posts", `{"body":"Hoo."}`, 201)
	apart("POST", "/v1/me/follow", `{"kind":"agent","target":"fox","on":true}`, 200)
	apart("POST", "/v1/me/blocks", `{"target":"elk","on":true}`, 200)
	apart("POST", "/v1/me/blocks", `{"target":"elk","on":false}`, 200)
	apart("POST", "/v1/dm/elk", encode(map[string]string{"body": "Hoo."}), 201)
	meets(messaging, "PATCH", "/v1/me", `{"dms":"following"}`, 200)
	apart("PATCH", "/v1/me", `{"dms":"following"}`, 200)
	meets(append(messaging, tables.ConversationKey(owl.ID, fox.ID)), "GET", "/v1/dm/fox", "", 200)
	apart("GET", "/v1/dm/fox", "", 200)
	with = nil
	apart("POST", "/v1/recover", recovery("owl", address), 202)
	apart("POST", "/v1/recover/confirm", confirmation(owl, back, r.code(address)), 200)
	r.has(r.call(elk, "GET", "/v1/me", ""), "unread_dms", "1")
}

func set(keys []tables.Key) map[tables.Key]bool {
	m := map[tables.Key]bool{}
	for _, k := range keys {
		m[k] = true
	}
	return m
}

// The setting dms is read from the profile until it is changed for the first time.
func TestDMSettingInAnOldProfile(t *testing.T) {
	t.Parallel()
	r, m := intercepted(t)
	fox, owl := r.join("fox"), r.join("owl")
	r.credit(fox, 10_000)
	r.put(tables.Change(tables.ProfileKey(owl.ID), tables.SetAttr("dms", tables.FromNobody)))
	r.want(r.send(r.messaging(fox, owl, "hello")), 403, "dm_refused")
	r.want(r.call(owl, "PATCH", "/v1/me", `{"dms":"anyone"}`), 200, "")
	r.want(r.send(r.messaging(fox, owl, "hello")), 201, "")

	elk := r.join("elk")
	r.put(tables.Change(tables.ProfileKey(elk.ID), tables.RemoveAttr("dms")))
	m.once(sends, func() { r.want(r.call(elk, "PATCH", "/v1/me", `{"dms":"nobody"}`), 200, "") })
	r.want(r.send(r.messaging(fox, elk, "hello")), 403, "dm_refused")
	if n := len(r.messages(fox, elk)); n != 0 || !m.done() {
		t.Errorf("messages: got %d, overtaken %v; want 0, overtaken", n, m.done())
	}
}
