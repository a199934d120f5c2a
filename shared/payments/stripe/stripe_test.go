package stripe

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"agentsocial/shared/payments"
	"agentsocial/tables"
)

const (
	base  = "https://agents.example"
	agent = "ag_01m7zpvgpq518pwx45sh5x71rp"
	made  = 1_790_000_000 // unix s
)

// signed is the header that proves bytes (https://docs.stripe.com/webhooks#verify-manually).
func signed(body string, at time.Time, secrets ...string) string {
	header := fmt.Sprintf("t=%d", at.Unix())
	for _, s := range secrets {
		mac := hmac.New(sha256.New, []byte(s))
		fmt.Fprintf(mac, "%d.%s", at.Unix(), body)
		header += fmt.Sprintf(",v1=%x", mac.Sum(nil))
	}
	return header
}

// event is a notification about an object.
func event(kind, object string) string {
	return fmt.Sprintf(`{"id": "evt_1", "object": "event", "api_version": "2024-06-20", "created": %d, "type": %q, "data": {"object": %s}}`, made+60, kind, object)
}

func session(status, meta string, cents int64, currency string) string {
	return fmt.Sprintf(`{"id": "cs_1", "object": "checkout.session", "created": %d, "payment_status": %q, "amount_total": %d, "currency": %q, "metadata": %s}`,
		made, status, cents, currency, meta)
}

var ours = fmt.Sprintf(`{"agent": %q, "service": %q}`, agent, base)

// processor answers Stripe's API by path.
func processor(t *testing.T, secrets []string, answers map[string]string) *Processor {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, ok := answers[r.URL.Path]
		if !ok {
			w.WriteHeader(http.StatusInternalServerError)
			body = `{"error": {"type": "api_error", "message": "card 4242 is broken"}}`
		}
		fmt.Fprint(w, body)
	}))
	t.Cleanup(s.Close)
	to, err := url.Parse(s.URL)
	if err != nil {
		t.Fatal(err)
	}
	return New(Config{
		BaseURL: base, Way: toward{to},
		Keys: func(context.Context) (Keys, error) { return Keys{"sk_test_1", secrets}, nil },
	})
}

type toward struct{ to *url.URL }

func (w toward) RoundTrip(r *http.Request) (*http.Response, error) {
	r.URL.Scheme, r.URL.Host = w.to.Scheme, w.to.Host
	return http.DefaultTransport.RoundTrip(r)
}

// A notification counts if one of the live secrets signed these very bytes less
// than five minutes ago.
func TestSignatures(t *testing.T) {
	p := processor(t, []string{"whsec_old", "whsec_new"}, nil)
	body := event("checkout.session.completed", session("paid", ours, 500, "usd"))
	now := time.Now()
	for what, c := range map[string]struct {
		body, header string
		good         bool
	}{
		"the old secret":             {body, signed(body, now, "whsec_old"), true},
		"the new one":                {body, signed(body, now, "whsec_new"), true},
		"both":                       {body, signed(body, now, "whsec_new", "whsec_old"), true},
		"another besides":            {body, signed(body, now, "whsec_other", "whsec_new"), true},
		"four minutes ago":           {body, signed(body, now.Add(-4*time.Minute), "whsec_new"), true},
		"six minutes ago":            {body, signed(body, now.Add(-6*time.Minute), "whsec_new"), false},
		"another secret":             {body, signed(body, now, "whsec_other"), false},
		"no secret":                  {body, signed(body, now), false},
		"an empty secret":            {body, signed(body, now, ""), false},
		"no header":                  {body, "", false},
		"a header that is none":      {body, "v1", false},
		"a space more":               {body + " ", signed(body, now, "whsec_new"), false},
		"the same JSON, other bytes": {strings.ReplaceAll(body, ": ", ":"), signed(body, now, "whsec_new"), false},
		"another time":               {body, strings.Replace(signed(body, now, "whsec_new"), "t=", "t=1", 1), false},
		"no event":                   {`{"object":"list"}`, signed(`{"object":"list"}`, now, "whsec_new"), false},
		"an event without data":      {`{"object":"event","type":"charge.refunded"}`, signed(`{"object":"event","type":"charge.refunded"}`, now, "whsec_new"), false},
	} {
		n, err := p.Notice(t.Context(), []byte(c.body), c.header)
		if c.good && (err != nil || len(n.Movements) != 1) || !c.good && !errors.Is(err, payments.ErrForged) {
			t.Errorf("%s: %+v %v", what, n, err)
		}
	}
}

