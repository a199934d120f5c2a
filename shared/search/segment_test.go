package search

import (
	"bytes"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/oklog/ulid/v2"
	"pgregory.net/rapid"
)

func TestID(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var u ulid.ULID
		copy(u[:], rapid.SliceOfN(rapid.Byte(), 16, 16).Draw(t, "id"))
		text := strings.ToLower(u.String())
		id, err := ParseID(text)
		if err != nil || id != ID(u) || id.String() != text || id.Time() != time.UnixMilli(int64(u.Time())) {
			t.Fatalf("ParseID(%s) = %s at %s, %v, want the same ULID and its time", text, id, id.Time(), err)
		}
		if next := id.next(); id != Newest && (!id.Less(next) || next.Less(id)) || From(id.Time()).Compare(id) > 0 {
			t.Fatalf("%s: next = %s, From(id.Time()) = %s; want next to be greater than the ID, and From not to be", id, next, From(id.Time()))
		}
	})
	for _, s := range []string{"", "0", strings.Repeat("0", 25), strings.Repeat("0", 27), "8" + strings.Repeat("0", 25),
		strings.Repeat("0", 25) + "u", strings.Repeat("0", 25) + "A", "po_" + strings.Repeat("0", 26), strings.Repeat("é", 13)} {
		if id, err := ParseID(s); err == nil {
			t.Errorf("ParseID(%q) = %s, want an error", s, id)
		}
	}
	if next := Newest.next(); next != Newest || Newest.String() != "7"+strings.Repeat("z", 25) {
		t.Errorf("Newest = %s, next = %s, want 7zzz… for both", Newest, next)
	}
}

func docs(t *rapid.T) []Doc {
	n := rapid.IntRange(0, 60).Draw(t, "posts")
	rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))
	words := vocabulary[:rapid.IntRange(1, len(vocabulary)).Draw(t, "words")]
	c := newChannel()
	c.random(rng, n, words...)
	var all []Doc
	for _, e := range c.posts {
		all = append(all, e.Doc)
	}
	return all
}

func TestSegment(t *testing.T) {
	small(t)
	rapid.Check(t, func(t *rapid.T) {
		form.shard = rapid.SampledFrom([]int{1, 40, 300}).Draw(t, "shard")
		all := docs(t)
		s, err := Build(context.Background(), 1, ID{}, Newest, all)
		must(t, err)
		shuffled := append(slices.Clone(all), all...)
		rand.Shuffle(len(shuffled), func(i, j int) { shuffled[i], shuffled[j] = shuffled[j], shuffled[i] })
		again, err := Build(context.Background(), 1, ID{}, Newest, shuffled)
		must(t, err)
		if !bytes.Equal(again.Head.Encode(), s.Head.Encode()) || again.Head.Name != s.Head.Name {
			t.Fatal("Build of the posts shuffled, each twice: got another head, want the same")
		}
		h, err := DecodeHead(s.Head.Encode())
		must(t, err)
		if !bytes.Equal(h.Encode(), s.Head.Encode()) || h.Name != s.Head.Name || h.Posts != len(all) || len(h.Parts()) != len(s.Parts) {
			t.Fatalf("DecodeHead = %+v, want %+v", h, s.Head)
		}
		ids := h.ids
		for c := range h.chunks {
			some, err := h.chunk(c, s.Parts[Part{h.Name, Chunk, c}])
			must(t, err)
			ids = append(ids, some...)
		}
		for i, d := range all {
			if ids[i] != d.ID {
				t.Fatalf("ID of post %d = %s, want %s", i, ids[i], d.ID)
			}
		}
		for range 5 {
			var terms []Term
			shards := map[int][]byte{}
			for range rapid.IntRange(1, 3).Draw(t, "terms") {
				w := []rune(fold(rapid.SampledFrom(vocabulary).Draw(t, "term")))
				term := Term(w[:rapid.IntRange(1, len(w)).Draw(t, "length")])
				terms = append(terms, term)
				from, to := h.ShardsFor(term)
				for i := from; i < to; i++ {
					shards[i] = s.Parts[Part{h.Name, Shard, i}]
				}
			}
			got, err := Match(h, shards, terms)
			must(t, err)
			var want []int
			for i := len(all) - 1; i >= 0; i-- {
				if contains(all[i].Text, terms) {
					want = append(want, i)
				}
			}
			if !slices.Equal(got, want) {
				t.Fatalf("posts with %q = %v, want %v", terms, got, want)
			}
		}
	})
}

