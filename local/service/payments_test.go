package service_test

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"

	"agentsocial/functions/credits"
	"agentsocial/local/engines/logs"
	standin "agentsocial/local/fakes/payments"
	"agentsocial/local/service"
	"agentsocial/local/transcripts"
	"agentsocial/shared/api"
	"agentsocial/shared/lambda/host"
	"agentsocial/shared/outside/payments"
	"agentsocial/shared/outside/payments/stripe"
	"agentsocial/tables"
)

// processor returns the production client with a webhook's secret. A nil way uses the network.
func processor(secret string, way http.RoundTripper) payments.Processor {
	return stripe.New(stripe.Config{Stage: "prod", Way: way, Keys: func(context.Context) (stripe.Keys, error) {
		return stripe.Keys{SecretKey: "sk", WebhookSecrets: []string{secret}}, nil
	}})
}

// paid returns a notification that an agent paid 5 USD at a checkout.
func paid(event, kind, checkout, agent, stage string) string {
	return fmt.Sprintf(`{"id": %q, "object": "event", "created": 1790000000, "type": "checkout.session.%s", "data": {"object": {`+
		`"id": %q, "created": 1790000000, "payment_status": "paid", "amount_total": 500, "currency": "usd", `+
		`"metadata": {"agentsocial_agent": %q, "agentsocial_stage": %q}}}}`, event, kind, checkout, agent, stage)
}

func (r *running) notice(secret, body string) *transcripts.Request {
	q := r.request(nil, "POST", "/payments/webhook", body)
	q.Header = http.Header{"Stripe-Signature": {standin.Sign([]byte(body), time.Now(), secret)}}
	return q
}

// The signature covers the body's bytes, in either encoding.
func TestNoticeSignatureThroughTheGateway(t *testing.T) {
	t.Parallel()
	r := run(t, unlimited())
	fox := r.join("fox")
	const secret = "whsec_gateway"
	own := *r.App
	own.Payments = processor(secret, nil)
	h := host.Gateway(api.NewServer(&own, credits.New(&own)))
	for i, how := range []string{"text", "base64"} {
		// The spaces and the escape are part of what is signed.
		body := `{ "id": "evt_1", "object": "event", "created": 1790000000, "type": "checkout.session.completed", "data": {"object": {` +
			`"id": "cs_` + how + `", "name": "caf\u00e9 é", "created": 1790000000, "payment_status": "paid", "amount_total": 500, "currency": "usd", ` +
			`"metadata": {"agentsocial_agent": "` + fox.ID + `", "agentsocial_stage": "prod"}}}}` + "\n"
		e := events.APIGatewayV2HTTPRequest{
			Version: "2.0", RawPath: "/payments/webhook", Body: body,
			Headers: map[string]string{
				"content-type": "application/json; charset=utf-8", "stripe-signature": standin.Sign([]byte(body), time.Now(), "whsec_other", secret),
			},
			RequestContext: events.APIGatewayV2HTTPRequestContext{
				HTTP: events.APIGatewayV2HTTPRequestContextHTTPDescription{Method: "POST", Path: "/payments/webhook", SourceIP: "127.0.0.1"},
			},
		}
		if how == "base64" {
			e.Body, e.IsBase64Encoded = base64.StdEncoding.EncodeToString([]byte(body)), true
		}
		res, err := h(t.Context(), e)
		if err != nil || res.StatusCode != 200 {
			t.Errorf("%s: got %d %s, %v; want 200", how, res.StatusCode, res.Body, err)
		}
		if got := r.credits(t, fox); got != int64(i+1)*5_000_000 {
			t.Errorf("%s: credits: got %d, want %d", how, got, int64(i+1)*5_000_000)
		}
	}
}

func TestNoticeSize(t *testing.T) {
	t.Parallel()
	const secret, most = "whsec_size", 256 << 10
	r := run(t, service.Config{Settings: generous(), Payments: processor(secret, nil)})
	fox := r.join("fox")
	notice := paid("evt_1", "completed", "cs_1", fox.ID, "local")
	notice += strings.Repeat(" ", most-len(notice))
	r.want(r.send(r.notice(secret, notice+" ")), 413, "too_large")
	r.want(r.send(r.notice(secret, notice)), 200, "")
}

