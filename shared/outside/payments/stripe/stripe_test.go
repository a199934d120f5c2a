package stripe

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"agentsocial/shared/outside/payments"
	"agentsocial/tables"
)

const (
	base  = "https://agents.example"
	stage = "prod"
	agent = "ag_01m7zpvgpq518pwx45sh5x71rp"
	made  = 1_790_000_000 // unix s
)

// signed returns the signature header of a body
// (https://docs.stripe.com/webhooks#verify-manually).
func signed(body string, at time.Time, secrets ...string) string {
	header := fmt.Sprintf("t=%d", at.Unix())
	for _, s := range secrets {
		mac := hmac.New(sha256.New, []byte(s))
		fmt.Fprintf(mac, "%d.%s", at.Unix(), body)
		header += fmt.Sprintf(",v1=%x", mac.Sum(nil))
	}
	return header
}

func event(kind, object string) string {
	return fmt.Sprintf(`{"id": "evt_1", "object": "event", "api_version": "2024-06-20", "created": %d, "type": %q, "data": {"object": %s}}`, made+60, kind, object)
}

func session(status, meta string, cents int64, currency string) string {
	return fmt.Sprintf(`{"id": "cs_1", "object": "checkout.session", "created": %d, "payment_status": %q, "amount_total": %d, "currency": %q, "metadata": %s}`,
		made, status, cents, currency, meta)
}

var ours = metadata(stage, agent)

func metadata(stage, agent string) string {
	return fmt.Sprintf(`{"agentsocial_agent": %q, "agentsocial_stage": %q}`, agent, stage)
}

// page lists the checkout that pi_1 paid.
func page(meta string) string {
	return `{"object": "list", "url": "/v1/checkout/sessions", "has_more": false, "data": [` + session("paid", meta, 1000, "usd") + `]}`
}

func disputed(status string, cents int64, currency string, moved ...string) string {
	return fmt.Sprintf(`{"id": "du_1", "object": "dispute", "amount": %d, "currency": %q, "created": %d, "status": %q, "payment_intent": "pi_1", "balance_transactions": [%s]}`,
		cents, currency, made, status, strings.Join(moved, ","))
}

func usd(cents int64) string { return moved(cents, "usd") }

func inEUR(cents int64) string { return moved(cents, "eur") }

func moved(cents int64, currency string) string {
	return fmt.Sprintf(`{"id": "txn_1", "object": "balance_transaction", "type": "adjustment", "amount": %d, "currency": %q}`, cents, currency)
}

const noPage = `{"object": "list", "url": "/v1/checkout/sessions", "has_more": false, "data": []}`

// processor returns a Processor with a Stripe that answers by path.
func processor(secrets []string, answers map[string]string) *Processor {
	api := func(w http.ResponseWriter, r *http.Request) {
		body, ok := answers[r.URL.Path]
		if !ok {
			w.WriteHeader(http.StatusInternalServerError)
			body = `{"error": {"type": "api_error", "message": "card 4242 is broken"}}`
		}
		fmt.Fprint(w, body)
	}
	return New(Config{
		BaseURL: base, Stage: stage, Way: toward(api),
		Keys: func(context.Context) (Keys, error) { return Keys{"sk_test_1", secrets}, nil },
	})
}

// toward is a transport to a Stripe in this process, without a network, so that
// synctest can control the time.
type toward http.HandlerFunc

func (api toward) RoundTrip(r *http.Request) (*http.Response, error) {
	w := httptest.NewRecorder()
	api(w, r)
	return w.Result(), nil
}

func TestSignatures(t *testing.T) { synctest.Test(t, testSignatures) }

