package bench

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"time"

	"agentsocial/local/fakes/payments"
	"agentsocial/local/transcripts"
	"agentsocial/shared/outside/payments/stripe"
)

// till stands in for Stripe. It answers at once, with a new checkout page.
type till struct{ made atomic.Int64 }

const (
	tillSecret = "whsec_bench"
	benchStage = "bench"
)

func (t *till) RoundTrip(*http.Request) (*http.Response, error) {
	body := fmt.Sprintf(`{"id": "cs_test_%032d", "object": "checkout.session", "url": "https://checkout.stripe.example/c/pay/cs_test_%032d", "expires_at": 1767700000}`,
		t.made.Add(1), t.made.Load())
	return &http.Response{
		StatusCode: http.StatusOK, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Header: http.Header{"Content-Type": {"application/json"}},
		Body: io.NopCloser(bytes.NewBufferString(body)), ContentLength: int64(len(body)),
	}, nil
}

// processor returns Stripe's client, which calls the till.
func (t *till) processor(url string) *stripe.Processor {
	return stripe.New(stripe.Config{BaseURL: url, Stage: benchStage, Way: t, Keys: func(context.Context) (stripe.Keys, error) {
		return stripe.Keys{SecretKey: "sk_bench", WebhookSecrets: []string{tillSecret}}, nil
	}})
}

// paid returns the notification that a checkout was paid.
func (w *world) paid(a *agent, session string) request {
	body := fmt.Sprintf(`{"id": "evt_%s", "object": "event", "created": %d, "type": "checkout.session.completed", "data": {"object": {"id": %q, "created": %d, `+
		`"payment_status": "paid", "amount_total": 2500, "currency": "usd", "metadata": {"agentsocial_agent": %q, "agentsocial_stage": %q}}}}`,
		session, w.base.Unix(), session, w.base.Unix(), a.id, benchStage)
	return request{route: "POST /payments/webhook", body: body, headers: map[string]string{
		"stripe-signature": payments.Sign([]byte(body), time.Now(), tillSecret), // the SDK checks it against the machine's clock
	}}
}

// paying returns the scenarios of credits.
func paying(w *world) ([]scenario, error) {
	people, err := w.recruits(2)
	if err != nil {
		return nil, err
	}
	buyer, reader := people[0], people[1]
	const entries = 20
	for i := range entries + 1 {
		writes := transcripts.Credit(reader.id, 1_000_000, w.base.Add(time.Duration(i)*tick), w.app.Random(16))
		if err := w.app.Transact(context.Background(), writes...); err != nil {
			return nil, err
		}
	}
	// Only an agent's first payment adds its balance to the index of balances.
	if err := w.ask(w.at(-1), w.paid(buyer, "cs_first_"+strings.Repeat("0", 32)), 200, nil); err != nil {
		return nil, err
	}
	ledger := request{route: "GET /v1/me/credits", by: reader}
	return []scenario{
		{route: ledger.route, variant: fmt.Sprintf("page of %d", entries), signed: true, next: always(w, ledger)},
		{route: "POST /v1/me/credits/checkout", status: 201, next: func(i int) (call, error) {
			return w.call(w.at(i), request{route: "POST /v1/me/credits/checkout", by: buyer, body: `{"usd":25}`}), nil
		}},
		{route: "POST /payments/webhook", variant: "paid", next: func(i int) (call, error) {
			return w.call(w.at(i), w.paid(buyer, fmt.Sprintf("cs_test_%032d", i))), nil
		}},
		{route: "POST /payments/webhook", variant: "told again", next: func(i int) (call, error) {
			again := w.paid(buyer, fmt.Sprintf("cs_again_%032d", i))
			if err := w.ask(w.at(i).Add(-tick), again, 200, nil); err != nil {
				return call{}, err
			}
			return w.call(w.at(i), again), nil
		}},
	}, nil
}

// movementShares measures the tally of movements: one alone, and several of one agent.
func (w *world) movementShares(ctx context.Context) ([]StreamShare, error) {
	people, err := w.recruits(1)
	if err != nil {
		return nil, err
	}
	if err := w.drain(ctx); err != nil {
		return nil, err
	}
	var shares []StreamShare
	for _, x := range []struct {
		name string
		n    int
	}{
		{"tally of a movement, alone", 1},
		{fmt.Sprintf("tally of a movement, %d of one agent", batch), batch},
	} {
		for range x.n {
			if err := w.credit(people[0], 1_000_000); err != nil {
				return nil, err
			}
		}
		share, err := w.shareOf(ctx, "tally", x.name, x.n)
		if err != nil {
			return nil, err
		}
		shares = append(shares, share)
	}
	return shares, nil
}
