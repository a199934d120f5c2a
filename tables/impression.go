package tables

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"strconv"
	"time"
)

// An impression is billed once for each promo, viewer and UTC day. A viewer is the owner
// of agents ([Origin.Owner]).

// PromoShards is the number of items that count the impressions of a channel's
// promos.
const PromoShards = 16

// Item types of impressions.
const (
	TypeShown  = "promos_shown"
	TypeCounts = "promo_counts"
	TypeViews  = "channel_views"
)

// PromoShard returns the shard that counts a viewer's impressions.
func PromoShard(viewer string) int {
	sum := sha256.Sum256([]byte(viewer))
	return int(sum[0]) % PromoShards
}

// ShownKey is the key of the item that marks which promos of a channel were billed for a
// viewer on a UTC day.
func ShownKey(viewer, channel string, at time.Time) Key {
	return Key{QuotaPK(viewer), "promos#" + channel + "#" + dayOf(at)}
}

// shownKeep is the lifetime of the item of [ShownKey]. No settlement, and no check of one,
// looks back that far.
const shownKeep = 3 * 24 * time.Hour

// CountsKey is the key of a shard that counts impressions of a channel's promos.
func CountsKey(channel string, shard int) Key {
	return Key{"R#" + channel + "#" + strconv.Itoa(shard), "N"}
}

// CountsKeys returns the keys of all shards.
func CountsKeys(channel string) []Key {
	keys := make([]Key, PromoShards)
	for i := range keys {
		keys[i] = CountsKey(channel, i)
	}
	return keys
}

const (
	billedAttr = "n:" // before a promo's id: its billed impressions
	viewsAttr  = "v:" // before a promo's id: its showings that were not billed
	shownAttr  = "p:" // before a promo's id: its mark in the item of a viewer's day
)

// WasShown reports whether the item of a viewer's day marks a promo as billed.
func WasShown(day Item, promo string) bool { return day.Int(shownAttr+promo) != 0 }

// Billed returns how many impressions of a promo a shard has counted.
func Billed(counts Item, promo string) int64 { return counts.Int(billedAttr + promo) }

// Viewed returns how often a promo was shown without being billed, estimated by sampling.
func Viewed(counts Item, promo string) int64 { return counts.Int(viewsAttr + promo) }

// ErrShown means that a promo was already billed for a viewer that day.
var ErrShown = errors.New("tables: the promo was already billed for this viewer today")

// Impression bills a promo for being shown to a viewer. The error is [ErrShown] if it was
// already billed for this viewer on this day.
func Impression(channel, promo, viewer string, at time.Time) []Write {
	return []Write{
		Change(ShownKey(viewer, channel, at), SetAttr(AttrType, TypeShown), SetAttr(shownAttr+promo, at.UnixMilli()),
			SetAttr(AttrTTL, at.Add(shownKeep).Unix())).When(Absent(shownAttr + promo)).Else(Means(ErrShown)),
		Change(CountsKey(channel, PromoShard(viewer)), SetAttr(AttrType, TypeCounts), Add(billedAttr+promo, 1)),
	}
}

// View counts that a promo was shown n times without being billed.
func View(channel, promo string, shard int, n int64) Write {
	return Change(CountsKey(channel, shard), SetAttr(AttrType, TypeCounts), Add(viewsAttr+promo, n))
}

// ForgetCounts removes an ended promo from a shard. Impressions that are counted
// there later are not billed.
func ForgetCounts(channel, promo string, shard int) Write {
	return Change(CountsKey(channel, shard), RemoveAttr(billedAttr+promo), RemoveAttr(viewsAttr+promo))
}

// ChannelViews counts, in one shard and by sampling, how often a channel's newest
// page was read on a UTC day.
type ChannelViews struct {
	All    int64 `db:"n"`
	Agents int64 `db:"agents"` // by agents with a credential
}

// viewShards is the number of items that count a day's views of a channel.
const viewShards = 4

// ViewsDays is the number of days of views that a forecast uses.
const ViewsDays = 7

const viewsKeep = 10 * 24 * time.Hour

func viewsPK(channel string, shard int64) string { return fmt.Sprintf("W#%s#%d", channel, shard) }

// CountView counts n views of a channel, in a shard that the number random chooses.
func CountView(channel string, random, n int64, agent bool, at time.Time) Write {
	w := Change(Key{viewsPK(channel, random%viewShards), dayOf(at)},
		SetAttr(AttrType, TypeViews), SetAttr(AttrTTL, at.Add(viewsKeep).Unix()), Add("n", n))
	if agent {
		w.Updates = append(w.Updates, Add("agents", n))
	}
	return w
}

// ViewsOf returns the queries, one per shard, for a channel's views of the last
// [ViewsDays] days, including today.
func ViewsOf(channel string, now time.Time) (queries []Query) {
	for shard := range int64(viewShards) {
		queries = append(queries, Query{
			PK: viewsPK(channel, shard), From: dayOf(now.AddDate(0, 0, 1-ViewsDays)), To: dayOf(now),
		})
	}
	return queries
}
