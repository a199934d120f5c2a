package tables

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"strconv"
	"time"
)

// An impression is billed once for each promo, viewer and UTC day: what a viewer
// was shown on a day is its own item, and marks each promo; the number of a
// promo's impressions stands in shards, of which a viewer always has the same.
// Both are one transaction.

// PromoShards is how many items count the impressions of a channel's promos.
const PromoShards = 16

// Item types of impressions.
const (
	TypeShown  = "promos_shown"
	TypeCounts = "promo_counts"
	TypeViews  = "channel_views"
)

// PromoShard is the shard that counts what a viewer was shown.
func PromoShard(viewer string) int {
	sum := sha256.Sum256([]byte(viewer))
	return int(sum[0]) % PromoShards
}

// ShownKey is where it stands which promos of a channel a viewer was shown, and
// billed for, on the UTC day of a time.
func ShownKey(viewer, channel string, at time.Time) Key {
	return Key{QuotaPK(viewer), "promos#" + channel + "#" + dayOf(at)}
}

// shownKeep is longer than any settlement, or anybody who checks one, looks back.
const shownKeep = 3 * 24 * time.Hour

// CountsKey is where a shard counts what was shown of a channel's promos.
func CountsKey(channel string, shard int) Key {
	return Key{"R#" + channel + "#" + strconv.Itoa(shard), "N"}
}

// CountsKeys are those of all shards.
func CountsKeys(channel string) []Key {
	keys := make([]Key, PromoShards)
	for i := range keys {
		keys[i] = CountsKey(channel, i)
	}
	return keys
}

const (
	billedAttr = "n:" // begins the attributes that count impressions; the promo's id follows
	viewsAttr  = "v:" // and of what was shown and not billed
	shownAttr  = "p:" // begins the marks of a viewer's day
)

// WasShown reports whether a viewer's day holds a promo.
func WasShown(day Item, promo string) bool { return day.Int(shownAttr+promo) != 0 }

// Billed is how many impressions of a promo a shard has counted, and Viewed how
// often it was shown and not billed.
func Billed(counts Item, promo string) int64 { return counts.Int(billedAttr + promo) }
func Viewed(counts Item, promo string) int64 { return counts.Int(viewsAttr + promo) }

// ErrShown says that a promo was billed for being shown to a viewer that day.
var ErrShown = errors.New("tables: the viewer saw the promo that day")

// Impression bills a promo for being shown to a viewer: once a day, or [ErrShown].
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

// ForgetCounts drops a promo that ended from a shard. What still counts it there is
// not billed.
func ForgetCounts(channel, promo string, shard int) Write {
	return Change(CountsKey(channel, shard), RemoveAttr(billedAttr+promo), RemoveAttr(viewsAttr+promo))
}

// ChannelViews is how often the newest page of a channel was read on a UTC day,
// as far as one shard knows, by sampling.
type ChannelViews struct {
	All    int64 `db:"n"`
	Agents int64 `db:"agents"` // by agents that showed a credential
}

// viewShards is how many items count a day's views of a channel.
const viewShards = 4

// ViewsDays is how many days of views tell what to expect.
const ViewsDays = 7

const viewsKeep = 10 * 24 * time.Hour

func viewsPK(channel string, shard int64) string { return fmt.Sprintf("W#%s#%d", channel, shard) }

// CountView counts n views of a channel, in a shard that random chooses.
func CountView(channel string, random, n int64, agent bool, at time.Time) Write {
	w := Change(Key{viewsPK(channel, random%viewShards), dayOf(at)},
		SetAttr(AttrType, TypeViews), SetAttr(AttrTTL, at.Add(viewsKeep).Unix()), Add("n", n))
	if agent {
		w.Updates = append(w.Updates, Add("agents", n))
	}
	return w
}

// ViewsOf asks for a channel's views of the last [ViewsDays] days, of which today
// is one: a query for each shard.
func ViewsOf(channel string, now time.Time) (queries []Query) {
	for shard := range int64(viewShards) {
		queries = append(queries, Query{
			PK: viewsPK(channel, shard), From: dayOf(now.AddDate(0, 0, 1-ViewsDays)), To: dayOf(now),
		})
	}
	return queries
}
