package scale

import (
	"testing"
	"time"

	"agentsocial/tables"
)

// TestVotesOfACrowd sends 4 000 votes a second to one post, besides the usual load, in a network
// with 64 shards of the stream. Most votes must be accepted, and each counted once,
// within seconds. It simulates an eighth of the votes, on ranges that serve an eighth of
// their units. All shards are there, so as many readers as in the whole network write the
// post's numbers.
func TestVotesOfACrowd(t *testing.T) {
	const slice = 8
	limits := AWS
	limits.Writes, limits.Reads = limits.Writes/slice, limits.Reads/slice
	s := Scenario{
		Name: "crowd", Slice: 1, Agents: 300, Circle: 50, Ranges: 64, For: 3 * time.Second, limits: &limits,
		Flows: append(habits(100_000/slice, 1), votes(4000/slice)),
		after: func(w *world) { checkVotes(t, w) },
	}
	r := play(t, s, 7)
	o := r.Requests["votes"]
	if t.Logf("%d of %d votes accepted", o.OK, o.Sent); o.OK < o.Sent*3/4 { // the first requests of a process read the post
		t.Errorf("got %d of %d votes accepted, want at least three quarters", o.OK, o.Sent)
	}
	for _, d := range r.Readers {
		if last := quantile(d.lags, 1) / 1000; d.failed > 0 || d.given > 0 || d.left() > 0 || last > 10 {
			t.Errorf("%s: %d batches failed, %d records were given up, %d are left, the latest took %.1f s; want none, none, none and at most 10 s", d.Name, d.failed, d.given, d.left(), last)
		}
	}
}

// checkVotes checks that the hot post's score is the sum of its votes, that each vote is
// counted, and that few writes to the post counted them.
func checkVotes(t *testing.T, w *world) {
	get := func(k tables.Key) tables.Item {
		items, err := w.model.below.Get(t.Context(), tables.Strong, k)
		if err != nil {
			t.Fatal(err)
		}
		return items[0]
	}
	var sum int64
	votes := 0
	for _, a := range w.people {
		if v := get(tables.VoteKey(w.hot.id, a.ID, true)); v != nil {
			votes++
			if sum += v.Int("v"); v.Str(tables.AttrType) != tables.TypeVoteCounted {
				t.Errorf("the vote %v is not counted", v)
			}
		}
	}
	counters := get(tables.PostCountersKey(w.hot.channel, w.hot.id))
	if got := counters.Int("score"); votes == 0 || got != sum {
		t.Errorf("got a score of %d, want %d, the sum of %d votes", got, sum, votes)
	}
	if n := counters.Int("tallies"); n > 60 {
		t.Errorf("the post's numbers were written %d times for marks, want at most 60: the reader of their shard adds many up in one write", n)
	}
}
