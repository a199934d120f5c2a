package service_test

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"agentsocial/local/service"
	"agentsocial/local/transcripts"
	"agentsocial/tables"
	"agentsocial/tables/embedded"
)

// queryInterceptor runs a function once, right before a query of messages. Its pages hold
// two messages, unless the query has a limit.
type queryInterceptor struct {
	tables.Backend
	do atomic.Pointer[func()]
}

func (l *queryInterceptor) Query(ctx context.Context, q tables.Query) (tables.Page, error) {
	if do := l.do.Load(); do != nil && q.From == tables.MessagePrefix && l.do.CompareAndSwap(do, nil) {
		(*do)()
	}
	if q.From == tables.MessagePrefix && q.Limit == 0 {
		q.Limit = 2
	}
	return l.Backend.Query(ctx, q)
}

// Reading the newest page marks its messages as read, but not those that arrive meanwhile.
func TestReadingMarksWhatItAnswers(t *testing.T) {
	t.Parallel()
	m, l := &interceptor{}, &queryInterceptor{}
	c := service.Config{Settings: generous(), Wrap: func(b tables.Backend) tables.Backend {
		m.Backend, l.Backend = b, m
		return l
	}}
	marks := func(tx tables.Tx) bool {
		return len(tx.Writes) == 2 && slices.ContainsFunc(tx.Writes[0].Updates, func(u tables.Update) bool { return u.Attr == "read_to" })
	}
	onBoth(t, c, func(t *testing.T, r *running) {
		fox, owl := r.join("fox"), r.join("owl")
		const funds = 1_000_000
		r.credit(fox, funds)
		r.credit(owl, funds)
		say := func(from, to *transcripts.Agent) {
			r.want(r.send(r.messaging(from, to, "hello")), 201, "")
		}
		read := func(answered, unread int) {
			t.Helper()
			a := r.want(r.call(owl, "GET", "/v1/dm/"+fox.ID, ""), 200, "")
			r.has(a, "items.len", fmt.Sprint(answered))
			r.has(r.call(owl, "GET", "/v1/me", ""), "unread_dms", fmt.Sprint(unread))
			r.addsUp(fox, owl, funds)
		}
		look := func(do func()) { l.do.Store(&do) }
		// The first messages arrive between the reads of the conversation and of the page.
		look(func() { say(fox, owl); say(owl, fox); say(fox, owl) })
		read(3, 0)
		// Messages arrive after the page is read, before the mark.
		say(fox, owl)
		m.once(marks, func() { say(fox, owl); say(owl, fox); say(fox, owl) })
		read(4, 2)
		read(7, 0)
		// Messages arrive between the two reads, and before the mark.
		say(fox, owl)
		look(func() { say(fox, owl) })
		m.once(marks, func() { say(fox, owl) })
		read(9, 1)
		// Another session of the same agent reads as well.
		m.once(marks, func() { read(10, 0) })
		read(10, 0)
		say(fox, owl)
		m.once(marks, func() { say(fox, owl); read(12, 0); say(fox, owl) })
		read(11, 1)
		// A reader that saw fewer messages marks first, and another message arrives.
		read(13, 0)
		say(fox, owl)
		paused, resume, answered := make(chan bool), make(chan bool), make(chan string)
		m.once(marks, func() {
			say(fox, owl)
			m.once(marks, func() {
				say(fox, owl)
				close(paused)
				<-resume
			})
			go func() { answered <- r.call(owl, "GET", "/v1/dm/fox", "").Text("items.len") }()
			<-paused
		})
		read(14, 2)
		close(resume)
		if got := <-answered; got != "15" {
			t.Errorf("the paused reading returned %s messages, want 15", got)
		}
		r.has(r.call(owl, "GET", "/v1/me", ""), "unread_dms", "1")
		r.addsUp(fox, owl, funds)
		read(16, 0)
		if !m.done() || l.do.Load() != nil {
			t.Error("an interruption did not happen")
		}
		// An older page marks nothing.
		say(fox, owl)
		say(fox, owl)
		all := r.messages(fox, owl)
		r.want(r.call(owl, "GET", "/v1/dm/fox?before="+all[len(all)-1].ID, ""), 200, "")
		r.has(r.call(owl, "GET", "/v1/me", ""), "unread_dms", "2")
		// Two sessions read for the first time.
		elk := r.join("elk")
		r.want(r.send(r.messaging(fox, elk, "hello")), 201, "")
		m.once(marks, func() { r.want(r.call(elk, "GET", "/v1/dm/fox", ""), 200, "") })
		r.want(r.call(elk, "GET", "/v1/dm/fox", ""), 200, "")
		if got := r.call(elk, "GET", "/v1/me", "").Text("unread_dms"); got != "0" || !m.done() {
			t.Errorf("unread_dms after two first readings: got %s, overtaken %v; want 0, overtaken", got, m.done())
		}
	})
}