func TestNames(t *testing.T) {
	a, b := idAt(start, 1), idAt(start, 2)
	seen := map[string]bool{}
	for i, build := range []func() (*Segment, error){
		func() (*Segment, error) { return Build(context.Background(), 0, ID{}, b, nil) },
		func() (*Segment, error) { return Build(context.Background(), 1, ID{}, b, nil) },
		func() (*Segment, error) { return Build(context.Background(), 0, ID{}, b.next(), nil) },
		func() (*Segment, error) { return Build(context.Background(), 0, ID{}, b, []Doc{{a, "fox"}}) },
		func() (*Segment, error) { return Build(context.Background(), 0, ID{}, b, []Doc{{b, "fox"}}) },
		func() (*Segment, error) { return Build(context.Background(), 0, ID{}, b, []Doc{{a, "foxes"}}) },
		func() (*Segment, error) { return Build(context.Background(), 0, ID{}, b, []Doc{{a, "fox"}, {b, ""}}) },
	} {
		s, err := build()
		must(t, err)
		if name := s.Head.String(); seen[name] || len(name) != 41 {
			t.Errorf("segment %d: got the name %s, want 41 bytes that no other segment has", i, name)
		} else {
			seen[name] = true
		}
	}
	for _, bad := range [][]Doc{{{ID{}, "x"}}, {{b.next(), "x"}}} {
		if _, err := Build(context.Background(), 0, ID{}, b, bad); err == nil {
			t.Errorf("Build accepted %s outside of the segment", bad[0].ID)
		}
	}
}

// The stored form must not change: a new deployment reads what the old one wrote.
func TestStoredForm(t *testing.T) {
	s, err := Build(context.Background(), 0, ID{}, idAt(start, 9), []Doc{{idAt(start, 1), "the fox"}, {idAt(start, 2), "the foxes 東京"}, {idAt(start, 9), "a fox"}})
	must(t, err)
	const want = "0168" + "00" + "00000000000000000000000000000000" + "019ca9450a0000000000000000000009" + "b41eebadb9ad" + // version, kind, level, range, digest
		"03" + "01" + "809494caca33" + "00000000000000000001" + "00" + "00000000000000000002" + "00" + "00000000000000000009" + // posts
		"01" + "61" + "04" + // a: post 2
		"03" + "666f78" + "0105" + // fox: posts 0 and 2, as a bitmap
		"32" + "6573" + "02" + // foxes: post 1
		"03" + "746865" + "0103" + // the: posts 0 and 1
		"03" + "e4baac" + "02" + "06" + "e69db1e4baac" + "02" + // 京 and 東京: post 1
		"a05821dc"
	if got := hex.EncodeToString(s.Head.Encode()); got != want {
		t.Errorf("encoded head:\ngot  %s\nwant %s", got, want)
	}
}

func TestLargeSegments(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 4))
	var all []Doc
	for i := range 400 {
		var b strings.Builder
		for range 120 { // 3960 characters
			for range 32 {
				b.WriteRune(rune(0x12000 + rng.IntN(0x300))) // cuneiform: 4 bytes a letter
			}
			b.WriteByte(' ')
		}
		all = append(all, Doc{idAt(start.Add(time.Duration(i)*time.Second), 1), b.String()})
	}
	s, err := Build(context.Background(), 2, ID{}, Newest, all)
	must(t, err)
	head := len(s.Head.Encode())
	most := 0
	for _, b := range s.Parts {
		most = max(most, len(b))
	}
	if s.Head.shardCount() > maxShards || head > 200*kb || most > 300*kb {
		t.Errorf("got %d shards, a head of %d bytes, parts of up to %d bytes, want at most %d, %d and %d", s.Head.shardCount(), head, most, maxShards, 200*kb, 300*kb)
	}
	term := Term(Words(all[77].Text)[5])
	from, to := s.Head.ShardsFor(term)
	got, err := Match(s.Head, map[int][]byte{from: s.Parts[Part{s.Head.Name, Shard, from}]}, []Term{term})
	if err != nil || to-from != 1 || !slices.Equal(got, []int{77}) {
		t.Errorf("Match = %v in shards %d to %d, %v; want post 77 in one shard", got, from, to, err)
	}
}

func TestDamage(t *testing.T) {
	small(t)
	c := newChannel()
	c.random(rand.New(rand.NewPCG(1, 2)), 20, vocabulary...)
	var all []Doc
	for _, e := range c.posts {
		all = append(all, e.Doc)
	}
	s, err := Build(context.Background(), 1, ID{}, Newest, all)
	must(t, err)
	read := map[string]func([]byte) error{
		"head": func(b []byte) error { _, err := DecodeHead(b); return err },
		"shard": func(b []byte) error {
			from, _ := s.Head.ShardsFor("fox")
			_, err := Match(s.Head, map[int][]byte{from: b}, []Term{"fox"})
			return err
		},
		"chunk": func(b []byte) error { _, err := s.Head.chunk(1, b); return err },
	}
	from, _ := s.Head.ShardsFor("fox")
	for what, stored := range map[string][]byte{
		"head": s.Head.Encode(), "shard": s.Parts[Part{s.Head.Name, Shard, from}], "chunk": s.Parts[Part{s.Head.Name, Chunk, 1}],
	} {
		if err := read[what](stored); err != nil {
			t.Fatalf("reading the %s = %v, want nil", what, err)
		}
		for i := range stored {
			broken := bytes.Clone(stored)
			broken[i] ^= 0x10
			if err := read[what](broken); !errors.Is(err, ErrCorrupt) {
				t.Errorf("%s with byte %d changed: got %v, want ErrCorrupt", what, i, err)
			}
			if err := read[what](stored[:i]); !errors.Is(err, ErrCorrupt) {
				t.Errorf("%s cut after %d bytes: got %v, want ErrCorrupt", what, i, err)
			}
		}
		for other := range read {
			if err := read[other](stored); other != what && !errors.Is(err, ErrCorrupt) {
				t.Errorf("reading a %s as a %s: got %v, want ErrCorrupt", what, other, err)
			}
		}
	}
}