func TestWithoutAProcessor(t *testing.T) {
	t.Parallel()
	var log logs.Buffer
	settings := generous()
	settings.Limits.CheckoutsPerMinute = 1
	r := run(t, service.Config{
		Settings: settings, Payments: payments.None{}, Log: slog.New(slog.NewJSONHandler(&log, nil)),
	})
	fox := r.join("fox")
	for range 3 { // none counts against the limit: the processor was not called
		a := r.call(fox, "POST", "/v1/me/credits/checkout", `{"usd": 5}`)
		if a.Status != 503 || a.Text("error.code") != "unavailable" || strings.Contains(string(a.Body), "secret") {
			t.Errorf("a checkout without a processor: got %d %s, want 503, unavailable, no mention of a secret", a.Status, a.Body)
		}
	}
	if !strings.Contains(log.String(), "fill the secret agentsocial/STAGE/payments") {
		t.Errorf("got the log\n%s\nwant the name of the secret to fill", log.String())
	}
	r.want(r.call(nil, "POST", "/payments/webhook", `{}`), 503, "")
	if r.credits(t, fox) != 0 || r.call(nil, "GET", "/paid", "").Status != 200 {
		t.Error("without a processor: got credits, or no page at /paid; want 0 and the page")
	}
}

// countingStripe stands in for Stripe and counts its calls. Like Stripe, it remembers pages by
// their Idempotency-Key. A failing call makes the page and loses the answer.
type countingStripe struct {
	mu    sync.Mutex
	asked int               // number of calls
	pages map[string]string // body of the request, by key
	fails int               // number of calls still to fail
	slow  time.Duration
}

func (s *countingStripe) RoundTrip(r *http.Request) (*http.Response, error) {
	time.Sleep(s.slow)
	s.mu.Lock()
	defer s.mu.Unlock()
	order, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	s.asked++
	key, status := r.Header.Get("Idempotency-Key"), 200
	if before, ok := s.pages[key]; ok && before != string(order) {
		status = 400
	}
	s.pages[key] = string(order)
	if s.fails > 0 {
		s.fails--
		return nil, errors.New("connection lost")
	}
	body := fmt.Sprintf(`{"id": "cs_%.8s", "object": "checkout.session", "url": "https://checkout.stripe.example/%.8s", "expires_at": 1890000000}`, key, key)
	return &http.Response{StatusCode: status, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(body))}, nil
}

// heard returns the number of calls and of pages, and starts both counts again.
func (s *countingStripe) heard() (asked, pages int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	asked, pages = s.asked, len(s.pages)
	s.asked, s.pages = 0, map[string]string{}
	return asked, pages
}

func (s *countingStripe) fail(n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.fails = n
}

func (s *countingStripe) processor() payments.Processor {
	s.pages = map[string]string{}
	return processor("whsec_1", s)
}

// Equal checkouts reach the processor once.
func TestRaceOfCheckouts(t *testing.T) {
	settings := generous()
	settings.Limits.CheckoutsPerMinute = 5
	s := &countingStripe{slow: 100 * time.Millisecond}
	r := run(t, service.Config{Settings: settings, Payments: s.processor()})
	fox := r.join("fox")
	minute := func() {
		now := r.App.Now()
		r.advance(now.Truncate(time.Minute).Add(time.Minute + time.Millisecond).Sub(now)) // the clock moves by whole milliseconds
	}
	wish := func(key string) *transcripts.Request {
		q := r.request(fox, "POST", "/v1/me/credits/checkout", `{"usd": 5}`)
		if key != "" {
			q.Header.Set("Idempotency-Key", key)
		}
		return q
	}
	minute()
	var all []*transcripts.Request
	for range 200 {
		all = append(all, wish(""))
	}
	_, n := r.together(all...)
	if asked, pages := s.heard(); n[201] != 5 || n[429] != 195 || asked != 5 || pages != 5 {
		t.Errorf("200 checkouts at once: got outcomes %v, %d calls for %d pages; want 5 × 201, 195 × 429, 5 calls, 5 pages", n, asked, pages)
	}
	for what, key := range map[string]string{"the same bytes": "", "the same key": "once"} {
		minute()
		all = slices.Repeat([]*transcripts.Request{wish(key)}, 20)
		for i := range all {
			if key != "" {
				all[i] = wish(key)
			}
		}
		_, n = r.together(all...)
		if asked, _ := s.heard(); n[201] < 1 || n[201]+n[409] != 20 || asked != 1 {
			t.Errorf("%s: got outcomes %v and %d calls, want 201 at least once and else 409, and 1 call", what, n, asked)
		}
		for range 4 { // the repeated requests count once
			if a := r.send(wish("")); a.Status != 201 {
				t.Errorf("%s: a checkout below the limit: got %d %s, want 201", what, a.Status, a.Body)
			}
		}
		if a := r.send(wish("")); a.Status != 429 {
			t.Errorf("%s: a checkout at the limit: got %d %s, want 429", what, a.Status, a.Body)
		}
		s.heard()
	}
}

