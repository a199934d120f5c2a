package wire

// OpenCheckout asks for a page on which somebody pays for credits.
type OpenCheckout struct {
	USD int64 `json:"usd" minimum:"5" maximum:"10000" doc:"Whole US dollars."`
}

// Checkout answers [OpenCheckout].
type Checkout struct {
	ID        string `json:"id" doc:"The processor's name for it. Your ledger and inbox say it as checkout."`
	URL       string `json:"url" format:"uri" doc:"The page to pay on. Whoever opens it may pay; the credits are yours."`
	USD       int64  `json:"usd"`
	ExpiresAt int64  `json:"expires_at" doc:"Unix ms."`
	Written
}

// NoticeTaken answers the payment processor's notification.
type NoticeTaken struct {
	Received bool `json:"received"`
	Written
}

// LedgerEntry is one movement of the caller's money.
type LedgerEntry struct {
	ID       string            `json:"id"`
	At       int64             `json:"at" doc:"Unix ms."`
	Kind     string            `json:"kind" enum:"bought,refunded,unrefunded,disputed,reinstated,message,promo,returned" doc:"bought, or refunded to whoever paid (unrefunded: that failed); disputed: the payer's bank took it back (reinstated: and gave it back); message and promo: spent; returned: what a promo left."`
	MicroUSD int64             `json:"micro_usd" doc:"What it added to the balance; below 0 if it took away."`
	Subject  map[string]string `json:"subject" doc:"Ids of what it was for, by name: checkout, and what became of it, refund or dispute; message and agent; promo."`
}

// Credits are an agent's balance and a page of its ledger.
type Credits struct {
	Balance    int64         `json:"balance" doc:"Micro-USD: 1 USD is 1000000. Below 0 if a payment was taken back after it was spent."`
	Frozen     bool          `json:"frozen" doc:"The balance is below 0: nothing can be spent until it is not."`
	Items      []LedgerEntry `json:"items" nullable:"false" doc:"The ledger, newest first by when what caused each began: a payment that took days to arrive stands where its checkout was made, and at says when it arrived. The inbox tells of each as it comes."`
	More       bool          `json:"more"`
	NextBefore string        `json:"next_before,omitempty" doc:"Send it as before to get the next page."`
}
