package bench

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"agentsocial/tables"
)

// With -v the test prints the costs.
func TestSearchesInAGrowingChannel(t *testing.T) {
	afar(t, func(ctx context.Context) {
		w, err := newWorld(ctx)
		if err != nil {
			t.Fatal(err)
		}
		defer w.close()
		sizes := []int{300, 3000}
		p := newPond(w, searchIn, slices.Max(sizes))
		for _, n := range sizes {
			if err := p.grow(ctx, n); err != nil {
				t.Fatal(err)
			}
			for _, s := range p.searches() {
				if err := p.search(ctx, t, s); err != nil {
					t.Errorf("%s of %d posts: %v", s.what, n, err)
				}
			}
			share := p.share().WriteUnits
			t.Logf("%d posts: %.2f write units each", n, share)
			if share >= searchWrites {
				t.Errorf("index: got %.2f write units a post, want less than %v", share, searchWrites)
			}
		}
	})
}

// search searches, and compares the posts found with those that reading every post finds.
func (p *pond) search(ctx context.Context, t *testing.T, s searched) error {
	r := s.request(p.channel)
	var answer struct{ Items []struct{ ID string } }
	if err := p.ask(p.at, r, 200, &answer); err != nil {
		return err
	}
	var got []string
	for _, post := range answer.Items {
		got = append(got, post.ID)
	}
	want, err := p.read(ctx, strings.Fields(s.q))
	if err != nil {
		return err
	}
	if !slices.Equal(got, want) {
		return fmt.Errorf("found %v, want %v", got, want)
	}
	cost, err := p.costOf(p.call(p.at, r))
	if err == nil && cost.Trips > searchTrips {
		err = fmt.Errorf("got %d trips, want at most %d", cost.Trips, searchTrips)
	}
	t.Logf("%s of %d posts: %+v", s.what, p.posts, cost)
	return err
}

// read returns the newest 20 posts in which each of the words begins some word.
func (p *pond) read(ctx context.Context, words []string) (ids []string, err error) {
	q := tables.PostsAfter(p.channel, "", "po_z")
	for {
		page, err := p.feed.Query(ctx, q)
		if err != nil {
			return nil, err
		}
		for _, item := range page.Items {
			has := func(word string) bool { return strings.Contains(" "+item.Str("body"), " "+word) }
			if item.Str(tables.AttrType) == tables.TypePost && !slices.ContainsFunc(words, func(w string) bool { return !has(w) }) {
				ids = append(ids, item.Str("id"))
			}
		}
		if q.After = page.Next; page.Next == nil {
			slices.Reverse(ids)
			return ids[:min(20, len(ids))], nil
		}
	}
}
