package search

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

var alikeWords = strings.Fields("fox foxes owl owls elk elks hen hens deny denied denies 東京 狐")

// alike compares what Alike finds with reading all posts.
func (c *channel) alike(t *rapid.T, text string, most int) {
	stems := Stems(text)
	likes, err := Alike(context.Background(), c, stems, most)
	must(t, err)
	having, looked := map[string]int{}, 0
	for _, e := range c.posts {
		if e.Deleted {
			continue
		}
		looked++
		for _, s := range Stems(e.Text) {
			having[s]++
		}
	}
	for _, s := range stems {
		if likes.having[s] != having[s] || likes.looked != looked {
			t.Fatalf("posts with the stem %q: got %d of %d, want %d of %d", s, likes.having[s], likes.looked, having[s], looked)
		}
	}
	var want []float64
	for _, e := range c.posts {
		if !e.Deleted {
			want = append(want, likes.worth(Stems(e.Text)))
		}
	}
	slices.SortFunc(want, func(a, b float64) int { return cmp.Compare(b, a) })
	var got []float64
	for _, p := range likes.Posts {
		got = append(got, likes.worth(Stems(p.Text)))
	}
	for i, w := range want[:min(most, len(want))] {
		if w > 0 && (i >= len(got) || math.Abs(got[i]-w) > 1e-9) {
			t.Fatalf("weights of the posts found for the stems %q: got %v, want %v, where weights of 0 may be missing", stems, got, want[:min(most, len(want))])
		}
	}
	if likes.Trips > 4 {
		t.Fatalf("Alike made %d trips, want at most 4", likes.Trips)
	}
}

func TestAlikeFindsWhatReadingFinds(t *testing.T) {
	small(t)
	rapid.Check(t, func(t *rapid.T) {
		c := newChannel()
		c.quick = true
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))
		text := func() string {
			var b []string
			for range 1 + rng.IntN(4) {
				b = append(b, alikeWords[rng.IntN(len(alikeWords))])
			}
			return strings.Join(b, " ")
		}
		for range rapid.IntRange(0, 60).Draw(t, "posts") {
			c.now = c.now.Add(time.Duration(rng.IntN(60_000)) * time.Millisecond)
			c.post(idAt(c.now, rng.Uint64()), text())
			if rng.IntN(4) == 0 {
				c.tend(t)
			}
		}
		for range 3 {
			c.alike(t, text()+" "+text(), rapid.IntRange(1, 12).Draw(t, "most"))
		}
	})
}

func TestAlikeIsBounded(t *testing.T) {
	small(t)
	c, rng := newChannel(), rand.New(rand.NewPCG(1, 1))
	word := func() string {
		return fmt.Sprintf("%c%c%c%c", 'a'+rng.IntN(26), 'a'+rng.IntN(26), 'a'+rng.IntN(26), 'a'+rng.IntN(26))
	}
	for range 3000 {
		c.now = c.now.Add(time.Minute)
		c.post(idAt(c.now, rng.Uint64()), word()+" "+word()+" "+word())
		c.tend(t)
	}
	var stems []string
	for a := range 100 {
		stems = append(stems, fmt.Sprintf("%c%c", 'a'+a%26, 'a'+a/4))
	}
	c.reads, c.found = 0, 0
	likes, err := Alike(t.Context(), c, stems, 10)
	must(t, err)
	if most := float64(partsMost/2 + 40); c.reads > most || len(likes.having) != stemsMost || likes.looked == 0 || likes.looked >= 3000 {
		t.Errorf("Alike: got %v read units, %d stems, %d posts searched; want at most %v units, %d stems, 1 to 2999 posts", c.reads, len(likes.having), likes.looked, most, stemsMost)
	}
}

func TestAlikeWhileRemoving(t *testing.T) {
	small(t)
	c, rng := newChannel(), rand.New(rand.NewPCG(1, 1))
	c.random(rng, 26, alikeWords...)
	c.now = c.now.Add(time.Hour)
	c.settle(t)
	old := &oldList{channel: c, list: c.listed()}
	c.random(rng, 1, alikeWords...)
	c.now = c.now.Add(time.Hour)
	c.settle(t)
	likes, err := Alike(t.Context(), old, []string{"fox"}, 5)
	must(t, err)
	if len(likes.Posts) != 5 || likes.looked != len(c.posts) || old.listed != 2 {
		t.Errorf("Alike: found %d posts of %d, listed heads %d times; want 5 of %d, 2 times", len(likes.Posts), likes.looked, old.listed, len(c.posts))
	}
	old.forever = true
	if _, err := Alike(t.Context(), old, []string{"fox"}, 5); err == nil {
		t.Error("Alike succeeded with segments that do not exist")
	}
}