func TestFalseSizes(t *testing.T) {
	head := func(rest ...byte) []byte {
		b := append(make([]byte, 17), bytes.Repeat([]byte{0xff}, 16)...)
		return append(append(b, make([]byte, 6)...), rest...)
	}
	for i, body := range [][]byte{
		head(0x80, 0x80, 4, 0, 0),                   // 65536 posts in chunks
		head(0x80, 0x80, 4, 1),                      // 65536 posts in the head
		head(0x80, 2, 1),                            // 256 posts in the head
		head(0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1), // more than MaxPosts
		head(9, 2), head(), nil,
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		h, err := readHead(body)
		runtime.ReadMemStats(&after)
		if took := after.TotalAlloc - before.TotalAlloc; err != ErrCorrupt || took > 4*kb {
			t.Errorf("head %d: got %v, %v, %d bytes allocated; want ErrCorrupt and at most %d", i, h, err, took, 4*kb)
		}
	}
	for _, body := range []string{"\x10", "\x0f\xff\xff\xff\xff\x0f", "\xff\xff", "\x01a\xff\xff\x08", "\x01a\x07", "\x01a\x01", "\x01a\x12", "\x01b\x00\x01a\x00", "\x01a\x80\x00"} {
		if err := scan([]byte(body), 9, "", func(int) {}); err != ErrCorrupt {
			t.Errorf("scan(%q) = %v, want ErrCorrupt", body, err)
		}
	}
}

// FuzzDecode decodes any bytes as each kind of stored data. It skips the checksums.
func FuzzDecode(f *testing.F) {
	for _, n := range []int{0, 3, 300} {
		c := newChannel()
		c.random(rand.New(rand.NewPCG(1, 2)), n, vocabulary...)
		var all []Doc
		for _, e := range c.posts {
			all = append(all, e.Doc)
		}
		s, err := Build(context.Background(), 1, ID{}, Newest, all)
		must(f, err)
		body, err := unseal(kindHead, s.Head.Encode())
		must(f, err)
		f.Add(body, uint16(n))
		for _, b := range s.Parts {
			f.Add(b[2:len(b)-4], uint16(n))
		}
	}
	f.Add([]byte{0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1}, uint16(9))
	f.Fuzz(func(t *testing.T, body []byte, posts uint16) {
		h, err := readHead(body)
		if err == nil {
			if !bytes.Equal(h.Encode(), seal(kindHead, body)) {
				t.Errorf("head read from %x: encoded as %x, want %x", body, h.Encode(), seal(kindHead, body))
			}
			for _, list := range [][]ID{h.ids, h.chunks} {
				if !slices.IsSortedFunc(list, ID.Compare) || 11*cap(list) > len(body) {
					t.Errorf("got %d IDs with capacity %d from %d bytes, want them ascending, and a capacity of at most %d", len(list), cap(list), len(body), len(body)/11)
				}
			}
			if !slices.IsSorted(h.splits) {
				t.Errorf("got the splits %q, want them sorted", h.splits)
			}
			if h.whole {
				if _, err := Match(h, nil, []Term{"f"}); err != nil {
					t.Errorf("Match in an accepted head: got %v, want no error", err)
				}
			}
			_ = h.Parts()
			_, _ = h.ShardsFor("fox")
		}
		last := -1
		seen := 0
		err = scan(body, int(posts), "", func(ord int) {
			if ord < 0 || ord >= int(posts) {
				t.Errorf("scan found the post %d, want a number from 0, below %d", ord, posts)
			}
			last = ord
			seen++
		})
		if err != nil && err != ErrCorrupt || seen > 8*len(body) {
			t.Errorf("scan = %v: %d posts, the last %d, in %d bytes; want nil or ErrCorrupt, and at most eight posts a byte", err, seen, last, len(body))
		}
		whole := &Head{Posts: int(posts), To: Newest, chunks: []ID{{}}}
		if ids, err := whole.chunk(0, seal(kindIDs, body)); err == nil && len(ids) != min(int(posts), form.chunk) {
			t.Errorf("got a chunk of %d IDs for %d posts, want %d", len(ids), posts, min(int(posts), form.chunk))
		}
	})
}

func ExampleQuery() {
	for _, q := range []string{"Größere Füchse", "東京タワー", "!?"} {
		fmt.Println(Query(q))
	}
	// Output:
	// [fuchse grossere] <nil>
	// [タワ ワー 京タ 東京] <nil>
	// [] search: the query has no word: letters or digits
}
