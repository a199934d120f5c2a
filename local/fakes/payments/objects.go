package payments

// Stripe's objects, with the members that the service or a reader of a notification needs.
// Amounts are in cents, and times in seconds since 1970.

// checkout is a session with its payment, refunds and disputes.
type checkout struct {
	Session  session    `json:"session"`
	Name     string     `json:"name"` // the product's name
	Intent   intent     `json:"intent"`
	Charge   *charge    `json:"charge"` // nil until the money has arrived
	Refunds  []*refund  `json:"refunds"`
	Disputes []*dispute `json:"disputes"`
}

type session struct {
	ID                string            `json:"id"`
	Object            string            `json:"object"`
	AdaptivePricing   map[string]bool   `json:"adaptive_pricing"`
	AmountSubtotal    int64             `json:"amount_subtotal"`
	AmountTotal       int64             `json:"amount_total"`
	CancelURL         *string           `json:"cancel_url"`
	ClientReferenceID *string           `json:"client_reference_id"`
	Created           int64             `json:"created"`
	Currency          string            `json:"currency"`
	ExpiresAt         int64             `json:"expires_at"`
	Livemode          bool              `json:"livemode"`
	Metadata          map[string]string `json:"metadata"`
	Mode              string            `json:"mode"`
	PaymentIntent     *string           `json:"payment_intent"` // null until Status is "complete"
	PaymentMethods    []string          `json:"payment_method_types"`
	PaymentStatus     string            `json:"payment_status"`
	Status            string            `json:"status"`
	SubmitType        *string           `json:"submit_type"`
	SuccessURL        string            `json:"success_url"`
	UIMode            string            `json:"ui_mode"`
	URL               *string           `json:"url"` // null once Status is not "open"
}

type intent struct {
	ID             string            `json:"id"`
	Object         string            `json:"object"`
	Amount         int64             `json:"amount"`
	AmountReceived int64             `json:"amount_received"`
	Created        int64             `json:"created"`
	Currency       string            `json:"currency"`
	Description    *string           `json:"description"`
	LatestCharge   *string           `json:"latest_charge"`
	Livemode       bool              `json:"livemode"`
	Metadata       map[string]string `json:"metadata"`
	Status         string            `json:"status"`
}

type charge struct {
	ID             string            `json:"id"`
	Object         string            `json:"object"`
	Amount         int64             `json:"amount"`
	AmountRefunded int64             `json:"amount_refunded"` // the sum of the refunds that did not fail
	Created        int64             `json:"created"`
	Currency       string            `json:"currency"`
	Disputed       bool              `json:"disputed"`
	Livemode       bool              `json:"livemode"`
	Metadata       map[string]string `json:"metadata"`
	PaymentIntent  string            `json:"payment_intent"`
	Refunded       bool              `json:"refunded"`
	Status         string            `json:"status"`
}

type refund struct {
	ID            string            `json:"id"`
	Object        string            `json:"object"`
	Amount        int64             `json:"amount"`
	Charge        string            `json:"charge"`
	Created       int64             `json:"created"`
	Currency      string            `json:"currency"`
	Metadata      map[string]string `json:"metadata"`
	PaymentIntent string            `json:"payment_intent"`
	Reason        *string           `json:"reason"`
	Status        string            `json:"status"`
}

type dispute struct {
	ID            string            `json:"id"`
	Object        string            `json:"object"`
	Amount        int64             `json:"amount"`
	Charge        string            `json:"charge"`
	Created       int64             `json:"created"`
	Currency      string            `json:"currency"`
	Livemode      bool              `json:"livemode"`
	Metadata      map[string]string `json:"metadata"`
	PaymentIntent string            `json:"payment_intent"`
	Reason        string            `json:"reason"`
	Status        string            `json:"status"`
	Moved         []moved           `json:"balance_transactions"` // withdrawals and reinstatements
}

// moved is a movement on the seller's balance.
type moved struct {
	ID       string `json:"id"`
	Object   string `json:"object"`
	Amount   int64  `json:"amount"` // negative if withdrawn
	Created  int64  `json:"created"`
	Currency string `json:"currency"`
	Type     string `json:"type"`
}

// intentOf returns the completed checkout whose payment intent has this ID, or nil. The
// caller holds s.mu.
func (s *StandIn) intentOf(id string) *checkout {
	for _, c := range s.kept.Checkouts {
		if c.Intent.ID == id && c.Session.PaymentIntent != nil {
			return c
		}
	}
	return nil
}