func testSignatures(t *testing.T) {
	p := processor([]string{"whsec_old", "whsec_new"}, nil)
	body := event("checkout.session.completed", session("paid", ours, 500, "usd"))
	now := time.Now()
	for what, c := range map[string]struct {
		body, header string
		good         bool
	}{
		"the old secret":              {body, signed(body, now, "whsec_old"), true},
		"the new secret":              {body, signed(body, now, "whsec_new"), true},
		"both secrets":                {body, signed(body, now, "whsec_new", "whsec_old"), true},
		"another secret, and the new": {body, signed(body, now, "whsec_other", "whsec_new"), true},
		"four minutes ago":            {body, signed(body, now.Add(-4*time.Minute), "whsec_new"), true},
		"six minutes ago":             {body, signed(body, now.Add(-6*time.Minute), "whsec_new"), false},
		"another secret":              {body, signed(body, now, "whsec_other"), false},
		"no secret":                   {body, signed(body, now), false},
		"an empty secret":             {body, signed(body, now, ""), false},
		"no header":                   {body, "", false},
		"a malformed header":          {body, "v1", false},
		"a space at the end":          {body + " ", signed(body, now, "whsec_new"), false},
		"the same JSON, other bytes":  {strings.ReplaceAll(body, ": ", ":"), signed(body, now, "whsec_new"), false},
		"another time":                {body, strings.Replace(signed(body, now, "whsec_new"), "t=", "t=1", 1), false},
		"no event":                    {`{"object":"list"}`, signed(`{"object":"list"}`, now, "whsec_new"), false},
		"an event without data":       {`{"object":"event","type":"charge.refunded"}`, signed(`{"object":"event","type":"charge.refunded"}`, now, "whsec_new"), false},
	} {
		n, err := p.Notice(t.Context(), []byte(c.body), c.header)
		if c.good && (err != nil || len(n.Movements) != 1) || !c.good && !errors.Is(err, payments.ErrForged) {
			t.Errorf("%s: Notice = %+v, %v, want one movement: %v; if false, ErrForged", what, n, err, c.good)
		}
	}
}

func TestNotices(t *testing.T) { synctest.Test(t, testNotices) }

