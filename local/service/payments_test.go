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
	standin "agentsocial/local/fakes/payments"
	"agentsocial/local/service"
	"agentsocial/local/transcripts"
	"agentsocial/shared/api"
	"agentsocial/shared/lambda/host"
	"agentsocial/shared/outside/payments"
	"agentsocial/shared/outside/payments/stripe"
	"agentsocial/tables"
)

// A notification is proved over the bytes that were sent, whether the gateway
// hands them over as text or in base64.
func TestNoticeAsTheGatewayHandsIt(t *testing.T) {
	t.Parallel()
	r := run(t, service.Config{Settings: generous()})
	fox := r.join("fox")
	const secret = "whsec_gateway"
	own := *r.App
	own.Payments = stripe.New(stripe.Config{BaseURL: r.URL, Stage: "prod", Keys: func(context.Context) (stripe.Keys, error) {
		return stripe.Keys{SecretKey: "sk", WebhookSecrets: []string{secret}}, nil
	}})
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
			t.Errorf("%s: %d %s: %v", how, res.StatusCode, res.Body, err)
		}
		if got := r.credits(t, fox); got != int64(i+1)*5_000_000 {
			t.Errorf("%s: %d", how, got)
		}
	}
}

// Without the processor's keys credits cannot be bought, the log says to the
// operator why, and all else works.
func TestWithoutAProcessor(t *testing.T) {
	t.Parallel()
	var log safeBuffer
	settings := generous()
	settings.Limits.CheckoutsPerMinute = 1
	r := run(t, service.Config{
		Settings: settings, Payments: payments.None{}, Log: slog.New(slog.NewJSONHandler(&log, nil)),
	})
	fox := r.join("fox")
	for range 3 { // none of which counts: nobody was asked
		a := r.call(fox, "POST", "/v1/me/credits/checkout", `{"usd": 5}`)
		if a.Status != 503 || a.Text("error.code") != "unavailable" || strings.Contains(string(a.Body), "secret") {
			t.Errorf("%d %s", a.Status, a.Body)
		}
	}
	if !strings.Contains(log.String(), "fill the secret agentsocial/STAGE/payments") {
		t.Errorf("logged was\n%s", log.String())
	}
	if a := r.call(nil, "POST", "/payments/webhook", `{}`); a.Status != 503 {
		t.Errorf("%d %s", a.Status, a.Body)
	}
	if r.credits(t, fox) != 0 || r.call(nil, "GET", "/paid", "").Status != 200 {
		t.Error("what needs no processor does not work")
	}
}

// till stands in for Stripe where what it is asked is counted. It makes pages,
// and remembers them by their Idempotency-Key, as Stripe does; while it fails,
// nobody hears of them.
type till struct {
	mu    sync.Mutex
	asked int               // calls
	pages map[string]string // what was asked for, by key
	fails int               // so many calls more
	slow  time.Duration
}

func (s *till) RoundTrip(r *http.Request) (*http.Response, error) {
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
		return nil, errors.New("the line is dead")
	}
	body := fmt.Sprintf(`{"id": "cs_%.8s", "object": "checkout.session", "url": "https://checkout.stripe.example/%.8s", "expires_at": 1890000000}`, key, key)
	return &http.Response{StatusCode: status, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(body))}, nil
}

// heard is what the till was asked since the last time: calls, and different pages.
func (s *till) heard() (asked, pages int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	asked, pages = s.asked, len(s.pages)
	s.asked, s.pages = 0, map[string]string{}
	return asked, pages
}

func (s *till) processor() payments.Processor {
	s.pages = map[string]string{}
	return stripe.New(stripe.Config{Stage: "prod", Way: s, Keys: func(context.Context) (stripe.Keys, error) {
		return stripe.Keys{SecretKey: "sk", WebhookSecrets: []string{"whsec_1"}}, nil
	}})
}

