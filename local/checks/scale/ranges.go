package scale

import (
	"cmp"
	"hash/fnv"
	"slices"
	"sort"
	"time"
)

// space holds the keys of the table or of an index, divided into ranges.
type space struct {
	name   string // of the index; "" for the table
	limits *Limits
	ranges []*keyRange // in the order of their keys
	made   int
	splits int
}

// place is the position of an item. Partitions are ordered by a hash, and the items of a
// partition by their sort keys.
type place struct {
	hash   uint64
	pk, sk string
}

func placeOf(pk, sk string) place {
	h := fnv.New64a()
	h.Write([]byte(pk))
	x := h.Sum64() // FNV's high bits are uneven
	x = (x ^ x>>32) * 0x9e3779b97f4a7c15
	return place{x ^ x>>29, pk, sk}
}

func (p place) compare(q place) int {
	return cmp.Or(cmp.Compare(p.hash, q.hash), cmp.Compare(p.pk, q.pk), cmp.Compare(p.sk, q.sk))
}

type kind int

const (
	reads kind = iota
	writes
)

// keyRange is a range of keys, from one place up to the start of the next range.
type keyRange struct {
	id     int
	from   place
	second int64 // the second in which used was taken, in unix time
	used   [2]float64
	peak   [2]float64 // in the busiest second

	hotSince, hotLast time.Time // first and newest refusal; the first is set again after coolAfter without refusals
	recent            []place   // the newest places asked for since hotSince, up to samples
	next              int
}

const (
	samples   = 128
	coolAfter = 30 * time.Second
)

// newSpace divides keys evenly into n ranges.
func newSpace(name string, n int, l *Limits) *space {
	s := &space{name: name, limits: l, made: n}
	for i := range n {
		s.ranges = append(s.ranges, &keyRange{id: i, from: place{hash: uint64(i) * (1<<63/uint64(n)*2 + 1)}})
	}
	s.ranges[0].from = place{}
	return s
}

// at returns the range of a place.
func (s *space) at(p place) *keyRange {
	i := sort.Search(len(s.ranges), func(i int) bool { return s.ranges[i].from.compare(p) > 0 })
	return s.ranges[i-1]
}

// admits reports whether a place's range has any capacity left in this second. The units
// that a call takes are known only afterwards. A refusal may split the range.
func (s *space) admits(p place, k kind, now time.Time) bool {
	r := s.at(p)
	r.roll(now)
	limit := s.limits.Reads
	if k == writes {
		limit = s.limits.Writes
	}
	if r.used[k] < limit {
		return true
	}
	if r.hotSince.IsZero() || now.Sub(r.hotLast) > coolAfter {
		r.hotSince, r.recent, r.next = now, nil, 0
	}
	r.hotLast = now
	r.sample(p)
	if now.Sub(r.hotSince) >= s.limits.SplitAfter {
		s.split(r, now)
	}
	return false
}

func (s *space) takes(p place, k kind, units float64, now time.Time) {
	r := s.at(p)
	r.roll(now)
	r.used[k] += units
	r.peak[k] = max(r.peak[k], r.used[k])
	if !r.hotSince.IsZero() {
		r.sample(p)
	}
}

func (r *keyRange) roll(now time.Time) {
	if second := now.Unix(); r.second != second {
		r.second, r.used = second, [2]float64{}
	}
}

func (r *keyRange) sample(p place) {
	if len(r.recent) < samples {
		r.recent = append(r.recent, p)
		return
	}
	r.recent[r.next] = p
	r.next = (r.next + 1) % samples
}

// split divides a range in the middle of the places that were asked for.
func (s *space) split(r *keyRange, now time.Time) {
	asked := slices.SortedFunc(slices.Values(r.recent), place.compare)
	middle := asked[len(asked)/2]
	if i, _ := slices.BinarySearchFunc(asked, middle, place.compare); i == 0 { // no place in asked is lower
		i = slices.IndexFunc(asked, func(p place) bool { return p != middle })
		if i < 0 {
			r.hotSince = now // a single item is never divided
			return
		}
		middle = asked[i]
	}
	upper := &keyRange{id: s.made, from: middle}
	s.made++
	s.splits++
	s.ranges = slices.Insert(s.ranges, slices.Index(s.ranges, r)+1, upper)
	r.hotSince, r.recent = time.Time{}, nil
}

// busiest returns the part of its limit that the busiest range took in a second.
func (s *space) busiest() (part float64) {
	for _, r := range s.ranges {
		part = max(part, r.peak[reads]/s.limits.Reads, r.peak[writes]/s.limits.Writes)
	}
	return part
}