// What each notification comes to, as "kind cents" in order, or a checkout's end.
func TestNotices(t *testing.T) {
	intent := func(meta string) string {
		return fmt.Sprintf(`{"id": "pi_1", "object": "payment_intent", "metadata": %s}`, meta)
	}
	refund := func(n int, status string) string {
		return fmt.Sprintf(`{"id": "re_%d", "object": "refund", "amount": %d, "currency": "usd", "created": %d, "status": %q, "payment_intent": "pi_1"}`, n, 100*n, made+n, status)
	}
	list := func(refunds ...string) string {
		return `{"object": "list", "url": "/v1/refunds", "has_more": false, "data": [` + strings.Join(refunds, ",") + `]}`
	}
	dispute := func(status string) string {
		return fmt.Sprintf(`{"id": "du_1", "object": "dispute", "amount": 700, "currency": "usd", "created": %d, "status": %q, "payment_intent": "pi_1"}`, made, status)
	}
	charge := `{"id": "ch_1", "object": "charge", "amount": 1000, "amount_refunded": 300, "currency": "usd", "payment_intent": "pi_1"}`
	const noCalls = "none"
	for what, c := range map[string]struct {
		event, meta, refunds string
		want                 string // "" for nothing, "error" for one that may pass
	}{
		"paid at once":               {event("checkout.session.completed", session("paid", ours, 500, "usd")), noCalls, "", "bought 500"},
		"paid later":                 {event("checkout.session.completed", session("unpaid", ours, 500, "usd")), noCalls, "", ""},
		"paid now":                   {event("checkout.session.async_payment_succeeded", session("paid", ours, 500, "usd")), noCalls, "", "bought 500"},
		"not paid after all":         {event("checkout.session.async_payment_failed", session("unpaid", ours, 500, "usd")), noCalls, "", "failed"},
		"not paid in time":           {event("checkout.session.expired", session("unpaid", ours, 500, "usd")), noCalls, "", "expired"},
		"another stage's":            {event("checkout.session.completed", session("paid", `{"agent": "`+agent+`", "service": "https://dev.example"}`, 500, "usd")), noCalls, "", ""},
		"another shop's":             {event("checkout.session.completed", session("paid", `{}`, 500, "usd")), noCalls, "", ""},
		"for nobody":                 {event("checkout.session.completed", session("paid", `{"agent": "fox", "service": "`+base+`"}`, 500, "usd")), noCalls, "", ""},
		"in another currency":        {event("checkout.session.completed", session("paid", ours, 500, "eur")), noCalls, "", "error"},
		"for nothing":                {event("checkout.session.completed", session("paid", ours, 0, "usd")), noCalls, "", "error"},
		"refunded twice":             {event("charge.refunded", charge), ours, list(refund(2, "succeeded"), refund(1, "pending")), "refunded 200, refunded 100"},
		"a refund that failed":       {event("refund.failed", refund(1, "failed")), ours, list(refund(1, "failed")), "refunded 100, unrefunded 100"},
		"a refund, canceled":         {event("refund.updated", refund(1, "canceled")), ours, list(refund(1, "canceled")), "refunded 100, unrefunded 100"},
		"another shop's refund":      {event("charge.refunded", charge), `{}`, list(refund(1, "succeeded")), ""},
		"a charge without a page":    {event("charge.refunded", `{"id": "ch_2", "object": "charge", "payment_intent": null}`), noCalls, "", ""},
		"Stripe does not answer":     {event("charge.refunded", charge), noCalls, "", "error"},
		"nor the second time":        {event("charge.refunded", charge), ours, "", "error"},
		"an inquiry":                 {event("charge.dispute.created", dispute("warning_needs_response")), noCalls, "", ""},
		"a dispute":                  {event("charge.dispute.created", dispute("needs_response")), ours, "", "disputed 700"},
		"an inquiry that became one": {event("charge.dispute.funds_withdrawn", dispute("needs_response")), ours, "", "disputed 700"},
		"a dispute that is won":      {event("charge.dispute.funds_reinstated", dispute("won")), ours, "", "disputed 700, reinstated 700"},
		"a dispute that is lost":     {event("charge.dispute.closed", dispute("lost")), noCalls, "", ""},
		"something else":             {event("customer.created", `{}`), noCalls, "", ""},
		"something new":              {event("moon.rose", `{"id": 1}`), noCalls, "", ""},
	} {
		answers := map[string]string{}
		if c.meta != noCalls {
			answers["/v1/payment_intents/pi_1"] = intent(c.meta)
		}
		if c.refunds != "" {
			answers["/v1/refunds"] = c.refunds
		}
		p := processor(t, []string{"whsec_1"}, answers)
		n, err := p.Notice(t.Context(), []byte(c.event), signed(c.event, time.Now(), "whsec_1"))
		if c.want == "error" {
			if err == nil || errors.Is(err, payments.ErrForged) || strings.Contains(err.Error(), "4242") {
				t.Errorf("%s: %+v %v", what, n, err)
			}
			continue
		}
		var got []string
		for _, m := range n.Movements {
			got = append(got, fmt.Sprintf("%s %d", m.Kind, m.MicroUSD/10_000))
			if m.Home() != tables.AgentAccount(agent) {
				t.Errorf("%s: of %s", what, m.Home())
			}
		}
		if n.Checkout != nil {
			got = append(got, n.Checkout.State)
		}
		if err != nil || strings.Join(got, ", ") != c.want {
			t.Errorf("%s: %s, want %s: %v", what, got, c.want, err)
		}
	}
}