// However many pages an agent asks for at once, the processor is asked for as
// many as the limit lets it; for the same one, it is asked once.
func TestRaceOfCheckouts(t *testing.T) {
	settings := generous()
	settings.Limits.CheckoutsPerMinute = 5
	s := &till{slow: 100 * time.Millisecond}
	r := run(t, service.Config{Settings: settings, Payments: s.processor()})
	fox := r.join("fox")
	minute := func() {
		now := r.App.Now()
		r.advance(now.Truncate(time.Minute).Add(time.Minute + time.Millisecond).Sub(now)) // the clock moves by whole ones
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
		t.Errorf("answers %v, and Stripe was asked %d times for %d pages", n, asked, pages)
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
			t.Errorf("%s: answers %v, and Stripe was asked %d times", what, n, asked)
		}
		for range 4 { // it was counted once
			if a := r.send(wish("")); a.Status != 201 {
				t.Errorf("%s: %d %s", what, a.Status, a.Body)
			}
		}
		if a := r.send(wish("")); a.Status != 429 {
			t.Errorf("%s: %d %s", what, a.Status, a.Body)
		}
		s.heard()
	}
}

// A checkout whose answer got lost is the same page when it is asked for again,
// however late that is. What the processor was asked in vain stays counted.
func TestCheckoutIsAskedForAgain(t *testing.T) {
	t.Parallel()
	settings := generous()
	settings.Limits.CheckoutsPerMinute = 2
	s := new(till)
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
		s.fails = 4 // each is tried twice
		for range 2 {
			if a := r.send(wish()); a.Status != 503 || a.Text("error.code") != "unavailable" {
				t.Errorf("%s: %d %s", what, a.Status, a.Body)
			}
		}
		if a := r.send(wish()); a.Status != 429 {
			t.Errorf("%s: %d %s", what, a.Status, a.Body)
		}
		r.advance(c.after)
		first, again := r.send(wish()), r.send(wish())
		if first.Status != 201 || again.Status != 201 || first.Text("url") != again.Text("url") {
			t.Errorf("%s: %d %s, then %d %s", what, first.Status, first.Body, again.Status, again.Body)
		}
		if asked, pages := s.heard(); asked != 5 || pages != 1 {
			t.Errorf("%s: Stripe was asked %d times for %d pages", what, asked, pages)
		}
	}
}

// A notification that this service fails to take is sent again until it does.
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
		t.Errorf("%d", got)
	}
	var list []struct {
		Type             string
		Attempts, Status int
	}
	if err := json.Unmarshal(r.call(nil, "GET", "/_local/payments", "").Body, &list); err != nil {
		t.Fatal(err)
	}
	if list[0].Type != "checkout.session.completed" || list[0].Attempts != 4 || list[0].Status != 200 {
		t.Errorf("%+v", list)
	}
}

// failing fails some commits of movements.
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
			return errors.New("the table is away")
		default:
		}
	}
	return f.Backend.Commit(ctx, tx)
}

// What was paid is not lost when the service ends before it hears of it, nor
// when it has another URL from then on.
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
	// Its port is taken, or the service could be there again.
	taken, err := net.Listen("tcp", strings.TrimPrefix(before, "http://"))
	if err == nil {
		defer taken.Close()
	}
	s = start()
	defer stop(s)
	if s.URL == before {
		t.Fatalf("the service is at %s again", before)
	}
	r = &running{Service: s, t: t}
	r.drain()
	if got := r.credits(t, fox); got != 5_000_000 {
		t.Errorf("%d", got)
	}
	r.hooked(t, map[string]any{"do": "refund", "checkout": link, "cents": 200})
	r.drain()
	if got := r.credits(t, fox); got != 3_000_000 {
		t.Errorf("%d", got)
	}
}