// A repeated checkout gives the same page. Failed calls count against the limit.
func TestCheckoutIsAskedForAgain(t *testing.T) {
	t.Parallel()
	settings := generous()
	settings.Limits.CheckoutsPerMinute = 2
	s := new(countingStripe)
	r := run(t, service.Config{Settings: settings, Payments: s.processor()})
	fox := r.join("fox")
	for what, c := range map[string]struct {
		key   string
		after time.Duration
	}{
		"the same bytes": {"", 45 * time.Second},
		"the same key":   {"once", 23 * time.Hour},
	} {
		now := r.App.Now()
		r.advance(now.Truncate(time.Hour).Add(2*time.Hour - 30*time.Second).Sub(now))
		signed := func() *transcripts.Request {
			q := r.request(fox, "POST", "/v1/me/credits/checkout", `{"usd": 5}`)
			if c.key != "" {
				q.Header.Set("Idempotency-Key", c.key)
			}
			return q
		}
		q := signed()
		wish := func() *transcripts.Request {
			if c.key != "" {
				return signed()
			}
			return q
		}
		s.fail(4) // two per checkout
		for range 2 {
			if a := r.send(wish()); a.Status != 503 || a.Text("error.code") != "unavailable" {
				t.Errorf("%s: a checkout that fails: got %d %s, want 503, unavailable", what, a.Status, a.Body)
			}
		}
		if a := r.send(wish()); a.Status != 429 {
			t.Errorf("%s: a checkout at the limit: got %d %s, want 429", what, a.Status, a.Body)
		}
		r.advance(c.after)
		first, again := r.send(wish()), r.send(wish())
		if first.Status != 201 || again.Status != 201 || first.Text("url") != again.Text("url") {
			t.Errorf("%s: got %d %s, then %d %s; want 201 and the same URL", what, first.Status, first.Body, again.Status, again.Body)
		}
		if asked, pages := s.heard(); asked != 5 || pages != 1 {
			t.Errorf("%s: got %d calls for %d pages, want 5 for 1", what, asked, pages)
		}
	}
}

func TestNoticeIsSentAgain(t *testing.T) {
	t.Parallel()
	var m *failing
	r := run(t, service.Config{Settings: generous(), Wrap: func(b tables.Backend) tables.Backend {
		m = &failing{Backend: b}
		return m
	}})
	fox := r.join("fox")
	link := r.call(fox, "POST", "/v1/me/credits/checkout", `{"usd": 5}`).Text("url")
	m.times(3)
	r.hooked(t, map[string]any{"do": "pay", "checkout": link, "method": "card"})
	r.drain()
	if got := r.credits(t, fox); got != 5_000_000 {
		t.Errorf("credits: got %d, want %d", got, 5_000_000)
	}
	var list []struct {
		Type             string
		Attempts, Status int
	}
	if err := json.Unmarshal(r.call(nil, "GET", "/_local/payments", "").Body, &list); err != nil {
		t.Fatal(err)
	}
	if list[0].Type != "checkout.session.completed" || list[0].Attempts != 4 || list[0].Status != 200 {
		t.Errorf("notifications: got %+v, want the first of them delivered at attempt 4", list)
	}
}

// failing is a table that fails some commits of movements.
type failing struct {
	tables.Backend
	left chan struct{}
}

func (f *failing) times(n int) {
	f.left = make(chan struct{}, n)
	for range n {
		f.left <- struct{}{}
	}
}

