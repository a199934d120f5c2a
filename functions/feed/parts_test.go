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

// However much there is, the answer is within what room there is, every list is
// named, what is left out comes after what is given, and is told.
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
				t.Fatalf("list %d is no beginning of what it was", i)
			}
			switch n := len(l.posts); {
			case n == len(was.posts) && (l.more != was.more || l.last != was.last):
				t.Fatalf("list %d, which is whole, says more %v before %q", i, l.more, l.last)
			case n < len(was.posts) && (!l.more || n > 0 && l.last != l.posts[n-1].ID || n == 0 && l.last != ""):
				t.Fatalf("list %d, which has %d posts of %d, says more %v before %q", i, n, len(was.posts), l.more, l.last)
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
			t.Fatalf("%d bytes where there is room for %d", total, room)
		}
		if largest := sizeOf(postOf(0, 0, 4000)); cut && total < room-partSize*len(lists)-largest {
			t.Fatalf("cut at %d bytes where there is room for %d", total, room)
		}
		if room > 40*(partSize+sizeOf(postOf(0, 0, 4000))) && !first {
			t.Fatal("a list has not got its newest post, though there was room for everybody's")
		}
	})
}
