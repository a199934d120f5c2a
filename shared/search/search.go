package search

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"
)

// Request describes a search.
type Request struct {
	Terms  []Term // from [Query]
	Before ID     // only older posts; zero means all
	Limit  int    // most posts
	// Spent returns the read units used so far. If it is set, Search continues after an
	// empty page, for about [Budget] read units. If it is nil, Search reads one page.
	Spent func() float64
}

// Budget bounds the read units that a search uses while it finds nothing. A search's
// weight in the read limit pays for twice as many.
const Budget = 100

// pagesMost bounds the pages of a search. [Budget] does not, because pages in the memory of
// the process cost no read units.
const pagesMost = 8

// Found is a page of the answer, newest first.
type Found[P any] struct {
	Posts []Post[P]
	// Next is the Before of the next page; zero if there is none. Even an empty page
	// may have a next page, because the work for a page is bounded.
	Next ID
	// Trips is the number of consecutive round trips for all pages that were read.
	Trips int
}

// tripsMost bounds the round trips of a page. In order, they read the heads, the tail with
// the promising shards, the shards of one term, the shards of the other terms, IDs, and
// posts.
const tripsMost = 6

// restTrips is the number of round trips of query.rest and query.fetch together.
const restTrips = 4

// Search finds the newest posts that have all terms. A page takes at most six round
// trips, unless a segment is removed meanwhile or a listing of heads has no live one. Its
// reads are bounded, too (form.units, and [Store.Tail]).
func Search[P any](ctx context.Context, s Store[P], r Request) (Found[P], error) {
	if len(r.Terms) == 0 || r.Limit < 1 {
		return Found[P]{}, errors.New("search: the request has no terms, or a limit below 1")
	}
	if r.Before == (ID{}) {
		r.Before = Newest
	}
	if r.Spent == nil {
		return search(ctx, s, r)
	}
	begun := r.Spent()
	var found Found[P]
	for pages := range pagesMost {
		before := r.Spent()
		page, err := search(ctx, s, r)
		switch {
		case err == nil:
		case pages > 0: // the caller can continue from the previous page
			return found, nil
		default:
			return page, err
		}
		page.Trips += found.Trips
		found, r.Before = page, page.Next
		if len(found.Posts) > 0 || found.Next == (ID{}) {
			break
		}
		if now := r.Spent(); now-begun+(now-before) > Budget { // if the next page costs the same
			break
		}
	}
	return found, nil
}

func search[P any](ctx context.Context, s Store[P], r Request) (Found[P], error) {
	trips := 0
	for {
		q := query[P]{Store: s, Request: r, fresh: trips > 0}
		found, err := q.run(ctx)
		if trips += q.trips; !errors.Is(err, errRemoved) || trips > 2*tripsMost {
			found.Trips = trips
			return found, err
		}
	}
}

// errRemoved means that a segment was removed after its head was listed, or
// that the list was old. The search starts over.
var errRemoved = errors.New("search: a segment was removed while it was read")

// query is a search under way.
type query[P any] struct {
	Store[P]
	Request
	fresh    bool // whether heads are read strongly
	trips    int
	left     int        // shards that the page may still read, in units of 4 KB
	segments []*segment // newest first, as far as the search goes
	tailed   bool       // there may be posts that no segment has
	from     ID         // the posts from this ID to the newest are complete
	reached  ID         // the posts of the hits down to this ID were read
	posts    []Post[P]  // found
}

// segment is a segment, and what the search has read of it.
type segment struct {
	span
	below  ID             // only older posts count
	shards map[int][]byte // the shards that were read, by number
	read   map[int][]ID   // the chunks that were read
	done   bool           // the segment was searched for all terms
	hits   []int          // posts with all terms, newest first
}

func (q *query[P]) run(ctx context.Context) (Found[P], error) {
	heads, late, err := q.list(ctx)
	if err != nil {
		return Found[P]{}, err
	}
	spans, down := covering(heads)
	if down != (ID{}) {
		q.from = down.next()
	}
	for _, sp := range spans {
		below := sp.upTo.next()
		if q.Before.Less(below) {
			below = q.Before
		}
		q.segments = append(q.segments, &segment{span: sp, below: below, shards: map[int][]byte{}, read: map[int][]ID{}})
	}
	if err := q.match(); err != nil { // segments already read
		return Found[P]{}, err
	}
	got, err := q.first(ctx, end(spans), late)
	if err == nil && got < q.Limit {
		err = q.further(ctx)
	}
	if err == nil {
		err = q.fetch(ctx, got)
	}
	if err != nil {
		return Found[P]{}, err
	}
	return q.page(), nil
}

