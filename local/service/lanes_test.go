package service_test

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"agentsocial/local/service"
	"agentsocial/local/transcripts"
	"agentsocial/tables"
)

// contested refuses each write that adds to a sum directly, and the first four that move
// lanes. A lane is an item in which additions to a busy sum wait.
type contested struct {
	tables.Backend
	on     atomic.Bool
	direct atomic.Int64
	moves  atomic.Int64
}

func (c *contested) Commit(ctx context.Context, tx tables.Tx) error {
	if !c.on.Load() {
		return c.Backend.Commit(ctx, tx)
	}
	sum, lane := false, false
	for _, w := range tx.Writes {
		lane = lane || w.Op == tables.OpDelete && strings.HasPrefix(w.Key.SK, "LANE#")
		sum = sum || w.Op == tables.OpUpdate && (strings.HasSuffix(w.Key.SK, "+") || w.Key == tables.ChannelKey("lounge"))
	}
	if sum && !lane {
		c.direct.Add(1)
		return tables.ErrConflict
	}
	if lane && c.moves.Add(1) <= 4 {
		return tables.ErrConflict
	}
	return c.Backend.Commit(ctx, tx)
}

// Votes, replies and follows are each counted once, by way of lanes. The second post is
// like an older one, with all its votes in one partition.
func TestCrowdedPost(t *testing.T) {
	t.Parallel()
	var table *contested
	c := service.Config{Settings: generous(), Wrap: func(b tables.Backend) tables.Backend {
		table = &contested{Backend: b}
		return table
	}}
	onBothStreaming(t, c, func(t *testing.T, r *running) {
		fox := r.join("fox")
		var agents []*transcripts.Agent
		for i := range r.crowd(24) {
			agents = append(agents, r.join(fmt.Sprintf("fan%02d", i)))
		}
		r.advance(25 * time.Hour)
		posts := []string{r.asks(fox, "everybody votes on this", ""), r.asks(fox, "and on this", "")}
		r.put(tables.Change(tables.PostKey("lounge", postID(posts[1])), tables.RemoveAttr("apart")))
		r.drain()
		table.on.Store(true)
		var requests []*transcripts.Request
		score := []int64{0, 0}
		for i, a := range agents {
			v := 1 - 2*(i%5/4)
			score[i%2] += int64(v)
			requests = append(requests,
				r.request(a, "POST", posts[i%2]+"/vote", encode(map[string]int{"v": v})),
				r.request(a, "POST", "/v1/c/lounge/posts", encode(map[string]string{"body": "so do I, " + a.Name, "parent": postID(posts[i%2])})),
				r.request(a, "POST", "/v1/me/follow", encode(map[string]any{"kind": "agent", "target": "fox", "on": true})))
		}
		r.settled(requests...)
		for i, a := range agents { // each vote is stored and found where its post keeps votes
			r.want(r.call(a, "POST", posts[i%2]+"/vote", `{"v":0}`), 200, "")
			r.want(r.call(a, "POST", posts[i%2]+"/vote", encode(map[string]int{"v": 1 - 2*(i%5/4)})), 200, "")
			key := tables.VoteKey(postID(posts[i%2]), a.ID, i%2 == 0)
			if vote := r.item(key); vote.Int("changes") != 3 || r.item(tables.VoteKey(postID(posts[i%2]), a.ID, i%2 == 1)) != nil {
				t.Fatalf("the vote of %s: got %v, want it cast three times, and stored in one place", a.Name, vote)
			}
		}
		r.drain()
		r.noDeadLetters()
		if table.direct.Load() == 0 || table.moves.Load() < 5 {
			t.Errorf("got %d writes of sums and %d moves of lanes, want some writes, and at least 5 moves", table.direct.Load(), table.moves.Load())
		}
		var up int64 // down-votes of agents without karma take no karma away
		for i := range agents {
			if i%5 != 4 {
				up++
			}
		}
		for i, post := range posts {
			n := (len(agents) + 1 - i) / 2
			ans := r.call(nil, "GET", post, "")
			if ans.Text("score") != fmt.Sprint(score[i]) || ans.Text("replies") != fmt.Sprint(n) {
				t.Errorf("post %d: got score %s and %s replies, want %d and %d", i, ans.Text("score"), ans.Text("replies"), score[i], n)
			}
		}
		r.has(r.call(nil, "GET", "/v1/agents/fox", ""), "karma", fmt.Sprint(up), "followers", fmt.Sprint(len(agents)))
		r.has(r.call(nil, "GET", "/v1/c/lounge", ""), "channel.posts", fmt.Sprint(len(agents)+2))
	})
}