// What is told of a payment that is another stage's, or an agent's that there is
// not, makes nothing, and is not lost: the first is a warning, and the second
// fails, so that the processor sends it again and somebody looks.
func TestNoticesOfNobodyHere(t *testing.T) {
	t.Parallel()
	const secret = "whsec_nobody"
	var log safeBuffer
	r := run(t, service.Config{
		Settings: generous(), Log: slog.New(slog.NewJSONHandler(&log, nil)),
		Payments: stripe.New(stripe.Config{Stage: "prod", Keys: func(context.Context) (stripe.Keys, error) {
			return stripe.Keys{SecretKey: "sk", WebhookSecrets: []string{secret}}, nil
		}}),
	})
	fox := r.join("fox")
	const nobody = "ag_01m7zpvgpq518pwx45sh5x71rp"
	for i, c := range []struct {
		what, stage, agent string
		status             int
		line               string // of the log
	}{
		{"another stage's", "dev", fox.ID, 200, `"level":"WARN".*"type":"checkout.session.completed","stage":"dev","agent":"` + fox.ID + `"`},
		{"nobody's", "prod", "fox", 200, `"level":"WARN".*"stage":"prod","agent":"fox"`},
		{"of no such agent", "prod", nobody, 500, `"level":"ERROR".*"type":"checkout.session.completed","agent":"` + nobody + `".*bought of 5000000 micro-USD, ev_[0-9a-z]+, is for an agent that does not exist`},
		{"an agent's", "prod", fox.ID, 200, `"level":"INFO","msg":"notification".*"agent":"` + fox.ID + `","done":\[{"kind":"bought","micro_usd":5000000,"id":"ev_[0-9a-z]+","outcome":"made"}\]`},
	} {
		body := fmt.Sprintf(`{"id": "evt_%d", "object": "event", "created": 1790000000, "type": "checkout.session.completed", "data": {"object": {`+
			`"id": "cs_1", "created": 1790000000, "payment_status": "paid", "amount_total": 500, "currency": "usd", `+
			`"metadata": {"agentsocial_agent": %q, "agentsocial_stage": %q}}}}`, i, c.agent, c.stage)
		q := r.request(nil, "POST", "/payments/webhook", body)
		q.Header = http.Header{"Stripe-Signature": {standin.Sign([]byte(body), time.Now(), secret)}}
		if a := r.send(q); a.Status != c.status {
			t.Errorf("%s: %d %s", c.what, a.Status, a.Body)
		}
		line := regexp.MustCompile(fmt.Sprintf(`.*"event":"evt_%d".*`, i)).FindString(log.String())
		if !regexp.MustCompile(c.line).MatchString(line) {
			t.Errorf("%s: logged is %q", c.what, line)
		}
	}
	items, err := r.table.Get(t.Context(), tables.Strong, tables.BalanceKey(nobody), tables.BalanceKey(tables.AgentAccount(fox.ID)))
	if err != nil || items[0] != nil || tables.MicroUSD(items[1]) != 5_000_000 {
		t.Errorf("%v %v", items, err)
	}
}

// What no second try would change is taken, and said loudly: an endpoint that
// refuses for days may be switched off.
func TestUnclearNotice(t *testing.T) {
	t.Parallel()
	const secret = "whsec_unclear"
	var log safeBuffer
	agent := ""
	r := run(t, service.Config{
		Settings: generous(), Log: slog.New(slog.NewJSONHandler(&log, nil)),
		Payments: stripe.New(stripe.Config{
			Stage: "prod",
			Keys: func(context.Context) (stripe.Keys, error) {
				return stripe.Keys{SecretKey: "sk", WebhookSecrets: []string{secret}}, nil
			},
			Way: listing(func() string {
				return `{"object": "list", "data": [{"id": "cs_1", "metadata": {"agentsocial_agent": "` + agent + `", "agentsocial_stage": "prod"}}]}`
			}),
		}),
	})
	fox := r.join("fox")
	agent = fox.ID
	const body = `{"id": "evt_1", "object": "event", "created": 1790000000, "type": "charge.dispute.funds_withdrawn", "data": {"object": {` +
		`"id": "du_1", "created": 1790000000, "status": "needs_response", "amount": 600, "currency": "eur", "payment_intent": "pi_1"}}}`
	q := r.request(nil, "POST", "/payments/webhook", body)
	q.Header = http.Header{"Stripe-Signature": {standin.Sign([]byte(body), time.Now(), secret)}}
	if a := r.send(q); a.Status != 200 || r.credits(t, fox) != 0 {
		t.Errorf("%d %s", a.Status, a.Body)
	}
	const line = `"level":"ERROR","msg":"notification not written down[^}]*"event":"evt_1","type":"charge.dispute.funds_withdrawn","agent":"%s","reason":"dispute du_1 of checkout cs_1 is about 600 of`
	if !regexp.MustCompile(fmt.Sprintf(line, fox.ID)).MatchString(log.String()) {
		t.Errorf("logged was\n%s", log.String())
	}
}

