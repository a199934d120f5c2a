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

// torn is a table whose reads of several items are no snapshot, as DynamoDB's
// are none: guards are read first, and time passes before the rest.
type torn struct{ tables.Backend }

func (b torn) Get(ctx context.Context, c tables.Consistency, keys ...tables.Key) ([]tables.Item, error) {
	items := make([]tables.Item, len(keys))
	for _, guards := range []bool{true, false} {
		for i, k := range keys {
			if strings.HasPrefix(k.PK, "G#") != guards {
				continue
			}
			got, err := b.Backend.Get(ctx, c, k)
			if err != nil {
				return nil, err
			}
			items[i] = got[0]
		}
		if guards && len(keys) > 1 {
			time.Sleep(time.Millisecond)
		}
	}
	return items, nil
}

// TestTornReads sends the same signed bytes several times at once, where a
// request may see the effect of its twin and not its record: all answer as the
// first does.
func TestTornReads(t *testing.T) {
	r := run(t, service.Config{
		Settings: generous(), Wrap: func(b tables.Backend) tables.Backend { return torn{b} },
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
				t.Fatalf("round %d, %s %s: %v, %s", i, q.Method, q.Target, n, answers[len(answers)-1].Body)
			}
		}
	}
}
