package service_test

import (
	"bytes"
	"cmp"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mmcdole/gofeed"

	"agentsocial/shared/wire"
	"agentsocial/tables"
	"agentsocial/tables/id"
)

func rankedPost(p *tables.Post, rank int64) []tables.Write {
	counters := p.CountersItem()
	counters["score"], counters["rank_sk"] = rank, tables.BestSK(rank, p.ID)
	return []tables.Write{tables.Put(p.Item()), tables.Put(counters)}
}

type list struct {
	Items      []wire.Post `json:"items"`
	More       bool        `json:"more"`
	NextBefore string      `json:"next_before"`
}

func (r *running) walk(target string, limit int) (ids []string, pages int) {
	r.t.Helper()
	before := ""
	for {
		ans := r.call(nil, "GET", fmt.Sprintf("%s&limit=%d%s", target, limit, before), "")
		var l list
		decode(r.t, ans, &l)
		if ans.Status != 200 || l.More != (l.NextBefore != "") || len(l.Items) > limit {
			r.t.Fatalf("%s: got %d, %d posts, more %v, next_before %q; want 200, at most %d, and a cursor if there is more; the body is %.300s",
				target, ans.Status, len(l.Items), l.More, l.NextBefore, limit, ans.Body)
		}
		pages++
		for _, p := range l.Items {
			ids = append(ids, p.ID)
		}
		if !l.More {
			return ids, pages
		}
		before = "&before=" + l.NextBefore
	}
}

func TestBestOfDays(t *testing.T) {
	t.Parallel()
	onBoth(t, unlimited(), func(t *testing.T, r *running) {
		random := rand.New(rand.NewPCG(5, 5))
		ids := rand.NewChaCha8([32]byte{5})
		type ranked struct {
			*tables.Post
			rank int64
		}
		midnight := r.App.Now().UTC().Truncate(24 * time.Hour)
		var posts []ranked
		var writes []tables.Write
		for i := range 300 {
			at := midnight.AddDate(0, 0, -random.IntN(33)).Add(time.Duration(random.IntN(3)) * (12*time.Hour - 1e6/2))
			p := &tables.Post{ID: id.Post.New(at, ids), Channel: "ops", Body: fmt.Sprint("post ", i), CreatedAt: at.UnixMilli(), Author: tables.Author{ID: "ag_x"}}
			posts = append(posts, ranked{p, int64(random.IntN(9) - 3)})
			writes = append(writes, rankedPost(p, posts[i].rank)...)
			if other := *p; i%3 == 0 { // a post of another channel, which must not appear
				other.Channel = "tools"
				writes = append(writes, rankedPost(&other, 1000)...)
			}
		}
		r.putAll(writes...)
		slices.SortFunc(posts, func(a, b ranked) int { return cmp.Or(cmp.Compare(b.rank, a.rank), cmp.Compare(b.ID, a.ID)) })
		for _, days := range []int{1, 2, 7, 30} {
			var want []string
			for _, p := range posts {
				if at := time.UnixMilli(p.CreatedAt); !at.Before(midnight.AddDate(0, 0, 1-days)) {
					want = append(want, p.ID)
				}
			}
			for _, limit := range []int{1, 7, 100} {
				if limit == 1 && days > 2 {
					continue
				}
				if got, _ := r.walk(fmt.Sprint("/v1/c/ops/best?days=", days), limit); !slices.Equal(got, want) {
					t.Errorf("%d days, %d a page: got %d posts, want %d\n got %v\nwant %v", days, limit, len(got), len(want), got, want)
				}
			}
		}
	})
}

// Pages are full, however many replies are in between.
func TestPageWithoutReplies(t *testing.T) {
	t.Parallel()
	onBoth(t, unlimited(), func(t *testing.T, r *running) {
		ids := rand.NewChaCha8([32]byte{6})
		at := r.App.Now()
		var want []string
		var writes []tables.Write
		post := func(parent string) *tables.Post {
			at = at.Add(time.Millisecond)
			p := &tables.Post{ID: id.Post.New(at, ids), Channel: "ops", Parent: parent, Root: parent, Body: "x", CreatedAt: at.UnixMilli(), Author: tables.Author{ID: "ag_x"}}
			writes = append(writes, rankedPost(p, 0)...)
			return p
		}
		for i := range 13 {
			root := post("")
			want = append(want, root.ID)
			for range i * 20 % 260 {
				post(root.ID)
			}
		}
		r.putAll(writes...)
		slices.Reverse(want)
		for limit, pages := range map[int]int{1: 13, 4: 4, 13: 1, 100: 1} {
			got, n := r.walk("/v1/c/ops?replies=false", limit)
			if !slices.Equal(got, want) || n != pages {
				t.Errorf("%d a page: got %d pages, want %d\n got %v\nwant %v", limit, n, pages, got, want)
			}
		}
	})
}

