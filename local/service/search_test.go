package service_test

import (
	"context"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"agentsocial/events/deadlines"
	"agentsocial/local/service"
	"agentsocial/local/transcripts"
	"agentsocial/shared/search"
	"agentsocial/shared/search/index"
	"agentsocial/tables"
	"agentsocial/tables/embedded"
)

// searching changes a channel at random and knows what searches must find.
type searching struct {
	*running
	rng   *rand.Rand
	fox   *transcripts.Agent
	vocab []string
	posts []written // by id
	found int
}

type written struct {
	id, body string
	deleted  bool
	mine     bool // posted through the endpoint, and can be deleted there
}

// vocabulary returns n words, many of which share prefixes.
func vocabulary(rng *rand.Rand, n int) []string {
	letters := []rune("aabbcdeéßﬁ東京7")
	words := make([]string, n)
	for i := range words {
		w := make([]rune, 1+rng.IntN(4))
		for j := range w {
			w[j] = letters[rng.IntN(len(letters))]
		}
		words[i] = string(w)
	}
	return words
}

func (s *searching) words(most int) string {
	var b []string
	for range 1 + s.rng.IntN(most) {
		// The square of x makes some words common and most of them rare.
		x := s.rng.Float64()
		b = append(b, s.vocab[int(x*x*float64(len(s.vocab)))])
	}
	return strings.Join(b, " ")
}

func (s *searching) insert(p written) {
	i, _ := slices.BinarySearchFunc(s.posts, p, func(a, b written) int { return strings.Compare(a.id, b.id) })
	s.posts = slices.Insert(s.posts, i, p)
}

func (s *searching) step() {
	s.t.Helper()
	switch x := s.rng.IntN(100); {
	case x < 55:
		s.write()
	case x < 65:
		s.delete()
	case x < 70:
		s.late()
	case x < 78:
		s.advance(time.Duration(s.rng.IntN(60)) * time.Second)
	case x < 82:
		s.tick()
	default:
		s.check()
	}
}

func (s *searching) write() {
	in := map[string]string{"body": fmt.Sprintf("%s x%d", s.words(6), len(s.posts))}
	if len(s.posts) > 0 && s.rng.IntN(3) == 0 {
		if p := s.posts[s.rng.IntN(len(s.posts))]; !p.deleted {
			in["parent"] = p.id
		}
	}
	a := s.call(s.fox, "POST", "/v1/c/den/posts", encode(in))
	if a.Status != http.StatusCreated {
		s.t.Fatalf("posting: got %d %s, want %d", a.Status, a.Body, http.StatusCreated)
	}
	s.insert(written{id: a.Text("id"), body: in["body"], mine: true})
}

func (s *searching) delete() {
	if len(s.posts) == 0 {
		return
	}
	p := &s.posts[s.rng.IntN(len(s.posts))]
	if p.deleted || !p.mine {
		return
	}
	if a := s.call(s.fox, "DELETE", "/v1/c/den/posts/"+p.id, ""); a.Status != http.StatusOK {
		s.t.Fatalf("deleting: got %d %s, want %d", a.Status, a.Body, http.StatusOK)
	}
	p.deleted = true
}

// late adds a post with an older time, as after a slow commit. DynamoDB Local has another clock
// than the service, so late does nothing there.
func (s *searching) late() {
	if _, ok := s.table.(*embedded.Table); !ok {
		return
	}
	id := search.From(s.App.Now().Add(-31*time.Second - time.Duration(s.rng.IntN(300))*time.Second))
	binary.BigEndian.PutUint64(id[8:], s.rng.Uint64())
	p := &tables.Post{
		ID: index.PostID(id), Channel: "den", Author: tables.Author{ID: s.fox.ID}, Body: s.words(6), CreatedAt: id.Time().UnixMilli(),
	}
	s.put(tables.Put(p.Item()), tables.Put(p.CountersItem()))
	s.insert(written{id: p.ID, body: p.Body})
	s.drain() // a search finds it after the stream is processed
}

func (r *running) tick() {
	r.t.Helper()
	if a := r.call(nil, "POST", "/_local/tick", `{"name":"deadlines"}`); a.Status != http.StatusOK {
		r.t.Fatalf("tick: got %d %s, want %d", a.Status, a.Body, http.StatusOK)
	}
}

