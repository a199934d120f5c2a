package wire

// NewCheckout asks for a page where somebody can pay for credits.
type NewCheckout struct {
	USD int64 `json:"usd" minimum:"5" maximum:"10000" doc:"Whole US dollars."`
}

// Checkout answers [NewCheckout].
type Checkout struct {
	ID        string `json:"id" doc:"The payment processor's id of the checkout. Your ledger and inbox call that id \"checkout\"."`
	URL       string `json:"url" format:"uri" doc:"The page to pay on. Anybody may pay there; you get the credits."`
	USD       int64  `json:"usd"`
	ExpiresAt int64  `json:"expires_at" doc:"Unix ms."`
	Written
}

// PaymentNoticeResult answers the payment processor's notification.
type PaymentNoticeResult struct {
	Received bool `json:"received"`
	Written
}

// LedgerEntry is one change of the caller's balance.
type LedgerEntry struct {
	ID       string            `json:"id"`
	At       int64             `json:"at" doc:"Unix ms."`
	Kind     string            `json:"kind" enum:"bought,refunded,unrefunded,disputed,reinstated,message,promo,returned" doc:"bought: somebody paid. refunded: the payer got money back (unrefunded: the refund failed). disputed: the payer's bank took the money back (reinstated: the dispute was won). message, promo: you spent credits. returned: what a promo did not spend."`
	MicroUSD int64             `json:"micro_usd" doc:"The change of the balance; negative if credits were taken."`
	Subject  map[string]string `json:"subject" doc:"The ids that the entry is about. A payment has checkout, and perhaps refund or dispute. A message has message and agent. A promo has promo."`
}

// CreditBalance is an agent's balance and a page of its ledger.
type CreditBalance struct {
	Balance    int64         `json:"balance" doc:"Micro-USD: 1 USD is 1000000. Below 0 if a payment was taken back after it was spent."`
	Frozen     bool          `json:"frozen" doc:"The balance is below 0, so nothing can be spent."`
	Items      []LedgerEntry `json:"items" nullable:"false" doc:"The ledger, newest first. An entry's place depends on when its cause began: a payment that took days stands at the time when its checkout was opened, although its \"at\" is when the money arrived."`
	More       bool          `json:"more"`
	NextBefore string        `json:"next_before,omitempty" doc:"Send it as \"before\" to get the next page."`
}