func testNotices(t *testing.T) {
	refund := func(n int, status string) string {
		return fmt.Sprintf(`{"id": "re_%d", "object": "refund", "amount": %d, "currency": "usd", "created": %d, "status": %q, "payment_intent": "pi_1"}`, n, 100*n, made+n, status)
	}
	list := func(refunds ...string) string {
		return `{"object": "list", "url": "/v1/refunds", "has_more": false, "data": [` + strings.Join(refunds, ",") + `]}`
	}
	dispute := func(status string, moved ...string) string { return disputed(status, 700, "usd", moved...) }
	charge := `{"id": "ch_1", "object": "charge", "amount": 1000, "amount_refunded": 300, "currency": "usd", "payment_intent": "pi_1"}`
	const noCalls, noPages = "none", "no pages"
	for what, c := range map[string]struct {
		event, meta, refunds string
		// want is "kind cents" of each movement, the state of an ended checkout,
		// "of STAGE AGENT" of a foreign payment, "error", "unclear", or "" for nothing.
		want string
	}{
		"paid at once":                    {event("checkout.session.completed", session("paid", ours, 500, "usd")), noCalls, "", "bought 500"},
		"paid later":                      {event("checkout.session.completed", session("unpaid", ours, 500, "usd")), noCalls, "", ""},
		"paid now":                        {event("checkout.session.async_payment_succeeded", session("paid", ours, 500, "usd")), noCalls, "", "bought 500"},
		"payment failed":                  {event("checkout.session.async_payment_failed", session("unpaid", ours, 500, "usd")), noCalls, "", "failed"},
		"not paid in time":                {event("checkout.session.expired", session("unpaid", ours, 500, "usd")), noCalls, "", "expired"},
		"another stage's":                 {event("checkout.session.completed", session("paid", metadata("dev", agent), 500, "usd")), noCalls, "", "of dev " + agent},
		"another shop's":                  {event("checkout.session.completed", session("paid", `{}`, 500, "usd")), noCalls, "", ""},
		"of an invalid agent":             {event("checkout.session.completed", session("paid", metadata(stage, "fox"), 500, "usd")), noCalls, "", "of prod fox"},
		"without an agent":                {event("checkout.session.completed", session("paid", `{"agentsocial_stage": "prod"}`, 500, "usd")), noCalls, "", "of prod "},
		"without a stage":                 {event("checkout.session.expired", session("unpaid", `{"agentsocial_agent": "`+agent+`"}`, 500, "usd")), noCalls, "", "of  " + agent},
		"of a shop with agents":           {event("checkout.session.completed", session("paid", `{"agent": "Ms Smith", "stage": "prod"}`, 500, "usd")), noCalls, "", ""},
		"in another currency":             {event("checkout.session.completed", session("paid", ours, 500, "eur")), noCalls, "", "error"},
		"a payment of nothing":            {event("checkout.session.completed", session("paid", ours, 0, "usd")), noCalls, "", "error"},
		"refunded twice":                  {event("charge.refunded", charge), ours, list(refund(2, "succeeded"), refund(1, "pending")), "refunded 200, refunded 100"},
		"a refund that failed":            {event("refund.failed", refund(1, "failed")), ours, list(refund(1, "failed")), "refunded 100, unrefunded 100"},
		"a refund, canceled":              {event("refund.updated", refund(1, "canceled")), ours, list(refund(1, "canceled")), "refunded 100, unrefunded 100"},
		"another shop's refund":           {event("charge.refunded", charge), `{}`, list(refund(1, "succeeded")), ""},
		"another stage's refund":          {event("charge.refunded", charge), metadata("dev", agent), list(refund(1, "succeeded")), "of dev " + agent},
		"another stage's dispute":         {event("charge.dispute.created", dispute("needs_response", usd(-700))), metadata("dev", agent), "", "of dev " + agent},
		"paid without checkout":           {event("charge.refunded", charge), noPages, list(refund(1, "succeeded")), ""},
		"a charge without intent":         {event("charge.refunded", `{"id": "ch_2", "object": "charge", "payment_intent": null}`), noCalls, "", ""},
		"Stripe fails":                    {event("charge.refunded", charge), noCalls, "", "error"},
		"Stripe fails the second call":    {event("charge.refunded", charge), ours, "", "error"},
		"an inquiry":                      {event("charge.dispute.created", dispute("warning_needs_response")), noCalls, "", ""},
		"a dispute":                       {event("charge.dispute.created", dispute("needs_response", usd(-700))), ours, "", "disputed 700"},
		"a dispute, lost at once":         {event("charge.dispute.created", dispute("lost", usd(-700))), ours, "", "disputed 700"},
		"a dispute before it takes money": {event("charge.dispute.created", dispute("needs_response")), noCalls, "", ""},
		"a dispute of a refunded payment": {event("charge.dispute.created", dispute("lost")), noCalls, "", ""},
		"a prevented dispute":             {event("charge.dispute.created", dispute("prevented")), noCalls, "", ""},
		"a prevented dispute's refund":    {event("refund.created", refund(1, "succeeded")), ours, list(refund(1, "succeeded")), "refunded 100"},
		"a dispute takes its money":       {event("charge.dispute.funds_withdrawn", dispute("needs_response", usd(-700))), ours, "", "disputed 700"},
		"an inquiry, now a dispute":       {event("charge.dispute.funds_withdrawn", dispute("needs_response")), ours, "", "disputed 700"},
		"a dispute of more than was paid": {event("charge.dispute.funds_withdrawn", disputed("needs_response", 1100, "usd", usd(-1100))), ours, "", "disputed 1100"},
		"in euros, taken in dollars":      {event("charge.dispute.created", disputed("needs_response", 600, "eur", usd(-702))), ours, "", "disputed 702"},
		"in euros, taken in euros":        {event("charge.dispute.created", disputed("needs_response", 600, "eur", inEUR(-600))), ours, "", "unclear"},
		"in dollars, taken in euros":      {event("charge.dispute.created", dispute("needs_response", inEUR(-600))), ours, "", "disputed 700"},
		"given back in euros":             {event("charge.dispute.funds_reinstated", disputed("won", 600, "eur", usd(-702), inEUR(600))), ours, "", "unclear"},
		"a dispute about no money":        {event("charge.dispute.funds_withdrawn", disputed("needs_response", 0, "usd")), ours, "", "unclear"},
		"another stage's, in euros":       {event("charge.dispute.funds_withdrawn", disputed("needs_response", 600, "eur")), metadata("dev", agent), "", "of dev " + agent},
		"a dispute that is won":           {event("charge.dispute.funds_reinstated", dispute("won", usd(-700), usd(700))), ours, "", "disputed 700, reinstated 700"},
		"won, without transactions":       {event("charge.dispute.funds_reinstated", dispute("won")), ours, "", "disputed 700, reinstated 700"},
		"a part comes back":               {event("charge.dispute.funds_reinstated", dispute("lost", usd(-700), usd(300))), ours, "", "disputed 700, reinstated 300"},
		"a dispute that is lost":          {event("charge.dispute.closed", dispute("lost")), noCalls, "", ""},
		"something else":                  {event("customer.created", `{}`), noCalls, "", ""},
		"something new":                   {event("moon.rose", `{"id": 1}`), noCalls, "", ""},
	} {
		answers := map[string]string{}
		switch c.meta {
		case noCalls:
		case noPages:
			answers["/v1/checkout/sessions"] = noPage
		default:
			answers["/v1/checkout/sessions"] = page(c.meta)
		}
		if c.refunds != "" {
			answers["/v1/refunds"] = c.refunds
		}
		p := processor([]string{"whsec_1"}, answers)
		n, err := p.Notice(t.Context(), []byte(c.event), signed(c.event, time.Now(), "whsec_1"))
		if c.want == "error" {
			if err == nil || errors.Is(err, payments.ErrForged) || strings.Contains(err.Error(), "4242") {
				t.Errorf("%s: Notice = %+v, %v, want an error without details", what, n, err)
			}
			continue
		}
		var got []string
		for _, m := range n.Movements {
			got = append(got, fmt.Sprintf("%s %d", m.Kind, m.MicroUSD/10_000))
			subject := fmt.Sprint(m.Subject)
			want := map[string]string{
				tables.Bought: "map[checkout:cs_1]", tables.Refunded: "map[checkout:cs_1 refund:re_", tables.Unrefunded: "map[checkout:cs_1 refund:re_",
				tables.Disputed: "map[checkout:cs_1 dispute:du_1]", tables.Reinstated: "map[checkout:cs_1 dispute:du_1]",
			}[m.Kind]
			if m.Home() != tables.AgentAccount(agent) || !strings.HasPrefix(subject, want) {
				t.Errorf("%s: movement of %s for %s, want %s for %s…", what, m.Home(), subject, tables.AgentAccount(agent), want)
			}
		}
		if n.Unclear != "" {
			got = append(got, "unclear")
		}
		if n.Ended != nil {
			got = append(got, n.Ended.State)
		}
		if n.Foreign != nil {
			got = append(got, "of "+n.Foreign.Stage+" "+n.Foreign.Agent)
		}
		if n.ID != "evt_1" || !strings.Contains(c.event, fmt.Sprintf("%q", n.Type)) || (n.Agent != "") != (len(n.Movements) > 0 || n.Ended != nil || n.Unclear != "" || what == "paid later") {
			t.Errorf("%s: got %+v, want the id and type of the event, and an agent exactly if there is a movement, an ended checkout, something unclear or a payment still to come", what, n)
		}
		if err != nil || strings.Join(got, ", ") != c.want {
			t.Errorf("%s: got %s, %v, want %s", what, got, err, c.want)
		}
	}
}

