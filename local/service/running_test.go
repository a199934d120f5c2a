package service_test

import (
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"os"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sync/semaphore"

	"agentsocial/local/checks/contract"
	"agentsocial/local/engines/dynamodb/dynamodbtest"
	"agentsocial/local/service"
	"agentsocial/local/transcripts"
	"agentsocial/shared/app"
	"agentsocial/tables"
	"agentsocial/tables/dynamo"
	"agentsocial/tables/embedded"
)

// running is a service in memory for a test, with its table at hand.
type running struct {
	*service.Service
	t       testing.TB
	table   tables.Backend
	handler http.Handler // that answers, with no network between; may be nil
	last    atomic.Int64 // unix ms of the last request that was signed
}

func TestMain(m *testing.M) { os.Exit(dynamodbtest.Main(m)) }

// onBoth plays a test on the embedded table and on DynamoDB Local. There, there is
// no stream, which would take more of the machine than all else.
func onBoth(t *testing.T, c service.Config, test func(t *testing.T, r *running)) {
	t.Run("embedded", func(t *testing.T) { test(t, run(t, c)) })
	t.Run("dynamodb-local", func(t *testing.T) {
		here(t, 1)
		c.Open = func() (tables.Backend, tables.Feed) { return dynamo.Open(dynamodbtest.Config(t)), nil }
		test(t, run(t, c))
	})
}

// onBothStreaming is onBoth for what needs the stream, or the clock.
func onBothStreaming(t *testing.T, c service.Config, test func(t *testing.T, r *running)) {
	t.Run("embedded", func(t *testing.T) { test(t, run(t, c)) })
	t.Run("dynamodb-local", func(t *testing.T) {
		here(t, atOnce)
		c.Open = func() (tables.Backend, tables.Feed) { return dynamodbtest.Open(t) }
		test(t, run(t, c))
	})
}

// atOnce is how many tests share DynamoDB Local, however many go on beside them:
// what waits for it too long is refused. One that reads a stream has it for itself.
const atOnce = 2

var local = semaphore.NewWeighted(atOnce)

// here waits for a share of DynamoDB Local, which is the test's until its service
// has ended; or leaves it out where it is told to: the race detector waits there
// more than it finds.
func here(t *testing.T, share int64) {
	t.Helper()
	if os.Getenv("TABLES") == "embedded" {
		t.Skip("TABLES=embedded")
	}
	if err := local.Acquire(t.Context(), share); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { local.Release(share) })
}

// embedded is the table, if it is that one.
func (r *running) embedded() *embedded.Table { return r.table.(*embedded.Table) }

// generous are settings under which no limit is met.
func generous() app.Settings {
	const many = 1 << 40
	s := app.DefaultSettings()
	s.PowBits, s.ByAddr, s.MaxReads, s.PromoWait = 0, false, many, 0
	l := &s.Limits
	for _, most := range []*int64{&l.WritesPerMinute, &l.PostsPerMinute, &l.PostsPerHour, &l.PostsPerHourNew, &l.RegistrationsHour, &l.MemoriesPerMinute, &l.MemoryDay, &l.CheckoutsPerMinute, &l.MessagesPerMinute} {
		*most = many
	}
	return s
}

func run(t testing.TB, c service.Config) *running {
	t.Helper()
	r := &running{t: t}
	c.Data, c.Table, c.Noon = service.Memory, "embedded", true
	if c.Log == nil {
		c.Log = slog.New(slog.NewTextHandler(io.Discard, nil))
	}
	wrap := c.Wrap
	c.Wrap = func(b tables.Backend) tables.Backend {
		r.table = b
		if wrap != nil {
			return wrap(b)
		}
		return b
	}
	var err error
	if r.Service, err = service.Start(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		if err := r.Stop(ctx); err != nil {
			t.Error(err)
		}
	})
	return r
}