// The channel shows a tombstone while the post has replies.
func TestDeletedPostsVanishAtOnce(t *testing.T) {
	t.Parallel()
	onBothStreaming(t, unlimited(), func(t *testing.T, r *running) {
		fox := r.join("fox")
		for i := range 5 {
			post := r.callRetry(fox, "POST", "/v1/c/ops/posts", encode(map[string]string{"body": fmt.Sprint("post ", i)}))
			at := post.Text("id")
			r.callRetry(fox, "POST", "/v1/c/ops/posts", encode(map[string]string{"body": fmt.Sprint("reply ", i), "parent": at}))
			r.drain()
			has := func(target string) bool {
				return bytes.Contains(r.call(nil, "GET", target, "").Body, []byte("/posts/"+at+`"`))
			}
			for _, target := range []string{"/v1/c/ops/best?limit=100", "/v1/c/ops/feed.json", "/v1/c/ops"} {
				if !has(target) {
					t.Fatalf("%s lacks post %s", target, at)
				}
			}
			r.want(r.call(fox, "DELETE", "/v1/c/ops/posts/"+at, ""), 200, "")
			for target, want := range map[string]bool{
				"/v1/c/ops/best?limit=100": false, "/v1/c/ops/feed.json": false, "/v1/c/ops": true, "/v1/c/ops?replies=false": true,
			} {
				if has(target) != want {
					t.Errorf("round %d: post in %s: got %v, want %v", i, target, !want, want)
				}
			}
		}
	})
}

// A library for feed readers reads a channel's feed to its end.
func TestFeed(t *testing.T) {
	t.Parallel()
	r := run(t, unlimited())
	fox := r.join("fox")
	bodies := map[string]string{} // by id
	for i := range 123 {
		body := fmt.Sprintf("post %d <b>& \"so\" on</b> 🦊", i)
		post := r.call(fox, "POST", "/v1/c/haiku/posts", encode(map[string]string{"body": body}))
		if i%5 != 0 {
			bodies[post.Text("id")] = body
		} else if a := r.call(fox, "DELETE", "/v1/c/haiku/posts/"+post.Text("id"), ""); a.Status != 200 {
			t.Fatalf("deleting a post: got %s, want 200", a.Body)
		}
	}
	var want []string
	for _, post := range slices.Backward(slices.Sorted(maps.Keys(bodies))) { // newest first
		want = append(want, bodies[post])
	}
	var got []string
	seen := map[string]bool{}
	for next := r.URL + "/v1/c/haiku/feed.json"; next != ""; {
		ans := r.call(nil, "GET", strings.TrimPrefix(next, r.URL), "")
		if ans.Status != 200 || ans.Header.Get("Content-Type") != "application/feed+json" {
			t.Fatalf("%s: got %d %s %.200s, want 200 and a feed", next, ans.Status, ans.Header.Get("Content-Type"), ans.Body)
		}
		if err := checkFeed(ans.Body); err != nil {
			t.Fatalf("%s: %v", next, err)
		}
		feed, err := gofeed.NewParser().Parse(bytes.NewReader(ans.Body))
		if err != nil {
			t.Fatal(err)
		}
		if feed.FeedType != "json" || feed.FeedVersion != "https://jsonfeed.org/version/1.1" || feed.Title != "haiku" || feed.FeedLink != r.URL+"/v1/c/haiku/feed.json" || len(feed.Items) > 50 {
			t.Errorf("%s: got %+v, want a JSON feed of the channel with at most 50 items", next, feed)
		}
		for _, item := range feed.Items {
			got = append(got, item.Content)
			published := item.PublishedParsed
			if published == nil || published.Sub(r.App.Now()).Abs() > time.Hour || len(item.Authors) != 1 || item.Authors[0].Name != "fox" || item.GUID != item.Link {
				t.Errorf("%s: got the item %+v, want a new one by fox with its link as id", next, item)
			}
			if a := r.call(nil, "GET", strings.TrimPrefix(item.Link, r.URL), ""); a.Status != 200 || a.Text("body") != item.Content {
				t.Errorf("%s: got %d, want the post", item.Link, a.Status)
			}
		}
		seen[next] = true
		var links struct {
			Next string `json:"next_url"`
		}
		if decode(t, ans, &links); seen[links.Next] {
			t.Fatalf("got the next_url %s of an earlier page, want another", links.Next)
		}
		next = links.Next
	}
	if len(seen) != 2 || !slices.Equal(got, want) {
		t.Errorf("feed: got %d pages, want 2\n got %q\nwant %q", len(seen), got, want)
	}
}

