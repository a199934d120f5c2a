package conformance

import (
	"context"
	"fmt"
	"testing"
	"time"

	"agentsocial/tables"
)

// RunFeed tests a backend's change feed. open makes an empty table and has the
// test close it.
func RunFeed(t *testing.T, open func(*testing.T) (tables.Backend, tables.Feed)) {
	t.Run("changes", func(t *testing.T) { testFeed(t, open) })
	t.Run("resumed", func(t *testing.T) { testResumedFeed(t, open) })
}

// feedWait bounds the wait for a change, which DynamoDB Local reports some time
// after the write.
const feedWait = 250 * time.Millisecond

// follow reads a feed until each shard is done or returns no changes.
func follow(ctx context.Context, f tables.Feed) ([]tables.StreamRecord, error) {
	shards, err := f.Shards(ctx)
	if err != nil {
		return nil, err
	}
	var all []tables.StreamRecord
	for _, s := range shards {
		after := ""
		for quiet := false; !quiet; {
			changes, done, err := f.Changes(ctx, s.ID, after, 100, feedWait)
			if err != nil {
				return nil, err
			}
			quiet = len(changes) == 0
			if len(changes) > 0 {
				after = changes[len(changes)-1].Seq
			}
			all = append(all, changes...)
			if done {
				break
			}
		}
	}
	return all, nil
}

// change has those fields of a record that are the same in every run.
type change struct {
	Event    string
	Key      tables.Key
	Old, New tables.Item
}

func byKey(records []tables.StreamRecord) map[tables.Key][]change {
	out := map[tables.Key][]change{}
	for _, r := range records {
		out[r.Key] = append(out[r.Key], change{r.Event, r.Key, r.Old, r.New})
	}
	return out
}

func testFeed(t *testing.T, open func(*testing.T) (tables.Backend, tables.Feed)) {
	b, f := open(t)
	one, two := k("a", "1"), k("b", "2")
	full := item(one, "n", int64(1), "b", []byte{0, 1}, "e", "", "s", tables.NewSet("x", "y"),
		"m", tables.Map{"l": tables.List{int64(1), false}}, "rank_pk", "r", "rank_sk", "s")
	mustCommit(t, b, tables.Put(full))
	// These four commits change nothing.
	mustCommit(t, b, tables.Put(full))
	mustCommit(t, b, tables.Change(one, tables.SetAttr("n", int64(1))))
	mustCommit(t, b, tables.Change(one, tables.RemoveAttr("none")))
	mustCommit(t, b, tables.Delete(k("none", "1")))

	mustCancel(t, b, []tables.Reason{{Failed: true, Old: full}, {}}, tables.Delete(one, tables.NoItem()), tables.Put(item(two)))
	mustCommit(t, b, tables.Change(one, tables.RemoveAttr("b"), tables.RemoveAttr("m"), tables.RemoveAttr("s")))
	small := item(one, "n", int64(1), "e", "", "rank_pk", "r", "rank_sk", "s")
	mustCommit(t, b, tables.Delete(one), tables.Put(item(two, "v", "x")), tables.Check(k("none", "1"), tables.NoItem()))
	token := tables.Tx{Token: "t", Writes: []tables.Write{tables.Change(two, tables.Add("n", 1))}}
	for range 2 {
		if err := b.Commit(t.Context(), token); err != nil {
			t.Fatal(err)
		}
	}
	mustCommit(t, b, tables.Put(item(one)))

	records, err := follow(t.Context(), f)
	if err != nil {
		t.Fatal(err)
	}
	same(t, "changes", byKey(records), map[tables.Key][]change{
		one: {
			{"INSERT", one, nil, full},
			{"MODIFY", one, full, small},
			{"REMOVE", one, small, nil},
			{"INSERT", one, nil, item(one)},
		},
		two: {
			{"INSERT", two, nil, item(two, "v", "x")},
			{"MODIFY", two, item(two, "v", "x"), item(two, "v", "x", "n", int64(1))},
		},
	})
	for _, r := range records {
		if r.Shard == "" || r.Seq == "" || r.Expired || r.At.IsZero() {
			t.Errorf("got record %+v, want shard, seq and time, not expired", r)
		}
	}
}

func testResumedFeed(t *testing.T, open func(*testing.T) (tables.Backend, tables.Feed)) {
	b, f := open(t)
	const n = 12
	key := k("a", "1")
	for i := range n {
		mustCommit(t, b, tables.Put(item(key, "n", int64(i))))
	}
	shards, err := f.Shards(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, limit := range []int{1, 5, n, 1000} {
		var got []int64
		for _, s := range shards {
			after := ""
			for range 3 * n {
				changes, done, err := f.Changes(t.Context(), s.ID, after, limit, feedWait)
				if err != nil {
					t.Fatal(err)
				}
				if len(changes) > limit {
					t.Errorf("changes of one call: got %d, want at most %d", len(changes), limit)
				}
				for _, c := range changes {
					got = append(got, c.New.Int("n"))
					after = c.Seq
				}
				if done || len(got) == n {
					break
				}
			}
		}
		want := make([]int64, n)
		for i := range want {
			want[i] = int64(i)
		}
		same(t, fmt.Sprintf("limit %d", limit), got, want)
	}

	t.Run("from the middle and from the end", func(t *testing.T) {
		records, err := follow(t.Context(), f)
		if err != nil || len(records) != n {
			t.Fatalf("records of the whole feed: got %d, error %v; want %d", len(records), err, n)
		}
		middle := records[n/2]
		changes, _, err := f.Changes(t.Context(), middle.Shard, middle.Seq, 1, feedWait)
		if err != nil || len(changes) != 1 || changes[0].New.Int("n") != n/2+1 {
			t.Fatalf("after the middle: got %v, %v; want change %d", changes, err, n/2+1)
		}
		last := records[n-1]
		changes, _, err = f.Changes(t.Context(), last.Shard, last.Seq, 1, 0)
		if err != nil || len(changes) != 0 {
			t.Fatalf("after the last: got %v, %v; want no changes", changes, err)
		}
		mustCommit(t, b, tables.Delete(key))
		deadline := time.Now().Add(time.Minute)
		for len(changes) == 0 && time.Now().Before(deadline) {
			if changes, _, err = f.Changes(t.Context(), last.Shard, last.Seq, 10, feedWait); err != nil {
				t.Fatal(err)
			}
		}
		if len(changes) != 1 || changes[0].Event != "REMOVE" {
			t.Errorf("after a deletion: got %v, want one REMOVE", changes)
		}
	})
}
