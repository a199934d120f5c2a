package search

import (
	"cmp"
	"context"
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"
)

var costPosts = flag.Int("posts", 12_000, "how many posts TestCosts writes; 110000 takes a minute")

// dictionary returns words made of syllables. The first words are short, like the common
// words of a language.
func dictionary(rng *rand.Rand, n int) []string {
	const consonants, vowels = "bcdfghjklmnprstvwz", "aeiou"
	seen := map[string]bool{}
	var words []string
	for len(words) < n {
		var b strings.Builder
		for range 1 + rng.IntN(2) + len(words)*3/n {
			b.WriteByte(consonants[rng.IntN(len(consonants))])
			b.WriteByte(vowels[rng.IntN(len(vowels))])
			if rng.IntN(3) == 0 {
				b.WriteByte(consonants[rng.IntN(len(consonants))])
			}
		}
		if w := b.String(); !seen[w] {
			seen[w] = true
			words = append(words, w)
		}
	}
	return words
}

// With -v, TestCosts prints a table of costs in the read and write units that AWS bills.
func TestCosts(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	words := dictionary(rng, 50_000)
	zipf := rand.NewZipf(rng, 1.07, 2, uint64(len(words)-1))
	c := newChannel()
	text := func() string {
		var b strings.Builder
		for range 30 + rng.IntN(21) {
			b.WriteString(words[zipf.Uint64()])
			b.WriteByte(' ')
		}
		return b.String()
	}
	// The number of segments is largest just before a merge.
	at := map[int]bool{1_000: true, 4_095: true, 10_000: true, 100_000: true, 25*4096 + 15*256 + 15*16 + 15: true}
	for n := 1; n <= *costPosts; n++ {
		c.now = c.now.Add(30 * time.Second)
		body := text()
		if n == 77 {
			body += " zyzzyva quokka quagga"
		}
		id := idAt(c.now, rng.Uint64())
		c.post(id, body)
		if IsTurn(id) {
			_, err := Tend(context.Background(), c, Top, c.clock)
			must(t, err)
		}
		if at[n] {
			c.report(t, words)
		}
	}
	if perPost := (c.writes + c.taken) / float64(len(c.posts)); perPost >= 1 {
		t.Errorf("indexing: got %.2f write units a post, want less than 1", perPost)
	}
	if c.most > 300*kb {
		t.Errorf("largest item: got %d bytes, want at most %d", c.most, 300*kb)
	}
}

// report logs and checks the costs of searching the channel.
func (c *channel) report(t *testing.T, words []string) {
	n := float64(len(c.posts))
	var stored [3]struct{ segments, posts, bytes, shards, shardMost, head int }
	for _, h := range c.heads {
		s := &stored[h.Level]
		s.segments++
		s.posts += h.Posts
		s.bytes += len(h.bytes)
		s.head = max(s.head, len(h.bytes))
		for _, p := range h.Parts() {
			s.bytes += len(c.parts[p])
			if p.Kind == Shard {
				s.shards++
				s.shardMost = max(s.shardMost, len(c.parts[p]))
			}
		}
	}
	t.Logf("%d posts: %.2f write units a post (%.2f %.2f %.2f by level) and %.2f for removing; %.2f read units a post for tending",
		len(c.posts), c.writes/n, c.level[0]/n, c.level[1]/n, c.level[2]/n, c.taken/n, c.reads/n)
	for l, s := range stored {
		if s.segments > 0 {
			t.Logf("  level %d: %3d segments, %4d bytes a post, head ≤ %d bytes, %d shards ≤ %d bytes",
				l, s.segments, s.bytes/s.posts, s.head, s.shards/s.segments, s.shardMost)
		}
	}
	percent, permille := c.withShare(.01, words), c.withShare(.001, words)
	for _, q := range []struct{ what, q string }{
		{"one old post", "zyzzyva"}, {"most posts", words[0]}, {"1 % of posts", percent[0]}, {"1 in 1000", permille[0]},
		{"no hit", "xylophone"}, {"rare and common", "zyzzyva " + words[0]}, {"two words, 1 %", percent[0] + " " + percent[1]},
		{"two words, 1 in 1000", permille[0] + " " + permille[1]}, {"eight words, 1 %", strings.Join(percent[:8], " ")},
		{"prefix b", "b"}, {"prefix zyz", "zyz"}, {"prefixes qu zy", "qu zy"}, {"four letters", "b d f q"},
	} {
		terms, err := Query(q.q)
		must(t, err)
		reads, found, writes := c.reads, c.found, c.writes
		r := Request{Terms: terms, Limit: 20}
		f, err := Search(context.Background(), c, r)
		must(t, err)
		more := ""
		if f.Next != (ID{}) {
			more = "+"
		}
		t.Logf("  %-16s %5d have it: %2d found%-1s in %d trips, %5.1f read units and %5.1f for posts",
			q.what, len(c.naive(terms, ID{})), len(f.Posts), more, f.Trips, c.reads-reads, c.found-found)
		if f.Trips > tripsMost {
			t.Errorf("%s: got %d trips, want at most %d", q.what, f.Trips, tripsMost)
		}
		// A found post costs 1.5 read units, and 0.5 for its ID.
		if units, most := c.reads-reads+c.found-found, 30+2*float64(len(f.Posts)); units > most {
			t.Errorf("%s in %d posts: %.1f read units for %d posts, want at most %.1f", q.what, len(c.posts), units, len(f.Posts), most)
		}
		got, pages := len(f.Posts), 1
		for ; got < 20 && f.Next != (ID{}); pages++ {
			r.Before = f.Next
			f, err = Search(context.Background(), c, r)
			must(t, err)
			got += len(f.Posts)
		}
		if want := c.naive(terms, ID{}); min(20, got) != min(20, len(want)) || pages > 10 {
			t.Errorf("%s in %d posts: found %d of the newest %d hits on %d pages, want all on at most 10", q.what, len(c.posts), min(20, got), min(20, len(want)), pages)
		}
		c.reads, c.found, c.writes = reads, found, writes
	}
}

