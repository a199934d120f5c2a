package service_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"agentsocial/local/transcripts"
	"agentsocial/shared/search"
	"agentsocial/tables"
)

// stuck is a table that writes no search segments until free is closed.
type stuck struct {
	tables.Backend
	free    chan struct{}
	tried   chan struct{}
	tryOnce sync.Once
}

func (s *stuck) Commit(ctx context.Context, tx tables.Tx) error {
	if k, head := tx.Writes[0].Key, tables.SearchHeadKey("lounge", ""); k.PK == head.PK && strings.HasPrefix(k.SK, head.SK) {
		s.tryOnce.Do(func() { close(s.tried) })
		<-s.free
	}
	return s.Backend.Commit(ctx, tx)
}

// A drain waits for the update of a channel's search index. The counting of posts does not wait.
func TestTending_DoesNotDelayCounts(t *testing.T) {
	t.Parallel()
	s := &stuck{free: make(chan struct{}), tried: make(chan struct{})}
	c := unlimited()
	c.Wrap = func(b tables.Backend) tables.Backend { s.Backend = b; return s }
	r := run(t, c)
	fox := r.join("fox")
	n := 0
	post := func(most int) {
		for range most {
			n++
			r.want(r.call(fox, "POST", "/v1/c/lounge/posts", encode(map[string]string{"body": fmt.Sprint("owl ", n)})), 201, "")
		}
	}
	post(20)
	r.advance(time.Minute) // now the posts are old enough for a segment
	var once sync.Once
	free := func() { once.Do(func() { close(s.free) }) }
	defer free()
	for tries := 0; ; tries++ { // only some posts start an update
		post(10)
		select {
		case <-s.tried:
		case <-time.After(200 * time.Millisecond):
			if tries < 50 {
				continue
			}
			t.Fatal("no post led to an update of the index")
		}
		break
	}
	post(10)
	for wait := 0; ; wait++ {
		items, err := r.App.Table.Get(t.Context(), tables.Strong, tables.ChannelKey("lounge"))
		if err != nil {
			t.Fatal(err)
		}
		if got := items[0].Int("posts"); got == int64(n) {
			break
		} else if wait > 500 {
			t.Fatalf("counted posts: got %d, want %d", got, n)
		}
		time.Sleep(20 * time.Millisecond)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	if err := r.Drain(ctx); err == nil {
		t.Error("the drain ended during the update of the index, want it to wait")
	}
	free()
	r.drain()
	page, err := r.App.Table.Query(t.Context(), tables.SearchHeads("lounge", search.Newest.String(), 10, tables.Strong))
	if err != nil || len(page.Items) == 0 {
		t.Errorf("after the drain: got %d segments, want at least one; %v", len(page.Items), err)
	}
}

// The matching post is older than many posts that are in no segment yet.
func TestFirstPageHasPosts(t *testing.T) {
	t.Parallel()
	r := run(t, unlimited())
	fox := r.join("fox")
	for n := range 100 {
		word := "owl"
		if n == 5 {
			word = "elk"
		}
		r.want(r.call(fox, "POST", "/v1/c/lounge/posts", encode(map[string]string{"body": fmt.Sprint(word, " number ", n)})), 201, "")
	}
	for _, caller := range []*transcripts.Agent{fox, nil} {
		a := r.want(r.call(caller, "GET", "/v1/c/lounge/search?q=elk", ""), 200, "")
		r.has(a, "items.len", "1")
	}
}
