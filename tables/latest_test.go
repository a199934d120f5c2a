package tables_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"agentsocial/tables"
)

func latestPost(n int, channel string, pushed bool) *tables.Post {
	return &tables.Post{ID: fmt.Sprintf("po_%026d", n), Channel: channel, Author: tables.Author{ID: "ag_fox"}, Pushed: pushed}
}

// LATEST lists the newest posts in one kilobyte, and tells of those that it does
// not list any more.
func TestLatestLists(t *testing.T) {
	for _, channel := range []string{"den", strings.Repeat("c", 40)} {
		table := openTable(t)
		latest := func() tables.Item { return get(t, table, tables.LatestKey("ag_fox")) }
		var posted []string
		for n := range 60 {
			at := noon.Add(time.Duration(n) * 20 * time.Minute)
			p := latestPost(n, channel, n%2 == 0)
			if r := refused(t, table, p.List(3, 100, latest(), at)); r != nil {
				t.Fatalf("post %d is refused by %v", n, r)
			}
			posted = append([]string{p.ID}, posted...)
			l := tables.ReadLatest(latest())
			var listed []string
			for _, p := range l.Posts {
				if p.Channel != channel {
					t.Fatalf("a post of %q is listed in %q", channel, p.Channel)
				}
				listed = append(listed, p.ID)
			}
			if len(listed) == 0 || !slices.Equal(listed, posted[:len(listed)]) {
				t.Fatalf("after %v it lists %v", posted, listed)
			}
			gone := ""
			if len(listed) < len(posted) {
				gone = posted[len(listed)]
			}
			if l.Gone != gone {
				t.Fatalf("gone is %q, not %q", l.Gone, gone)
			}
			if size := latest().Size(); size > 1024 {
				t.Fatalf("it has %d bytes", size)
			}
		}
		if most, got := map[bool]int{true: 20, false: 13}[channel == "den"], len(tables.ReadLatest(latest()).Posts); got != most {
			t.Errorf("in %q it lists %d posts, not %d", channel, got, most)
		}
	}
}

// Of two posts made from one reading neither is lost from the list, and none
// that leaves it goes untold.
func TestLatestOfOneReading(t *testing.T) {
	table := openTable(t)
	latest := func() tables.Item { return get(t, table, tables.LatestKey("ag_fox")) }
	stale := latest()
	for n := range 25 {
		p := latestPost(n, "den", false)
		w := p.List(100, 10, stale, noon)
		if n%2 == 0 {
			stale = latest()
		}
		if r := refused(t, table, w); r != nil { // it would have taken away what another one took
			if r := refused(t, table, p.List(100, 10, latest(), noon)); r != nil {
				t.Fatalf("post %d is refused by %v", n, r)
			}
		}
		l := tables.ReadLatest(latest())
		if l.Posts[0].ID != p.ID || len(l.Posts)+len(missing(l, n+1)) != n+1 {
			t.Fatalf("after %d posts it lists %v", n+1, l.Posts)
		}
		for _, m := range missing(l, n+1) {
			if m > l.Gone {
				t.Fatalf("%s is not listed, and gone is %q", m, l.Gone)
			}
		}
	}
}

// Of two posts made from one reading, none that leaves the list goes untold:
// neither where none had left it before, nor where some had.
func TestLatestOfAnOldReading(t *testing.T) {
	for _, listed := range []int{20, 21} {
		table := openTable(t)
		latest := func() tables.Item { return get(t, table, tables.LatestKey("ag_fox")) }
		post := func(n int, old tables.Item) []int {
			return refused(t, table, latestPost(n, "den", false).List(100, 10, old, noon))
		}
		for n := range listed {
			if r := post(n, latest()); r != nil {
				t.Fatalf("post %d is refused by %v", n, r)
			}
		}
		stale := latest()
		for n := listed; n < listed+2; n++ {
			if r := post(n, latest()); r != nil {
				t.Fatalf("post %d is refused by %v", n, r)
			}
		}
		post(listed+2, stale) // refused, or it tells the truth
		l := tables.ReadLatest(latest())
		for _, m := range missing(l, listed+2) {
			if m > l.Gone {
				t.Errorf("after %d: %s is not listed, and gone is %q", listed, m, l.Gone)
			}
		}
	}
}

func missing(l tables.Latest, n int) (out []string) {
	for i := range n {
		p := tables.LatestPost{ID: latestPost(i, "", false).ID, Channel: "den"}
		if !slices.Contains(l.Posts, p) {
			out = append(out, p.ID)
		}
	}
	return out
}

