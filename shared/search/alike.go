package search

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
)

// Bounds of the reads of [Alike]. If there are more than about 20 000 posts, it searches
// only the newest.
const (
	stemsMost = 40  // stems of the text
	partsMost = 200 // shards, read in two concurrent calls of the table
)

// Likes holds the posts that share the most with a text.
type Likes[P any] struct {
	Posts []Post[P] // best match first
	Trips int       // consecutive round trips

	looked int            // posts searched
	having map[string]int // posts that have each stem
}

// rarity makes the weights of stems more alike while there are few posts.
const rarity = 20

// Weight returns the significance of a shared stem. Rarer stems weigh more. A stem that
// was not looked for counts as fairly rare.
func (l *Likes[P]) Weight(stem string) float64 {
	having := math.Sqrt(float64(l.looked)) / 6
	if n, looked := l.having[stem]; looked {
		having = float64(n)
	}
	return math.Log((float64(l.looked) + rarity) / (having + 1))
}

// worth returns the total weight of the stems that were looked for.
func (l *Likes[P]) worth(stems []string) (sum float64) {
	for _, s := range stems {
		if _, looked := l.having[s]; looked {
			sum += l.Weight(s)
		}
	}
	return sum
}

// Alike finds the posts that share the most with a text that has these [Stems]. It uses
// only the first 40 stems.
func Alike[P any](ctx context.Context, s Store[P], stems []string, most int) (Likes[P], error) {
	stems = stems[:min(len(stems), stemsMost)]
	for trips := 0; ; {
		q := alike[P]{query: query[P]{Store: s, Request: Request{Before: Newest, Limit: most}, fresh: trips > 0}, number: map[string]int{}}
		q.likes.having = map[string]int{}
		for i, stem := range stems {
			q.number[stem], q.likes.having[stem] = i, 0
			q.Terms = append(q.Terms, Term(stem))
		}
		err := q.run(ctx)
		if trips += q.trips; !errors.Is(err, errRemoved) || trips > 2*tripsMost {
			q.likes.Trips = trips
			return q.likes, err
		}
	}
}

// alike is a call of [Alike] under way.
type alike[P any] struct {
	query[P]
	number map[string]int // each stem's index in Terms
	likes  Likes[P]
}

// candidate is a post of a segment, and the weight of the stems that it shares with the text.
type candidate struct {
	hit
	worth float64
}

func (q *alike[P]) run(ctx context.Context) error {
	heads, late, err := q.list(ctx)
	if err != nil {
		return err
	}
	spans, _ := covering(heads)
	for _, sp := range spans {
		q.segments = append(q.segments, &segment{span: sp, below: Newest, shards: map[int][]byte{}, read: map[int][]ID{}})
	}
	if err := q.readNew(ctx, end(spans), late); err != nil {
		return err
	}
	found, err := q.candidates()
	if err != nil {
		return err
	}
	if err := q.bring(ctx, found); err != nil {
		return err
	}
	posts := q.posts
	slices.SortFunc(posts, func(a, b Post[P]) int { return b.ID.Compare(a.ID) })
	posts = slices.CompactFunc(posts, func(a, b Post[P]) bool { return a.ID == b.ID })
	worth := map[ID]float64{}
	for _, p := range posts {
		worth[p.ID] = q.likes.worth(Stems(p.Text))
	}
	slices.SortStableFunc(posts, func(a, b Post[P]) int { return cmp.Compare(worth[b.ID], worth[a.ID]) })
	q.likes.Posts = posts[:min(len(posts), q.Limit)]
	return nil
}

// readNew reads the tail, late posts, and the newest segments' shards that
// can hold the stems.
func (q *alike[P]) readNew(ctx context.Context, end ID, late []ID) error {
	var tail Tail[P]
	var others []Post[P]
	work := []func() error{func() (err error) { tail, err = q.Tail(ctx, end, Newest); return }}
	if late = late[:min(len(late), form.batch)]; len(late) > 0 {
		work = append(work, func() (err error) { others, err = q.Posts(ctx, late); return })
	}
	var wanted []Part
	for i, s := range q.segments {
		parts := s.missing(q.Terms)
		if len(wanted)+len(parts) > partsMost {
			q.cut(i)
			break
		}
		wanted = append(wanted, parts...)
	}
	if len(wanted) > 0 {
		work = append(work, func() error { return q.read(ctx, wanted) })
	}
	err := together(work...)
	q.trips += max(1, tail.Trips)
	q.posts = append(tail.Posts, others...)
	for _, p := range q.posts {
		q.likes.looked++
		for _, s := range Stems(p.Text) {
			if _, looked := q.likes.having[s]; looked {
				q.likes.having[s]++
			}
		}
	}
	return err
}

// candidates returns the segments' posts that share the most with the text.
func (q *alike[P]) candidates() (found []candidate, err error) {
	having := make([][]set, len(q.segments)) // by segment and stem
	for i, s := range q.segments {
		if having[i], err = q.matchAny(s); err != nil {
			return nil, err
		}
		q.likes.looked += s.Posts
		for stem, n := range q.number {
			q.likes.having[stem] += having[i][n].size()
		}
	}
	for i, s := range q.segments {
		worth := make([]float64, s.Posts)
		for stem, n := range q.number {
			weight := q.likes.Weight(stem)
			for _, ord := range having[i][n].descending() {
				worth[ord] += weight
			}
		}
		for ord, w := range worth {
			if w > 0 {
				found = append(found, candidate{hit{s, ord}, w})
			}
		}
	}
	slices.SortFunc(found, func(a, b candidate) int {
		return cmp.Or(cmp.Compare(b.worth, a.worth), b.upTo.Compare(a.upTo), b.ord-a.ord)
	})
	return found[:min(len(found), q.Limit)], nil
}

// matchAny returns, for each stem, the posts of a segment that have it.
func (q *alike[P]) matchAny(s *segment) ([]set, error) {
	having := make([]set, len(q.number))
	for i := range having {
		having[i] = newSet(s.Posts)
	}
	wanted := func(word []byte) func(int) {
		if n, ok := q.number[stem(string(word))]; ok {
			return having[n].add
		}
		return nil
	}
	if s.whole {
		return having, scanFor(s.words, s.Posts, wanted)
	}
	for i, stored := range s.shards {
		body, err := unseal(kindWords, stored)
		if err == nil {
			err = scanFor(body, s.Posts, wanted)
		}
		if err != nil {
			return nil, fmt.Errorf("shard %d of %s: %w", i, s.Name, err)
		}
	}
	return having, nil
}

// bring reads the candidates' IDs and posts.
func (q *alike[P]) bring(ctx context.Context, found []candidate) error {
	hits := make([]hit, len(found))
	for i, c := range found {
		hits[i] = c.hit
	}
	if err := q.readIDs(ctx, hits, len(hits)); err != nil {
		return err
	}
	var ids []ID
	for _, h := range hits {
		if id := h.id(); h.has(id) {
			ids = append(ids, id)
		}
	}
	if len(ids) == 0 {
		return nil
	}
	q.trips++
	posts, err := q.Posts(ctx, ids)
	q.posts = append(q.posts, posts...)
	return err
}
