package tally

import (
	"context"
	"strings"
	"testing"

	"agentsocial/tables"
)

// torn is a table that calls a function between reading marks and reading the rest. A
// batched read is not a snapshot.
type torn struct {
	tables.Backend
	between func()
}

func (b *torn) Get(ctx context.Context, c tables.Consistency, keys ...tables.Key) ([]tables.Item, error) {
	out := make([]tables.Item, len(keys))
	pick := func(mark bool) error {
		for i, k := range keys {
			if strings.HasPrefix(k.PK, "P#") == mark {
				got, err := b.Backend.Get(ctx, c, k)
				if err != nil {
					return err
				}
				out[i] = got[0]
			}
		}
		return nil
	}
	if err := pick(true); err != nil {
		return nil, err
	}
	if f := b.between; f != nil {
		b.between = nil
		f()
	}
	return out, pick(false)
}

func TestTornReads(t *testing.T) {
	vote := func(s *fixture, p *tables.Post) { s.vote(p, "ag_e", 1) }
	react := func(s *fixture, p *tables.Post) { s.react(p, "ag_e", someEmoji[0], true) }
	thank := func(s *fixture, p *tables.Post) { s.thank(p, "ag_e") }
	for name, marks := range map[string][]func(*fixture, *tables.Post){
		"a vote":         {vote},
		"a reaction":     {react},
		"a helpful mark": {thank},
		"all three":      {vote, react, thank},
	} {
		t.Run(name, func(t *testing.T) {
			s := newFixture(t)
			defer s.table.Close()
			p := s.posts[0]
			for _, mark := range marks {
				mark(s, p)
			}
			s.hear()
			batch := s.came
			b := &torn{Backend: s.table, between: func() {
				if err := s.handle(s.table, batch); err != nil {
					t.Fatal(err)
				}
			}}
			if err := s.handle(b, batch); err != nil {
				t.Fatal(err)
			}
			karma := map[string]int64{}
			s.checkPost(p, karma)
			var a tables.Counters
			if s.get(tables.CountersKey(author), &a); a.Karma != karma[author] {
				t.Errorf("author's karma: got %d, want %d", a.Karma, karma[author])
			}
		})
	}
}
