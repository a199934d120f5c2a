package tables

import (
	"fmt"
	"time"
)

// Promo is words that an agent pays for being shown on a channel's page. Its
// budget lies in its escrow ([EscrowAccount]); the settlement moves what was
// earned from there, and gives the rest back when the promo ends.
//
// What is live stands under another key than what is past, so that a page reads
// the former only.
type Promo struct {
	ID        string `db:"id"`
	Channel   string `db:"channel"`
	Buyer     Author `db:"buyer"` // as of buying
	Body      string `db:"body"`
	Budget    int64  `db:"budget"`     // micro-USD
	Price     int64  `db:"price"`      // micro-USD of one impression
	CreatedAt int64  `db:"created_at"` // unix ms; it starts then
	EndsAt    int64  `db:"ends_at"`    // unix ms; it is shown before then
	State     string `db:"state"`

	// As of the last settlement that found something new, or ended it.
	Impressions int64 `db:"impressions,keep"` // billed: never more than the budget buys
	Counted     Map   `db:"counted"`          // impressions by shard, see CountsKey
	Views       int64 `db:"views,keep"`       // shown and not billed, by sampling
	SettledAt   int64 `db:"settled_at"`       // unix ms

	RemovedAt int64  `db:"removed_at"` // unix ms
	Case      string `db:"case"`       // that removed it
	EndedAt   int64  `db:"ended_at"`   // unix ms
	Returned  int64  `db:"returned"`   // micro-USD
}

// States of a promo.
const (
	PromoLive    = "live"
	PromoSpent   = "spent"   // its budget buys no more impressions
	PromoExpired = "expired" // its days are over
	PromoRemoved = "removed" // by a jury, or because what paid for it was taken back
)

// Item types of promos.
const (
	TypePromo     = "promo"
	TypePastPromo = "past_promo"
)

const (
	promoPrefix     = "PROMO#"
	pastPromoPrefix = "PAST#"
)

// PromoKey is where a promo stands until the settlement has ended it.
func PromoKey(channel, promo string) Key { return Key{ChannelPK(channel), promoPrefix + promo} }

// PastPromoKey is where a promo stands that ended.
func PastPromoKey(channel, promo string) Key { return Key{ChannelPK(channel), pastPromoPrefix + promo} }

// LivePromos asks for a channel's promos that have not been ended.
func LivePromos(channel string, c Consistency) Query {
	return Query{PK: ChannelPK(channel), From: promoPrefix, To: promoPrefix + "~", Consistency: c}
}

// Item of the promo.
func (p *Promo) Item() Item {
	if p.EndedAt != 0 {
		return keyed(PastPromoKey(p.Channel, p.ID), TypePastPromo, Marshal(p))
	}
	return keyed(PromoKey(p.Channel, p.ID), TypePromo, Marshal(p))
}

// Shown reports whether the promo is shown at a time.
func (p *Promo) Shown(now time.Time) bool {
	return p.State == PromoLive && now.UnixMilli() < p.EndsAt
}

// Most is how many impressions the budget buys.
func (p *Promo) Most() int64 { return p.Budget / p.Price }

// Spent is what was earned with it, in micro-USD.
func (p *Promo) Spent() int64 { return p.Impressions * p.Price }

// subject of its movements and history.
func (p *Promo) subject() Map { return Map{"promo": p.ID, "channel": p.Channel} }

// Payment moves the budget from the buyer to the escrow.
func (p *Promo) Payment() *Movement {
	return &Movement{
		ID: MovementID(time.UnixMilli(p.CreatedAt), PaidPromo, p.ID), At: p.CreatedAt, Kind: PaidPromo,
		From: AgentAccount(p.Buyer.ID), To: EscrowAccount(p.ID), MicroUSD: p.Budget, Subject: p.subject(),
	}
}

// Started is the entry in its buyer's history.
func (p *Promo) Started() *HistoryEntry {
	return &HistoryEntry{
		ID: MovementID(time.UnixMilli(p.CreatedAt), HistoryPromoStarted, p.ID), Kind: HistoryPromoStarted,
		At: p.CreatedAt, Subject: p.subject(),
	}
}

// Remove takes a promo off its channel for good, as a case decided: it is not
// shown any more, and the next settlement ends it and returns what is left. It
// holds that the promo has not been ended, or removed, before: one that has is
// shown nowhere, and there is nothing to remove.
func (p *Promo) Remove(by string, now time.Time) Write {
	return Change(PromoKey(p.Channel, p.ID),
		SetAttr("state", PromoRemoved), SetAttr("case", by), SetAttr("removed_at", now.UnixMilli()),
	).When(Equal("state", PromoLive))
}

// Earn moves what impressions have earned from the escrow to revenue. p is the
// promo as it was read, to as it is then: what it says to be counted, it holds
// nobody to have counted before. due is when the settlement was due.
func (p *Promo) Earn(to *Promo, due time.Time) []Write {
	still := []Cond{Equal("impressions", p.Impressions), Equal("views", p.Views)} // both are there with any promo
	writes := []Write{Change(PromoKey(p.Channel, p.ID),
		SetAttr("impressions", to.Impressions), SetAttr("views", to.Views), SetAttr("counted", to.Counted), SetAttr("settled_at", to.SettledAt),
	).When(still...)}
	if to.Impressions == p.Impressions {
		return writes
	}
	m := &Movement{
		ID: MovementID(due, Earned, fmt.Sprintf("%s %d", p.ID, p.Impressions)), At: due.UnixMilli(), Kind: Earned,
		From: EscrowAccount(p.ID), To: Revenue, MicroUSD: to.Spent() - p.Spent(), Subject: p.subject(),
	}
	return append(writes, m.Writes()...)
}

// End makes the promo a past one in a state, and returns what is left in its
// escrow to the buyer. It holds that the promo is as it was read. The writes that
// take it off the channel's board are to go with it ([Board.Drop]).
func (p *Promo) End(state string, at int64) []Write {
	past := *p
	past.State, past.EndedAt, past.Returned, past.Counted = state, max(at, 1), p.Budget-p.Spent(), nil
	writes := []Write{
		Delete(PromoKey(p.Channel, p.ID), Equal("impressions", p.Impressions), Equal("views", p.Views), Equal("state", p.State)),
		Put(past.Item(), NoItem()),
	}
	if past.Returned == 0 {
		return writes
	}
	m := &Movement{
		ID: MovementID(time.UnixMilli(past.EndedAt), Returned, p.ID), At: past.EndedAt, Kind: Returned,
		From: EscrowAccount(p.ID), To: AgentAccount(p.Buyer.ID), MicroUSD: past.Returned, Subject: p.subject(),
	}
	return append(writes, m.Writes()...)
}
