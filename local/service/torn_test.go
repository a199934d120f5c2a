package service_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"agentsocial/local/service"
	"agentsocial/local/transcripts"
	"agentsocial/tables"
)

// torn is a table whose reads of several items are no snapshot, as in DynamoDB: some items are
// read first.
type torn struct {
	tables.Backend
	first func(tables.Key) bool
}

func guards(k tables.Key) bool { return strings.HasPrefix(k.PK, "G#") }

func (b torn) Get(ctx context.Context, c tables.Consistency, keys ...tables.Key) ([]tables.Item, error) {
	items := make([]tables.Item, len(keys))
	for _, first := range []bool{true, false} {
		for i, k := range keys {
			if b.first(k) != first {
				continue
			}
			got, err := b.Backend.Get(ctx, c, k)
			if err != nil {
				return nil, err
			}
			items[i] = got[0]
		}
		if first && len(keys) > 1 {
			time.Sleep(time.Millisecond)
		}
	}
	return items, nil
}

// A repeated request may read what the first one wrote, but not the record of the first.
func TestTornReads(t *testing.T) {
	t.Parallel()
	r := run(t, service.Config{
		Settings: generous(), Wrap: func(b tables.Backend) tables.Backend { return torn{b, guards} },
	})
	fox := r.join("fox")
	ready := r.App.Now().Add(-48 * time.Hour).UnixMilli()
	for i := range 40 {
		post := r.call(fox, "POST", "/v1/c/lounge/posts", encode(map[string]string{"body": fmt.Sprint("round ", i)}))
		err := r.table.Commit(t.Context(), tables.Tx{Writes: []tables.Write{tables.Change(tables.ProfileKey(fox.ID),
			tables.SetAttr("created_at", ready), tables.RemoveAttr("channel_at"), tables.SetAttr("channels_created", int64(0)))}})
		if err != nil {
			t.Fatal(err)
		}
		for _, q := range []*transcripts.Request{
			r.request(fox, "DELETE", "/v1/c/lounge/posts/"+post.Text("id"), ""),
			r.request(fox, "POST", "/v1/channels", encode(map[string]string{"name": fmt.Sprint("c-", i), "kind": "work"})),
		} {
			answers, n := r.together(slices.Repeat([]*transcripts.Request{q}, 6)...)
			if n[200]+n[201] != 6 {
				t.Fatalf("round %d, %s %s: got outcomes %v, want 6 × 200 or 201; the last answer is %s", i, q.Method, q.Target, n, answers[len(answers)-1].Body)
			}
		}
	}
}

// The stream counts votes and support while they are sent again. Each counts once.
func TestRaceOfAskingAgain(t *testing.T) {
	t.Parallel()
	orders := map[string]func(tables.Key) bool{
		"numbers first": func(k tables.Key) bool { return strings.HasSuffix(k.SK, "+") },
		"marks first": func(k tables.Key) bool {
			return strings.HasPrefix(k.SK, "SUPPORT#") || strings.HasPrefix(k.SK, "VOTE#")
		},
	}
	for name, first := range orders {
		onBothStreaming(t, service.Config{
			Settings: generous(), Wrap: func(b tables.Backend) tables.Backend { return torn{b, first} },
		}, func(t *testing.T, r *running) {
			t.Log(name)
			askingAgain(t, r)
		})
	}
}

func askingAgain(t *testing.T, r *running) {
	fox, owl, elk := r.join("fox"), r.join("owl"), r.join("elk")
	idea, post := r.suggests(fox), r.asks(fox, "what do you think?", "")
	support := func(on bool) *transcripts.Request {
		return r.request(owl, "POST", "/v1/ideas/"+idea+"/support", encode(map[string]bool{"on": on}))
	}
	vote := func(v int) *transcripts.Request {
		return r.request(owl, "POST", post+"/vote", encode(map[string]int{"v": v}))
	}
	r.call(elk, "POST", "/v1/ideas/"+idea+"/support", "")
	r.call(elk, "POST", post+"/vote", `{"v":1}`)
	r.drain()
	for i := range min(r.rounds(), 40) {
		on, v := i%2 == 0, i%3-1
		wanted, score := 1, fmt.Sprint(1+v)
		if on {
			wanted++
		}
		said, cast := support(on), vote(v)
		for _, requests := range [][]*transcripts.Request{
			{said, cast}, {said, cast, support(on), vote(v)}, {said, cast, support(on), vote(v)},
		} {
			answers, n := r.together(requests...)
			if n[200] != len(answers) {
				t.Fatalf("round %d: got outcomes %v, want %d × 200", i, n, len(answers))
			}
			for j, ans := range answers {
				if j%2 == 0 && ans.Text("support") != fmt.Sprint(wanted) || j%2 == 1 && ans.Text("score") != score {
					t.Fatalf("round %d: got %s, want support %d or score %s", i, ans.Body, wanted, score)
				}
			}
		}
	}
	r.drain()
}
