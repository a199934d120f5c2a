package ideas

import (
	"crypto/rand"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"agentsocial/shared/app"
	"agentsocial/shared/id"
	"agentsocial/shared/index"
	"agentsocial/shared/search"
	"agentsocial/tables"
	"agentsocial/tables/embedded"
)

// wish is an idea's words.
type wish struct{ title, body string }

// pair is two wishes, and whether they are the same.
type pair struct {
	same          bool
	first, second wish
}

func readPairs(t *testing.T, file string) (pairs []pair) {
	t.Helper()
	raw, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	blocks := strings.Split(strings.TrimSpace(string(raw)), "\n\n")
	for _, block := range blocks[1:] { // the first says what the file is
		lines := strings.Split(block, "\n")
		words := func(line string) wish {
			title, body, ok := strings.Cut(line, " | ")
			if !ok {
				t.Fatalf("%s: %q is no idea", file, line)
			}
			return wish{title, body}
		}
		if len(lines) != 3 || lines[0] != "same" && lines[0] != "different" {
			t.Fatalf("%s: %q is no pair", file, block)
		}
		pairs = append(pairs, pair{lines[0] == "same", words(lines[1]), words(lines[2])})
	}
	return pairs
}

// board is a table of ideas.
type board struct {
	ideas
	now time.Time
	ids map[wish]string
}

// newBoard has the first wish of each pair on it, but for one.
func newBoard(t *testing.T, pairs []pair, without wish) *board {
	t.Helper()
	b := &board{now: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC), ids: map[wish]string{}}
	clock := func() time.Time { return b.now }
	table, err := embedded.Open(embedded.Config{Now: clock})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { table.Close() })
	b.ideas = ideas{&app.App{Table: table, Now: clock, Rand: rand.Reader}}
	for _, p := range pairs {
		if p.first == without || b.ids[p.first] != "" {
			continue
		}
		b.now = b.now.Add(time.Hour)
		i := b.idea(p.first)
		b.ids[p.first] = i.ID
		for _, item := range i.Items() {
			if err := table.Commit(t.Context(), tables.Tx{Writes: []tables.Write{tables.Put(item)}}); err != nil {
				t.Fatal(err)
			}
		}
	}
	return b
}

func (b *board) idea(w wish) *tables.Idea {
	return &tables.Idea{ID: id.Idea.New(b.now, rand.Reader), Title: w.title, Body: w.body, Status: tables.IdeaOpen}
}

// repeats are the ideas that a wish likely repeats.
func (b *board) repeats(t *testing.T, w wish) (ids []string) {
	t.Helper()
	found, err := b.alike(t.Context(), b.idea(w))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range found {
		ids = append(ids, f.Idea.ID)
	}
	return ids
}

// count is what share of some was so.
type count struct{ yes, all int }

func (c *count) add(yes bool) {
	c.all++
	if yes {
		c.yes++
	}
}

func (c count) share() float64 { return float64(c.yes) / float64(c.all) }

// shares posts the second wish of each pair on a board with the first of all; then,
// as different ideas, both of the same pairs on a board without the first.
func shares(t *testing.T, onBoard, pairs []pair) (pointed, refused, close count) {
	t.Helper()
	note := func(c *count, yes bool, what string, w wish) {
		c.add(yes)
		if yes == (c != &pointed) {
			t.Logf("%s: %s", what, w.title)
		}
	}
	board, seen := newBoard(t, onBoard, wish{}), map[wish]bool{}
	for _, p := range pairs {
		found := board.repeats(t, p.second)
		if p.same {
			note(&pointed, slices.Contains(found, board.ids[p.first]), "not pointed out", p.second)
		} else {
			note(&close, len(found) > 0, "refused", p.second)
		}
		if seen[p.first] {
			continue
		}
		seen[p.first] = true
		others := newBoard(t, onBoard, p.first)
		note(&refused, len(others.repeats(t, p.first)) > 0, "refused", p.first)
		if p.same {
			note(&refused, len(others.repeats(t, p.second)) > 0, "refused", p.second)
		}
	}
	return pointed, count{refused.yes + close.yes, refused.all + close.all}, close
}

// TestLikely holds what share of ideas in other words is pointed out, and of
// different ones refused: of such as meet on a board, and of some that were made
// to be close. On the pairs that the thresholds were not chosen with, less is asked.
func TestLikely(t *testing.T) {
	pairs, unseen := readPairs(t, "testdata/pairs.txt"), readPairs(t, "testdata/unseen.txt")
	if len(pairs) < 60 {
		t.Fatalf("%d pairs", len(pairs))
	}
	for _, x := range []struct {
		name             string
		board, pairs     []pair
		pointed, refused float64
	}{
		{"chosen with", pairs, pairs, .8, .05},
		{"unseen", slices.Concat(pairs, unseen), unseen, .5, .1},
	} {
		t.Run(x.name, func(t *testing.T) {
			pointed, refused, close := shares(t, x.board, x.pairs)
			t.Logf("of %d ideas in other words %.0f %% pointed out; of %d different ones %.1f %% refused, of the %d among them that are close %.0f %%",
				pointed.all, 100*pointed.share(), refused.all, 100*refused.share(), close.all, 100*close.share())
			if pointed.share() < x.pointed || refused.share() > x.refused {
				t.Errorf("at least %.0f %% are to be pointed out, at most %.0f %% refused", 100*x.pointed, 100*x.refused)
			}
		})
	}
}

// What is said of an idea does not depend on whether it is sealed in the index.
func TestLikelyAmongSealed(t *testing.T) {
	defer search.Small()()
	pairs := readPairs(t, "testdata/pairs.txt")
	b := newBoard(t, pairs, wish{})
	before := map[wish][]string{}
	for _, p := range pairs {
		before[p.second] = b.repeats(t, p.second)
	}
	b.now = b.now.Add(time.Hour)
	for range 50 {
		if _, err := index.OfIdeas(b.App).Tend(t.Context(), search.Top); err != nil {
			t.Fatal(err)
		}
		b.now = b.now.Add(2 * time.Minute)
	}
	heads, err := index.OfIdeas(b.App).Heads(t.Context(), search.Newest, 100, true)
	if err != nil || len(heads) == 0 {
		t.Fatalf("%d segments, %v", len(heads), err)
	}
	for _, p := range pairs {
		if got := b.repeats(t, p.second); !slices.Equal(got, before[p.second]) {
			t.Errorf("%s: %v, and before %v", p.second.title, got, before[p.second])
		}
	}
}