// Two agents write to each other and read all the time. The counters of both stay right.
func TestRaceOfReadersAndWriters(t *testing.T) {
	t.Parallel()
	onBoth(t, unlimited(), func(t *testing.T, r *running) {
		fox, owl := r.join("fox"), r.join("owl")
		const funds = 100_000_000
		r.credit(fox, funds)
		r.credit(owl, funds)
		n := r.rounds() / 2
		var writers, readers sync.WaitGroup
		var over atomic.Bool
		for _, x := range [2][2]*transcripts.Agent{{fox, owl}, {owl, fox}} {
			for range 2 {
				writers.Go(func() {
					for j := range n {
						if by := r.delivered(r.messaging(x[0], x[1], fmt.Sprint("note ", j))); by[201] != 1 {
							t.Errorf("got outcomes %v, want 1 × 201", by)
						}
					}
				})
				readers.Go(func() {
					for !over.Load() {
						r.want(r.call(x[0], "GET", "/v1/dm/"+x[1].ID+"?limit=3", ""), 200, "")
					}
				})
			}
		}
		writers.Wait()
		over.Store(true)
		readers.Wait()
		r.addsUp(fox, owl, funds)
		for _, x := range [2][2]*transcripts.Agent{{fox, owl}, {owl, fox}} {
			r.want(r.call(x[0], "GET", "/v1/dm/"+x[1].ID, ""), 200, "")
			r.has(r.call(x[0], "GET", "/v1/me", ""), "unread_dms", "0")
		}
		r.addsUp(fox, owl, funds)
		if got := len(r.messages(fox, owl)); got != 4*n {
			t.Errorf("messages: got %d, want %d", got, 4*n)
		}
	})
}

// A page is answered even if its messages cannot be marked as read.
func TestReadingWhenMarkingFails(t *testing.T) {
	t.Parallel()
	r := run(t, unlimited())
	fox, owl := r.join("fox"), r.join("owl")
	r.credit(fox, 10_000)
	r.credit(owl, 10_000)
	r.want(r.send(r.messaging(fox, owl, "hello")), 201, "")
	r.drain()
	r.embedded().SetFaults(func(kind string, keys []tables.Key) embedded.Fault {
		if kind == embedded.KindCommit && slices.Contains(keys, tables.ConversationKey(owl.ID, fox.ID)) {
			return embedded.Throttled
		}
		return embedded.None
	})
	for range 2 {
		a := r.want(r.call(owl, "GET", "/v1/dm/fox", ""), 200, "")
		r.has(a, "items.0.body", "hello", "items.0.unread", "true")
		r.addsUp(fox, owl, 10_000)
		r.embedded().SetFaults(nil)
		time.Sleep(1100 * time.Millisecond) // the service remembers a throttled partition for at most a second
	}
	r.has(r.call(owl, "GET", "/v1/dm/fox", ""), "items.0.unread", "false")
	r.addsUp(fox, owl, 10_000)
}
