package tables

import (
	"slices"
	"strings"
	"time"
)

// Latest lists an agent's newest posts, for the catchups of its followers. A post is added
// in the transaction that stores it, so the list misses no committed post. Each post, hour and day has
// an attribute of its own, so concurrent posts overwrite nothing. The count of each hour
// limits posts, and the count of each day limits pushes.
type Latest struct {
	Posts []LatestPost // newest first
	Gone  string       // the newest post dropped from the list; "" if none
}

// LatestPost names a post and its channel.
type LatestPost struct{ ID, Channel string }

// The list has at most twenty posts, and no more than fit into one kilobyte, the cheapest
// write: thirteen with the longest channel names.
const (
	latestMost = 20
	latestSize = 1000 // bytes
)

// LATEST, the item of [LatestKey], has an attribute for each post. The attribute's name is
// the post's id, which begins with latestPrefix. Its value is the post's channel.
const (
	latestGone   = "gone"
	latestPrefix = "po_"
)

func latestHour(t time.Time) string { return "n" + t.UTC().Format("2006010215") }
func latestDay(t time.Time) string  { return "f" + dayOf(t) }

// PostedIn returns the number of posts that latest, an item of [LatestKey], counts in
// now's hour.
func PostedIn(latest Item, now time.Time) int64 { return latest.Int(latestHour(now)) }

// PushedOn returns the number of pushed posts that latest, an item of [LatestKey], counts
// on now's UTC day.
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

// List adds a new post to its author's LATEST, and removes past hours, past days and the
// posts that do not fit. It requires that the author, with this post, has at most perHour
// posts in now's hour. A pushed post also requires at most perDay pushed posts on now's UTC
// day. old is the item as read. If Gone changes, the stored Gone must still be that of old.
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

// list makes room in next, the item that results from w, and adds the updates to w.
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

// CommitWithin bounds the time from the moment in a post's id until its commit is sent.
// [CatchupOverlap] includes it; functions/feed/catchup.go lists the other parts.
const CommitWithin = 2500 * time.Millisecond

// Bounds of a catchup. The next catchup continues from CatchupOverlap before the request,
// so that it finds posts that were not yet committed or visible. The answer has at most
// CatchupChannelMost posts of a channel, and about CatchupSize bytes of JSON.
const (
	CatchupOverlap     = 7 * time.Second
	CatchupChannelMost = 20
	CatchupSize        = 256 << 10
)
