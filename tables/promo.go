package tables

import (
	"fmt"
	"time"
)

// Promo is a text that an agent pays to have shown on a channel's page. Its budget is in
// its escrow ([EscrowAccount]). The settlement moves the promo's earnings out of the
// escrow, and returns the rest when the promo ends.
//
// Live and past promos have different keys, so that pages read only live ones.
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

	// As of the last settlement that changed something.
	Impressions int64 `db:"impressions,keep"` // billed; never more than the budget buys
	Counted     Map   `db:"counted"`          // impressions by shard, see CountsKey
	Views       int64 `db:"views,keep"`       // showings that were not billed, estimated by sampling
	SettledAt   int64 `db:"settled_at"`       // unix ms
	BilledAt    int64 `db:"billed_at"`        // unix ms of the last settlement that raised Impressions; 0 if none is recorded

	RemovedAt int64  `db:"removed_at"` // unix ms
	Case      string `db:"case"`       // the case that removed it
	Taken     string `db:"taken"`      // why an operator took it down; "" if none did
	Erased    bool   `db:"erased"`     // its buyer was erased
	EndedAt   int64  `db:"ended_at"`   // unix ms
	Returned  int64  `db:"returned"`   // micro-USD
}

// States of a promo.
const (
	PromoLive    = "live"
	PromoSpent   = "spent"   // its budget buys no more impressions
	PromoExpired = "expired" // its days are over
	PromoRemoved = "removed" // by a jury or an operator, because a payment of its buyer was taken back, or because its buyer was erased
	// PromoUnbilled means that the promo was not billed for days. The channel has probably
	// no reader who can be billed.
	PromoUnbilled = "unbilled"
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

// PromoKey is the key of a promo until the settlement has ended it.
func PromoKey(channel, promo string) Key { return Key{ChannelPK(channel), promoPrefix + promo} }

// PastPromoKey is the key of an ended promo.
func PastPromoKey(channel, promo string) Key { return Key{ChannelPK(channel), pastPromoPrefix + promo} }

// LivePromos queries a channel's promos that have not been ended.
func LivePromos(channel string, c Consistency) Query {
	return Query{PK: ChannelPK(channel), From: promoPrefix, To: promoPrefix + "~", Consistency: c}
}

// PastPromos queries a channel's promos that have been ended.
func PastPromos(channel string, c Consistency) Query {
	return Query{PK: ChannelPK(channel), From: pastPromoPrefix, To: pastPromoPrefix + "~", Consistency: c}
}

// Item returns the item of the promo.
func (p *Promo) Item() Item {
	if p.EndedAt != 0 {
		return keyed(PastPromoKey(p.Channel, p.ID), TypePastPromo, Marshal(p))
	}
	return keyed(PromoKey(p.Channel, p.ID), TypePromo, Marshal(p))
}

// Shown reports whether the promo may be shown at the time now.
func (p *Promo) Shown(now time.Time) bool {
	return p.State == PromoLive && now.UnixMilli() < p.EndsAt
}

// Most returns how many impressions the budget buys.
func (p *Promo) Most() int64 { return p.Budget / p.Price }

// Spent returns what the promo has earned, in micro-USD.
func (p *Promo) Spent() int64 { return p.Impressions * p.Price }

func (p *Promo) subject() Map { return Map{"promo": p.ID, "channel": p.Channel} }

// Payment moves the budget from the buyer to the escrow.
func (p *Promo) Payment() *Movement {
	return &Movement{
		ID: MovementID(time.UnixMilli(p.CreatedAt), PaidPromo, p.ID), At: p.CreatedAt, Kind: PaidPromo,
		From: AgentAccount(p.Buyer.ID), To: EscrowAccount(p.ID), MicroUSD: p.Budget, Subject: p.subject(),
	}
}

// Started returns the entry in the buyer's history.
func (p *Promo) Started() *HistoryEntry {
	return &HistoryEntry{
		ID: MovementID(time.UnixMilli(p.CreatedAt), HistoryPromoStarted, p.ID), Kind: HistoryPromoStarted,
		At: p.CreatedAt, Subject: p.subject(),
	}
}

// Remove removes a promo by a case's decision, on condition that the promo is live. The
// next settlement ends it and returns the rest.
func (p *Promo) Remove(by string, now time.Time) Write {
	return Change(PromoKey(p.Channel, p.ID),
		SetAttr("state", PromoRemoved), SetAttr("case", by), SetAttr("removed_at", now.UnixMilli()),
	).When(Equal("state", PromoLive))
}

// Earn stores new counts of a promo, and moves the earnings of new impressions from the
// escrow to revenue. p is the promo as read, and to is the promo afterwards. Earn requires
// that nobody has counted these impressions before. due is the time at which the settlement
// was due.
func (p *Promo) Earn(to *Promo, due time.Time) []Write {
	still := []Cond{Equal("impressions", p.Impressions), Equal("views", p.Views)} // every promo has both
	writes := []Write{Change(PromoKey(p.Channel, p.ID),
		SetAttr("impressions", to.Impressions), SetAttr("views", to.Views), SetAttr("counted", to.Counted), SetAttr("settled_at", to.SettledAt),
	).When(still...)}
	if to.Impressions == p.Impressions {
		return writes
	}
	writes[0].Updates = append(writes[0].Updates, SetAttr("billed_at", to.BilledAt))
	m := &Movement{
		ID: MovementID(due, Earned, fmt.Sprintf("%s %d", p.ID, p.Impressions)), At: due.UnixMilli(), Kind: Earned,
		From: EscrowAccount(p.ID), To: Revenue, MicroUSD: to.Spent() - p.Spent(), Subject: p.subject(),
	}
	return append(writes, m.Writes()...)
}

// End makes the promo a past promo with a state, and returns the rest of its escrow to
// the buyer. The promo must be as read. Use [Board.Drop] in the same transaction.
func (p *Promo) End(state string, at int64) []Write {
	past := *p
	past.State, past.EndedAt, past.Returned, past.Counted = state, max(at, 1), p.Budget-p.Spent(), nil
	writes := []Write{
		Delete(PromoKey(p.Channel, p.ID), Equal("impressions", p.Impressions), Equal("views", p.Views), Equal("state", p.State), AbsentOrEqual("taken", p.Taken), AbsentOrEqual("erased", p.Erased)),
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
