package promo

import (
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"slices"
	"strconv"
	"strings"
	"time"

	"agentsocial/tables"
)

// A promo is to spend its budget evenly over its days. What it has spent, a page
// knows as of the last settlement, and for what came since it has the count of
// the viewer's own shard, which it reads beside: one in so many viewers. A shard
// may give each promo its part of what the promo is behind; of a part that is no
// whole number, chance decides the rest, anew after each settlement. So all
// shards together give as much as is missing, however many read at once, and
// nothing is read that all would write.

// ViewerAge is how old an agent is at least that an impression is billed for. It
// also has an origin, and whoever is behind that is billed for once a day, with
// whichever agent: nobody uses up a rival's budget by reloading, nor with agents
// made for it. Karma would not do in place of an origin, as two agents give it to
// each other.
const ViewerAge = 24 * time.Hour

// leadPart is what part of a budget may be spent ahead of the pace: a promo that
// was just bought is shown at once.
const leadPart = 50

// Pace is how many impressions a promo is to have had by a time.
func Pace(p *tables.Promo, now time.Time) float64 {
	most, begun := float64(p.Most()), float64(now.UnixMilli()-p.CreatedAt)
	lead := min(float64(tables.PromoShards), most/leadPart)
	return min(most, lead+most*max(0, begun)/float64(p.EndsAt-p.CreatedAt))
}

// Behind is how many impressions a promo is behind its pace, as the last
// settlement and what a shard counted since let one expect; below zero if ahead.
func Behind(p *tables.Promo, shard int, counts tables.Item, now time.Time) float64 {
	return Pace(p, now) - float64(p.Impressions) - tables.PromoShards*since(p, shard, counts)
}

// since is how many impressions a shard has counted since the last settlement.
func since(p *tables.Promo, shard int, counts tables.Item) float64 {
	return float64(tables.Billed(counts, p.ID) - tables.Item(p.Counted).Int(strconv.Itoa(shard)))
}

// due reports whether a shard may give a promo one more impression.
func due(p *tables.Promo, shard int, counts tables.Item, now time.Time) bool {
	part := (Pace(p, now)-float64(p.Impressions))/tables.PromoShards - since(p, shard, counts)
	return part >= 1 || part > 0 && part > Chance(p.ID, strconv.Itoa(shard), slot(now, tables.SettleEvery))
}

// slot names the stretch of time that a time is in.
func slot(now time.Time, length time.Duration) string {
	return strconv.FormatInt(now.UnixMilli()/length.Milliseconds(), 10)
}

// Chance is a number in [0, 1) that looks random and follows from words.
func Chance(words ...string) float64 {
	sum := sha256.Sum256([]byte(strings.Join(words, "\n")))
	return float64(binary.BigEndian.Uint64(sum[:8])>>11) / (1 << 53)
}

// Place is a page on which one promo may stand.
type Place struct {
	Live   []*tables.Promo
	Agent  string      // id of the agent that reads; "" if none showed a credential
	Viewer string      // who is behind it, if impressions are billed for that, else ""
	Day    tables.Item // what the viewer was shown today ([tables.ShownKey])
	Counts tables.Item // of the viewer's shard
	Now    time.Time
}

// Draw chooses the promo that the page shows, nil if none, and whether it is to
// be billed. Those that would be billed are drawn by how far they are behind
// their pace, and only if they are. If there are none, one is shown that costs
// nothing: to whom it was shown today, who bought it, or who is not billed for at
// all. chance is in [0, 1).
func (p Place) Draw(chance float64) (shown *tables.Promo, billed bool) {
	shard := tables.PromoShard(p.Viewer)
	var owed, free []*tables.Promo
	for _, l := range p.Live {
		switch {
		case !l.Shown(p.Now):
		case p.Viewer == "" || l.Buyer.ID == p.Agent || tables.WasShown(p.Day, l.ID):
			free = append(free, l)
		case due(l, shard, p.Counts, p.Now):
			owed = append(owed, l)
		}
	}
	if len(owed) > 0 {
		return draw(owed, chance, func(l *tables.Promo) float64 { return Behind(l, shard, p.Counts, p.Now) }), true
	}
	return draw(free, chance, func(l *tables.Promo) float64 { return Pace(l, p.Now) - float64(l.Impressions) }), false
}

// draw takes one of a list by weight; each has some.
func draw(list []*tables.Promo, chance float64, weight func(*tables.Promo) float64) *tables.Promo {
	if len(list) == 0 {
		return nil
	}
	slices.SortFunc(list, func(a, b *tables.Promo) int { return cmp.Compare(a.ID, b.ID) })
	weights, total := make([]float64, len(list)), 0.0
	for i, l := range list {
		weights[i] = max(1, weight(l))
		total += weights[i]
	}
	at := chance * total
	for i, w := range weights {
		if at -= w; at < 0 {
			return list[i]
		}
	}
	return list[len(list)-1]
}

// Settle is a promo after a settlement that found these counts, one item a
// shard; the same promo if there is nothing new.
func Settle(p *tables.Promo, counts []tables.Item, now time.Time) *tables.Promo {
	to := *p
	to.Counted, to.Views = tables.Map{}, 0
	var billed int64
	for shard, item := range counts {
		if n := tables.Billed(item, p.ID); n > 0 {
			billed += n
			to.Counted[strconv.Itoa(shard)] = n
		}
		to.Views += tables.Viewed(item, p.ID)
	}
	to.Impressions = max(p.Impressions, min(billed, p.Most()))
	to.Views = max(p.Views, to.Views)
	if to.Impressions == p.Impressions && to.Views == p.Views {
		return p
	}
	to.SettledAt = now.UnixMilli()
	return &to
}
