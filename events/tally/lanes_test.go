package tally

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"
	"pgregory.net/rapid"

	"agentsocial/shared/app"
	"agentsocial/tables"
	"agentsocial/tables/embedded"
	"agentsocial/tables/retry"
)

// overlapping is a table that refuses a commit while another commit to one of its items
// is under way, as DynamoDB does.
type overlapping struct {
	tables.Backend
	mu        sync.Mutex
	under     map[tables.Key]bool
	conflicts int
}

func (o *overlapping) Commit(ctx context.Context, tx tables.Tx) error {
	if !o.begin(tx.Writes) {
		return tables.ErrConflict
	}
	defer o.end(tx.Writes)
	time.Sleep(time.Millisecond)
	return o.Backend.Commit(ctx, tx)
}

func (o *overlapping) begin(writes []tables.Write) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, w := range writes {
		if o.under[w.Key] {
			o.conflicts++
			return false
		}
	}
	for _, w := range writes {
		o.under[w.Key] = true
	}
	return true
}

func (o *overlapping) end(writes []tables.Write) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, w := range writes {
		delete(o.under, w.Key)
	}
}

// crowd is a table with a channel, an author and a post, and the records of many agents'
// acts.
type crowd struct {
	table   *embedded.Table
	over    *overlapping
	place   string // position of the newest record read
	score   int64
	records []tables.StreamRecord
}