// A movement's id depends only on its kind and its cause.
func TestMovementIDs(t *testing.T) { synctest.Test(t, testMovementIDs) }

func testMovementIDs(t *testing.T) {
	failed := fmt.Sprintf(`{"id": "re_1", "object": "refund", "amount": 100, "currency": "usd", "created": %d, "status": "failed", "payment_intent": "pi_1"}`, made)
	p := processor([]string{"whsec_1"}, map[string]string{
		"/v1/checkout/sessions": page(ours), "/v1/refunds": `{"object": "list", "url": "/v1/refunds", "has_more": false, "data": [` + failed + `]}`,
	})
	names := func(object string, kinds ...string) map[string]bool {
		ids := map[string]bool{}
		for i, kind := range kinds {
			e := strings.Replace(event(kind, object), fmt.Sprint(made+60), fmt.Sprint(made+60+i), 1)
			n, err := p.Notice(t.Context(), []byte(e), signed(e, time.Now(), "whsec_1"))
			if err != nil {
				t.Fatal(err)
			}
			for _, m := range n.Movements {
				ids[m.ID] = true
			}
		}
		return ids
	}
	paid := session("paid", ours, 500, "usd")
	if ids := names(paid, "checkout.session.completed", "checkout.session.async_payment_succeeded", "checkout.session.completed"); len(ids) != 1 {
		t.Errorf("movement ids of a payment = %v, want 1", ids)
	}
	won := disputed("won", 700, "usd", usd(-700), usd(700))
	if ids := names(won, "charge.dispute.created", "charge.dispute.funds_withdrawn", "charge.dispute.funds_reinstated", "charge.dispute.funds_reinstated"); len(ids) != 2 {
		t.Errorf("movement ids of a dispute = %v, want 2", ids)
	}
	if ids := names(failed, "refund.created", "refund.updated", "refund.failed", "charge.refund.updated"); len(ids) != 2 {
		t.Errorf("movement ids of a failed refund = %v, want 2", ids)
	}
}