// listing answers any call with a list.
type listing func() string

func (l listing) RoundTrip(*http.Request) (*http.Response, error) {
	return &http.Response{StatusCode: 200, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(l()))}, nil
}

// Of one notification that comes twice at once, both are taken, and one counts.
func TestRaceOfNotices(t *testing.T) {
	t.Parallel()
	const secret = "whsec_race"
	processor := stripe.New(stripe.Config{Stage: "prod", Keys: func(context.Context) (stripe.Keys, error) {
		return stripe.Keys{SecretKey: "sk", WebhookSecrets: []string{secret}}, nil
	}})
	onBoth(t, service.Config{Settings: generous(), Payments: processor}, func(t *testing.T, r *running) {
		fox := r.join("fox")
		for i := range r.rounds() {
			var requests []*transcripts.Request
			for _, kind := range []string{"completed", "async_payment_succeeded", "completed"} {
				body := fmt.Sprintf(`{"id": "evt_%s", "object": "event", "created": 1790000000, "type": "checkout.session.%s", "data": {"object": {`+
					`"id": "cs_%d", "created": 1790000000, "payment_status": "paid", "amount_total": 500, "currency": "usd", `+
					`"metadata": {"agentsocial_agent": %q, "agentsocial_stage": "prod"}}}}`, kind, kind, i, fox.ID)
				q := r.request(nil, "POST", "/payments/webhook", body)
				q.Header = http.Header{"Stripe-Signature": {standin.Sign([]byte(body), time.Now(), secret)}}
				requests = append(requests, q)
			}
			if _, n := r.together(requests...); n[200] != len(requests) {
				t.Fatalf("round %d: %v", i, n)
			}
			if got := r.credits(t, fox); got != int64(i+1)*5_000_000 {
				t.Fatalf("round %d: %d", i, got)
			}
		}
	})
}

// The processor is not limited as a reader is, but who forges its notifications
// is.
func TestNoticesAreNotLimited(t *testing.T) {
	t.Parallel()
	const secret = "whsec_limits"
	settings := generous()
	settings.ByAddr, settings.MaxReads = true, 1
	r := run(t, service.Config{Settings: settings, Payments: stripe.New(stripe.Config{Stage: "prod", Keys: func(context.Context) (stripe.Keys, error) {
		return stripe.Keys{SecretKey: "sk", WebhookSecrets: []string{secret}}, nil
	}})})
	const body = `{"id": "evt_1", "object": "event", "created": 1790000000, "type": "customer.created", "data": {"object": {}}}`
	send := func(secret string) int {
		q := r.request(nil, "POST", "/payments/webhook", body)
		q.Header = http.Header{"Stripe-Signature": {standin.Sign([]byte(body), time.Now(), secret)}}
		return r.send(q).Status
	}
	for i := range 500 {
		if status := send(secret); status != 200 {
			t.Fatalf("notification %d is answered %d", i, status)
		}
	}
	forged := map[int]int{}
	for range 1000 {
		forged[send("whsec_other")]++
	}
	if forged[400] == 0 || forged[429] == 0 || len(forged) != 2 {
		t.Errorf("forged ones are answered %v", forged)
	}
}
