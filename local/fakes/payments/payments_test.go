package payments

import (
	"crypto/rand"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"
)

var noon = time.Unix(1_790_000_000, 0)

// open returns a stand-in that holds its notifications.
func open(t *testing.T) *StandIn {
	t.Helper()
	s, err := Open(Config{
		URL: "http://127.0.0.1:1/pay", Webhook: "http://127.0.0.1:1/webhook",
		Now: func() time.Time { return noon }, Rand: rand.Reader, Log: slog.New(slog.NewTextHandler(io.Discard, nil)),
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.held = true
	return s
}

// good returns the parameters of a valid call.
func good() url.Values {
	return url.Values{
		"mode": {"payment"}, "success_url": {"https://agents.example/paid"}, "expires_at": {fmt.Sprint(noon.Add(time.Hour).Unix())},
		"line_items[0][quantity]": {"1"}, "line_items[0][price_data][currency]": {"usd"}, "line_items[0][price_data][unit_amount]": {"500"},
		"line_items[0][price_data][product_data][name]": {"credits"}, "metadata[agent]": {"fox"},
	}
}

type asked struct {
	method, target, body string
	header               map[string]string
}

func (s *StandIn) ask(q asked) *httptest.ResponseRecorder {
	r := httptest.NewRequest(q.method, q.target, strings.NewReader(q.body))
	r.Header.Set("Authorization", "Bearer "+s.kept.Key)
	if q.method == http.MethodPost {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	for name, v := range q.header {
		r.Header.Set(name, v)
	}
	w := httptest.NewRecorder()
	s.ServeHTTP(w, r)
	return w
}

func TestRefusals(t *testing.T) {
	s := open(t)
	with := func(name, v string) string {
		p := good()
		p.Set(name, v)
		return p.Encode()
	}
	without := func(name string) string {
		p := good()
		p.Del(name)
		return p.Encode()
	}
	at := func(d time.Duration) string { return with("expires_at", fmt.Sprint(noon.Add(d).Unix())) }
	const sessions = "/v1/checkout/sessions"
	for what, c := range map[string]struct {
		asked
		status                  int
		kind, code, param, says string
	}{
		"no key":                 {asked{"POST", sessions, good().Encode(), map[string]string{"Authorization": ""}}, 401, "invalid_request_error", "", "", "did not provide an API key"},
		"another key":            {asked{"POST", sessions, good().Encode(), map[string]string{"Authorization": "Bearer sk_test_1"}}, 401, "invalid_request_error", "", "", "Invalid API Key"},
		"JSON":                   {asked{"POST", sessions, `{"mode":"payment"}`, map[string]string{"Content-Type": "application/json"}}, 400, "invalid_request_error", "", "", "content type"},
		"another call":           {asked{"POST", "/v1/customers", "", nil}, 404, "invalid_request_error", "", "", "Unrecognized request URL"},
		"unknown":                {asked{"POST", sessions, with("agent", "fox"), nil}, 400, "invalid_request_error", "parameter_unknown", "agent", ""},
		"unknown inside":         {asked{"POST", sessions, with("line_items[0][price_data][amount]", "5"), nil}, 400, "invalid_request_error", "parameter_unknown", "line_items[0][price_data][amount]", ""},
		"an index in letters":    {asked{"POST", sessions, with("line_items[x][quantity]", "5"), nil}, 400, "invalid_request_error", "parameter_unknown", "line_items[x][quantity]", ""},
		"twice":                  {asked{"POST", sessions, good().Encode() + "&mode=payment", nil}, 400, "invalid_request_error", "", "mode", ""},
		"no mode":                {asked{"POST", sessions, without("mode"), nil}, 400, "invalid_request_error", "parameter_missing", "mode", ""},
		"another mode":           {asked{"POST", sessions, with("mode", "setup"), nil}, 400, "invalid_request_error", "", "mode", ""},
		"no success_url":         {asked{"POST", sessions, without("success_url"), nil}, 400, "invalid_request_error", "parameter_missing", "success_url", ""},
		"a path as success_url":  {asked{"POST", sessions, with("success_url", "/paid"), nil}, 400, "invalid_request_error", "url_invalid", "success_url", ""},
		"a script as cancel_url": {asked{"POST", sessions, with("cancel_url", "javascript://x/"), nil}, 400, "invalid_request_error", "url_invalid", "cancel_url", ""},
		"no amount":              {asked{"POST", sessions, without("line_items[0][price_data][unit_amount]"), nil}, 400, "invalid_request_error", "parameter_missing", "line_items[0][price_data][unit_amount]", ""},
		"no name":                {asked{"POST", sessions, without("line_items[0][price_data][product_data][name]"), nil}, 400, "invalid_request_error", "parameter_missing", "line_items[0][price_data][product_data][name]", ""},
		"half a cent":            {asked{"POST", sessions, with("line_items[0][price_data][unit_amount]", "499.5"), nil}, 400, "invalid_request_error", "parameter_invalid_integer", "line_items[0][price_data][unit_amount]", ""},
		"too little":             {asked{"POST", sessions, with("line_items[0][price_data][unit_amount]", "49"), nil}, 400, "invalid_request_error", "amount_too_small", "", ""},
		"too much":               {asked{"POST", sessions, with("line_items[0][price_data][unit_amount]", "100000000"), nil}, 400, "invalid_request_error", "amount_too_large", "", ""},
		"another currency":       {asked{"POST", sessions, with("line_items[0][price_data][currency]", "sek"), nil}, 400, "invalid_request_error", "", "line_items[0][price_data][currency]", ""},
		"expires too soon":       {asked{"POST", sessions, at(29 * time.Minute), nil}, 400, "invalid_request_error", "", "expires_at", ""},
		"expires too late":       {asked{"POST", sessions, at(24*time.Hour + time.Second), nil}, 400, "invalid_request_error", "", "expires_at", ""},
		"a long metadata key":    {asked{"POST", sessions, with("metadata["+strings.Repeat("k", 41)+"]", "v"), nil}, 400, "invalid_request_error", "", "", "40 characters"},
		"a long metadata value":  {asked{"POST", sessions, with("metadata[k]", strings.Repeat("v", 501)), nil}, 400, "invalid_request_error", "", "metadata[k]", "500 characters"},
		"an invalid reference":   {asked{"POST", sessions, with("client_reference_id", "a b"), nil}, 400, "invalid_request_error", "", "client_reference_id", ""},
		"an invalid submit_type": {asked{"POST", sessions, with("submit_type", "give"), nil}, 400, "invalid_request_error", "", "submit_type", ""},
		"a long idempotency key": {asked{"POST", sessions, good().Encode(), map[string]string{"Idempotency-Key": strings.Repeat("k", 256)}}, 400, "invalid_request_error", "", "", "255 characters"},
		"no such payment":        {asked{"GET", "/v1/checkout/sessions?payment_intent=pi_1", "", nil}, 400, "invalid_request_error", "resource_missing", "payment_intent", ""},
		"no such checkout":       {asked{"POST", sessions + "/cs_1/expire", "", nil}, 404, "invalid_request_error", "resource_missing", "", "No such checkout.session"},
		"a big limit":            {asked{"GET", "/v1/refunds?limit=101", "", nil}, 400, "invalid_request_error", "parameter_invalid_integer", "limit", ""},
		"an unknown filter":      {asked{"GET", "/v1/refunds?agent=fox", "", nil}, 400, "invalid_request_error", "parameter_unknown", "agent", ""},
	} {
		w := s.ask(c.asked)
		var out struct{ Error problem }
		if err := json.Unmarshal(w.Body.Bytes(), &out); err != nil {
			t.Fatalf("%s: got body %s, want JSON", what, w.Body)
		}
		e := out.Error
		if w.Code != c.status || e.Type != c.kind || e.Code != c.code || c.param != "" && e.Param != c.param || !strings.Contains(e.Message, c.says) {
			t.Errorf("%s: got %d %s, want %d %s %s %s %q", what, w.Code, w.Body, c.status, c.kind, c.code, c.param, c.says)
		}
	}
	if len(s.kept.Checkouts) != 0 || len(s.kept.Answers) != 0 {
		t.Errorf("after refusals: got %+v, want no checkouts or answers kept", s.kept)
	}
	for _, fine := range []string{good().Encode(), at(30 * time.Minute), at(24 * time.Hour), without("expires_at")} {
		if w := s.ask(asked{"POST", sessions, fine, nil}); w.Code != 200 {
			t.Errorf("%s: got %d %s, want 200", fine, w.Code, w.Body)
		}
	}
}

func TestIdempotency(t *testing.T) {
	s := open(t)
	q := asked{"POST", "/v1/checkout/sessions", good().Encode(), map[string]string{"Idempotency-Key": "order-1"}}
	first, again := s.ask(q), s.ask(q)
	if first.Code != 200 || again.Code != 200 || first.Body.String() != again.Body.String() || again.Header().Get("Idempotent-Replayed") != "true" || len(s.kept.Checkouts) != 1 {
		t.Errorf("repeated key: got\n%d %s\nand again\n%d %s\n%v\n%d checkouts; want one, and the same answer, replayed", first.Code, first.Body, again.Code, again.Body, again.Header(), len(s.kept.Checkouts))
	}
	other := good()
	other.Set("line_items[0][price_data][unit_amount]", "600")
	q.body = other.Encode()
	if w := s.ask(q); w.Code != 400 || !strings.Contains(w.Body.String(), `"idempotency_error"`) || len(s.kept.Checkouts) != 1 {
		t.Errorf("the same key, another call: got %d %s and %d checkouts, want 400 idempotency_error and 1", w.Code, w.Body, len(s.kept.Checkouts))
	}
	q.header = nil
	if w := s.ask(q); w.Code != 200 || len(s.kept.Checkouts) != 2 {
		t.Errorf("without a key: got %d %s and %d checkouts, want 200 and 2", w.Code, w.Body, len(s.kept.Checkouts))
	}
}

func TestRefunds(t *testing.T) {
	s := open(t)
	var made session
	if err := json.Unmarshal(s.ask(asked{"POST", "/v1/checkout/sessions", good().Encode(), nil}).Body.Bytes(), &made); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Carry(Order{Do: "refund", Checkout: made.ID}); err == nil {
		t.Error("refund of an unpaid checkout: got no error, want one")
	}
	if _, err := s.Carry(Order{Do: "pay", Checkout: *made.URL, Method: "card"}); err != nil {
		t.Fatal(err)
	}
	for range 5 {
		if _, err := s.Carry(Order{Do: "refund", Checkout: made.ID, Cents: 90}); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := s.Carry(Order{Do: "refund", Checkout: made.ID, Cents: 51}); err == nil {
		t.Error("refund above the payment: got no error, want one")
	}
	c := s.kept.Checkouts[made.ID]
	if c.Charge.AmountRefunded != 450 || c.Charge.Refunded {
		t.Errorf("after 5 refunds: got charge %+v, want 450 cents refunded", c.Charge)
	}
	seen := map[string]bool{}
	for after, more := "", true; more; {
		var page struct {
			Data []refund
			More bool `json:"has_more"`
		}
		if err := json.Unmarshal(s.ask(asked{"GET", "/v1/refunds?limit=2&payment_intent=" + c.Intent.ID + after, "", nil}).Body.Bytes(), &page); err != nil {
			t.Fatal(err)
		}
		for _, r := range page.Data {
			if seen[r.ID] {
				t.Errorf("refund %s: got it listed twice, want once", r.ID)
			}
			seen[r.ID] = true
		}
		after, more = "&starting_after="+page.Data[len(page.Data)-1].ID, page.More
	}
	if len(seen) != 5 {
		t.Errorf("pages of refunds: got %d refunds, want 5", len(seen))
	}
}

func TestPaysFromOwnPageOnly(t *testing.T) {
	s := open(t)
	var made session
	if err := json.Unmarshal(s.ask(asked{"POST", "/v1/checkout/sessions", good().Encode(), nil}).Body.Bytes(), &made); err != nil {
		t.Fatal(err)
	}
	press := func(origin, method string) int {
		r := httptest.NewRequest("POST", "/c/"+made.ID, strings.NewReader("method="+method))
		r.Host = "127.0.0.1:1"
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		r.Header.Set("Origin", origin)
		w := httptest.NewRecorder()
		s.ServeHTTP(w, r)
		return w.Code
	}
	for _, c := range []struct {
		origin, method string
		status         int
		paid           string
	}{
		{"https://evil.example", "card", 403, "unpaid"},
		{"null", "card", 403, "unpaid"},
		{"http://127.0.0.1:1", "gold", 422, "unpaid"},
		{"http://127.0.0.1:1", "card", 303, "paid"},
		{"http://127.0.0.1:1", "card", 200, "paid"},
	} {
		if got := press(c.origin, c.method); got != c.status || s.kept.Checkouts[made.ID].Session.PaymentStatus != c.paid {
			t.Errorf("%s from %s: got status %d, %s; want %d, %s", c.method, c.origin, got, s.kept.Checkouts[made.ID].Session.PaymentStatus, c.status, c.paid)
		}
	}
}
