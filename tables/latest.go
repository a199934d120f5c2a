package tables

import (
	"slices"
	"strings"
	"time"
)

// Latest lists an agent's newest posts. A follower's catchup reads this one
// item of each agent it follows, and then what is new. Each post writes it in
// its own transaction, so it misses no committed post. Posts, hours and days
// are attributes named for them, so concurrent posts lose nothing, and the item
// also limits posts an hour and pushes a day. Gone is the newest post that was
// dropped from the list.
type Latest struct {
	Posts []LatestPost // newest first
	Gone  string       // the newest post dropped from the list; "" if none
}

// LatestPost names a post and its channel.
type LatestPost struct{ ID, Channel string }

// The list is as long as fits into one kilobyte, the cheapest write: thirteen
// posts with the longest channel names, usually twenty.
const (
	latestMost = 20
	latestSize = 1000 // bytes
)

// Attributes of LATEST, besides those named by a post's id, which hold its
// channel.
const (
	latestGone   = "gone"
	latestPrefix = "po_"
)

func latestHour(t time.Time) string { return "n" + t.UTC().Format("2006010215") }
func latestDay(t time.Time) string  { return "f" + dayOf(t) }

// PostedIn returns how many posts of now's hour an item of [LatestKey] counts.
func PostedIn(latest Item, now time.Time) int64 { return latest.Int(latestHour(now)) }

// PushedOn returns how many pushed posts of now's UTC day an item of
// [LatestKey] counts.
func PushedOn(latest Item, now time.Time) int64 { return latest.Int(latestDay(now)) }

// ReadLatest reads an item of [LatestKey].
func ReadLatest(item Item) Latest {
	l := Latest{Gone: item.Str(latestGone)}
	for attr := range item {
		if strings.HasPrefix(attr, latestPrefix) {
			l.Posts = append(l.Posts, LatestPost{attr, item.Str(attr)})
		}
	}
	slices.SortFunc(l.Posts, func(a, b LatestPost) int { return strings.Compare(b.ID, a.ID) })
	return l
}

// List adds a new post to its author's LATEST. It requires that the post is at
// most the perHour'th of its hour and, if it is pushed, the perDay'th of its
// day. old is the item as read. Past hours and days, and posts for which there
// is no room, are removed; if old is stale in these, the write fails.
func (p *Post) List(perHour, perDay int64, old Item, now time.Time) Write {
	hour, day := latestHour(now), latestDay(now)
	w := Change(LatestKey(p.Author.ID), SetAttr(AttrType, TypeLatest), Add(hour, 1)).When(AbsentOrBefore(hour, perHour))
	next := keyed(LatestKey(p.Author.ID), TypeLatest, Item{hour: perHour, p.ID: p.Channel})
	if p.Pushed {
		w.Updates = append(w.Updates, Add(day, 1))
		w = w.When(AbsentOrBefore(day, perDay))
	}
	for attr, v := range old {
		switch {
		case len(attr) == len(hour) && attr[0] == 'n' && attr < hour, len(attr) == len(day) && attr[0] == 'f' && attr < day:
			w.Updates = append(w.Updates, RemoveAttr(attr))
		case attr != hour:
			next[attr] = v
		}
	}
	next[day] = perDay
	return list(w, p, next, old.Str(latestGone))
}

// list makes room in next, which is the resulting item, and adds the updates to
// w.
func list(w Write, p *Post, next Item, gone string) Write {
	posts := ReadLatest(next).Posts
	was := gone
	for n := len(posts); n > latestMost || n > 1 && next.Size() > latestSize; n-- {
		last := posts[n-1].ID
		gone = max(gone, last)
		next[latestGone] = gone
		delete(next, last)
		if last != p.ID {
			w.Updates = append(w.Updates, RemoveAttr(last))
		}
	}
	if next[p.ID] != nil {
		w.Updates = append(w.Updates, SetAttr(p.ID, p.Channel))
	}
	if gone == was {
		return w
	}
	w.Updates = append(w.Updates, SetAttr(latestGone, gone))
	if was == "" {
		return w.When(Absent(latestGone))
	}
	return w.When(Equal(latestGone, was))
}

// CommitWithin is how long after the time in its id a post's commit may be
// sent. The commit may happen a little later: [CatchupOverlap] allows for that,
// for another second, and for pages that are remembered.
const CommitWithin = 2500 * time.Millisecond

// Bounds of a catchup: how long before its own time it ends, so that the next
// one sees posts that were not yet committed or visible; how many posts of one
// channel; about how many bytes of JSON.
const (
	CatchupOverlap     = 7 * time.Second
	CatchupChannelMost = 20
	CatchupSize        = 256 << 10
)
