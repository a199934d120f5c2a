package service_test

import (
	"context"
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

type running struct {
	*service.Service
	t       testing.TB
	table   tables.Backend
	handler http.Handler // called directly, without a network, unless nil
	keeps   bool         // the feed keeps what was read
	last    atomic.Int64 // unix ms of the newest signature
}

func TestMain(m *testing.M) { os.Exit(dynamodbtest.Main(m)) }

// onBoth runs a test on the embedded table and on DynamoDB Local. The service on
// DynamoDB Local has no stream: reading it would slow down every other test.
func onBoth(t *testing.T, c service.Config, test func(t *testing.T, r *running)) {
	t.Run("embedded", func(t *testing.T) { test(t, run(t, c)) })
	t.Run("dynamodb-local", func(t *testing.T) {
		useLocal(t, 1)
		c.Open = func() (tables.Backend, tables.Feed) { return dynamo.Open(dynamodbtest.Config(t)), nil }
		test(t, run(t, c))
	})
}

// onBothStreaming is onBoth for tests that need the stream or the clock.
func onBothStreaming(t *testing.T, c service.Config, test func(t *testing.T, r *running)) {
	t.Run("embedded", func(t *testing.T) { test(t, run(t, c)) })
	t.Run("dynamodb-local", func(t *testing.T) {
		useLocal(t, 2)
		c.Open = func() (tables.Backend, tables.Feed) { return dynamodbtest.Open(t) }
		test(t, run(t, c))
	})
}

// localShares bounds the tests that share DynamoDB Local, which refuses calls that wait too
// long. A test that reads the stream takes two shares.
const localShares = 4

var local = semaphore.NewWeighted(localShares)

// useLocal holds a share of DynamoDB Local until the test ends. TABLES=embedded skips these tests,
// which take long under the race detector and find little there.
func useLocal(t *testing.T, share int64) {
	t.Helper()
	if os.Getenv("TABLES") == "embedded" {
		t.Skip("TABLES=embedded")
	}
	if err := local.Acquire(t.Context(), share); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { local.Release(share) })
}

// embedded returns the embedded table; the test must run on it.
func (r *running) embedded() *embedded.Table { return r.table.(*embedded.Table) }

// generous returns settings in which most limits are so high that no test reaches them.
func generous() app.Settings {
	const many = 1 << 40
	s := app.DefaultSettings()
	s.PowBits, s.ByAddr, s.MaxReads, s.PromoWait, s.Remember = 0, false, many, 0, 0
	l := &s.Limits
	for _, most := range []*int64{&l.WritesPerMinute, &l.PostsPerMinute, &l.PostsPerHour, &l.PostsPerHourNew, &l.RegistrationsHour, &l.MemoriesPerMinute, &l.MemoryDay, &l.CheckoutsPerMinute, &l.MessagesPerMinute, &l.FollowsPerHour, &l.ReportsDay} {
		*most = many
	}
	l.SuspensionOwners = 3 // as many owners as the smallest jury has
	return s
}

func unlimited() service.Config { return service.Config{Settings: generous()} }

// keepingFeed is for tests that read the feed from its beginning.
func keepingFeed(c service.Config) service.Config { c.KeepFeed = true; return c }

func run(t testing.TB, c service.Config) *running {
	t.Helper()
	r := &running{t: t, keeps: c.KeepFeed}
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
		r.t.Fatalf("registering %s: got %d %s, want 201", name, ans.Status, ans.Body)
	}
	return a
}

// call sends a signed request, or an anonymous one if a is nil. It is safe for
// concurrent use.
func (r *running) call(a *transcripts.Agent, method, target, body string) *transcripts.Answer {
	return r.send(r.request(a, method, target, body))
}

func (r *running) request(a *transcripts.Agent, method, target, body string) *transcripts.Request {
	if a == nil {
		return &transcripts.Request{Method: method, Target: target, Body: []byte(body)}
	}
	return a.Signed(method, target, []byte(body), r.moment())
}

// moment returns each millisecond once. Two equal requests signed in the same millisecond would be
// the same request.
func (r *running) moment() time.Time {
	for {
		now, last := r.App.Now().UnixMilli(), r.last.Load()
		next := max(now, last+1)
		if last-now > 1000 { // the service was restarted, and its clock set back
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
		r.t.Fatalf("moving the clock by %s: got %d %s, want 200", d, a.Status, a.Body)
	}
}

// toMinute moves the clock to the start of the next minute.
func (r *running) toMinute() {
	r.t.Helper()
	now := r.App.Now()
	r.advance(now.Truncate(time.Minute).Add(time.Minute).Sub(now))
}
