package payments

import (
	"encoding/json"
	"fmt"
	"net/http"
	"path"
	"slices"
)

// Order is an action for the stand-in.
type Order struct {
	Do string `json:"do"` // see [Orders]

	Checkout string `json:"checkout"` // its id or its page's URL
	Refund   string `json:"refund"`
	Dispute  string `json:"dispute"`
	Event    string `json:"event"`
	Cents    int64  `json:"cents"` // 0: all that is left
	Method   string `json:"method"`
}

// Orders lists the possible actions, for people.
const Orders = `send {"do": …} with
  "pay", "checkout", "method" "card" or "bank" (which takes until "settle" or "bounce")
  "settle" or "bounce" or "expire", "checkout"
  "refund", "checkout", "cents"; "fail_refund", "refund"
  "dispute", "inquire" or "prevent", "checkout", "cents"; "reinstate", "dispute"
  "hold": sends no notification until "release"; "deliver", "event": sends one now, even if it was sent before`

// Hook carries out the order in a request's body. It returns the result and the status.
func (s *StandIn) Hook(r *http.Request) (any, int) {
	var o Order
	if err := json.NewDecoder(http.MaxBytesReader(nil, r.Body, 1<<16)).Decode(&o); err != nil {
		return map[string]string{"problem": Orders}, http.StatusUnprocessableEntity
	}
	v, err := s.Carry(o)
	if err != nil {
		return map[string]string{"problem": err.Error()}, http.StatusUnprocessableEntity
	}
	return v, http.StatusOK
}