func TestChangedKeys(t *testing.T) { synctest.Test(t, testChangedKeys) }

func testChangedKeys(t *testing.T) {
	older, newer := Keys{"sk_old", []string{"whsec_old"}}, Keys{"sk_new", []string{"whsec_new"}}
	body := event("charge.dispute.funds_withdrawn", disputed("needs_response", 700, "usd"))
	for what, c := range map[string]struct {
		there         Keys // the keys fetched after a doubt
		signs         string
		takes         string // the key that Stripe accepts
		doubts, calls int
		good          bool
	}{
		"nothing changed":      {older, "whsec_old", "sk_old", 0, 1, true},
		"a new webhook secret": {newer, "whsec_new", "sk_new", 1, 1, true},
		"a new API key":        {Keys{"sk_new", []string{"whsec_old"}}, "whsec_old", "sk_new", 1, 2, true},
		"a forger":             {older, "whsec_forged", "sk_old", 1, 0, false},
		"a forger, new keys":   {newer, "whsec_forged", "sk_new", 1, 0, false},
		"a revoked key":        {older, "whsec_old", "sk_new", 1, 1, false},
		"a revoked new key":    {newer, "whsec_new", "sk_newest", 1, 1, false},
	} {
		doubts, calls := 0, 0
		api := func(w http.ResponseWriter, r *http.Request) {
			calls++
			if r.Header.Get("Authorization") != "Bearer "+c.takes {
				w.WriteHeader(http.StatusUnauthorized)
				fmt.Fprint(w, `{"error": {"type": "invalid_request_error", "message": "Invalid API Key provided: sk_old"}}`)
				return
			}
			fmt.Fprint(w, page(ours))
		}
		p := New(Config{
			BaseURL: base, Stage: stage, Way: toward(api), Doubt: func() { doubts++ },
			Keys: func(context.Context) (Keys, error) {
				if doubts > 0 {
					return c.there, nil
				}
				return older, nil
			},
		})
		n, err := p.Notice(t.Context(), []byte(body), signed(body, time.Now(), c.signs))
		if (err == nil && len(n.Movements) == 1) != c.good || doubts != c.doubts || calls != c.calls || err != nil && strings.Contains(err.Error(), "sk_") {
			t.Errorf("%s: Notice = %+v, %v after %d doubts and %d calls, want success: %v after %d and %d, and no key in the error", what, n, err, doubts, calls, c.good, c.doubts, c.calls)
		}
	}
}