// list reads the late posts and a page of heads. It keeps the live heads that may have
// posts before q.Before, and skips pages without any.
func (q *query[P]) list(ctx context.Context) (heads []Listed, late []ID, err error) {
	read := 0
	useless := func(h Listed) bool { return !h.Live || !h.After.next().Less(q.Before) }
	err = together(
		func() (err error) {
			for before := q.Before; ; {
				q.trips++
				page, err := q.Heads(ctx, before, form.recent, q.fresh)
				for _, h := range page {
					read += h.weight()
				}
				heads = slices.DeleteFunc(slices.Clone(page), useless)
				if err != nil || len(page) < form.recent || len(heads) > 0 {
					return err
				}
				before = page[len(page)-1].After
			}
		},
		func() (err error) { late, err = q.Late(ctx); return },
	)
	q.left = max(form.units/4, form.units-read/unit)
	late = slices.DeleteFunc(late, func(id ID) bool { return !id.Less(q.Before) })
	slices.SortFunc(late, func(a, b ID) int { return b.Compare(a) })
	return heads, late, err
}

// first reads the tail, late posts, and as many of the newest segments as should suffice.
// got is the number of posts of the tail that have the terms. With the tail of a busy
// channel, first reads no segments, because the page probably ends within the tail.
func (q *query[P]) first(ctx context.Context, end ID, late []ID) (got int, err error) {
	if len(late) > form.late {
		late = late[:form.late]
		q.from = later(q.from, late[form.late-1])
	}
	var work []func() error
	var tail Tail[P]
	var others []Post[P]
	q.tailed = end.next().Less(q.Before)
	if q.tailed {
		work = append(work, func() (err error) { tail, err = q.Tail(ctx, end, q.Before); return })
	}
	if len(late) > 0 {
		work = append(work, func() (err error) { others, err = q.Posts(ctx, late); return })
	}
	if wanted := q.promising(); len(wanted) > 0 && !(q.tailed && q.busy()) {
		work = append(work, func() error { return q.read(ctx, wanted) })
	}
	if len(work) == 0 {
		return 0, nil
	}
	if err := together(work...); err != nil {
		return 0, err
	}
	q.trips += max(1, tail.Trips)
	q.from = later(q.from, tail.Down)
	tail.Posts = q.having(tail.Posts)
	q.posts = append(tail.Posts, q.having(others)...)
	for i, s := range q.segments {
		if s.upTo.Less(q.from) { // the tail was not read to its end
			q.segments = q.segments[:i]
			break
		}
	}
	return len(tail.Posts), q.match()
}

// busy estimates whether more than [TailFirst] posts wait to be sealed, from the rate of
// posts in the newest segment.
func (q *query[P]) busy() bool {
	if len(q.segments) == 0 {
		return false
	}
	s := q.segments[0]
	return time.Duration(s.Posts)*sealAge > TailFirst*s.To.Time().Sub(s.After.Time())
}

// further searches the segments that are left. If the tail was read and fewer than
// [restTrips] trips are left, it searches only the promising segments, and leaves the rest
// to the next page.
func (q *query[P]) further(ctx context.Context) error {
	if !q.tailed || q.trips+restTrips <= tripsMost {
		return q.rest(ctx)
	}
	wanted := q.promising()
	if len(wanted) == 0 {
		return nil
	}
	q.trips++
	if err := q.read(ctx, wanted); err != nil {
		return err
	}
	return q.match()
}

// having returns the posts that have the terms.
func (q *query[P]) having(posts []Post[P]) []Post[P] {
	return slices.DeleteFunc(posts, func(p Post[P]) bool { return !contains(p.Text, q.Terms) })
}

// promising returns the shards of the newest segments that should be enough for the page.
// It estimates this from the share of hits in the segments that were searched already.
func (q *query[P]) promising() []Part {
	if q.enough() {
		return nil
	}
	looked, hits := 0, 0
	for _, s := range q.segments {
		if s.done {
			looked += s.Posts
			hits += len(s.hits)
		}
	}
	enough := max(form.promises, 2*q.Limit*(looked+1)/(hits+1))
	var wanted []Part
	for _, s := range q.segments {
		parts := s.missing(q.Terms)
		cost := len(parts) * s.units()
		if len(wanted)+len(parts) > form.batch || cost > q.left {
			break
		}
		q.left -= cost
		wanted = append(wanted, parts...)
		if enough -= s.Posts; enough <= 0 {
			break
		}
	}
	return wanted
}