func newCrowd(t *testing.T, agents int) *crowd {
	t.Helper()
	table, err := embedded.Open(embedded.Config{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { table.Close() })
	c := &crowd{table: table, over: &overlapping{Backend: table, under: map[tables.Key]bool{}}}
	commit := func(w ...tables.Write) {
		t.Helper()
		if err := table.Commit(t.Context(), tables.Tx{Writes: w}); err != nil {
			t.Fatal(err)
		}
	}
	now := time.Now().UnixMilli()
	post := &tables.Post{ID: "po_hot", Channel: channelName, Author: tables.Author{ID: author}, CreatedAt: now, Apart: true}
	commit(tables.Put(post.CountersItem()), tables.Put(tables.CountersItem(author, &tables.Counters{})),
		tables.Put((&tables.Channel{Name: channelName, Kind: tables.KindWork, CreatedAt: now}).Item()))
	c.hear(t)
	for i := range agents {
		by := fmt.Sprintf("ag_%03d", i)
		v := &tables.Vote{Post: post.ID, Apart: true, Channel: channelName, To: author, By: by, V: int64(1 - i%3), At: now, Weighs: true}
		c.score += v.V
		reply := &tables.Post{ID: fmt.Sprintf("po_%03d", i), Channel: channelName, Author: tables.Author{ID: author}, Parent: post.ID, CreatedAt: now + int64(i)}
		follow := &tables.Follow{ID: fmt.Sprintf("ev_%03d", i), Agent: by, Kind: tables.FollowAgent, Target: author}
		commit(v.Cast(), tables.Put(reply.Item()), tables.Put(follow.Item()))
	}
	c.records = c.hear(t)
	return c
}

// hear returns the new records that the reader handles.
func (c *crowd) hear(t *testing.T) (all []tables.StreamRecord) {
	t.Helper()
	for {
		got, _, err := c.table.Changes(t.Context(), "shard-0", c.place, 1000, 0)
		if err != nil {
			t.Fatal(err)
		}
		if len(got) == 0 {
			return all
		}
		for _, r := range got {
			if New(&app.App{}).Match(r) {
				all = append(all, r)
			}
		}
		c.place = got[len(got)-1].Seq
	}
}

func (c *crowd) reader() reader {
	a := &app.App{Now: time.Now, Rand: rand.Reader, Log: slog.New(slog.DiscardHandler)}
	a.Table = retry.Over(c.over, a.Intn)
	return newReader(a)
}

// TestLanes_ManyReaders checks that many concurrent batches that add to the same targets
// succeed and count everything once.
func TestLanes_ManyReaders(t *testing.T) {
	const readers, agents = 24, 240
	c := newCrowd(t, agents)
	var work errgroup.Group
	for i := range readers {
		var batch []tables.StreamRecord
		for j := i; j < len(c.records); j += readers {
			batch = append(batch, c.records[j])
		}
		work.Go(func() error { return c.reader().handle(t.Context(), batch) })
	}
	if err := work.Wait(); err != nil {
		t.Fatal(err)
	}
	lanes := c.hear(t)
	if len(lanes) == 0 || c.over.conflicts == 0 {
		t.Fatalf("many readers: got %d lane records and %d conflicts, want some of each", len(lanes), c.over.conflicts)
	}
	for rounds := 0; len(lanes) > 0; lanes = c.hear(t) {
		if rounds++; rounds > 50 {
			t.Fatal("lanes after 50 rounds: got more records, want none")
		}
		for range 2 {
			work.Go(func() error { return c.reader().handle(t.Context(), lanes) })
		}
		if err := work.Wait(); err != nil {
			t.Fatal(err)
		}
	}
	items, err := c.table.Get(t.Context(), tables.Strong, tables.PostCountersKey(channelName, "po_hot"), tables.CountersKey(author), tables.ChannelKey(channelName))
	if err != nil {
		t.Fatal(err)
	}
	for what, n := range map[string][2]int64{
		"score":                   {items[0].Int("score"), c.score},
		"replies":                 {items[0].Int("replies"), agents},
		"karma":                   {items[1].Int("karma"), c.score},
		"posts of the agent":      {items[1].Int("posts"), agents},
		"followers":               {items[1].Int("followers"), agents},
		"posts of the channel":    {items[2].Int("posts"), agents},
		"the channel's last post": {items[2].Int("last_post_at"), items[2].Int("created_at") + agents - 1},
	} {
		if n[0] != n[1] {
			t.Errorf("%s: got %d, want %d", what, n[0], n[1])
		}
	}
	if rank := items[0].Str("rank_sk"); rank != tables.BestSK(c.score, "po_hot") {
		t.Errorf("rank among the best: got %s, want that of the score %d", rank, c.score)
	}
}

// TestLanes_Move checks that a target gets exactly what was added to its lanes, even if
// additions and other moves come in between.
func TestLanes_Move(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		table, err := embedded.Open(embedded.Config{})
		if err != nil {
			t.Fatal(err)
		}
		defer table.Close()
		c := &crashing{Backend: table}
		f, other := newReader(&app.App{Table: c, Now: time.Now, Rand: rand.Reader}), newReader(&app.App{Table: table, Now: time.Now, Rand: rand.Reader})
		post := &tables.Post{ID: "po_1", Channel: channelName, Author: tables.Author{ID: author}, CreatedAt: 1}
		start := []tables.Write{
			tables.Put(post.CountersItem()), tables.Put(tables.CountersItem(author, &tables.Counters{})), tables.Put((&tables.Channel{Name: channelName, Kind: tables.KindWork}).Item()),
		}
		if err := table.Commit(t.Context(), tables.Tx{Writes: start}); err != nil {
			t.Fatal(err)
		}
		targets := map[string]target{
			"score": scoreTarget(channelName, post.ID), "karma": karmaTarget(author), "replies": repliesTarget(channelName, post.ID), "posts": f.agentTarget(author),
			"channel": f.channelTarget(channelName), "followers": followersTarget(tables.FollowAgent, author), "following": followingTarget(author),
			"channel's followers": followersTarget(tables.FollowChannel, channelName),
		}
		attr := map[string]string{"channel": "posts", "channel's followers": "followers"}
		want, last := map[string]int64{}, int64(0)
		for range rapid.IntRange(1, 40).Draw(t, "steps") {
			name := rapid.SampledFrom([]string{"score", "karma", "replies", "posts", "channel", "followers", "following", "channel's followers"}).Draw(t, "sum")
			to := targets[name]
			key := tables.LaneKey(to.key, to.lane.To, rapid.Int64Range(0, 2).Draw(t, "lane"))
			add := func() {
				n, at := rapid.Int64Range(-3, 3).Draw(t, "n"), int64(0)
				if name == "posts" || name == "channel" {
					at = rapid.Int64Range(0, 9).Draw(t, "at")
				}
				old, err := table.Get(t.Context(), tables.Strong, key)
				if err != nil {
					t.Fatal(err)
				}
				if err := table.Commit(t.Context(), tables.Tx{Writes: []tables.Write{to.lane.Add(key, old[0], n, at)}}); err != nil {
					t.Fatal(err)
				}
				want[name] += n
				if name == "channel" {
					last = max(last, at)
				}
			}
			if rapid.Bool().Draw(t, "add") {
				add()
				continue
			}
			c.others.Store(rapid.SampledFrom([]int64{0, 0, 0, 0, 0, 0, 1, directTries, 2 * directTries}).Draw(t, "refused"))
			record := tables.StreamRecord{Key: key, New: tables.Item{tables.AttrType: tables.TypeLane}}
			switch rapid.IntRange(0, 2).Draw(t, "meanwhile") {
			case 1:
				c.meanwhile = add
			case 2:
				c.meanwhile = func() {
					if err := other.handle(t.Context(), []tables.StreamRecord{record}); err != nil {
						t.Error(err)
					}
				}
			}
			c.once = sync.Once{}
			if err := f.handle(t.Context(), []tables.StreamRecord{record}); err != nil {
				t.Error(err)
			}
			c.meanwhile = nil
		}
		c.others.Store(0)
		for name, to := range targets {
			record := tables.StreamRecord{Key: tables.LaneKey(to.key, to.lane.To, 0), New: tables.Item{tables.AttrType: tables.TypeLane}}
			if err := f.handle(t.Context(), []tables.StreamRecord{record}); err != nil {
				t.Fatal(err)
			}
			items, err := table.Get(t.Context(), tables.Strong, to.key)
			if err != nil {
				t.Fatal(err)
			}
			a := attr[name]
			if a == "" {
				a = name
			}
			if got := items[0].Int(a); got != want[name] {
				t.Errorf("%s: got %d, want %d", name, got, want[name])
			}
			if got := items[0].Int("last_post_at"); name == "channel" && got != last {
				t.Errorf("the channel's last post: got %d, want %d", got, last)
			}
			if left, err := table.Query(t.Context(), tables.Lanes(record.Key.PK, to.lane.To)); err != nil || len(left.Items) > 0 {
				t.Errorf("lanes of %s: got %v, error %v; want neither", name, left.Items, err)
			}
		}
	})
}