func (f *failing) Commit(ctx context.Context, tx tables.Tx) error {
	if tx.Writes[0].Item.Str(tables.AttrType) == tables.TypeMovement {
		select {
		case <-f.left:
			return errors.New("the table is unreachable")
		default:
		}
	}
	return f.Backend.Commit(ctx, tx)
}

// After the restart the service has another URL.
func TestPaymentsOutliveARun(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	start := func() *service.Service {
		t.Helper()
		s, err := service.Start(t.Context(), service.Config{
			Data: dir, Table: "embedded", Settings: generous(), Log: slog.New(slog.NewTextHandler(io.Discard, nil)),
		})
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	stop := func(s *service.Service) {
		t.Helper()
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		if err := s.Stop(ctx); err != nil {
			t.Fatal(err)
		}
	}
	s := start()
	r := &running{Service: s, t: t}
	fox := r.join("fox")
	link := r.call(fox, "POST", "/v1/me/credits/checkout", `{"usd": 5}`).Text("url")
	r.hooked(t, map[string]any{"do": "hold"})
	r.hooked(t, map[string]any{"do": "pay", "checkout": link, "method": "card"})
	before := s.URL
	stop(s)
	// Occupies the port, so that the service gets another one.
	taken, err := net.Listen("tcp", strings.TrimPrefix(before, "http://"))
	if err == nil {
		defer taken.Close()
	}
	s = start()
	defer stop(s)
	if s.URL == before {
		t.Fatalf("the service has the same URL %s", before)
	}
	r = &running{Service: s, t: t}
	r.drain()
	if got := r.credits(t, fox); got != 5_000_000 {
		t.Errorf("credits: got %d, want %d", got, 5_000_000)
	}
	r.hooked(t, map[string]any{"do": "refund", "checkout": link, "cents": 200})
	r.drain()
	if got := r.credits(t, fox); got != 3_000_000 {
		t.Errorf("credits after the refund: got %d, want %d", got, 3_000_000)
	}
}

// A payment for an unknown agent fails, so that the processor sends it again and an operator
// sees it.
func TestNoticesForUnknownAgents(t *testing.T) {
	t.Parallel()
	const secret = "whsec_nobody"
	var log logs.Buffer
	r := run(t, service.Config{
		Settings: generous(), Log: slog.New(slog.NewJSONHandler(&log, nil)),
		Payments: processor(secret, nil),
	})
	fox, elk := r.join("fox"), r.join("elk")
	r.want(r.call(elk, "DELETE", "/v1/me", ""), 200, "")
	const nobody = "ag_01m7zpvgpq518pwx45sh5x71rp"
	for i, c := range []struct {
		what, stage, agent string
		status             int
		line               string // expected in the log
	}{
		{"for another stage", "dev", fox.ID, 200, `"level":"WARN".*"type":"checkout.session.completed","stage":"dev","agent":"` + fox.ID + `"`},
		{"for a handle instead of an ID", "prod", "fox", 200, `"level":"WARN".*"stage":"prod","agent":"fox"`},
		{"for an unknown agent", "prod", nobody, 500, `"level":"ERROR".*"type":"checkout.session.completed","agent":"` + nobody + `".*bought of 5000000 micro-USD, ev_[0-9a-z]+, is for an agent that does not exist`},
		{"for an erased agent", "prod", elk.ID, 200, `"level":"ERROR","msg":"notification unclear: an operator must decide".*"agent":"` + elk.ID + `","reason":"the agent that the credits are for was erased.*"done":\[{"kind":"bought".*"outcome":"made"}\]`},
		{"for an agent", "prod", fox.ID, 200, `"level":"INFO","msg":"notification".*"agent":"` + fox.ID + `","done":\[{"kind":"bought","micro_usd":5000000,"id":"ev_[0-9a-z]+","outcome":"made"}\]`},
	} {
		body := paid(fmt.Sprint("evt_", i), "completed", "cs_1", c.agent, c.stage)
		if a := r.send(r.notice(secret, body)); a.Status != c.status {
			t.Errorf("%s: got %d %s, want %d", c.what, a.Status, a.Body, c.status)
		}
		line := regexp.MustCompile(fmt.Sprintf(`.*"event":"evt_%d".*`, i)).FindString(log.String())
		if !regexp.MustCompile(c.line).MatchString(line) {
			t.Errorf("%s: log line: got %q, want %s", c.what, line, c.line)
		}
	}
	items, err := r.table.Get(t.Context(), tables.Strong, tables.BalanceKey(nobody), tables.BalanceKey(tables.AgentAccount(fox.ID)))
	if err != nil || items[0] != nil || tables.MicroUSD(items[1]) != 5_000_000 {
		t.Errorf("balances: got %v %v, want none and 5000000", items, err)
	}
}

// The answer is 200: no retry helps, and Stripe may disable an endpoint that fails for days.
func TestUnclearNotice(t *testing.T) {
	t.Parallel()
	const secret = "whsec_unclear"
	var log logs.Buffer
	agent := ""
	r := run(t, service.Config{
		Settings: generous(), Log: slog.New(slog.NewJSONHandler(&log, nil)),
		Payments: processor(secret, listing(func() string {
			return `{"object": "list", "data": [{"id": "cs_1", "metadata": {"agentsocial_agent": "` + agent + `", "agentsocial_stage": "prod"}}]}`
		})),
	})
	fox := r.join("fox")
	agent = fox.ID
	const body = `{"id": "evt_1", "object": "event", "created": 1790000000, "type": "charge.dispute.funds_withdrawn", "data": {"object": {` +
		`"id": "du_1", "created": 1790000000, "status": "needs_response", "amount": 600, "currency": "eur", "payment_intent": "pi_1"}}}`
	r.want(r.send(r.notice(secret, body)), 200, "")
	if got := r.credits(t, fox); got != 0 {
		t.Errorf("credits: got %d, want 0", got)
	}
	const line = `"level":"ERROR","msg":"notification unclear[^}]*"event":"evt_1","type":"charge.dispute.funds_withdrawn","agent":"%s","reason":"dispute du_1 of checkout cs_1 is about 600 of`
	if !regexp.MustCompile(fmt.Sprintf(line, fox.ID)).MatchString(log.String()) {
		t.Errorf("got the log\n%s\nwant an error about the dispute", log.String())
	}
}

// listing is a transport that answers every call with a list.
type listing func() string

func (l listing) RoundTrip(*http.Request) (*http.Response, error) {
	return &http.Response{StatusCode: 200, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(l()))}, nil
}