// A request has 10 s. Its two transactions may take 4 s of them, and everything else 1 s.
func TestStripeHangs(t *testing.T) {
	for what, take := range map[string]time.Duration{"for ever": time.Hour, "almost too long": within - time.Millisecond} {
		synctest.Test(t, func(t *testing.T) {
			calls := 0
			p := New(Config{
				Stage: stage,
				Keys:  func(context.Context) (Keys, error) { return Keys{"sk_1", []string{"whsec_1"}}, nil },
				Way: doing(func(r *http.Request) (*http.Response, error) {
					calls++
					select {
					case <-r.Context().Done():
						return nil, r.Context().Err()
					case <-time.After(take):
					}
					if r.URL.Path != "/v1/checkout/sessions" || r.Method != http.MethodGet {
						return nil, errors.New("away")
					}
					return &http.Response{StatusCode: 200, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(page(ours)))}, nil
				}),
			})
			body := event("charge.refunded", `{"id": "ch_1", "object": "charge", "payment_intent": "pi_1"}`)
			for name, ask := range map[string]func() error{
				"a checkout": func() error {
					_, err := p.Checkout(t.Context(), payments.Order{Agent: agent, Handle: "fox", USD: 25, Key: "order-1"})
					return err
				},
				"a notification": func() error {
					_, err := p.Notice(t.Context(), []byte(body), signed(body, time.Now(), "whsec_1"))
					return err
				},
			} {
				calls = 0
				began := time.Now()
				err := ask()
				if took := time.Since(began); err == nil || took > 10*time.Second-2*2*time.Second-time.Second || calls < 2 {
					t.Errorf("%s, Stripe taking %s: %d calls took %s and ended with %v; want 2 or more calls, at most 5 s, and an error", name, what, calls, took, err)
				}
			}
		})
	}
}

type doing func(*http.Request) (*http.Response, error)

func (d doing) RoundTrip(r *http.Request) (*http.Response, error) { return d(r) }

func TestParseKeys(t *testing.T) {
	for text, want := range map[string]error{
		`{"secret_key": "rk_live_1", "webhook_secrets": ["whsec_1", "whsec_2"]}`: nil,
		`{"secret_key":"","webhook_secrets":[]}`:                                 payments.ErrNone,
		`{"secret_key":"rk_live_1","webhook_secrets":[]}`:                        payments.ErrNone,
		`{}`: payments.ErrNone,
	} {
		if k, err := ParseKeys(text); !errors.Is(err, want) || err == nil && len(k.WebhookSecrets) != 2 {
			t.Errorf("ParseKeys(%s) = %+v, %v, want error %v, and two webhook secrets if it is nil", text, k, err, want)
		}
	}
	for _, bad := range []string{``, `rk_live_1`, `{"secret_key":"rk_live_1\n","webhook_secrets":["whsec_1"]}`, `{"secret_key":"rk_live_1","webhook_secrets":["whsec_1",""]}`} {
		if _, err := ParseKeys(bad); err == nil || errors.Is(err, payments.ErrNone) || strings.Contains(err.Error(), "live") {
			t.Errorf("ParseKeys(%s) = %v, want an error other than ErrNone, without the key", bad, err)
		}
	}
}

func TestCheckout_Request(t *testing.T) { synctest.Test(t, testCheckoutRequest) }

