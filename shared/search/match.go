package search

import (
	"fmt"
	"math/bits"
)

// Match finds the posts of a segment that have all terms, newest first, as
// ordinals: 0 is the oldest post. shards must include the stored bytes of those
// that [Head.ShardsFor] returns for each term.
func Match(h *Head, shards map[int][]byte, terms []Term) ([]int, error) {
	var all set
	for i, t := range terms {
		some := newSet(h.Posts)
		if err := h.find(shards, t, some); err != nil {
			return nil, err
		}
		if i == 0 {
			all = some
		} else {
			all.intersect(some)
		}
	}
	return all.descending(), nil
}

// find adds the posts that have a word that begins with a term.
func (h *Head) find(shards map[int][]byte, t Term, found set) error {
	if h.whole {
		return scan(h.words, h.Posts, t, found.add)
	}
	from, to := h.ShardsFor(t)
	for i := from; i < to; i++ {
		stored, ok := shards[i]
		if !ok {
			return fmt.Errorf("search: the shard %d of %s was not read", i, h.Name)
		}
		body, err := unseal(kindWords, stored)
		if err == nil {
			err = scan(body, h.Posts, t, found.add)
		}
		if err != nil {
			return fmt.Errorf("shard %d of %s: %w", i, h.Name, err)
		}
	}
	return nil
}

// set is a bit set of ordinals.
type set []uint64

func newSet(posts int) set { return make(set, (posts+63)/64) }

func (s set) add(ord int) { s[ord/64] |= 1 << (ord % 64) }

func (s set) intersect(other set) {
	for i := range s {
		s[i] &= other[i]
	}
}

func (s set) size() (n int) {
	for _, w := range s {
		n += bits.OnesCount64(w)
	}
	return n
}

func (s set) descending() []int {
	var ords []int
	for i := len(s) - 1; i >= 0; i-- {
		for w := s[i]; w != 0; {
			bit := bits.Len64(w) - 1
			ords = append(ords, i*64+bit)
			w &^= 1 << bit
		}
	}
	return ords
}
