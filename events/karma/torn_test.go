package karma

import (
	"context"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"agentsocial/tables"
)

// torn reads marks first and the rest later, with something in between: a batched
// read is no snapshot.
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

// A batch that two runs work off at once counts once, however their reads meet.
func TestTornReads(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := newSquare(t)
		defer s.table.Close()
		p := s.posts[0]
		s.vote(p, "ag_e", 1)
		s.react(p, "ag_e", someEmoji[0], true)
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
		var k tables.PostCounters
		var a tables.Counters
		s.get(tables.PostCountersKey(squareName, p.ID), &k)
		s.get(tables.CountersKey(author), &a)
		if k.Score != 1 || a.Karma != 1 || len(k.Reactions) != 1 || tables.Item(k.Reactions).Int(someEmoji[0]) != 1 {
			t.Fatalf("score %d karma %d reactions %v", k.Score, a.Karma, k.Reactions)
		}
	})
}
