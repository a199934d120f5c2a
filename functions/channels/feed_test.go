package channels

import (
	"encoding/json"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"agentsocial/shared/wire"
	"agentsocial/shared/wire/view"
	"agentsocial/tables"
	"agentsocial/tables/id"
)

func (f *fixture) addBody(t *testing.T, body string) (post string) {
	t.Helper()
	f.now = f.now.Add(time.Second)
	p := &tables.Post{ID: id.Post.New(f.now, rand.NewChaCha8([32]byte{})), Channel: inChannel, Author: tables.Author{ID: "ag_x"}, Body: body, CreatedAt: f.now.UnixMilli()}
	f.commit(t, tables.Put(p.Item()), tables.Put(p.CountersItem()))
	return p.ID
}

func TestFeed_Bytes(t *testing.T) {
	const each = 200 << 10 / 50
	for last, want := range map[int]int{each: 50, each + 1: 49} {
		f := newFixture(t, time.Date(2026, 11, 21, 13, 0, 0, 0, time.UTC))
		defer f.close()
		f.addBody(t, strings.Repeat("x", last)) // the oldest is the last of the page
		for range 49 {
			f.addBody(t, strings.Repeat("x", each))
		}
		page, err := f.feed(t.Context(), &feedIn{Ch: inChannel})
		if err != nil {
			t.Fatal(err)
		}
		var got wire.Feed
		if err := json.Unmarshal(page.Body, &got); err != nil {
			t.Fatal(err)
		}
		if len(got.Items) != want || (got.NextURL != "") != (want < 50) {
			t.Errorf("50 posts, the oldest of %d bytes: got %d posts on the page and next %q, want %d posts, and next only if some are left", last, len(got.Items), got.NextURL, want)
		}
	}
}

func TestPage_BoundedReads(t *testing.T) {
	f := newFixture(t, time.Date(2026, 11, 21, 13, 0, 0, 0, time.UTC))
	defer f.close()
	kept := f.addBody(t, "kept")
	for range 50 {
		f.addBody(t, "left out")
	}
	read := &counting{Backend: f.Table}
	f.Table = read
	var found []string
	for before, pages := "", 0; ; pages++ {
		read.queries = 0
		l, err := f.newest(t.Context(), tables.Strong, inChannel, before, 1, func(p *view.Post) bool { return p.ID == kept })
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range l.items {
			found = append(found, p.ID)
		}
		if l.next == "" {
			break
		}
		if read.queries != 4 || pages > 50 {
			t.Fatalf("page %d: got %d queries, want 4, and at most 50 pages", pages, read.queries)
		}
		before = l.next
	}
	if len(found) != 1 || found[0] != kept {
		t.Errorf("posts: got %v, want only %s", found, kept)
	}
}
