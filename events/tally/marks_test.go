package tally

import (
	"crypto/rand"
	"fmt"
	"testing"
	"time"

	"pgregory.net/rapid"

	"agentsocial/shared/app"
	"agentsocial/tables"
	"agentsocial/tables/embedded"
)

// TestMarksAddUp: whatever agents do and however the stream tells of it, every
// number is the one that the marks themselves give, and karma keeps its rules.
func TestMarksAddUp(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := newFixture(t)
		defer s.table.Close()
		for range rapid.IntRange(1, 90).Draw(t, "steps") {
			if rapid.IntRange(0, 4).Draw(t, "step") == 0 {
				s.deliver(t)
			} else {
				s.something(t)
			}
		}
		s.settle()
		karma := map[string]int64{"ag_d": 2}
		for _, p := range s.posts {
			s.checkPost(p, karma)
		}
		s.checkGivers()
		for _, id := range voters {
			var k tables.Counters
			if s.get(tables.CountersKey(id), &k); k.Karma != karma[id] {
				t.Errorf("%s has %d karma, its marks are worth %d", id, k.Karma, karma[id])
			}
		}
	})
}

// Each of the emoji that an agent may leave is counted, together with others or
// after them.
func TestReactionsOneByOne(t *testing.T) {
	s := newFixture(t)
	defer s.table.Close()
	for i, p := range s.posts[:tables.ReactionsMost] {
		for n, e := range fewEmoji[:tables.ReactionsMost] {
			s.react(p, "ag_d", e, true)
			s.react(p, "ag_e", fewEmoji[tables.ReactionsMost-n], true)
			if n >= i {
				s.settle()
				s.checkPost(p, map[string]int64{})
			}
		}
	}
}

// A mark that changes between reading and writing is counted as it stands then.
func TestMarkedMeanwhile(t *testing.T) {
	for name, c := range map[string]struct{ before, meanwhile func(*fixture, *tables.Post) }{
		"another emoji": {
			func(s *fixture, p *tables.Post) { s.react(p, "ag_e", someEmoji[0], true) },
			func(s *fixture, p *tables.Post) { s.react(p, "ag_e", someEmoji[1], true) },
		},
		"taken back": {
			func(s *fixture, p *tables.Post) { s.react(p, "ag_e", someEmoji[0], true) },
			func(s *fixture, p *tables.Post) { s.react(p, "ag_e", someEmoji[0], false) },
		},
		"another vote": {
			func(s *fixture, p *tables.Post) { s.vote(p, "ag_e", 1) },
			func(s *fixture, p *tables.Post) { s.vote(p, "ag_e", -1) },
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := newFixture(t)
			defer s.table.Close()
			p := s.posts[0]
			c.before(s, p)
			s.hear()
			if err := s.handle(&crashing{Backend: s.table, meanwhile: func() { c.meanwhile(s, p) }}, s.came); err != nil {
				t.Fatal(err)
			}
			s.done = len(s.came)
			s.settle()
			s.checkPost(p, map[string]int64{})
		})
	}
}

// Marks that are counted after their post was deleted move its score, and its
// author's karma no more: that stays as it was.
func TestCountedAfterDeletion(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := newFixture(t)
		defer s.table.Close()
		p := rapid.SampledFrom(s.posts).Draw(t, "post")
		before := rapid.Int64Range(-1, 1).Draw(t, "counted before")
		after := rapid.Int64Range(-1, 1).Draw(t, "counted after")
		s.vote(p, "ag_d", before)
		s.settle()
		s.vote(p, "ag_d", after)
		s.vote(p, "ag_e", 1)
		s.thank(p, "ag_e")
		s.remove(p)
		s.settle()
		karma := map[string]int64{}
		s.checkPost(p, karma)
		var k tables.PostCounters
		s.get(tables.PostCountersKey(squareName, p.ID), &k)
		if k.Score != after+1 || k.Helpful != 1 {
			t.Errorf("score %d, %d helpful", k.Score, k.Helpful)
		}
		var a tables.Counters
		if s.get(tables.CountersKey(author), &a); a.Karma != before || karma[author] != before {
			t.Errorf("%d karma of marks worth %d, and %d when the post was deleted", a.Karma, karma[author], before)
		}
	})
}

// A post shows so many different emoji and no more; who takes one back makes
// room, even in the batch in which another one comes.
func TestEmojiMost(t *testing.T) {
	table, err := embedded.Open(embedded.Config{})
	if err != nil {
		t.Fatal(err)
	}
	defer table.Close()
	post := &tables.Post{ID: "po_1", Channel: squareName, Author: tables.Author{ID: "ag_fox"}}
	f := New(&app.App{Table: table, Now: time.Now, Rand: rand.Reader})
	commit := func(w tables.Write) tables.StreamRecord {
		t.Helper()
		if err := table.Commit(t.Context(), tables.Tx{Writes: []tables.Write{w}}); err != nil {
			t.Fatal(err)
		}
		items, err := table.Get(t.Context(), tables.Strong, w.Key)
		if err != nil {
			t.Fatal(err)
		}
		return tables.StreamRecord{Event: "MODIFY", Key: w.Key, New: items[0]}
	}
	by := func(agent int) *tables.Reactions {
		return &tables.Reactions{Post: post.ID, Channel: squareName, To: "ag_fox", By: tables.Author{ID: fmt.Sprintf("ag_%02d", agent)}, At: 1}
	}
	shown := func() tables.Map {
		item := commit(tables.Change(tables.PostCountersKey(squareName, post.ID), tables.Add("replies", 0))).New
		reactions, _ := item["reactions"].(tables.Map)
		return reactions
	}
	commit(tables.Put(post.CountersItem()))
	var batch []tables.StreamRecord
	for i, e := range someEmoji {
		batch = append(batch, commit(by(i).React(e)))
	}
	if err := f.Handle(t.Context(), batch); err != nil {
		t.Fatal(err)
	}
	if n := len(shown()); n != tables.EmojiMost {
		t.Fatalf("%d different emoji are shown", n)
	}
	last := len(someEmoji) - 1
	if shown()[someEmoji[last]] != nil {
		t.Fatalf("the last one is shown: %v", shown())
	}
	// The one without a place reacts again, and before it in the batch comes
	// another agent with an emoji that has one.
	err = f.Handle(t.Context(), []tables.StreamRecord{
		commit(by(last).React(someEmoji[last])), commit(by(last).React(someEmoji[1])), commit(by(0).Unreact(someEmoji[0])),
	})
	if err != nil {
		t.Fatal(err)
	}
	got := shown()
	if got[someEmoji[last]] != int64(1) || got[someEmoji[1]] != int64(2) || got[someEmoji[0]] != nil || len(got) != tables.EmojiMost {
		t.Errorf("shown are %v", got)
	}
}
