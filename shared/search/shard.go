package search

import (
	"cmp"
	"encoding/binary"
	"slices"
	"strings"
)

// maxShards bounds the shards in a head.
const maxShards = 1024

// shard is a range of words and the posts that have them, front-coded. Its body
// is a sequence of:
//
//	byte     how many bytes the word shares with the previous one (high half)
//	         and how many follow (low half); 15 means 15 plus the varint that follows
//	bytes    the rest of the word
//	varint   2·n: the post n alone has it;
//	         1: a bitmap follows, of a bit for each post;
//	         2·n+1: n posts have it, as varints: the first, then distances less 1
type shard struct {
	from string // sorts after all words of the previous shard, and not after the first word of this one
	body []byte
}

// posting says that a post has a word.
type posting struct {
	word string
	ord  uint16 // the post's number
}

func (p posting) compare(o posting) int {
	return cmp.Or(strings.Compare(p.word, o.word), cmp.Compare(p.ord, o.ord))
}

// shardBy cuts sorted words into one or more shards of at most size bytes each. A shard is
// larger only if it holds a single word.
func shardBy(size int, words []posting, posts int) []shard {
	shards := []shard{{}}
	last := ""
	var entry []byte
	for from, to := 0, 0; from < len(words); from = to {
		w := words[from].word
		for to < len(words) && words[to].word == w {
			to++
		}
		current := &shards[len(shards)-1]
		entry = appendEntry(entry[:0], last, words[from:to], posts)
		if len(current.body) > 0 && len(current.body)+len(entry) > size {
			shards = append(shards, shard{separator(last, w), appendEntry(nil, "", words[from:to], posts)})
		} else {
			current.body = append(current.body, entry...)
		}
		last = w
	}
	return shards
}

// separator returns the shortest prefix of w that is greater than last.
func separator(last, w string) string { return w[:shared(last, w)+1] }

func shared(a, b string) int {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return n
}

func appendEntry(b []byte, last string, of []posting, posts int) []byte {
	return appendOrdinals(appendWord(b, last, of[0].word), of, posts)
}

const escape = 15 // in half a byte

func appendWord(b []byte, last, w string) []byte {
	n := shared(last, w)
	rest := w[n:]
	b = append(b, byte(min(n, escape)<<4|min(len(rest), escape)))
	for _, v := range []int{n, len(rest)} {
		if v >= escape {
			b = binary.AppendUvarint(b, uint64(v-escape))
		}
	}
	return append(b, rest...)
}

// word reads a word from [appendWord]; last is the previous one.
func (r *reader) word(last []byte) []byte {
	const most = MaxWord * 4 // bytes
	lengths := r.byte()
	n, rest := int(lengths>>4), int(lengths&15)
	if n == escape {
		n += int(r.uint(most))
	}
	if rest == escape {
		rest += int(r.uint(most))
	}
	r.check(rest > 0 && n <= len(last) && n+rest <= most)
	added := r.take(rest)
	if r.bad {
		return nil
	}
	r.check(n == len(last) || added[0] > last[n]) // ascending
	return append(last[:n], added...)
}

func appendOrdinals(b []byte, of []posting, posts int) []byte {
	if len(of) == 1 {
		return binary.AppendUvarint(b, uint64(of[0].ord)<<1)
	}
	list := binary.AppendUvarint(nil, uint64(len(of))<<1|1)
	last := -1
	for _, p := range of {
		list = binary.AppendUvarint(list, uint64(int(p.ord)-last-1))
		last = int(p.ord)
	}
	if 1+bitmapSize(posts) >= len(list) {
		return append(b, list...)
	}
	bits := make([]byte, bitmapSize(posts))
	for _, p := range of {
		bits[p.ord/8] |= 1 << (p.ord % 8)
	}
	return append(append(b, 1), bits...)
}

func bitmapSize(posts int) int { return (posts + 7) / 8 }

// ordinals reads the output of [appendOrdinals]. It calls add, unless nil, with each
// ordinal.
func (r *reader) ordinals(posts int, add func(ord int)) {
	tag := r.uint(2*MaxPosts + 1)
	switch {
	case tag&1 == 0:
		if r.check(int(tag/2) < posts); !r.bad && add != nil {
			add(int(tag / 2))
		}
	case tag == 1:
		bits := r.take(bitmapSize(posts))
		if add == nil {
			return
		}
		for i := range posts {
			if !r.bad && bits[i/8]&(1<<(i%8)) != 0 {
				add(i)
			}
		}
	default:
		last := -1
		for range tag / 2 {
			last += 1 + int(r.uint(MaxPosts))
			if r.check(last < posts); r.bad {
				return
			}
			if add != nil {
				add(last)
			}
		}
	}
}

// scan calls add with the posts that have a word that begins with the term.
func scan(body []byte, posts int, t Term, add func(ord int)) error {
	return scanFor(body, posts, func(word []byte) func(int) {
		if len(word) >= len(t) && string(word[:len(t)]) == string(t) {
			return add
		}
		return nil
	})
}

// scanFor calls wanted for each word, and add for each of the word's posts unless add is
// nil. The word's bytes are valid only during the call of wanted.
func scanFor(body []byte, posts int, wanted func(word []byte) (add func(ord int))) error {
	r := reader{b: body}
	word := make([]byte, 0, 4*MaxWord)
	for len(r.b) > 0 {
		word = r.word(word)
		var add func(int)
		if !r.bad {
			add = wanted(word)
		}
		r.ordinals(posts, add)
	}
	return r.end()
}

// shards does the work of [Head.ShardsFor].
func shards(splits []string, t Term) (from, to int) {
	from, exact := slices.BinarySearch(splits, string(t))
	if exact {
		from++
	}
	to = from
	for to < len(splits) && strings.HasPrefix(splits[to], string(t)) {
		to++
	}
	return from, to + 1
}