func TestPagesAreBounded(t *testing.T) {
	c, rng := newChannel(), rand.New(rand.NewPCG(2, 2))
	for _, size := range []int{1_000, 10_000, 100_000} {
		for n := len(c.posts); n < size; n++ {
			var b strings.Builder
			for range 4 {
				fmt.Fprintf(&b, "x%d ", rng.IntN(3000))
			}
			for _, w := range []struct {
				word  string
				among int
			}{{"fox", 2}, {"owl", 100}, {"elk", 100}} {
				if rng.IntN(w.among) == 0 {
					b.WriteString(w.word + " ")
				}
			}
			if n == 5 {
				b.WriteString("zebra quagga")
			}
			c.now = c.now.Add(time.Second)
			c.post(idAt(c.now, rng.Uint64()), b.String())
			if n%100 == 99 {
				_, err := Tend(context.Background(), c, Top, c.clock)
				must(t, err)
			}
		}
		for _, words := range []string{"owl elk", "zebra", "zebra owl", "zebra quagga", "fox owl elk nothing", "x1 x2"} {
			terms, err := Query(words)
			must(t, err)
			want := len(c.naive(terms, ID{}))
			units := func() float64 { return c.reads + c.found }
			ask := func(r Request) (f Found[int], took float64) {
				before := units()
				f, err := Search(context.Background(), c, r)
				must(t, err)
				return f, units() - before
			}
			f, cost := ask(Request{Terms: terms, Limit: 20})
			if most := 30 + 2*float64(len(f.Posts)); cost > most || f.Trips > tripsMost {
				t.Errorf("%q in %d posts: %.1f read units and %d trips for a page of %d, want at most %.1f and %d", words, size, cost, f.Trips, len(f.Posts), most, tripsMost)
			}
			g, all := ask(Request{Terms: terms, Limit: 20, Spent: units})
			t.Logf("%q in %d posts: %d of %d found for %.1f read units, reading on %d for %.1f", words, size, len(f.Posts), want, cost, len(g.Posts), all)
			if all > Budget || len(f.Posts) > 0 && all != cost || len(g.Posts) == 0 && (want > 0 || g.Next != ID{}) {
				t.Errorf("%q in %d posts, with Spent: found %d of %d (next %s) for %.1f read units; want a post, or no next page if nothing matches; at most %d units, and exactly %.1f if the search without Spent finds posts (it found %d)", words, size, len(g.Posts), want, g.Next, all, Budget, cost, len(f.Posts))
			}
		}
	}
	// Now more posts wait to be sealed than one Tail reads.
	for n := range 3000 {
		c.now = c.now.Add(time.Millisecond)
		body := "yak"
		if n == 3000-2*pageMost-9 {
			body = "yeti"
		}
		c.post(idAt(c.now, rng.Uint64()), body+strings.Repeat(" xylophone", 10))
	}
	for word, found := range map[Term]int{"yeti": 1, "zebra": 0} {
		before := c.reads + c.found
		spent := func() float64 { return c.reads + c.found }
		f, err := Search(context.Background(), c, Request{Terms: []Term{word}, Limit: 20})
		must(t, err)
		g, err := Search(context.Background(), c, Request{Terms: []Term{word}, Limit: 20, Spent: spent})
		must(t, err)
		if units := spent() - before; len(f.Posts) > 0 || f.Next == (ID{}) || len(g.Posts) != found || g.Next == (ID{}) || units > Budget+30 {
			t.Errorf("%s: got %d posts without Spent (next %s), %d with it (next %s), %.1f read units for both; want 0 and %d, a next page after each, at most %d units", word, len(f.Posts), f.Next, len(g.Posts), g.Next, units, found, Budget+30)
		}
	}
}

// withShare returns the long words, sorted by how close their share of posts is to share.
func (c *channel) withShare(share float64, words []string) []string {
	count := map[string]float64{}
	every := 1 + len(c.posts)/5000
	for i := 0; i < len(c.posts); i += every {
		for _, w := range Words(c.posts[i].Text) {
			count[w] += float64(every) / float64(len(c.posts))
		}
	}
	var long []string // long words: few other words begin with one
	for _, w := range words {
		if len(w) > 5 {
			long = append(long, w)
		}
	}
	slices.SortStableFunc(long, func(a, b string) int {
		return cmp.Compare(math.Abs(count[a]-share), math.Abs(count[b]-share))
	})
	return long
}

func BenchmarkWords(b *testing.B) {
	for _, text := range []string{
		strings.Repeat("The fox knows many things; the hedgehog knows one. ", 6),
		strings.Repeat("Der Fuchs weiß vieles; der Igel weiß größeres. ", 6),
		strings.Repeat("狐は多くのことを知っているが、ハリネズミは一つだけ。", 6),
	} {
		b.Run(fmt.Sprint(text[:9]), func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				Words(text)
			}
		})
	}
}
