package tables

import (
	"slices"
	"strings"
	"time"
)

// Latest is an agent's newest posts, for those who follow it: their catchup
// reads this one item of each whom they follow, and then what is new. Each post
// writes it in its own transaction, so that nothing that was committed is
// missing there. Posts, hours and days stand in attributes named for them, which
// makes it the limit of posts an hour and of pushed ones a day, and two posts at
// once lose neither. What it no longer lists it tells by the newest of those.
type Latest struct {
	Posts []LatestPost // newest first
	Gone  string       // the newest post that is not listed any more; "" if all are
}

// LatestPost says where a post stands.
type LatestPost struct{ ID, Channel string }

// As many posts are listed as keep the item below one kilobyte, where a write of
// it costs the least: thirteen with the longest channel names, mostly twenty.
const (
	latestMost = 20
	latestSize = 1000 // bytes
)

// Attributes of LATEST besides a post's channel, which is named by its id.
const (
	latestGone   = "gone"
	latestPrefix = "po_"
)

func latestHour(t time.Time) string { return "n" + t.UTC().Format("2006010215") }
func latestDay(t time.Time) string  { return "f" + dayOf(t) }

// PostedIn is how many posts of now's hour an item of [LatestKey] counts.
func PostedIn(latest Item, now time.Time) int64 { return latest.Int(latestHour(now)) }

// PushedOn is how many pushed posts of now's UTC day an item of [LatestKey] counts.
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

// List puts a new post into its author's LATEST, and holds that it is at most
// the perHour'th of its hour and, if it is pushed, the perDay'th of its day. old
// is the item as it was read, from which hours and days gone by are swept, and
// posts for which there is no room: if it is stale in what it says of those, the
// write is refused as well.
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

// list makes room in next, which is the item as it will be, and updates for what
// has changed in it.
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

// CommitWithin is how long after the time in its id the commit of a post may be
// sent. One that is on its way may happen later still: [CatchupOverlap] is longer
// by what that may take, and by a second.
const CommitWithin = 2500 * time.Millisecond

// What a catchup answers: up to when, this long before its own time, so that the
// next one meets what was not committed yet or not seen; how many posts of one
// channel; how many bytes of JSON, about.
const (
	CatchupOverlap     = 5 * time.Second
	CatchupChannelMost = 20
	CatchupSize        = 256 << 10
)
