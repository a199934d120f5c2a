package feed

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"agentsocial/shared/wire"
)

func postOf(list, n, size int) wire.Post {
	return wire.Post{ID: fmt.Sprintf("po_%03d_%03d", list, 999-n), Body: strings.Repeat("x", size)}
}

func TestShare(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var lists []*list
		var before []list
		for i := range rapid.IntRange(0, 40).Draw(t, "lists") {
			l := &list{name: fmt.Sprint("channel-", i), more: rapid.Bool().Draw(t, "more")}
			for n := range rapid.IntRange(0, 20).Draw(t, "posts") {
				l.posts = append(l.posts, postOf(i, n, rapid.SampledFrom([]int{1, 280, 4000}).Draw(t, "size")))
				l.last = l.posts[n].ID
			}
			lists, before = append(lists, l), append(before, *l)
		}
		room := rapid.IntRange(10_000, 200_000).Draw(t, "room")
		share(lists, room)
		total, first, shortest, cut := 0, true, 20, false
		for i, l := range lists {
			was := before[i]
			if !slices.EqualFunc(l.posts, was.posts[:len(l.posts)], func(a, b wire.Post) bool { return a.ID == b.ID }) {
				t.Fatalf("list %d: its %d posts are not the newest of the original", i, len(l.posts))
			}
			switch n := len(l.posts); {
			case n == len(was.posts) && (l.more != was.more || l.last != was.last):
				t.Fatalf("list %d was not cut: got more %v, last %q, want %v, %q", i, l.more, l.last, was.more, was.last)
			case n < len(was.posts) && (!l.more || n > 0 && l.last != l.posts[n-1].ID || n == 0 && l.last != ""):
				t.Fatalf("list %d was cut to %d of %d posts: got more %v, last %q, want true, and the last post that is left", i, n, len(was.posts), l.more, l.last)
			case n < len(was.posts):
				cut, shortest = true, min(shortest, n)
			}
			first = first && (len(l.posts) > 0 || len(was.posts) == 0)
			b, err := json.Marshal(l.channelPart())
			if err != nil {
				t.Fatal(err)
			}
			total += len(b) + 1
		}
		if total > room {
			t.Fatalf("share: got %d bytes, want at most %d", total, room)
		}
		if largest := sizeOf(postOf(0, 0, 4000)); cut && total < room-partSize*len(lists)-largest {
			t.Fatalf("lists were cut at %d bytes, but another post fits into %d", total, room)
		}
		if room > 40*(partSize+sizeOf(postOf(0, 0, 4000))) && !first {
			t.Fatal("a list lacks its newest post, though there is room for the newest of each")
		}
	})
}
