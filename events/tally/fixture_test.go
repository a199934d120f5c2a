package tally

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"pgregory.net/rapid"

	"agentsocial/shared/app"
	"agentsocial/tables"
	"agentsocial/tables/embedded"
)

// fixture is a channel with agents and posts. Its stream repeats and reorders records, as
// a stream may.
type fixture struct {
	tester
	table *embedded.Table
	now   time.Time
	place string // position of the newest record read
	came  []tables.StreamRecord
	done  int // number of handled records in came
	posts []*tables.Post
	hot   *hot
}

type tester interface {
	rapid.TB
	Context() context.Context
}

const channelName = "den"

// author wrote all posts, because marks for several authors are counted in no fixed order.
const author = "ag_a"

// voters lists all agents. ag_a and ag_b have the same owner, ag_c is new, ag_d has
// karma.
var voters = []string{author, "ag_b", "ag_c", "ag_d", "ag_e"}

// someEmoji has more emoji than a post shows.
var someEmoji = func() (all []string) {
	for i := range tables.EmojiMost + 3 {
		all = append(all, string(rune(0x1F400+i)))
	}
	return all
}()

// fewEmoji has fewer emoji than a post can show.
var fewEmoji = someEmoji[:8]

// crashing is a table on which a function dies when it takes slots, or before or after
// its transaction. The func meanwhile runs before the first commit.
type crashing struct {
	tables.Backend
	atSlots, before, after bool
	meanwhile              func()
	once                   sync.Once
	others                 atomic.Int64 // number of commits to counters still to refuse as conflicts
}

var errCrash = errors.New("the function died")

func (c *crashing) Commit(ctx context.Context, tx tables.Tx) error {
	if c.meanwhile != nil {
		c.once.Do(c.meanwhile)
	}
	if slices.ContainsFunc(tx.Writes, func(w tables.Write) bool { return strings.HasSuffix(w.Key.SK, "+") }) && c.others.Add(-1) >= 0 {
		return tables.ErrConflict
	}
	if tx.Token == "" && c.atSlots || tx.Token != "" && c.before {
		return errCrash
	}
	err := c.Backend.Commit(ctx, tx)
	if tx.Token != "" && c.after {
		return errCrash
	}
	return err
}

func newFixture(t tester) *fixture {
	now := time.Date(2026, 4, 1, 12, 0, 0, 0, time.UTC)
	table, err := embedded.Open(embedded.Config{})
	if err != nil {
		t.Fatal(err)
	}
	s := &fixture{tester: t, table: table, now: now, hot: &hot{}}
	for i, id := range voters {
		p := &tables.Profile{ID: id, CreatedAt: now.Add(-48 * time.Hour).UnixMilli()}
		k := &tables.Counters{LastActive: now.UnixMilli()}
		switch i {
		case 0, 1:
			o := tables.Origin{Agent: id, Person: "one human", VerifiedAt: 1}
			s.commit(o.Replace(&tables.Origin{}))
		case 2:
			p.CreatedAt = now.UnixMilli()
		case 3:
			k.Karma = 2
		}
		s.commit(tables.Put(p.Item()), tables.Put(tables.CountersItem(id, k)))
	}
	for i := range 5 {
		p := &tables.Post{ID: fmt.Sprintf("po_%d", i), Apart: i%2 == 0, Channel: channelName, Author: tables.Author{ID: author}, CreatedAt: now.UnixMilli()}
		s.posts = append(s.posts, p)
		s.commit(tables.Put(p.Item()), tables.Put(p.CountersItem()))
	}
	s.hear()
	s.came = nil
	return s
}

func (s *fixture) commit(w ...tables.Write) {
	s.Helper()
	var refused *tables.Cancelled
	if err := s.table.Commit(s.Context(), tables.Tx{Writes: w}); err != nil && !errors.As(err, &refused) {
		s.Fatal(err)
	}
}

func (s *fixture) get(k tables.Key, into any) tables.Item {
	s.Helper()
	items, err := s.table.Get(s.Context(), tables.Strong, k)
	if err != nil {
		s.Fatal(err)
	}
	if err := tables.Unmarshal(items[0], into); err != nil {
		s.Fatal(err)
	}
	return items[0]
}

// vote, react, thank and remove make the writes of the endpoints.
func (s *fixture) vote(post *tables.Post, by string, v int64) {
	var p tables.Profile
	var k tables.Counters
	s.get(tables.ProfileKey(by), &p)
	s.get(tables.CountersKey(by), &k)
	if by != post.Author.ID && !post.Deleted {
		vote := tables.Vote{
			Post: post.ID, Apart: post.Apart, Channel: channelName, To: post.Author.ID, By: by, V: v, At: s.now.UnixMilli(),
			Weighs: tables.Weighs(&p, k.Karma, v, s.now),
		}
		s.commit(vote.Cast())
	}
}

