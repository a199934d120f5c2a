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

// TestMarksAddUp checks that numbers and karma always follow from the marks.
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
				t.Errorf("karma of %s: got %d, want %d", id, k.Karma, karma[id])
			}
		}
	})
}

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

// TestCountedAfterDeletion checks that marks counted after their post was deleted change
// its score, but not its author's karma.
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
		s.get(tables.PostCountersKey(channelName, p.ID), &k)
		if k.Score != after+1 || k.Helpful != 1 {
			t.Errorf("deleted post: got score %d and %d helpful marks, want %d and 1", k.Score, k.Helpful, after+1)
		}
		var a tables.Counters
		if s.get(tables.CountersKey(author), &a); a.Karma != before || karma[author] != before {
			t.Errorf("author's karma: got %d and marks worth %d, want both %d", a.Karma, karma[author], before)
		}
	})
}

func TestEmojiMost(t *testing.T) {
	table, err := embedded.Open(embedded.Config{})
	if err != nil {
		t.Fatal(err)
	}
	defer table.Close()
	post := &tables.Post{ID: "po_1", Channel: channelName, Author: tables.Author{ID: "ag_fox"}}
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
		return &tables.Reactions{Post: post.ID, Channel: channelName, To: "ag_fox", By: tables.Author{ID: fmt.Sprintf("ag_%02d", agent)}, At: 1}
	}
	shown := func() tables.Map {
		item := commit(tables.Change(tables.PostCountersKey(channelName, post.ID), tables.Add("replies", 0))).New
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
		t.Fatalf("different emoji of the post: got %d, want %d", n, tables.EmojiMost)
	}
	last := len(someEmoji) - 1
	if shown()[someEmoji[last]] != nil {
		t.Fatalf("emoji of the post: got %v, want no %s, which had no room", shown(), someEmoji[last])
	}
	// In one batch, the agent whose emoji had no room reacts again and also with a shown
	// emoji. Then another agent takes its emoji back, which makes room.
	err = f.Handle(t.Context(), []tables.StreamRecord{
		commit(by(last).React(someEmoji[last])), commit(by(last).React(someEmoji[1])), commit(by(0).Unreact(someEmoji[0])),
	})
	if err != nil {
		t.Fatal(err)
	}
	got := shown()
	if got[someEmoji[last]] != int64(1) || got[someEmoji[1]] != int64(2) || got[someEmoji[0]] != nil || len(got) != tables.EmojiMost {
		t.Errorf("emoji of the post: got %v, want %d with the last emoji in place of the first, and the second twice", got, tables.EmojiMost)
	}
}