// join registers an agent through the real challenge.
func (r *running) join(name string) *transcripts.Agent {
	r.t.Helper()
	a := transcripts.NewAgent(name)
	ans, err := a.Register(r.URL, "🦊")
	if err != nil {
		r.t.Fatal(err)
	}
	if ans.Status != 201 {
		r.t.Fatalf("registering %s: %d %s", name, ans.Status, ans.Body)
	}
	return a
}

// call sends a signed request, or an anonymous one if a is nil. It may be used
// by any goroutine.
func (r *running) call(a *transcripts.Agent, method, target, body string) *transcripts.Answer {
	return r.send(r.request(a, method, target, body))
}

// insist is call, until it is answered with something else than to send the same
// again: a post that a busy machine cannot commit in time is refused so.
func (r *running) insist(a *transcripts.Agent, method, target, body string) *transcripts.Answer {
	q := r.request(a, method, target, body)
	for range 10 {
		if ans := r.send(q); ans.Status != http.StatusServiceUnavailable {
			return ans
		}
	}
	return r.send(q)
}

func (r *running) request(a *transcripts.Agent, method, target, body string) *transcripts.Request {
	if a == nil {
		return &transcripts.Request{Method: method, Target: target, Body: []byte(body)}
	}
	return a.Signed(method, target, []byte(body), r.moment())
}

// moment is now, but in a millisecond of its own: the same words signed twice
// in one are the same request.
func (r *running) moment() time.Time {
	for {
		now, last := r.App.Now().UnixMilli(), r.last.Load()
		next := max(now, last+1)
		if last-now > 1000 { // the clock of a service that was started anew
			next = now
		}
		if r.last.CompareAndSwap(last, next) {
			return time.UnixMilli(next)
		}
	}
}

func (r *running) send(q *transcripts.Request) *transcripts.Answer {
	ask := func() (*transcripts.Answer, error) { return q.Send(r.URL) }
	if r.handler != nil {
		ask = func() (*transcripts.Answer, error) { return q.Ask(r.handler) }
	}
	ans, err := ask()
	if err != nil {
		r.t.Errorf("%s %s: %v", q.Method, q.Target, err)
		return &transcripts.Answer{}
	}
	document, err := contract.Load()
	if err == nil {
		err = document.Check(q.Method, q.Target, ans.Status, ans.Header, ans.Body)
	}
	if err != nil {
		r.t.Error(err)
	}
	return ans
}

// drain waits until the stream is worked off.
func (r *running) drain() {
	r.t.Helper()
	ctx, cancel := context.WithTimeout(r.t.Context(), time.Minute)
	defer cancel()
	if err := r.Drain(ctx); err != nil {
		r.t.Fatal(err)
	}
}

func (r *running) advance(d time.Duration) {
	r.t.Helper()
	if a := r.call(nil, "POST", "/_local/clock", encode(map[string]int64{"advance_ms": d.Milliseconds()})); a.Status != 200 {
		r.t.Fatalf("clock: %s", a.Body)
	}
}

// toMinute moves the clock to the next minute: what is counted by it has all of it.
func (r *running) toMinute() {
	r.t.Helper()
	now := r.App.Now()
	r.advance(now.Truncate(time.Minute).Add(time.Minute).Sub(now))
}

func encode(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return string(b)
}

// query reads a whole range of the table.
func (r *running) query(pk, from, to string) (items []tables.Item) {
	r.t.Helper()
	q := tables.Query{PK: pk, From: from, To: to, Consistency: tables.Strong}
	for {
		p, err := r.table.Query(r.t.Context(), q)
		if err != nil {
			r.t.Fatal(err)
		}
		items = append(items, p.Items...)
		if p.Next == nil {
			return items
		}
		q.After = p.Next
	}
}

// changes returns the table's changes after a place in its feed, and where they
// end.
func (r *running) changes(after string) ([]tables.StreamRecord, string) {
	r.t.Helper()
	var all []tables.StreamRecord
	for {
		got, _, err := r.embedded().Changes(r.t.Context(), "shard-0", after, 1000, 0)
		if err != nil {
			r.t.Fatal(err)
		}
		if len(got) == 0 {
			return all, after
		}
		all, after = append(all, got...), got[len(got)-1].Seq
	}
}