func (s *fixture) react(post *tables.Post, by, emoji string, on bool) {
	r := tables.Reactions{Post: post.ID, Apart: post.Apart, Channel: channelName, To: post.Author.ID, By: tables.Author{ID: by}, At: s.now.UnixMilli()}
	switch {
	case post.Deleted:
	case on:
		s.commit(r.React(emoji))
	default:
		s.commit(r.Unreact(emoji))
	}
}

func (s *fixture) thank(post *tables.Post, by string) {
	h := tables.Helpful{ID: "ev_" + post.ID, Post: post.ID, Channel: channelName, To: post.Author.ID, By: tables.Author{ID: by}, At: s.now.UnixMilli()}
	if !post.Deleted && by != post.Author.ID {
		s.commit(h.Mark(nil)...)
	}
}

func (s *fixture) remove(post *tables.Post) {
	s.commit(post.Tombstone(s.now), post.Unrank())
	post.Deleted = true
}

// something does a random thing that agents may do, or lets time pass.
func (s *fixture) something(t *rapid.T) {
	post := rapid.SampledFrom(s.posts).Draw(t, "post")
	by := rapid.SampledFrom(voters).Draw(t, "by")
	switch rapid.IntRange(0, 12).Draw(t, "what") {
	case 0, 1, 2, 3, 4, 5:
		s.vote(post, by, rapid.Int64Range(-1, 1).Draw(t, "v"))
	case 6, 7, 8, 9:
		s.react(post, by, rapid.SampledFrom(fewEmoji).Draw(t, "emoji"), rapid.Bool().Draw(t, "on"))
	case 10:
		s.thank(post, by)
	case 11:
		s.now = s.now.Add(time.Duration(rapid.IntRange(1, 20*24).Draw(t, "hours")) * time.Hour)
	case 12:
		if rapid.IntRange(0, 3).Draw(t, "remove") == 3 {
			s.remove(post)
		}
	}
}

func (s *fixture) hear() {
	for {
		got, _, err := s.table.Changes(s.Context(), "shard-0", s.place, 1000, 0)
		if err != nil {
			s.Fatal(err)
		}
		if len(got) == 0 {
			return
		}
		s.came = append(s.came, got...)
		s.place = got[len(got)-1].Seq
	}
}

// deliver hands the next records to the reader. It may repeat and reorder records, and
// make the reader fail.
func (s *fixture) deliver(t *rapid.T) {
	s.hear()
	from := rapid.IntRange(0, s.done).Draw(t, "again from")
	to := rapid.IntRange(s.done, len(s.came)).Draw(t, "to")
	batch := shuffled(t, s.came[from:to])
	c := &crashing{Backend: s.table}
	if rapid.IntRange(0, 3).Draw(t, "new process") == 0 {
		s.hot = &hot{}
	}
	switch rapid.IntRange(0, 8).Draw(t, "trouble") {
	case 1:
		c.atSlots = true
	case 2:
		c.before = true
	case 3:
		c.after = true
	case 4:
		c.meanwhile = func() { s.something(t) }
	case 5: // another invocation, with some of the same records
		other := s.came[rapid.IntRange(0, to).Draw(t, "others from"):]
		c.meanwhile = func() {
			if err := s.handle(s.table, other); err != nil {
				s.Error(err)
			}
		}
	case 6, 7:
		c.others.Store(rapid.Int64Range(1, 2*directTries).Draw(t, "others"))
	}
	if err := s.handle(c, batch); err == nil {
		s.done = to
	} else if !errors.Is(err, errCrash) && !errors.Is(err, tables.ErrConflict) {
		s.Error(err)
	}
}

func (s *fixture) handle(table tables.Backend, batch []tables.StreamRecord) error {
	a := &app.App{Table: table, Now: func() time.Time { return s.now }, Rand: rand.Reader}
	var mine []tables.StreamRecord
	for _, r := range batch {
		if New(a).Match(r) {
			mine = append(mine, r)
		}
	}
	return reader{a, s.hot}.handle(s.Context(), mine)
}

// shuffled shuffles records, but keeps the order of each item's records.
func shuffled(t *rapid.T, records []tables.StreamRecord) []tables.StreamRecord {
	byKey := map[tables.Key][]tables.StreamRecord{}
	slots := make([]tables.Key, len(records))
	for i, r := range records {
		byKey[r.Key] = append(byKey[r.Key], r)
		slots[i] = r.Key
	}
	var out []tables.StreamRecord
	for _, k := range rapid.Permutation(slots).Draw(t, "order") {
		out = append(out, byKey[k][0])
		byKey[k] = byKey[k][1:]
	}
	return out
}

// settle handles all remaining records in order, and then the lanes that this changed.
func (s *fixture) settle() {
	s.hear()
	for range 2 {
		if err := s.handle(s.table, s.came[s.done:]); err != nil {
			s.Fatal(err)
		}
		s.done = len(s.came)
		s.hear()
		for _, r := range s.came[s.done:] {
			if New(&app.App{}).Match(r) && r.New.Str(tables.AttrType) != tables.TypeLane {
				s.Errorf("record for the reader after counting: got %v, want only lanes", r.New)
			}
		}
	}
	if slices.ContainsFunc(s.came[s.done:], New(&app.App{}).Match) {
		s.Errorf("after moving lanes: got records %v, want none for the reader", s.came[s.done:])
	}
}