// The process that deletes a post refuses the next vote at once. Another process may
// remember a crowded post for a second.
func TestCrowd_Deletion(t *testing.T) {
	t.Parallel()
	processes(t, func(r, other *running, _ *metered) {
		fox, late := r.joinDirectly("fox"), r.joinDirectly("late")
		post := r.asks(fox, "everybody votes on this", "")
		for i := range 30 {
			a := r.joinDirectly(fmt.Sprintf("fan%d", i))
			for _, p := range []*running{r, other} {
				p.want(p.call(a, "POST", post+"/vote", `{"v":1}`), 200, "")
			}
		}
		r.want(r.call(fox, "DELETE", post, ""), 200, "")
		r.want(r.call(late, "POST", post+"/vote", `{"v":1}`), 410, "")
		other.want(other.call(late, "POST", post+"/vote", `{"v":1}`), 200, "") // this process still remembers the post
		time.Sleep(time.Second)
		other.want(other.call(late, "POST", post+"/vote", `{"v":-1}`), 410, "")
	})
}

// A deletion may be counted before the reply, post or follow, which still waits in a lane.
// Agents then see 0 instead of -1.
func TestCounts_NotBelowZero(t *testing.T) {
	t.Parallel()
	r := run(t, unlimited())
	fox := r.join("fox")
	open, gone := r.asks(fox, "one", ""), r.asks(fox, "two", "")
	r.want(r.call(fox, "DELETE", gone, ""), 200, "")
	r.drain()
	below := func(key tables.Key, counts ...string) {
		for _, count := range counts {
			r.put(tables.Change(key, tables.SetAttr(count, int64(-1))))
		}
	}
	below(tables.PostCountersKey("lounge", postID(open)), "replies")
	below(tables.PostCountersKey("lounge", postID(gone)), "replies")
	below(tables.ChannelKey("lounge"), "posts", "followers")
	below(tables.CountersKey(fox.ID), "posts", "followers", "following")
	r.has(r.call(nil, "GET", open, ""), "replies", "0")
	r.want(r.call(nil, "GET", gone, ""), 410, "deleted")
	r.has(r.call(nil, "GET", "/v1/c/lounge", ""), "channel.posts", "0", "channel.followers", "0", "items.0.id", postID(open), "items.0.replies", "0")
	r.has(r.call(nil, "GET", "/v1/agents/fox", ""), "posts", "0", "followers", "0", "following", "0")
	r.has(r.call(fox, "GET", "/v1/me", ""), "posts", "0", "followers", "0", "following", "0")
}

// Counting a mark resets its number of waits, so that its next change has all its tries.
func TestWaits_StartAnew(t *testing.T) {
	t.Parallel()
	var table *contested
	c := unlimited()
	c.Wrap = func(b tables.Backend) tables.Backend {
		table = &contested{Backend: b}
		return table
	}
	onBothStreaming(t, c, func(t *testing.T, r *running) {
		fox, owl := r.join("fox"), r.join("owl")
		post := r.asks(fox, "react to this", "")
		idea := r.want(r.callRetry(fox, "POST", "/v1/ideas", object("title", "An idea", "body", "It is one.", "force", true)), 201, "").Text("id")
		marks := []tables.Key{tables.ReactionsKey(postID(post), owl.ID, true), tables.SupportKey(idea, owl.ID)}
		for _, on := range []bool{true, false} {
			r.drain()
			table.on.Store(true)
			r.want(r.call(owl, "POST", post+"/react", encode(map[string]any{"emoji": "🦊", "on": on})), 200, "")
			r.want(r.call(owl, "POST", "/v1/ideas/"+idea+"/support", encode(map[string]bool{"on": on})), 200, "")
			for _, key := range marks {
				for end := time.Now().Add(time.Minute); r.item(key).Int("waits") < 2; time.Sleep(10 * time.Millisecond) {
					if time.Now().After(end) {
						t.Fatalf("on %t: got %v, want at least 2 waits", on, r.item(key))
					}
				}
			}
			table.on.Store(false)
			r.drain()
			for _, key := range marks {
				if mark := r.item(key); mark["waits"] != nil || !strings.HasSuffix(mark.Str(tables.AttrType), "_counted") {
					t.Errorf("on %t: got %v, want it counted, without waits", on, mark)
				}
			}
		}
	})
}