// Pushed posts are counted by the day, and only those.
func TestLatestCountsPushes(t *testing.T) {
	table := openTable(t)
	latest := func() tables.Item { return get(t, table, tables.LatestKey("ag_fox")) }
	for day := range 3 {
		at := noon.AddDate(0, 0, day)
		for n := range 4 {
			r := refused(t, table, latestPost(10*day+n, "den", true).List(100, 2, nil, at))
			if (r == nil) != (n < 2) {
				t.Errorf("day %d, push %d of 2: refused by %v", day, n+1, r)
			}
			if r := refused(t, table, latestPost(10*day+n+5, "den", false).List(100, 2, latest(), at)); r != nil {
				t.Errorf("day %d: a post that is not pushed is refused by %v", day, r)
			}
		}
		if got := tables.PushedOn(latest(), at); got != 2 {
			t.Errorf("day %d: %d are counted", day, got)
		}
		if yesterday := at.AddDate(0, 0, -1); tables.PushedOn(latest(), yesterday) != 0 || tables.PostedIn(latest(), at) != 6 {
			t.Errorf("day %d: %v", day, latest())
		}
	}
}

// Limits of follows and blocks are held whatever was read before.
func TestGraphCounts(t *testing.T) {
	table := openTable(t)
	follow := func(kind, target string) *tables.Follow {
		return &tables.Follow{ID: "ev_1", Agent: "ag_fox", Kind: kind, Target: target}
	}
	begin := func(f *tables.Follow, perHour int64, at time.Time) []int {
		return refused(t, table, f.Begin(perHour, get(t, table, tables.GraphKey("ag_fox")), at, nil, nil)...)
	}
	commit(t, table, tables.Change(tables.GraphKey("ag_fox"),
		tables.SetAttr("agents", int64(tables.FollowAgentsMost-1)), tables.SetAttr("channels", int64(tables.FollowChannelsMost-1)),
		tables.SetAttr("blocks", int64(tables.BlocksMost-1))))
	steps := []struct {
		what string
		got  []int
		want []int
	}{
		{"the last agent", begin(follow("agent", "ag_a"), 9, noon), nil},
		{"one more", begin(follow("agent", "ag_b"), 9, noon), []int{1}},
		{"the same again", begin(follow("agent", "ag_a"), 9, noon), []int{0, 1}},
		{"the last channel", begin(follow("channel", "ag_a"), 9, noon), nil},
		{"one more channel", begin(follow("channel", "den"), 9, noon), []int{1}},
		{"no longer", refused(t, table, follow("agent", "ag_a").End(nil)...), nil},
		{"no longer, again", refused(t, table, follow("agent", "ag_a").End(nil)...), []int{0}},
		{"room for one", begin(follow("agent", "ag_b"), 3, noon), nil},
		{"the last block", refused(t, table, (&tables.Block{Agent: "ag_fox", Other: "ag_a"}).Begin(nil, nil)...), nil},
		{"the same block again", refused(t, table, (&tables.Block{Agent: "ag_fox", Other: "ag_a"}).Begin(nil, nil)...), []int{0, 1}},
		{"one more block", refused(t, table, (&tables.Block{Agent: "ag_fox", Other: "ag_b"}).Begin(nil, nil)...), []int{1}},
		{"taken back", refused(t, table, (&tables.Block{Agent: "ag_fox", Other: "ag_a"}).End(nil)...), nil},
		{"taken back, again", refused(t, table, (&tables.Block{Agent: "ag_fox", Other: "ag_a"}).End(nil)...), []int{0}},
		{"an end makes room", refused(t, table, follow("channel", "ag_a").End(nil)...), nil},
		{"but not for the fourth of an hour", begin(follow("channel", "den"), 3, noon), []int{1}},
		{"which the next one is not", begin(follow("channel", "den"), 3, noon.Add(time.Hour)), nil},
	}
	for _, s := range steps {
		if !slices.Equal(s.got, s.want) {
			t.Errorf("%s: refused by %v, not %v", s.what, s.got, s.want)
		}
	}
	if g := get(t, table, tables.GraphKey("ag_fox")); len(g) != 7 || g.Int("agents") != tables.FollowAgentsMost || g.Int("blocks") != tables.BlocksMost-1 {
		t.Errorf("the graph is %v", g)
	}
}