// A page has fewer posts if they are long. No post is lost between pages.
func TestFeedOfLongPosts(t *testing.T) {
	t.Parallel()
	r := run(t, unlimited())
	ids := rand.NewChaCha8([32]byte{7})
	at := r.App.Now()
	var writes []tables.Write
	for range 60 {
		at = at.Add(time.Millisecond)
		p := &tables.Post{ID: id.Post.New(at, ids), Channel: "ops", Body: strings.Repeat("語", 4000), CreatedAt: at.UnixMilli(), Author: tables.Author{ID: "ag_x", Handle: "x"}}
		writes = append(writes, rankedPost(p, 0)...)
	}
	r.putAll(writes...)
	n := 0
	for next := r.URL + "/v1/c/ops/feed.json"; next != ""; {
		ans := r.call(nil, "GET", strings.TrimPrefix(next, r.URL), "")
		var feed struct {
			NextURL string `json:"next_url"`
			Items   []any
		}
		decode(t, ans, &feed)
		if len(ans.Body) > 250_000 || len(feed.Items) == 0 {
			t.Fatalf("a page of the feed: got %d bytes with %d items, want at most 250000 with at least one", len(ans.Body), len(feed.Items))
		}
		n, next = n+len(feed.Items), feed.NextURL
	}
	if n != 60 {
		t.Errorf("posts: got %d, want 60", n)
	}
}

// A channel that becomes active while a caller pages is found at most once.
func TestManyChannels(t *testing.T) {
	t.Parallel()
	onBoth(t, unlimited(), func(t *testing.T, r *running) {
		many := 5000
		if r.rounds() < 100 { // DynamoDB Local, or -short
			many = 500
		}
		if a := r.call(nil, "GET", "/v1/channels", ""); a.Status != 200 { // creates the default channels
			t.Fatalf("GET /v1/channels: got %d, want 200", a.Status)
		}
		began := r.App.Now().Add(-100 * 24 * time.Hour)
		made := map[string]*tables.Channel{}
		var writes []tables.Write
		for i := range many {
			ch := &tables.Channel{
				Name: fmt.Sprintf("many-%04d", i), Kind: []string{tables.KindWork, tables.KindLeisure}[i%2],
				CreatedAt: began.UnixMilli(), LastPostAt: began.Add(time.Duration(i*7919%many) * 20 * time.Minute).UnixMilli(),
			}
			made[ch.Name] = ch
			if i%3 == 0 { // from before the directory had items of its own
				ch.Place = tables.ActivitySK(time.UnixMilli(ch.LastPostAt), ch.Name)
				item := ch.Item()
				item["rank_pk"] = tables.ChannelsPK(ch.Kind)
				writes = append(writes, tables.Put(item))
				continue
			}
			writes = append(writes, ch.Create(nil)...)
		}
		r.putAll(writes...)
		random := rand.New(rand.NewPCG(8, 8))
		for _, c := range []struct {
			query string
			want  int
			move  bool
		}{{"?limit=100", many + 10, false}, {"?kind=work&limit=97", many/2 + 6, false}, {"?kind=leisure", many/2 + 4, true}, {"?limit=99", many + 10, true}} {
			moved, seen, pages := map[string]bool{}, map[string]bool{}, 0
			before := ""
			for {
				ans := r.call(nil, "GET", "/v1/channels"+c.query+before, "")
				var l struct {
					Work, Leisure []wire.Channel
					More          bool
					NextBefore    string `json:"next_before"`
				}
				decode(t, ans, &l)
				if ans.Status != 200 || l.More != (l.NextBefore != "") {
					t.Fatalf("%s, page %d: got %d, more %v, next_before %q; want 200, and a cursor if there is more; the body is %.200s",
						c.query, pages, ans.Status, l.More, l.NextBefore, ans.Body)
				}
				pages++
				for _, ch := range slices.Concat(l.Work, l.Leisure) {
					if seen[ch.Name] {
						t.Fatalf("%s: %s appears twice", c.query, ch.Name)
					}
					seen[ch.Name] = true
				}
				if !l.More {
					break
				}
				before = "&before=" + l.NextBefore
				if c.move {
					ch := made[fmt.Sprintf("many-%04d", random.IntN(many))]
					if moved[ch.Name] {
						continue
					}
					at := r.App.Now().Add(time.Duration(pages) * time.Hour).UnixMilli()
					r.put(ch.AddPosts(1, at)...)
					ch.LastPostAt, moved[ch.Name] = at, true
				}
			}
			missing := 0
			for name, ch := range made {
				if strings.Contains(c.query, "kind="+ch.Kind) || !strings.Contains(c.query, "kind=") {
					if !seen[name] && !moved[name] {
						missing++
					}
				}
			}
			if missing > 0 || len(seen) < c.want-len(moved) || len(seen) > c.want {
				t.Errorf("%s: got %d of %d channels, with %d moved and %d missing; want all that did not move", c.query, len(seen), c.want, len(moved), missing)
			}
		}
	})
}

func TestFeedUnchanged(t *testing.T) {
	t.Parallel()
	r := run(t, unlimited())
	first := r.call(nil, "GET", "/v1/c/haiku/feed.json", "")
	q := r.request(nil, "GET", "/v1/c/haiku/feed.json", "")
	q.Header = http.Header{"If-None-Match": {first.Header.Get("Etag")}}
	if a := r.send(q); a.Status != 304 || len(a.Body) != 0 {
		t.Errorf("with the ETag: got %d %s, want 304 without a body", a.Status, a.Body)
	}
}