// check compares all pages of a search with a scan of all posts.
func (s *searching) check() {
	s.t.Helper()
	q := s.words(3)
	terms, err := search.Query(q)
	if err != nil {
		s.t.Fatal(err)
	}
	before := ""
	if len(s.posts) > 0 && s.rng.IntN(3) == 0 {
		before = s.posts[s.rng.IntN(len(s.posts))].id
	}
	var want, got []string
	for _, p := range slices.Backward(s.posts) {
		words := search.Words(p.body)
		lacks := func(t search.Term) bool {
			return !slices.ContainsFunc(words, func(w string) bool { return strings.HasPrefix(w, string(t)) })
		}
		if !p.deleted && (before == "" || p.id < before) && !slices.ContainsFunc(terms, lacks) {
			want = append(want, p.id)
		}
	}
	limit := 1 + s.rng.IntN(20)
	for page := before; ; {
		target := fmt.Sprintf("/v1/c/den/search?q=%s&limit=%d", url.QueryEscape(q), limit)
		if page != "" {
			target += "&before=" + page
		}
		a := s.call(nil, "GET", target, "")
		if a.Status != http.StatusOK {
			s.t.Fatalf("%s: got %d %s, want %d", target, a.Status, a.Body, http.StatusOK)
		}
		items, _ := a.At("items")
		for i := range items.([]any) {
			got = append(got, a.Text(fmt.Sprintf("items.%d.id", i)))
		}
		if a.Text("more") != "true" {
			break
		}
		page = a.Text("next_before")
	}
	if !slices.Equal(got, want) {
		s.t.Fatalf("%q before %q: got\n%v\nwant\n%v", q, before, got, want)
	}
	s.found += len(got)
}

// A search finds what a scan of all posts finds, despite faults of the stream and of the embedded
// table.
func TestSearch(t *testing.T) {
	t.Cleanup(search.Small())
	const seed = 1
	onBothStreaming(t, service.Config{
		Settings:     generous(),
		StreamFaults: service.StreamFaults{Seed: seed, Redeliver: .3, Shuffle: .5, Split: .5, Crash: .3},
	}, func(t *testing.T, r *running) {
		t.Parallel() // only with the other table's test
		steps, least := 300, 20
		e, ok := r.table.(*embedded.Table)
		if ok {
			e.SetFaults(embedded.Random(seed, embedded.Probabilities{Stale: .3, Conflict: .02, LostAnswer: .02}))
		} else {
			steps, least = steps/3, 5 // each step takes thirty times as long
		}
		s := &searching{running: r, rng: rand.New(rand.NewPCG(seed, 7)), fox: r.join("fox")}
		s.vocab = vocabulary(s.rng, 60)
		ch := &tables.Channel{Name: "den", Kind: tables.KindWork, CreatedAt: r.App.Now().UnixMilli()}
		r.put(tables.Put(ch.Item()))
		for range steps {
			s.step()
		}
		r.drain()
		for range 6 { // until all posts are sealed and merged
			r.advance(2 * time.Minute)
			r.tick()
			s.check()
		}
		for range 40 {
			s.check()
		}
		heads, err := index.Of(r.App, "den").Heads(t.Context(), search.Newest, 1000, true)
		if err != nil {
			t.Fatal(err)
		}
		if len(heads) < 2 || s.found < least {
			t.Errorf("at the end: got %d heads of segments and %d hits, want at least 2 and %d", len(heads), s.found, least)
		}
		r.noDeadLetters()
	})
}

// covered returns how many of a channel's posts are in live segments, and whether its
// index is due.
func (r *running) covered(channel string) (posts int, due bool) {
	r.t.Helper()
	heads, err := index.Of(r.App, channel).Heads(r.t.Context(), search.Newest, 1000, true)
	if err != nil {
		r.t.Fatal(err)
	}
	for _, h := range heads {
		if h.Live {
			posts += h.Posts
		}
	}
	item := r.item(tables.SealDueKey(channel))
	return posts, item != nil
}