// checkPost checks a post's numbers against its marks, and adds the worth of the marks to
// karma.
func (s *fixture) checkPost(p *tables.Post, karma map[string]int64) {
	var marks []tables.Item
	partitions := []string{tables.MarksPK(p.ID)}
	for _, by := range voters {
		partitions = append(partitions, tables.VoteKey(p.ID, by, true).PK)
	}
	for _, pk := range partitions {
		page, err := s.table.Query(s.Context(), tables.Query{PK: pk, Consistency: tables.Strong})
		if err != nil {
			s.Fatal(err)
		}
		marks = append(marks, page.Items...)
	}
	var score, helpful int64
	reactions := map[string]int64{}
	for _, item := range marks {
		switch item.Str(tables.AttrType) {
		case tables.TypeVoteCounted:
			score += item.Int("v")
		case tables.TypeHelpfulCounted:
			helpful++
			if w := item.Int("worth"); w != tables.HelpfulKarma && !p.Deleted {
				s.Errorf("worth of a helpful mark on %s: got %d, want %d", p.ID, w, tables.HelpfulKarma)
			}
		case tables.TypeReactionsCounted:
			var r tables.Reactions
			if err := tables.Unmarshal(item, &r); err != nil {
				s.Fatal(err)
			}
			if len(r.Emoji) > tables.ReactionsMost {
				s.Errorf("reactions of %s to %s: got %v, want %d at most", r.By.ID, p.ID, r.Emoji, tables.ReactionsMost)
			}
			if !slices.Equal(r.Emoji, r.Counted) {
				s.Errorf("counted reactions of %s to %s: got %v, want %v", r.By.ID, p.ID, r.Counted, r.Emoji)
			}
			for _, e := range r.Emoji {
				reactions[e]++
			}
		default:
			s.Errorf("mark %v: got type %s, want a counted type", item.Key(), item.Str(tables.AttrType))
		}
		karma[p.Author.ID] += item.Int("worth")
	}
	var k tables.PostCounters
	item := s.get(tables.PostCountersKey(channelName, p.ID), &k)
	if k.Score != score || k.Helpful != helpful {
		s.Errorf("%s: got score %d and %d helpful, want %d and %d", p.ID, k.Score, k.Helpful, score, helpful)
	}
	shown := map[string]int64{}
	for e := range k.Reactions {
		shown[e] = tables.Item(k.Reactions).Int(e)
	}
	if !maps.Equal(shown, reactions) {
		s.Errorf("reactions of %s: got %v, want %v", p.ID, shown, reactions)
	}
	if want := tables.BestSK(score+3*helpful, p.ID); !p.Deleted && item.Str("rank_sk") != want {
		s.Errorf("rank of %s: got %s, want %s", p.ID, item.Str("rank_sk"), want)
	}
	if p.Deleted && (item["rank_pk"] != nil || item["rank_sk"] != nil) {
		s.Errorf("deleted post %s: got a rank, want none", p.ID)
	}
}

// checkGivers checks each agent's karma slots and the worth of its votes.
func (s *fixture) checkGivers() {
	for _, by := range voters {
		var slots tables.KarmaSlots
		s.get(tables.KarmaSlotsKey(by, author), &slots)
		for p, v := range slots.Posts {
			at, n := v.(int64), 0
			for _, other := range slots.Posts {
				if later := other.(int64) - at; later >= 0 && later < tables.KarmaWindow.Milliseconds() {
					n++
				}
			}
			if n > tables.KarmaSlotsMost {
				s.Errorf("posts that %s gives karma to in the 30 days after %s: got %d, want %d at most", by, p, n, tables.KarmaSlotsMost)
			}
		}
		for _, p := range s.posts {
			var v tables.Vote
			if s.get(tables.VoteKey(p.ID, by, p.Apart), &v) == nil {
				continue
			}
			may := v.V != 0 && v.Weighs && by != "ag_b" // ag_b has the author's owner
			_, took := slots.Posts[p.ID]
			recent := s.now.UnixMilli()-v.At < tables.KarmaWindow.Milliseconds()
			switch {
			case v.Worth != 0 && !p.Deleted && (!may || v.Worth != v.V), v.Worth != 0 && recent && !took:
				s.Errorf("worth of the vote %+v: got %d, want 0, or V if it may count and has a slot", v, v.Worth)
			case v.Worth == 0 && recent && may && !p.Deleted && (slots.Holds(p.ID, v.At) || slots.Take(p.ID, v.At)):
				s.Errorf("worth of the vote %+v, which can have a slot: got 0, want %d", v, v.V)
			}
		}
	}
}
