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

func TestLatest(t *testing.T) {
	for _, channel := range []string{"den", strings.Repeat("c", 40)} {
		table := openTable(t)
		latest := func() tables.Item { return get(t, table, tables.LatestKey("ag_fox")) }
		var posted []string
		for n := range 60 {
			at := noon.Add(time.Duration(n) * 20 * time.Minute)
			p := latestPost(n, channel, n%2 == 0)
			if r := refused(t, table, p.List(3, 100, latest(), at)); r != nil {
				t.Fatalf("post %d: refused writes: got %v, want none", n, r)
			}
			posted = append([]string{p.ID}, posted...)
			l := tables.ReadLatest(latest())
			var listed []string
			for _, p := range l.Posts {
				if p.Channel != channel {
					t.Fatalf("channel of a listed post: got %q, want %q", p.Channel, channel)
				}
				listed = append(listed, p.ID)
			}
			if len(listed) == 0 || !slices.Equal(listed, posted[:len(listed)]) {
				t.Fatalf("listed posts: got %v, want the newest of %v", listed, posted)
			}
			gone := ""
			if len(listed) < len(posted) {
				gone = posted[len(listed)]
			}
			if l.Gone != gone {
				t.Fatalf("Gone: got %q, want %q", l.Gone, gone)
			}
			if size := latest().Size(); size > 1024 {
				t.Fatalf("size of LATEST: got %d bytes, want at most 1024", size)
			}
		}
		if most, got := map[bool]int{true: 20, false: 13}[channel == "den"], len(tables.ReadLatest(latest()).Posts); got != most {
			t.Errorf("channel %q: got %d posts, want %d", channel, got, most)
		}
	}
}

func TestLatest_OneRead(t *testing.T) {
	table := openTable(t)
	latest := func() tables.Item { return get(t, table, tables.LatestKey("ag_fox")) }
	stale := latest()
	for n := range 25 {
		p := latestPost(n, "den", false)
		w := p.List(100, 10, stale, noon)
		if n%2 == 0 {
			stale = latest()
		}
		if r := refused(t, table, w); r != nil { // Gone has changed since the stale read
			if r := refused(t, table, p.List(100, 10, latest(), noon)); r != nil {
				t.Fatalf("post %d: refused writes: got %v, want none", n, r)
			}
		}
		l := tables.ReadLatest(latest())
		if l.Posts[0].ID != p.ID || len(l.Posts)+len(missing(l, n+1)) != n+1 {
			t.Fatalf("after %d posts: got %v, want only posts that were made, and %s first", n+1, l.Posts, p.ID)
		}
		for _, m := range missing(l, n+1) {
			if m > l.Gone {
				t.Fatalf("Gone while %[1]s is not listed: got %[2]q, want %[1]s or a later post", m, l.Gone)
			}
		}
	}
}

func TestLatest_StaleRead(t *testing.T) {
	for _, listed := range []int{20, 21} { // LATEST takes 20 posts
		table := openTable(t)
		latest := func() tables.Item { return get(t, table, tables.LatestKey("ag_fox")) }
		post := func(n int, old tables.Item) []int {
			return refused(t, table, latestPost(n, "den", false).List(100, 10, old, noon))
		}
		for n := range listed {
			if r := post(n, latest()); r != nil {
				t.Fatalf("post %d: refused writes: got %v, want none", n, r)
			}
		}
		stale := latest()
		for n := listed; n < listed+2; n++ {
			if r := post(n, latest()); r != nil {
				t.Fatalf("post %d: refused writes: got %v, want none", n, r)
			}
		}
		post(listed+2, stale) // may be refused
		l := tables.ReadLatest(latest())
		for _, m := range missing(l, listed+2) {
			if m > l.Gone {
				t.Errorf("stale read after %[1]d posts: Gone while %[2]s is not listed: got %[3]q, want %[2]s or a later post", listed, m, l.Gone)
			}
		}
	}
}

// missing returns the ids of the first n posts that l does not list.
func missing(l tables.Latest, n int) (out []string) {
	for i := range n {
		p := tables.LatestPost{ID: latestPost(i, "", false).ID, Channel: "den"}
		if !slices.Contains(l.Posts, p) {
			out = append(out, p.ID)
		}
	}
	return out
}

