package search

import (
	"context"
	"slices"
)

// hit is the place of a found post in a segment.
type hit struct {
	*segment
	ord int
}

// id returns the post's ID. The chunk that holds it must have been read.
func (h hit) id() ID {
	if h.whole {
		return h.ids[h.ord]
	}
	return h.read[h.ord/form.chunk][h.ord%form.chunk]
}

// fetch reads the posts of the newest hits. If some are deleted, it reads more hits while
// round trips are left.
func (q *query[P]) fetch(ctx context.Context, got int) error {
	hits := q.hits()
	for first := true; got < q.Limit && len(hits) > 0 && (first || q.trips+2 <= tripsMost); first = false {
		if err := q.readIDs(ctx, hits, q.Limit-got); err != nil {
			return err
		}
		var ids []ID
		for len(hits) > 0 && len(ids) < q.Limit-got && hits[0].known() {
			if id := hits[0].id(); id.Less(hits[0].below) {
				ids = append(ids, id)
			}
			hits = hits[1:]
		}
		if len(ids) == 0 {
			continue
		}
		q.trips++
		posts, err := q.Posts(ctx, ids)
		if err != nil {
			return err
		}
		posts = q.having(posts)
		q.posts = append(q.posts, posts...)
		got += len(posts)
		if len(hits) > 0 {
			q.reached = ids[len(ids)-1]
		}
	}
	if len(hits) > 0 {
		q.from = later(q.from, q.reached)
	}
	return nil
}

func (q *query[P]) hits() []hit {
	var hits []hit
	for i, s := range q.segments {
		if !s.done {
			q.cut(i)
			break
		}
		if i == 0 {
			q.reached = s.upTo.next()
		}
		for _, ord := range s.hits {
			hits = append(hits, hit{s, ord})
		}
	}
	return hits
}

// readIDs reads the chunks that have the IDs of the newest hits. It stops when it has
// enough hits that are certainly older than [Request.Before].
func (q *query[P]) readIDs(ctx context.Context, hits []hit, enough int) error {
	var wanted []Part
	for _, h := range hits {
		if enough == 0 {
			break
		}
		p := Part{h.Name, Chunk, h.ord / form.chunk}
		if !h.known() && !slices.Contains(wanted, p) {
			wanted = append(wanted, p)
		}
		if h.certain(h.ord) {
			enough--
		}
	}
	if len(wanted) == 0 {
		return nil
	}
	q.trips++
	return q.read(ctx, wanted)
}

func (h hit) known() bool { return h.whole || h.read[h.ord/form.chunk] != nil }

// page returns the answer: the posts found, from the newest down to the first gap.
func (q *query[P]) page() Found[P] {
	posts := slices.DeleteFunc(q.posts, func(p Post[P]) bool { return p.ID.Less(q.from) || !p.ID.Less(q.Before) })
	slices.SortFunc(posts, func(a, b Post[P]) int { return b.ID.Compare(a.ID) })
	posts = slices.CompactFunc(posts, func(a, b Post[P]) bool { return a.ID == b.ID })
	if len(posts) > q.Limit {
		return Found[P]{Posts: posts[:q.Limit], Next: posts[q.Limit-1].ID}
	}
	return Found[P]{Posts: posts, Next: q.from}
}
