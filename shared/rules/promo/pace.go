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

// A promo should spend its budget evenly over its days. Viewers are divided into shards.
// Each shard has its own item of counts, so that no item is written by all pages.
//
// A promo that is behind its pace lacks impressions. Until the next settlement, each shard
// may give the promo an equal share of them. A fractional share is rounded by chance, so
// that on average all shards together give what is missing.

// ViewerAge is the least age of an agent whose impressions are billed. The agent also
// needs an origin. For all agents of an owner together, a promo is billed at most once a
// day. So nobody can use up a rival's budget by reloading or with new agents. Karma could
// not replace the origin, because two agents can give karma to each other.
const ViewerAge = 24 * time.Hour

// leadPart is the part (1/50) of a budget that [Pace] adds from the start, so that a new
// promo is shown at once. The lead is at most one impression for each shard.
const leadPart = 50

// Pace returns how many impressions a promo may have had by now: those of an even pace,
// and a lead.
func Pace(p *tables.Promo, now time.Time) float64 {
	most, begun := float64(p.Most()), float64(now.UnixMilli()-p.CreatedAt)
	lead := min(float64(tables.PromoShards), most/leadPart)
	return min(most, lead+most*max(0, begun)/float64(p.EndsAt-p.CreatedAt))
}

// Behind returns how many impressions a promo is behind its pace, estimated
// from the last settlement and what one shard counted since then. The result is negative
// if the promo is ahead.
func Behind(p *tables.Promo, shard int, counts tables.Item, now time.Time) float64 {
	return Pace(p, now) - float64(p.Impressions) - tables.PromoShards*since(p, shard, counts)
}

// since returns the impressions that a shard counted since the last settlement.
func since(p *tables.Promo, shard int, counts tables.Item) float64 {
	return float64(tables.Billed(counts, p.ID) - tables.Item(p.Counted).Int(strconv.Itoa(shard)))
}

// due reports whether a shard may give a promo one more impression.
func due(p *tables.Promo, shard int, counts tables.Item, now time.Time) bool {
	part := (Pace(p, now)-float64(p.Impressions))/tables.PromoShards - since(p, shard, counts)
	return part >= 1 || part > 0 && part > Chance(p.ID, strconv.Itoa(shard), slot(now, tables.SettleEvery))
}

func slot(now time.Time, length time.Duration) string {
	return strconv.FormatInt(now.UnixMilli()/length.Milliseconds(), 10)
}

// Chance returns a pseudorandom number in [0, 1) derived from words.
func Chance(words ...string) float64 {
	sum := sha256.Sum256([]byte(strings.Join(words, "\n")))
	return float64(binary.BigEndian.Uint64(sum[:8])>>11) / (1 << 53)
}

// Place is a page that can show one promo.
type Place struct {
	Live   []*tables.Promo
	Agent  string      // id of the reading agent; "" without a credential
	Viewer string      // the owner ([tables.Origin.Owner]) whose impressions are billed; "" if none
	Day    tables.Item // what was billed for the viewer today ([tables.ShownKey])
	Counts tables.Item // the counts of the viewer's shard
	Now    time.Time
}

// Draw chooses the promo to show, nil if none, and reports whether it is billed. Billable
// promos that are behind their pace come first, weighted by how far they are behind.
// Otherwise Draw chooses a promo with free views left; for a reader with a Viewer, only
// among those that the reader bought or that were billed for the Viewer today. chance is
// in [0, 1).
func (p Place) Draw(chance float64) (shown *tables.Promo, billed bool) {
	shard := tables.PromoShard(p.Viewer)
	var owed, free []*tables.Promo
	for _, l := range p.Live {
		switch {
		case !l.Shown(p.Now):
		case p.Viewer == "" || l.Buyer.ID == p.Agent || tables.WasShown(p.Day, l.ID):
			if freeLeft(l) {
				free = append(free, l)
			}
		case due(l, shard, p.Counts, p.Now):
			owed = append(owed, l)
		}
	}
	if len(owed) > 0 {
		return draw(owed, chance, func(l *tables.Promo) float64 { return Behind(l, shard, p.Counts, p.Now) }), true
	}
	return draw(free, chance, func(l *tables.Promo) float64 { return Pace(l, p.Now) - float64(l.Impressions) }), false
}

// draw picks one promo of a list by weight. A weight below 1 counts as 1.
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

// Settle returns a promo after a settlement that found these counts, one item
// per shard; the same promo if nothing changed.
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
	if to.Impressions > p.Impressions {
		to.BilledAt = now.UnixMilli()
	}
	return &to
}
