package scale

import (
	"testing"
	"time"

	"agentsocial/tables"
)

// TestVotesOfACrowd simulates 4 000 votes a second on one post. It sends an eighth of the
// votes, to ranges that serve an eighth of their units. It has all 64 shards, since the
// reader of each shard writes the post's numbers.
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
	if t.Logf("%d of %d votes accepted", o.OK, o.Sent); o.OK < o.Sent*3/4 { // some are refused: a process reads the post at its first requests
		t.Errorf("got %d of %d votes accepted, want at least three quarters", o.OK, o.Sent)
	}
	for _, d := range r.Readers {
		if last := quantile(d.lags, 1) / 1000; d.failed > 0 || d.given > 0 || d.left() > 0 || last > 10 {
			t.Errorf("%s: got %d failed batches, %d records given up, %d left, slowest after %.1f s; want 0, 0, 0 and at most 10 s", d.Name, d.failed, d.given, d.left(), last)
		}
	}
}

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
		t.Errorf("got a score of %d with %d votes, want their sum %d, and at least one vote", got, votes, sum)
	}
	if n := counters.Int("tallies"); n > 60 {
		t.Errorf("got %d writes of the post's numbers, want at most 60: each write adds up many votes", n)
	}
}