// Carry carries out an order and returns its result.
func (s *StandIn) Carry(o Order) (any, error) {
	if o.Do == "deliver" {
		return s.again(o.Event)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	v, err := s.carry(o)
	if err != nil {
		return nil, err
	}
	return v, s.save()
}

func (s *StandIn) carry(o Order) (any, error) {
	c := s.kept.Checkouts[path.Base(o.Checkout)]
	switch o.Do {
	case "hold", "release":
		s.held = o.Do == "hold"
		s.stir()
		return map[string]bool{"held": s.held}, nil
	case "pay", "settle", "bounce", "expire", "refund", "dispute", "inquire", "prevent":
		if c == nil {
			return nil, fmt.Errorf("there is no checkout %q", o.Checkout)
		}
	}
	switch o.Do {
	case "pay":
		return c.Session, s.pay(c, o.Method)
	case "settle":
		return c.Session, s.settle(c)
	case "bounce":
		return c.Session, s.bounce(c)
	case "expire":
		if c.Session.Status != "open" {
			return nil, fmt.Errorf("the checkout is %s", c.Session.Status)
		}
		s.close(c)
		return c.Session, nil
	case "refund":
		return s.refund(c, o.Cents)
	case "fail_refund":
		return s.failRefund(o.Refund)
	case "dispute", "inquire":
		return s.dispute(c, o.Cents, o.Do == "inquire")
	case "prevent":
		return s.prevent(c, o.Cents)
	case "reinstate":
		return s.reinstate(o.Dispute)
	}
	return nil, fmt.Errorf("there is no action %q; %s", o.Do, Orders)
}

// pay pays a checkout. The method is card or bank.
func (s *StandIn) pay(c *checkout, method string) error {
	if c.Session.Status != "open" {
		return fmt.Errorf("the checkout is %s", c.Session.Status)
	}
	if method != "card" && method != "bank" {
		return fmt.Errorf("the method %q must be card or bank", method)
	}
	c.Session.Status, c.Session.URL = "complete", nil
	c.Session.PaymentIntent = &c.Intent.ID
	if method == "bank" {
		c.Intent.Status = "processing"
		s.tell("checkout.session.completed", c.Session)
		return nil
	}
	s.receive(c)
	s.tell("checkout.session.completed", c.Session)
	return nil
}

func (s *StandIn) receive(c *checkout) {
	c.Session.PaymentStatus, c.Intent.Status, c.Intent.AmountReceived = "paid", "succeeded", c.Intent.Amount
	c.Charge = &charge{
		ID: "ch_" + s.random(), Object: "charge", Amount: c.Intent.Amount, Created: s.now(), Currency: c.Intent.Currency,
		Metadata: c.Intent.Metadata, PaymentIntent: c.Intent.ID, Status: "succeeded",
	}
	c.Intent.LatestCharge = &c.Charge.ID
	s.tell("charge.succeeded", c.Charge)
}

func (s *StandIn) settle(c *checkout) error {
	if c.Intent.Status != "processing" {
		return fmt.Errorf("the payment is %s, want processing", c.Intent.Status)
	}
	s.receive(c)
	s.tell("checkout.session.async_payment_succeeded", c.Session)
	return nil
}

func (s *StandIn) bounce(c *checkout) error {
	if c.Intent.Status != "processing" {
		return fmt.Errorf("the payment is %s, want processing", c.Intent.Status)
	}
	c.Intent.Status = "requires_payment_method"
	s.tell("checkout.session.async_payment_failed", c.Session)
	return nil
}

// left returns the cents that were neither refunded nor disputed away.
func (c *checkout) left() int64 {
	if c.Charge == nil {
		return 0
	}
	left := c.Charge.Amount
	for _, r := range c.Refunds {
		if r.Status == "succeeded" {
			left -= r.Amount
		}
	}
	for _, d := range c.Disputes {
		if d.Status == "needs_response" || d.Status == "lost" {
			left -= d.Amount
		}
	}
	return left
}

func (c *checkout) take(cents int64) (int64, error) {
	left := c.left()
	if cents == 0 {
		cents = left
	}
	if cents < 1 || cents > left {
		return 0, fmt.Errorf("the payment has only %d cents left", left)
	}
	return cents, nil
}

func (s *StandIn) refund(c *checkout, cents int64) (any, error) {
	cents, err := c.take(cents)
	if err != nil {
		return nil, err
	}
	r := &refund{
		ID: "re_" + s.random(), Object: "refund", Amount: cents, Charge: c.Charge.ID, Created: s.now(), Currency: c.Charge.Currency,
		Metadata: map[string]string{}, PaymentIntent: c.Intent.ID, Status: "succeeded",
	}
	c.Refunds = append(c.Refunds, r)
	c.Charge.AmountRefunded += cents
	c.Charge.Refunded = c.Charge.AmountRefunded == c.Charge.Amount
	s.tell("refund.created", r)
	s.tell("charge.refunded", c.Charge)
	return r, nil
}

func (s *StandIn) failRefund(id string) (any, error) {
	for _, c := range s.kept.Checkouts {
		for _, r := range c.Refunds {
			if r.ID == id && r.Status == "succeeded" {
				r.Status = "failed"
				c.Charge.AmountRefunded -= r.Amount
				c.Charge.Refunded = false
				s.tell("refund.updated", r)
				s.tell("refund.failed", r)
				return r, nil
			}
		}
	}
	return nil, fmt.Errorf("there is no refund %q that can fail", id)
}

func (s *StandIn) dispute(c *checkout, cents int64, inquiry bool) (any, error) {
	cents, err := c.take(cents)
	if err != nil {
		return nil, err
	}
	d := s.open(c, cents)
	if inquiry {
		d.Status = "warning_needs_response"
	} else {
		s.move(d, -cents)
	}
	s.tell("charge.dispute.created", d)
	if !inquiry {
		s.tell("charge.dispute.funds_withdrawn", d)
	}
	return d, nil
}

// prevent refunds a payment before a complaint becomes a dispute
// (https://docs.stripe.com/disputes/prevention).
func (s *StandIn) prevent(c *checkout, cents int64) (any, error) {
	cents, err := c.take(cents)
	if err != nil {
		return nil, err
	}
	d := s.open(c, cents)
	d.Status = "prevented"
	s.tell("charge.dispute.created", d)
	return s.refund(c, cents)
}

func (s *StandIn) open(c *checkout, cents int64) *dispute {
	d := &dispute{
		ID: "du_" + s.random(), Object: "dispute", Amount: cents, Charge: c.Charge.ID, Created: s.now(), Currency: c.Charge.Currency,
		Metadata: map[string]string{}, PaymentIntent: c.Intent.ID, Reason: "fraudulent", Status: "needs_response", Moved: []moved{},
	}
	c.Disputes = append(c.Disputes, d)
	c.Charge.Disputed = true
	return d
}

func (s *StandIn) move(d *dispute, cents int64) {
	d.Moved = append(d.Moved, moved{
		ID: "txn_" + s.random(), Object: "balance_transaction", Amount: cents, Created: s.now(), Currency: d.Currency, Type: "adjustment",
	})
}

func (s *StandIn) reinstate(id string) (any, error) {
	for _, c := range s.kept.Checkouts {
		for _, d := range c.Disputes {
			if d.ID == id && d.Status == "needs_response" {
				d.Status = "won"
				s.move(d, d.Amount)
				s.tell("charge.dispute.funds_reinstated", d)
				s.tell("charge.dispute.closed", d)
				return d, nil
			}
		}
	}
	return nil, fmt.Errorf("there is no dispute %q that can be won", id)
}

// again sends a notification now, even if it was sent before.
func (s *StandIn) again(id string) (any, error) {
	s.mu.Lock()
	i := slices.IndexFunc(s.kept.Events, func(e *event) bool { return e.ID == id })
	var e *event
	if i >= 0 {
		e = s.kept.Events[i]
	}
	s.mu.Unlock()
	if e == nil {
		return nil, fmt.Errorf("there is no notification %q", id)
	}
	status, err := s.deliver(e)
	return map[string]int{"status": status}, err
}

// Event describes a notification for other packages.
type Event struct {
	ID        string          `json:"id"`
	Type      string          `json:"type"`
	Attempts  int             `json:"attempts"`
	Status    int             `json:"status"`
	Delivered bool            `json:"delivered"`
	Body      json.RawMessage `json:"body"`
}

// Events returns at most the given number of notifications, newest first.
func (s *StandIn) Events(most int) []Event {
	s.mu.Lock()
	defer s.mu.Unlock()
	list := []Event{}
	for _, e := range slices.Backward(s.kept.Events) {
		if len(list) == most {
			break
		}
		list = append(list, Event{e.ID, e.Type, e.Attempts, e.Status, e.Delivered, e.Body})
	}
	return list
}