// A movement is named by its cause alone: whichever notification tells of it.
func TestOneCauseIsOneMovement(t *testing.T) {
	p := processor(t, []string{"whsec_1"}, map[string]string{"/v1/payment_intents/pi_1": fmt.Sprintf(`{"id": "pi_1", "metadata": %s}`, ours)})
	names := func(kinds ...string) map[string]bool {
		ids := map[string]bool{}
		for i, kind := range kinds {
			object := session("paid", ours, 500, "usd")
			if strings.HasPrefix(kind, "charge.dispute") {
				object = fmt.Sprintf(`{"id": "du_1", "amount": 700, "currency": "usd", "created": %d, "status": "needs_response", "payment_intent": "pi_1"}`, made)
			}
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
	if ids := names("checkout.session.completed", "checkout.session.async_payment_succeeded", "checkout.session.completed"); len(ids) != 1 {
		t.Errorf("%v", ids)
	}
	if ids := names("charge.dispute.created", "charge.dispute.funds_withdrawn", "charge.dispute.funds_reinstated"); len(ids) != 2 {
		t.Errorf("%v", ids)
	}
}

func TestKeys(t *testing.T) {
	for text, want := range map[string]error{
		`{"secret_key": "rk_live_1", "webhook_secrets": ["whsec_1", "whsec_2"]}`: nil,
		`{"secret_key":"","webhook_secrets":[]}`:                                 payments.ErrNone,
		`{"secret_key":"rk_live_1","webhook_secrets":[]}`:                        payments.ErrNone,
		`{}`: payments.ErrNone,
	} {
		if k, err := ParseKeys(text); !errors.Is(err, want) || err == nil && len(k.WebhookSecrets) != 2 {
			t.Errorf("%s: %v", text, err)
		}
	}
	for _, bad := range []string{``, `rk_live_1`, `{"secret_key":"rk_live_1\n","webhook_secrets":["whsec_1"]}`, `{"secret_key":"rk_live_1","webhook_secrets":["whsec_1",""]}`} {
		if _, err := ParseKeys(bad); err == nil || errors.Is(err, payments.ErrNone) || strings.Contains(err.Error(), "live") {
			t.Errorf("%s: %v", bad, err)
		}
	}
}

// What Stripe is asked, to the letter.
func TestCheckoutAsks(t *testing.T) {
	var got url.Values
	var header http.Header
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if err := r.ParseForm(); err != nil {
			t.Error(err)
		}
		got, header = r.PostForm, r.Header
		fmt.Fprint(w, `{"id": "cs_1", "url": "https://checkout.stripe.com/c/pay/cs_1", "expires_at": 1790080000}`)
	}))
	defer s.Close()
	to, err := url.Parse(s.URL)
	if err != nil {
		t.Fatal(err)
	}
	p := New(Config{BaseURL: base, Way: toward{to}, Keys: func(context.Context) (Keys, error) { return Keys{"rk_1", []string{"whsec_1"}}, nil }})
	page, err := p.Checkout(t.Context(), payments.Order{Agent: agent, Handle: "fox", USD: 25, Key: "order-1", ExpiresAt: time.Unix(1_790_080_000, 0)})
	if err != nil || page != (payments.Page{ID: "cs_1", URL: "https://checkout.stripe.com/c/pay/cs_1", ExpiresAt: time.Unix(1_790_080_000, 0)}) {
		t.Fatalf("%+v %v", page, err)
	}
	if header.Get("Idempotency-Key") != "order-1" || header.Get("Authorization") != "Bearer rk_1" {
		t.Errorf("%v", header)
	}
	want := url.Values{}
	for name, v := range map[string]string{
		"mode": "payment", "submit_type": "pay", "client_reference_id": agent, "expires_at": "1790080000",
		"metadata[agent]": agent, "metadata[service]": base,
		"payment_intent_data[metadata][agent]": agent, "payment_intent_data[metadata][service]": base,
		"payment_intent_data[description]": "Credits for @fox",
		"line_items[0][quantity]":          "1", "line_items[0][price_data][currency]": "usd", "line_items[0][price_data][unit_amount]": "2500",
		"line_items[0][price_data][product_data][name]": "25 USD of credits for @fox",
		"adaptive_pricing[enabled]":                     "false",
		"success_url":                                   base + "/paid", "cancel_url": base + "/paid",
	} {
		want.Set(name, v)
	}
	if got.Encode() != want.Encode() {
		t.Errorf("asked\n%s\nnot\n%s", got.Encode(), want.Encode())
	}
}