func testCheckoutRequest(t *testing.T) {
	var got url.Values
	var header http.Header
	api := func(w http.ResponseWriter, r *http.Request) {
		if err := r.ParseForm(); err != nil {
			t.Error(err)
		}
		got, header = r.PostForm, r.Header
		fmt.Fprint(w, `{"id": "cs_1", "url": "https://checkout.stripe.com/c/pay/cs_1", "expires_at": 1790080000}`)
	}
	p := New(Config{BaseURL: base, Stage: stage, Way: toward(api), Keys: func(context.Context) (Keys, error) { return Keys{"rk_1", []string{"whsec_1"}}, nil }})
	page, err := p.Checkout(t.Context(), payments.Order{Agent: agent, Handle: "fox", USD: 25, Key: "order-1"})
	if err != nil || page != (payments.Page{ID: "cs_1", URL: "https://checkout.stripe.com/c/pay/cs_1", ExpiresAt: time.Unix(1_790_080_000, 0)}) {
		t.Fatalf("Checkout = %+v, %v, want the page that Stripe answered", page, err)
	}
	if header.Get("Idempotency-Key") != "order-1" || header.Get("Authorization") != "Bearer rk_1" {
		t.Errorf("request headers = %v, want Idempotency-Key order-1 and the key rk_1", header)
	}
	want := url.Values{}
	for name, v := range map[string]string{
		"mode": "payment", "submit_type": "pay", "client_reference_id": agent,
		"metadata[agentsocial_agent]": agent, "metadata[agentsocial_stage]": stage,
		"payment_intent_data[metadata][agentsocial_agent]": agent, "payment_intent_data[metadata][agentsocial_stage]": stage,
		"payment_intent_data[description]": "Credits for @fox",
		"line_items[0][quantity]":          "1", "line_items[0][price_data][currency]": "usd", "line_items[0][price_data][unit_amount]": "2500",
		"line_items[0][price_data][product_data][name]": "25 USD of credits for @fox",
		"adaptive_pricing[enabled]":                     "false",
		"success_url":                                   base + "/paid", "cancel_url": base + "/paid",
	} {
		want.Set(name, v)
	}
	if got.Encode() != want.Encode() {
		t.Errorf("got request\n%s\nwant\n%s", got.Encode(), want.Encode())
	}
}

func TestExpire(t *testing.T) {
	for what, c := range map[string]struct {
		status int
		body   string
		good   bool
	}{
		"open":          {200, `{"id": "cs_1", "status": "expired"}`, true},
		"paid":          {400, `{"error": {"type": "invalid_request_error", "message": "Only Checkout Sessions with a status in [\"open\"] can be expired."}}`, true},
		"unknown":       {404, `{"error": {"type": "invalid_request_error", "code": "resource_missing", "message": "No such checkout.session: 'cs_1'"}}`, true},
		"a bad key":     {401, `{"error": {"type": "invalid_request_error", "message": "Invalid API Key provided: rk_1"}}`, false},
		"a weak key":    {403, `{"error": {"type": "invalid_request_error", "code": "more_permissions_required", "message": "rk_1 may not"}}`, false},
		"another error": {400, `{"error": {"type": "api_error", "message": "rk_1"}}`, false},
	} {
		var asked string
		api := func(w http.ResponseWriter, r *http.Request) {
			asked = r.Method + " " + r.URL.Path
			w.WriteHeader(c.status)
			fmt.Fprint(w, c.body)
		}
		p := NewSeller(Config{Stage: stage, Way: toward(api), Keys: func(context.Context) (Keys, error) { return Keys{"rk_1", []string{"whsec_1"}}, nil }})
		err := p.Expire(t.Context(), "cs_1")
		if (err == nil) != c.good || err != nil && strings.Contains(err.Error(), "rk_1") || asked != "POST /v1/checkout/sessions/cs_1/expire" {
			t.Errorf("%s: Expire asked %q and returned %v, want POST /v1/checkout/sessions/cs_1/expire, no key in the error, and success: %v", what, asked, err, c.good)
		}
	}
}