// The schedule seals a burst of posts even if no post follows.
func TestSilentChannel(t *testing.T) {
	t.Parallel()
	onBothStreaming(t, unlimited(), func(t *testing.T, r *running) {
		fox := r.join("fox")
		for i := range 40 {
			a := r.call(fox, "POST", "/v1/c/lounge/posts", encode(map[string]string{"body": fmt.Sprint("burst ", i)}))
			if a.Status != http.StatusCreated {
				t.Fatalf("posting: got %d %s, want %d", a.Status, a.Body, http.StatusCreated)
			}
		}
		r.drain()
		// On a busy machine the first posts are old enough to be sealed by now.
		if posts, due := r.covered("lounge"); posts != 32 && !due {
			t.Fatalf("before the schedule: got %d sealed, not due; want due", posts)
		}
		r.advance(5 * time.Minute)
		for end := time.Now().Add(time.Minute); ; time.Sleep(50 * time.Millisecond) {
			posts, due := r.covered("lounge")
			if posts == 32 && !due {
				break
			}
			if time.Now().After(end) {
				t.Fatalf("sealed: got %d, due %v; want 32, not due", posts, due)
			}
		}
		if a := r.call(nil, "GET", "/v1/c/lounge/search?q=burst&limit=50", ""); !strings.HasPrefix(a.Text("items.39.body"), "burst ") {
			t.Errorf("searching for burst: got %.1000s, want 'burst ' at the start of items.39.body", a.Body)
		}
	})
}

type hesitant struct{ tables.Backend }

func (h hesitant) wait() { time.Sleep(time.Duration(rand.IntN(1000)) * time.Microsecond) }

func (h hesitant) Get(ctx context.Context, c tables.Consistency, keys ...tables.Key) ([]tables.Item, error) {
	h.wait()
	return h.Backend.Get(ctx, c, keys...)
}

func (h hesitant) Query(ctx context.Context, q tables.Query) (tables.Page, error) {
	h.wait()
	return h.Backend.Query(ctx, q)
}

func (h hesitant) Commit(ctx context.Context, tx tables.Tx) error {
	h.wait()
	return h.Backend.Commit(ctx, tx)
}

// A post may make a channel due again while a sweep finishes it.
func TestSweepsAndPostsMeet(t *testing.T) {
	t.Cleanup(search.Small())
	wrap := func(b tables.Backend) tables.Backend { return hesitant{b} }
	onBoth(t, service.Config{Settings: generous(), Wrap: wrap}, func(t *testing.T, r *running) {
		t.Parallel()
		sweep := deadlines.New(r.App).Handle
		for i := range r.rounds() {
			channel := fmt.Sprint("den-", i)
			den := index.Of(r.App, channel)
			if err := den.TendBy(t.Context(), r.App.Now()); err != nil {
				t.Fatal(err)
			}
			var work sync.WaitGroup
			for range 2 { // two runs of the schedule may overlap
				work.Go(func() {
					if err := sweep(t.Context()); err != nil {
						t.Error(err)
					}
				})
			}
			work.Go(func() {
				for j := range 3 {
					id := search.From(r.App.Now())
					id[8], id[15] = byte(j), 1
					p := &tables.Post{ID: index.PostID(id), Channel: channel, Body: "fox"}
					if err := r.App.Transact(t.Context(), tables.Put(p.Item())); err != nil {
						t.Error(err)
					}
				}
				if err := den.TendBy(t.Context(), r.App.Now().Add(search.SealAge)); err != nil {
					t.Error(err)
				}
			})
			work.Wait()
			if posts, due := r.covered(channel); posts == 0 && !due {
				t.Fatalf("round %d: posts are neither sealed nor due", i)
			}
		}
		r.advance(2 * time.Minute)
		left := make([]string, r.rounds())
		for i := range left {
			left[i] = fmt.Sprint("den-", i)
		}
		for end := time.Now().Add(time.Minute); ; time.Sleep(100 * time.Millisecond) { // the index of due items may lag
			if err := sweep(t.Context()); err != nil {
				t.Fatal(err)
			}
			left = slices.DeleteFunc(left, func(channel string) bool {
				posts, due := r.covered(channel)
				return posts == 3 && !due
			})
			if len(left) == 0 {
				break
			}
			if time.Now().After(end) {
				t.Fatalf("channels not sealed after a minute: got %v, want none", left)
			}
		}
	})
}