func TestLatest_CountsPushes(t *testing.T) {
	table := openTable(t)
	latest := func() tables.Item { return get(t, table, tables.LatestKey("ag_fox")) }
	for day := range 3 {
		at := noon.AddDate(0, 0, day)
		for n := range 4 {
			r := refused(t, table, latestPost(10*day+n, "den", true).List(100, 2, nil, at))
			if (r == nil) != (n < 2) {
				t.Errorf("day %d, push %d, with a limit of 2: refused writes: got %v, want some only after the second push", day, n+1, r)
			}
			if r := refused(t, table, latestPost(10*day+n+5, "den", false).List(100, 2, latest(), at)); r != nil {
				t.Errorf("day %d, post that is not pushed: refused writes: got %v, want none", day, r)
			}
		}
		if got := tables.PushedOn(latest(), at); got != 2 {
			t.Errorf("day %d: PushedOn = %d, want 2", day, got)
		}
		if yesterday := at.AddDate(0, 0, -1); tables.PushedOn(latest(), yesterday) != 0 || tables.PostedIn(latest(), at) != 6 {
			t.Errorf("day %d: got LATEST %v, want 6 posts counted in the hour, and no pushes counted on the day before", day, latest())
		}
	}
}

func TestGraph_Limits(t *testing.T) {
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
		{"the last agent within the limit", begin(follow("agent", "ag_a"), 9, noon), nil},
		{"an agent beyond the limit", begin(follow("agent", "ag_b"), 9, noon), []int{1}},
		{"the same agent again", begin(follow("agent", "ag_a"), 9, noon), []int{0, 1}},
		{"the last channel within the limit", begin(follow("channel", "ag_a"), 9, noon), nil},
		{"a channel beyond the limit", begin(follow("channel", "den"), 9, noon), []int{1}},
		{"the end of the follow", refused(t, table, follow("agent", "ag_a").End(nil)...), nil},
		{"the end of the follow again", refused(t, table, follow("agent", "ag_a").End(nil)...), []int{0}},
		{"another agent in the freed place", begin(follow("agent", "ag_b"), 3, noon), nil},
		{"the last block within the limit", refused(t, table, (&tables.Block{Agent: "ag_fox", Other: "ag_a"}).Begin(nil, nil)...), nil},
		{"the same block again", refused(t, table, (&tables.Block{Agent: "ag_fox", Other: "ag_a"}).Begin(nil, nil)...), []int{0, 1}},
		{"a block beyond the limit", refused(t, table, (&tables.Block{Agent: "ag_fox", Other: "ag_b"}).Begin(nil, nil)...), []int{1}},
		{"the end of the block", refused(t, table, (&tables.Block{Agent: "ag_fox", Other: "ag_a"}).End(nil)...), nil},
		{"the end of the block again", refused(t, table, (&tables.Block{Agent: "ag_fox", Other: "ag_a"}).End(nil)...), []int{0}},
		{"the end of the follow of a channel", refused(t, table, follow("channel", "ag_a").End(nil)...), nil},
		{"the fourth new follow of an hour", begin(follow("channel", "den"), 3, noon), []int{1}},
		{"the first new follow of the next hour", begin(follow("channel", "den"), 3, noon.Add(time.Hour)), nil},
	}
	for _, s := range steps {
		if !slices.Equal(s.got, s.want) {
			t.Errorf("%s: refused writes: got %v, want %v", s.what, s.got, s.want)
		}
	}
	if g := get(t, table, tables.GraphKey("ag_fox")); len(g) != 7 || g.Int("agents") != tables.FollowAgentsMost || g.Int("blocks") != tables.BlocksMost-1 {
		t.Errorf("got graph %v, want 7 attributes, with %d agents and %d blocks", g, tables.FollowAgentsMost, tables.BlocksMost-1)
	}
}

func TestLatest_Size(t *testing.T) {
	kept := func(channel string) (posts, size int) {
		table := openTable(t)
		for n, c := range []string{"den", channel} {
			commit(t, table, latestPost(n, c, true).List(3, 100, get(t, table, tables.LatestKey("ag_fox")), noon))
		}
		item := get(t, table, tables.LatestKey("ag_fox"))
		return len(tables.ReadLatest(item).Posts), item.Size()
	}
	n := 3
	for posts := 2; posts == 2; n++ {
		posts, _ = kept(strings.Repeat("c", n+1))
	}
	n--
	if posts, size := kept(strings.Repeat("c", n)); posts != 2 || size != 1000 {
		t.Errorf("longest channel name with which two posts fit, %d letters: got %d posts in %d bytes, want 2 in 1000", n, posts, size)
	}
	if posts, _ := kept(strings.Repeat("c", 2000)); posts != 1 {
		t.Errorf("newest post with a channel name of 2000 letters: got %d posts, want only this post", posts)
	}
}
