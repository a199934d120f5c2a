package tables

import (
	"strings"
	"time"
)

// Board lists a channel's live promos. They determine the price and the caps of the next
// promo, so adding or removing one requires that the board is as read.
type Board struct {
	Channel string
	Due     int64 // unix ms of the next settlement; 0 if there are no promos
	version int64
	live    map[string]BoardEntry // by promo
}

// BoardEntry is a live promo's entry on the board.
type BoardEntry struct {
	Daily  int64  `db:"daily"`   // the budget per day, in micro-USD
	EndsAt int64  `db:"ends_at"` // unix ms
	Buyer  string `db:"buyer"`   // agent id
	Owner  string `db:"behind"`  // the buyer's [Origin.Owner] when it bought the promo
}

// of reports whether buyer, or another agent of its owner, bought the promo.
func (e BoardEntry) of(buyer *Profile) bool {
	return e.Buyer == buyer.ID || e.Owner != "" && e.Owner == buyer.Owner
}

// TypeBoard is a board's item type.
const TypeBoard = "promo_board"

// PromosMost bounds the live promos of a channel.
const PromosMost = 20

// PromosOfBuyerMost bounds one owner's live promos in a channel, so that nobody can fill
// the channel with promos of the least budget.
const PromosOfBuyerMost = 3

// Buyers without an origin may all be the same human.
const (
	PromosOfNobodyMost = 1 // live promos in a channel for one such buyer
	PromosNobodysMost  = 5 // live promos in a channel for all such buyers together
)

// SettleEvery is the time between two settlements of a channel's promos.
const SettleEvery = 5 * time.Minute

const (
	dueSettlePK = "DUE#settle"
	boardAttr   = "p:" // begins the attribute of a promo, before its id
)

// BoardKey is the key of a channel's board.
func BoardKey(channel string) Key { return Key{ChannelPK(channel), "PROMOS"} }

// ReadBoard reads a channel's board from its item, which is nil if there is
// none.
func ReadBoard(channel string, item Item) (*Board, error) {
	b := &Board{Channel: channel, Due: item.Int("at"), version: item.Int("version"), live: map[string]BoardEntry{}}
	for attr, v := range item {
		promo, ok := strings.CutPrefix(attr, boardAttr)
		if !ok {
			continue
		}
		var e BoardEntry
		m, _ := v.(Map)
		if err := Unmarshal(m, &e); err != nil {
			return nil, err
		}
		b.live[promo] = e
	}
	return b, nil
}

// Live returns the number of promos that are live at the time now, and their daily
// spending in micro-USD. A promo past its end does not count, even before the settlement
// ends it.
func (b *Board) Live(now time.Time) (n int, daily int64) {
	for _, e := range b.live {
		if now.UnixMilli() < e.EndsAt {
			n++
			daily += e.Daily
		}
	}
	return n, daily
}

// PromoCap is a cap that a board's live promos have reached.
type PromoCap struct {
	Of   string    // whose promos it counts
	Live int       // their number
	Room time.Time // the earliest of their ends
}

// Values of PromoCap.Of.
const (
	CapOfChannel = "channel"
	CapOfBuyer   = "buyer"  // the buyer, and the other agents of its owner
	CapOfNobody  = "nobody" // all buyers without an origin
)

// Full returns the cap that stops a buyer's next promo; nil if none.
func (b *Board) Full(buyer *Profile, now time.Time) *PromoCap {
	ofBuyer := PromosOfBuyerMost
	if buyer.Owner == "" {
		ofBuyer = PromosOfNobodyMost
	}
	if c := b.count(CapOfBuyer, now, func(e BoardEntry) bool { return e.of(buyer) }); c.Live >= ofBuyer {
		return c
	}
	if c := b.count(CapOfChannel, now, func(BoardEntry) bool { return true }); c.Live >= PromosMost {
		return c
	}
	if c := b.count(CapOfNobody, now, func(e BoardEntry) bool { return e.Owner == "" }); buyer.Owner == "" && c.Live >= PromosNobodysMost {
		return c
	}
	return nil
}

func (b *Board) count(of string, now time.Time, counts func(BoardEntry) bool) *PromoCap {
	c := &PromoCap{Of: of}
	for _, e := range b.live {
		if now.UnixMilli() >= e.EndsAt || !counts(e) {
			continue
		}
		if ends := time.UnixMilli(e.EndsAt); c.Live == 0 || ends.Before(c.Room) {
			c.Room = ends
		}
		c.Live++
	}
	return c
}

// Add puts a promo on the board. It requires that the channel is open. changed returns
// the error if the board has changed since it was read ([Write.Else]).
func (b *Board) Add(p *Promo, e BoardEntry, changed func(Item) error) []Write {
	w := Change(BoardKey(b.Channel), SetAttr(AttrType, TypeBoard), Add("version", 1), SetAttr(boardAttr+p.ID, Map(Marshal(&e)))).
		When(AbsentOrEqual("version", b.version)).Else(changed)
	if b.Due == 0 {
		w.Updates = append(w.Updates, b.dueAt(time.UnixMilli(p.CreatedAt).Add(SettleEvery))...)
	}
	return []Write{w, Change(ChannelKey(b.Channel), SetAttr("promos_until", max(e.EndsAt, b.until("")))).When(ItemExists(), Absent("taken"))}
}

// Drop removes a promo from the board, on condition that the board is as read.
func (b *Board) Drop(promo string) []Write {
	w := Change(BoardKey(b.Channel), Add("version", 1), RemoveAttr(boardAttr+promo)).
		When(Equal("version", b.version), Present(boardAttr+promo))
	hint := SetAttr("promos_until", b.until(promo))
	if b.until(promo) == 0 {
		w.Updates = append(w.Updates, RemoveAttr("at"), RemoveAttr("rank_pk"), RemoveAttr("rank_sk"))
		hint = RemoveAttr("promos_until")
	}
	return []Write{w, Change(ChannelKey(b.Channel), hint).When(ItemExists())}
}

// until returns the latest end of the promos other than except, in unix ms; 0 if there
// are none.
func (b *Board) until(except string) (ms int64) {
	for promo, e := range b.live {
		if promo != except {
			ms = max(ms, e.EndsAt)
		}
	}
	return ms
}

// Take makes a due board due again at the time next, unless another sweep took it. A
// settlement that fails or crashes is repeated at this time.
func (b *Board) Take(next time.Time) Write {
	return Change(BoardKey(b.Channel), b.dueAt(next)...).When(Equal("at", b.Due))
}

func (b *Board) dueAt(at time.Time) []Update {
	return []Update{SetAttr("at", at.UnixMilli()), SetAttr("rank_pk", dueSettlePK), SetAttr("rank_sk", DueSK(at, b.Channel))}
}

// BoardsDue queries the boards that are due by a time, the longest due first.
func BoardsDue(by time.Time, most int) Query {
	return Query{Index: ByRank, PK: dueSettlePK, To: dueBy(by), Limit: most}
}

// BoardChannel returns the channel of a board's item.
func BoardChannel(item Item) string { return strings.TrimPrefix(item.Key().PK, ChannelPK("")) }