// TestLanes_Wait checks that a lane whose move is refused waits without an error, and
// that its batch fails after too many waits.
func TestLanes_Wait(t *testing.T) {
	table, err := embedded.Open(embedded.Config{})
	if err != nil {
		t.Fatal(err)
	}
	defer table.Close()
	c := &crashing{Backend: table}
	f := newReader(&app.App{Table: c, Now: time.Now, Rand: rand.Reader})
	to := karmaTarget(author)
	key := tables.LaneKey(to.key, toKarma, 3)
	commit := func(w tables.Write) {
		t.Helper()
		if err := table.Commit(t.Context(), tables.Tx{Writes: []tables.Write{w}}); err != nil {
			t.Fatal(err)
		}
	}
	lane := func() tables.Item {
		items, err := table.Get(t.Context(), tables.Strong, key)
		if err != nil {
			t.Fatal(err)
		}
		return items[0]
	}
	commit(tables.Put(tables.CountersItem(author, &tables.Counters{})))
	commit(to.lane.Add(key, nil, 5, 0))
	move := func() error {
		c.others.Store(1 << 40)
		return f.handle(t.Context(), []tables.StreamRecord{{Key: key, New: lane()}})
	}
	if err := move(); err != nil || lane().Int("waits") != 1 {
		t.Errorf("a refused move: got %v and the lane %v, want no error and waits 1", err, lane())
	}
	commit(tables.Change(key, tables.SetAttr("waits", int64(waitsMost))))
	if err := move(); !errors.Is(err, tables.ErrConflict) {
		t.Errorf("a lane that waited too often: got %v, want %v", err, tables.ErrConflict)
	}
	commit(tables.Delete(to.key))
	c.others.Store(0)
	if err := f.handle(t.Context(), []tables.StreamRecord{{Key: key, New: lane()}}); err != nil || lane() != nil {
		t.Errorf("a lane without a target: got %v and the lane %v, want neither", err, lane())
	}
	if _, err := f.target(tables.Lane{To: "unheard of"}); err == nil {
		t.Error("a lane of an unknown sum: got no error")
	}
}

