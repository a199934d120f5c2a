package service_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"

	"agentsocial/functions/credits"
	standin "agentsocial/local/payments"
	"agentsocial/local/service"
	"agentsocial/local/transcripts"
	"agentsocial/shared/api"
	"agentsocial/shared/host"
	"agentsocial/shared/payments"
	"agentsocial/shared/payments/stripe"
	"agentsocial/tables"
)

// A notification is proved over the bytes that were sent, whether the gateway
// hands them over as text or in base64.
func TestNoticeAsTheGatewayHandsIt(t *testing.T) {
	r := run(t, service.Config{Settings: generous()})
	fox := r.join("fox")
	const secret = "whsec_gateway"
	own := *r.App
	own.Payments = stripe.New(stripe.Config{BaseURL: r.URL, Keys: func(context.Context) (stripe.Keys, error) {
		return stripe.Keys{SecretKey: "sk", WebhookSecrets: []string{secret}}, nil
	}})
	h := host.Gateway(api.NewServer(&own, credits.New(&own)))
	for i, how := range []string{"text", "base64"} {
		// The spaces and the escape are part of what is signed.
		body := `{ "id": "evt_1", "object": "event", "created": 1790000000, "type": "checkout.session.completed", "data": {"object": {` +
			`"id": "cs_` + how + `", "name": "caf\u00e9 é", "created": 1790000000, "payment_status": "paid", "amount_total": 500, "currency": "usd", ` +
			`"metadata": {"agent": "` + fox.ID + `", "service": "` + r.URL + `"}}}}` + "\n"
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
	var log bytes.Buffer
	r := run(t, service.Config{
		Settings: generous(), Payments: payments.None{}, Log: slog.New(slog.NewJSONHandler(&log, nil)),
	})
	fox := r.join("fox")
	a := r.call(fox, "POST", "/v1/me/credits/checkout", `{"usd": 5}`)
	if a.Status != 503 || a.Text("error.code") != "unavailable" || strings.Contains(string(a.Body), "secret") {
		t.Errorf("%d %s", a.Status, a.Body)
	}
	if !strings.Contains(log.String(), "fill the secret agentsocial/STAGE/payments") {
		t.Errorf("logged was\n%s", &log)
	}
	if a := r.call(nil, "POST", "/payments/webhook", `{}`); a.Status != 503 {
		t.Errorf("%d %s", a.Status, a.Body)
	}
	if r.credits(t, fox) != 0 || r.call(nil, "GET", "/paid", "").Status != 200 {
		t.Error("what needs no processor does not work")
	}
}

// A notification that this service fails to take is sent again until it does.
func TestNoticeIsSentAgain(t *testing.T) {
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

// What was paid is not lost when the service ends before it hears of it.
func TestPaymentsOutliveARun(t *testing.T) {
	dir := t.TempDir()
	free, err := net.Listen("tcp", "127.0.0.1:0") // the same twice: who was paid, is named by its URL
	if err != nil {
		t.Fatal(err)
	}
	port := free.Addr().(*net.TCPAddr).Port
	if err := free.Close(); err != nil {
		t.Fatal(err)
	}
	start := func() *service.Service {
		t.Helper()
		s, err := service.Start(t.Context(), service.Config{
			Data: dir, Table: "embedded", Settings: generous(), Log: slog.New(slog.NewTextHandler(io.Discard, nil)), Port: port,
		})
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	stop := func(s *service.Service) {
		t.Helper()
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
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
	stop(s)
	s = start()
	defer stop(s)
	r = &running{Service: s, t: t}
	r.drain()
	if got := r.credits(t, fox); got != 5_000_000 {
		t.Errorf("%d", got)
	}
}

// Of one notification that comes twice at once, both are taken, and one counts.
func TestRaceOfNotices(t *testing.T) {
	const here, secret = "https://agents.example", "whsec_race"
	processor := stripe.New(stripe.Config{BaseURL: here, Keys: func(context.Context) (stripe.Keys, error) {
		return stripe.Keys{SecretKey: "sk", WebhookSecrets: []string{secret}}, nil
	}})
	onBoth(t, service.Config{Settings: generous(), Payments: processor}, func(t *testing.T, r *running) {
		fox := r.join("fox")
		for i := range r.rounds() {
			var requests []*transcripts.Request
			for _, kind := range []string{"completed", "async_payment_succeeded", "completed"} {
				body := fmt.Sprintf(`{"id": "evt_%s", "object": "event", "created": 1790000000, "type": "checkout.session.%s", "data": {"object": {`+
					`"id": "cs_%d", "created": 1790000000, "payment_status": "paid", "amount_total": 500, "currency": "usd", `+
					`"metadata": {"agent": %q, "service": %q}}}}`, kind, kind, i, fox.ID, here)
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
	const secret = "whsec_limits"
	settings := generous()
	settings.ByAddr, settings.MaxReads = true, 1
	r := run(t, service.Config{Settings: settings, Payments: stripe.New(stripe.Config{BaseURL: "https://agents.example", Keys: func(context.Context) (stripe.Keys, error) {
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
