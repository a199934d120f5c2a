// Package wishes measures how many duplicate ideas are found, and how many different
// ideas are refused. Only tests use it.
package wishes

import (
	"context"
	"crypto/rand"
	_ "embed"
	"fmt"
	"slices"
	"strings"
	"time"

	"agentsocial/functions/ideas"
	"agentsocial/shared/app"
	"agentsocial/tables"
	"agentsocial/tables/id"
)

var (
	//go:embed pairs.txt
	chosenWith string
	//go:embed unseen.txt
	unseen string
)

// Wish holds an idea's words.
type Wish struct{ Title, Body string }

// Pair is two wishes, and whether they mean the same.
type Pair struct {
	Same          bool
	First, Second Wish
}

// ChosenWith returns the pairs that the thresholds were chosen with.
func ChosenWith() ([]Pair, error) { return read(chosenWith) }

// Unseen returns pairs that were written after the thresholds were chosen.
func Unseen() ([]Pair, error) { return read(unseen) }

func read(file string) (pairs []Pair, err error) {
	blocks := strings.Split(strings.TrimSpace(file), "\n\n")
	for _, block := range blocks[1:] { // the first describes the file
		lines := strings.Split(block, "\n")
		if len(lines) != 3 || lines[0] != "same" && lines[0] != "different" {
			return nil, fmt.Errorf("wishes: %q is not a pair", block)
		}
		p := Pair{Same: lines[0] == "same"}
		for i, w := range []*Wish{&p.First, &p.Second} {
			var ok bool
			if w.Title, w.Body, ok = strings.Cut(lines[1+i], " | "); !ok {
				return nil, fmt.Errorf("wishes: %q is not an idea", lines[1+i])
			}
		}
		pairs = append(pairs, p)
	}
	return pairs, nil
}

// Open opens an empty table that uses clock. shut closes it.
type Open func(clock func() time.Time) (table tables.Backend, shut func(), err error)

// Board is a table of ideas that were posted an hour apart.
type Board struct {
	*app.App
	Clock time.Time
	IDs   map[Wish]string
	Shut  func()
}

// NewBoard posts the first wish of each pair, unless that wish equals omitted.
func NewBoard(ctx context.Context, open Open, pairs []Pair, omitted Wish) (*Board, error) {
	b := &Board{Clock: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC), IDs: map[Wish]string{}}
	clock := func() time.Time { return b.Clock }
	table, shut, err := open(clock)
	if err != nil {
		return nil, err
	}
	b.App, b.Shut = &app.App{Table: table, Now: clock, Rand: rand.Reader}, shut
	for _, p := range pairs {
		if p.First == omitted || b.IDs[p.First] != "" {
			continue
		}
		b.Clock = b.Clock.Add(time.Hour)
		i := b.idea(p.First)
		b.IDs[p.First] = i.ID
		for _, item := range i.Items() {
			if err := b.Once(ctx, tables.Put(item)); err != nil {
				shut()
				return nil, err
			}
		}
	}
	return b, nil
}

func (b *Board) idea(w Wish) *tables.Idea {
	return &tables.Idea{ID: id.Idea.New(b.Clock, b.Rand), Title: w.Title, Body: w.Body, Status: tables.IdeaOpen}
}

// Repeats returns the ids of the ideas that a wish likely repeats.
func (b *Board) Repeats(ctx context.Context, w Wish) (ids []string, err error) {
	found, err := ideas.Alike(ctx, b.App, b.idea(w))
	for _, f := range found {
		ids = append(ids, f.Idea.ID)
	}
	return ids, err
}

// Count counts answers, and how many of them were yes.
type Count struct{ Yes, All int }

func (c *Count) add(yes bool) {
	c.All++
	if yes {
		c.Yes++
	}
}

// Share returns the share of yes, 0 to 1.
func (c Count) Share() float64 { return float64(c.Yes) / float64(c.All) }

// Shares is the result of [Measure].
type Shares struct {
	Pointed Count    // reworded duplicates that were pointed out
	Refused Count    // different ideas that were refused
	Close   Count    // the part of Refused that was written to resemble another idea
	Wrong   []string // each wrong result, in words
}

// Measure compares the second wish of each pair with a board of all first wishes. Then it
// leaves the pair's first wish off the board. On that board, every match of the first
// wish, or of a second wish that means the same, is wrong.
func Measure(ctx context.Context, open Open, onBoard, pairs []Pair) (s Shares, err error) {
	board, err := NewBoard(ctx, open, onBoard, Wish{})
	if err != nil {
		return s, err
	}
	defer board.Shut()
	seen := map[Wish]bool{}
	for _, p := range pairs {
		found, err := board.Repeats(ctx, p.Second)
		if err != nil {
			return s, err
		}
		if p.Same {
			s.pointed(slices.Contains(found, board.IDs[p.First]), p.Second)
		} else {
			s.refused(&s.Close, found, p.Second)
		}
		if seen[p.First] {
			continue
		}
		seen[p.First] = true
		if err := s.without(ctx, open, onBoard, p); err != nil {
			return s, err
		}
	}
	s.Refused.Yes, s.Refused.All = s.Refused.Yes+s.Close.Yes, s.Refused.All+s.Close.All
	return s, nil
}

// without measures p on a board that lacks p.First.
func (s *Shares) without(ctx context.Context, open Open, onBoard []Pair, p Pair) error {
	others, err := NewBoard(ctx, open, onBoard, p.First)
	if err != nil {
		return err
	}
	defer others.Shut()
	alone := []Wish{p.First}
	if p.Same {
		alone = append(alone, p.Second)
	}
	for _, w := range alone {
		found, err := others.Repeats(ctx, w)
		if err != nil {
			return err
		}
		s.refused(&s.Refused, found, w)
	}
	return nil
}

func (s *Shares) pointed(yes bool, w Wish) {
	s.Pointed.add(yes)
	if !yes {
		s.Wrong = append(s.Wrong, "not pointed out: "+w.Title)
	}
}

func (s *Shares) refused(c *Count, found []string, w Wish) {
	c.add(len(found) > 0)
	if len(found) > 0 {
		s.Wrong = append(s.Wrong, "refused: "+w.Title)
	}
}

// String returns the shares in one line.
func (s Shares) String() string {
	return fmt.Sprintf("of %d reworded duplicates, %.0f %% pointed out; of %d different ideas, %.1f %% refused; of the %d close ones among them, %.0f %%",
		s.Pointed.All, 100*s.Pointed.Share(), s.Refused.All, 100*s.Refused.Share(), s.Close.All, 100*s.Close.Share())
}
