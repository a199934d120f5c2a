package tables

import (
	"strings"
	"time"
)

// Board lists a channel's live promos: how many there are, and what they spend a
// day, which makes the price of the next. Whoever adds to it or takes from it
// holds that it is as it was read, so that both are exact. It is also what the
// settlement finds in by_rank, at the time it is due.
type Board struct {
	Channel string
	Due     int64 // unix ms of the next settlement; 0 if there are no promos
	version int64
	live    map[string]BoardEntry // by promo
}

// BoardEntry is what the board says of a promo.
type BoardEntry struct {
	Daily  int64  `db:"daily"`   // micro-USD that its budget is a day
	EndsAt int64  `db:"ends_at"` // unix ms
	Buyer  string `db:"buyer"`   // agent id
	Owner  string `db:"behind"`  // who stood behind the buyer then, see [Origin.Owner]
}

// of reports whether an agent bought it, or somebody with the same one behind.
func (e BoardEntry) of(buyer *Profile) bool {
	return e.Buyer == buyer.ID || e.Owner != "" && e.Owner == buyer.Owner
}

// TypeBoard is a board's item type.
const TypeBoard = "promo_board"

// PromosMost is how many live promos a channel has at most.
const PromosMost = 20

// PromosOfBuyerMost is how many of them are one buyer's: none shuts a channel's
// market with budgets of the least.
const PromosOfBuyerMost = 3

// Whoever buys without an origin is anybody: nothing says of how many agents it is.
const (
	PromosOfNobodyMost = 1 // how many live promos of a channel are one such agent's
	PromosNobodysMost  = 5 // and how many those of all such agents
)

// SettleEvery is how often a channel's promos are settled.
const SettleEvery = 5 * time.Minute

const (
	dueSettlePK = "DUE#settle"
	boardAttr   = "p:" // begins the attributes of promos; the id follows
)

// BoardKey is a channel's board.
func BoardKey(channel string) Key { return Key{ChannelPK(channel), "PROMOS"} }

// ReadBoard makes a channel's board of its item, nil if there is none yet.
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

// Live is how many promos are live at a time, and what they spend a day, in
// micro-USD. One whose days are over is not, whether it is settled or not.
func (b *Board) Live(now time.Time) (n int, daily int64) {
	for _, e := range b.live {
		if now.UnixMilli() < e.EndsAt {
			n++
			daily += e.Daily
		}
	}
	return n, daily
}

// PromoCap is a cap that a board's live promos have come to.
type PromoCap struct {
	Of   string    // whose promos it counts
	Live int       // how many they are
	Room time.Time // when the first of them ends, at the latest
}

// What a cap counts.
const (
	CapOfChannel = "channel"
	CapOfBuyer   = "buyer"  // through whichever of its agents
	CapOfNobody  = "nobody" // all buyers without an origin
)

// Full is the cap that keeps a buyer's next promo off the board; nil if none does.
// What a buyer may do about itself comes before what it can only wait for.
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

// count counts those of the live promos that a cap is about.
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

// Add puts a promo on the board, if it is still the one that was read, and tells
// the channel's item: pages look for promos until the last one ends. changed says
// what it means that the board is another by now ([Write.Else]).
func (b *Board) Add(p *Promo, e BoardEntry, changed func(Item) error) []Write {
	w := Change(BoardKey(b.Channel), SetAttr(AttrType, TypeBoard), Add("version", 1), SetAttr(boardAttr+p.ID, Map(Marshal(&e)))).
		When(AbsentOrEqual("version", b.version)).Else(changed)
	if b.Due == 0 {
		w.Updates = append(w.Updates, b.dueAt(time.UnixMilli(p.CreatedAt).Add(SettleEvery))...)
	}
	return []Write{w, Change(ChannelKey(b.Channel), SetAttr("promos_until", max(e.EndsAt, b.until("")))).When(ItemExists())}
}

// Drop takes a promo off the board, if it is still the one that was read.
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

// until is when the last of the promos but one ends: unix ms, 0 if there is no other.
func (b *Board) until(but string) (ms int64) {
	for promo, e := range b.live {
		if promo != but {
			ms = max(ms, e.EndsAt)
		}
	}
	return ms
}

// Take moves a board that is due to when it is due again, if nobody did so
// before. What the settlement fails at, or dies of, is thus done the next time.
func (b *Board) Take(next time.Time) Write {
	return Change(BoardKey(b.Channel), b.dueAt(next)...).When(Equal("at", b.Due))
}

func (b *Board) dueAt(at time.Time) []Update {
	return []Update{SetAttr("at", at.UnixMilli()), SetAttr("rank_pk", dueSettlePK), SetAttr("rank_sk", DueSK(at, b.Channel))}
}

// BoardsDue asks for the boards that are due by a time, longest due first.
func BoardsDue(by time.Time, most int) Query {
	return Query{Index: ByRank, PK: dueSettlePK, To: dueBy(by), Limit: most}
}

// BoardChannel is the channel that a board's item is of.
func BoardChannel(item Item) string { return strings.TrimPrefix(item.Key().PK, ChannelPK("")) }