// TestMarksWait checks that reactions and helpful marks of a hot post wait without an
// error and are counted later. Votes do not wait.
func TestMarksWait(t *testing.T) {
	s := newFixture(t)
	defer s.table.Close()
	p := s.posts[0]
	s.react(p, "ag_d", someEmoji[0], true)
	s.thank(p, "ag_d")
	s.vote(p, "ag_d", 1)
	s.hear()
	c := &crashing{Backend: s.table}
	c.others.Store(1 << 40)
	if err := s.handle(c, s.came); err != nil {
		t.Fatal(err)
	}
	s.done = len(s.came)
	s.hear()
	types := map[string]int{}
	for _, r := range s.came[s.done:] {
		types[r.New.Str(tables.AttrType)]++
	}
	if types[tables.TypeReactions] != 1 || types[tables.TypeHelpful] != 1 || types[tables.TypeVoteCounted] != 1 || types[tables.TypeLane] != 2 {
		t.Errorf("records by type: got %v, want a reaction, a helpful mark, a counted vote, and two lanes", types)
	}
	tooOften := slices.DeleteFunc(slices.Clone(s.came[s.done:]), func(r tables.StreamRecord) bool { return r.New.Str(tables.AttrType) != tables.TypeReactions })
	tooOften[0].New = maps.Clone(tooOften[0].New)
	tooOften[0].New["waits"] = int64(waitsMost)
	if err := s.handle(c, tooOften); !errors.Is(err, tables.ErrConflict) {
		t.Errorf("a reaction that waited too often: got %v, want %v", err, tables.ErrConflict)
	}
	s.settle()
	s.checkPost(p, map[string]int64{})
	for _, key := range []tables.Key{tables.ReactionsKey(p.ID, "ag_d", p.Apart), tables.HelpfulKey(p.ID)} {
		if mark := s.get(key, &struct{}{}); mark["waits"] != nil {
			t.Errorf("counted mark: got %v, want it without the attribute %q", mark, "waits")
		}
	}
}

func TestSupportWaits(t *testing.T) {
	s := newFixture(t)
	defer s.table.Close()
	idea := &tables.Idea{ID: "id_1", By: tables.Author{ID: author}, Status: tables.IdeaOpen}
	for _, item := range idea.Items() {
		s.commit(tables.Put(item))
	}
	s.hear()
	s.came = nil
	s.commit((&tables.Support{Idea: idea.ID, By: "ag_d", On: true}).Give())
	s.hear()
	c := &crashing{Backend: s.table}
	c.others.Store(directTries)
	if err := s.handle(c, s.came); err != nil {
		t.Fatal(err)
	}
	s.done = len(s.came)
	s.settle()
	var k tables.IdeaCounters
	if s.get(tables.IdeaCountersKey(idea.ID), &k); k.Support != 1 || len(s.came) < 2 {
		t.Errorf("support of the idea: got %d after %d records, want 1 after at least 2", k.Support, len(s.came))
	}
}