func TestRaceOfNotices(t *testing.T) {
	t.Parallel()
	const secret = "whsec_race"
	onBoth(t, service.Config{Settings: generous(), Payments: processor(secret, nil)}, func(t *testing.T, r *running) {
		fox := r.join("fox")
		for i := range r.rounds() {
			var requests []*transcripts.Request
			for _, kind := range []string{"completed", "async_payment_succeeded", "completed"} {
				requests = append(requests, r.notice(secret, paid("evt_"+kind, kind, fmt.Sprint("cs_", i), fox.ID, "prod")))
			}
			if _, n := r.together(requests...); n[200] != len(requests) {
				t.Fatalf("round %d: got outcomes %v, want %d × 200", i, n, len(requests))
			}
			if got := r.credits(t, fox); got != int64(i+1)*5_000_000 {
				t.Fatalf("round %d: credits: got %d, want %d", i, got, int64(i+1)*5_000_000)
			}
		}
	})
}

func TestNoticesAreNotLimited(t *testing.T) {
	t.Parallel()
	const secret = "whsec_limits"
	settings := generous()
	settings.ByAddr, settings.MaxReads = true, 1
	r := run(t, service.Config{Settings: settings, Payments: processor(secret, nil)})
	const body = `{"id": "evt_1", "object": "event", "created": 1790000000, "type": "customer.created", "data": {"object": {}}}`
	send := func(secret string) int { return r.send(r.notice(secret, body)).Status }
	for i := range 500 {
		if status := send(secret); status != 200 {
			t.Fatalf("notification %d: got status %d, want 200", i, status)
		}
	}
	forged := map[int]int{}
	for range 1000 {
		forged[send("whsec_other")]++
	}
	if forged[400] == 0 || forged[429] == 0 || len(forged) != 2 {
		t.Errorf("forged notifications: got statuses %v, want 400 and 429, each at least once", forged)
	}
}