// rest searches all other segments. It looks first for the term with the fewest shards, and
// then for the other terms in segments that have that term. Segments that cost too much
// are left to the next page. If the other terms cost too much even in the first segment,
// fetch reads posts that have the one term, and checks them.
func (q *query[P]) rest(ctx context.Context) error {
	if q.enough() {
		return nil
	}
	cheapest := func(s *segment) []Term { return []Term{s.cheapest(q.Terms)} }
	if err := q.through(ctx, cheapest, q.left/len(q.Terms), true); err != nil { // leave as much for each other term
		return err
	}
	for _, s := range q.segments {
		if s.done {
			continue
		}
		var err error
		if s.hits, err = s.match(cheapest(s)); err != nil {
			return err
		}
		s.done = len(s.hits) == 0
	}
	if err := q.through(ctx, func(*segment) []Term { return q.Terms }, q.left, false); err != nil {
		return err
	}
	if err := q.match(); err != nil {
		return err
	}
	for _, s := range q.segments {
		s.done = true
	}
	return nil
}

// through reads the shards of terms in unfinished segments, up to limit units of 4 KB. If
// must is set, the first segment may cost more.
func (q *query[P]) through(ctx context.Context, terms func(*segment) []Term, limit int, must bool) error {
	var wanted []Part
	cost := 0
	for i, s := range q.segments {
		if s.done {
			continue
		}
		parts := s.missing(terms(s))
		more := len(parts) * s.units()
		if cost+more > limit && (i > 0 || !must) {
			q.cut(max(1, i))
			break
		}
		cost += more
		wanted = append(wanted, parts...)
	}
	q.left = max(0, q.left-cost)
	if len(wanted) == 0 {
		return nil
	}
	q.trips++
	return q.read(ctx, wanted)
}

// cut ends the search before the i'th segment.
func (q *query[P]) cut(i int) {
	if i == len(q.segments) {
		return
	}
	q.from = later(q.from, q.segments[i].upTo.next())
	q.segments = q.segments[:i]
}

func (q *query[P]) read(ctx context.Context, parts []Part) error {
	got, err := q.Parts(ctx, parts)
	if err != nil {
		return err
	}
	of := map[Name]*segment{}
	for _, s := range q.segments {
		of[s.Name] = s
	}
	for i, p := range parts {
		s := of[p.Segment]
		switch {
		case got[i] == nil:
			return fmt.Errorf("%w: %s", errRemoved, p)
		case p.Kind == Shard:
			s.shards[p.Number] = got[i]
		default:
			if s.read[p.Number], err = s.chunk(p.Number, got[i]); err != nil {
				return err
			}
		}
	}
	return nil
}

// match finds the hits in each segment whose shards for all terms were read.
func (q *query[P]) match() error {
	for _, s := range q.segments {
		if s.done || len(s.missing(q.Terms)) > 0 {
			continue
		}
		var err error
		if s.hits, err = s.match(q.Terms); err != nil {
			return err
		}
		s.done = true
	}
	return nil
}

// enough reports whether the newest segments have the requested number of hits, or all
// segments were searched.
func (q *query[P]) enough() bool {
	sure := 0
	for _, s := range q.segments {
		if !s.done {
			return false
		}
		if sure += s.sure(); sure >= q.Limit {
			return true
		}
	}
	return true
}

// missing returns the shards that can hold the terms and were not read yet.
func (s *segment) missing(terms []Term) []Part {
	var parts []Part
	asked := map[int]bool{}
	for _, t := range terms {
		from, to := s.ShardsFor(t)
		for i := from; i < to; i++ {
			if s.shards[i] == nil && !asked[i] {
				asked[i] = true
				parts = append(parts, Part{s.Name, Shard, i})
			}
		}
	}
	return parts
}

// unit is the number of bytes in a read unit of DynamoDB. An eventual read of them costs
// half a unit.
const unit = 4 << 10

// units returns the cost of reading one shard, in units of 4 KB.
func (s *segment) units() int {
	return 1 + s.Size/max(1, s.shardCount())/unit
}

// cheapest returns the term with the fewest shards. Of several, it returns the longest,
// which is probably the rarest.
func (s *segment) cheapest(terms []Term) Term {
	return slices.MinFunc(terms, func(a, b Term) int {
		fromA, toA := s.ShardsFor(a)
		fromB, toB := s.ShardsFor(b)
		if d := (toA - fromA) - (toB - fromB); d != 0 {
			return d
		}
		return len(b) - len(a)
	})
}

// match returns the posts that have the terms and may be older than s.below.
func (s *segment) match(terms []Term) ([]int, error) {
	hits, err := Match(s.Head, s.shards, terms)
	return slices.DeleteFunc(hits, func(ord int) bool {
		if s.whole {
			return !s.ids[ord].Less(s.below)
		}
		return !s.Head.chunks[ord/form.chunk].Less(s.below)
	}), err
}

// sure returns how many hits are certainly older than s.below. In the chunk that contains
// s.below, only the IDs tell.
func (s *segment) sure() int {
	n := 0
	for _, ord := range s.hits {
		if s.certain(ord) {
			n++
		}
	}
	return n
}

func (s *segment) certain(ord int) bool {
	return s.whole || s.To.Less(s.below) || ord/form.chunk < s.chunkFor(s.below)
}
