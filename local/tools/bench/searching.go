package bench

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/url"
	"strings"
	"sync"
	"time"

	"agentsocial/events/deadlines"
	"agentsocial/events/tally"
	"agentsocial/shared/lambda/schedule"
	"agentsocial/shared/lambda/stream"
	"agentsocial/tables"
	"agentsocial/tables/id"
)

const (
	searchIn    = "dreams" // has posts of invented words; no scenario adds posts to it
	searchPosts = 1000
	searchRoute = "GET /v1/c/{ch}/search"

	// searchTrips bounds the trips of a search, whatever the number of posts.
	searchTrips = 6
	// searchWrites bounds the write units of indexing a post, in the long run.
	searchWrites = 1
)

// language is an invented vocabulary, with the frequencies of its words.
type language struct {
	rng   *rand.Rand
	words []string // the most common first
	zipf  *rand.Zipf
}

// newLanguage makes 50 000 words of syllables. Their frequencies follow Zipf's law.
func newLanguage() *language {
	const n, consonants, vowels = 50_000, "bcdfghjklmnprstvw", "aeiou"
	l := &language{rng: rand.New(rand.NewPCG(8, 8))}
	seen := map[string]bool{}
	for len(l.words) < n {
		var b strings.Builder
		for range 1 + l.rng.IntN(2) + len(l.words)*3/n {
			b.WriteByte(consonants[l.rng.IntN(len(consonants))])
			b.WriteByte(vowels[l.rng.IntN(len(vowels))])
			if l.rng.IntN(3) == 0 {
				b.WriteByte(consonants[l.rng.IntN(len(consonants))])
			}
		}
		if w := b.String(); !seen[w] {
			seen[w] = true
			l.words = append(l.words, w)
		}
	}
	l.zipf = rand.NewZipf(l.rng, 1.07, 2, n-1)
	return l
}

// text returns 30 to 50 words and the number i. Only text 77 has the word zyzzyva.
func (l *language) text(i int) string {
	var b strings.Builder
	for range 30 + l.rng.IntN(21) {
		b.WriteString(l.words[l.zipf.Uint64()])
		b.WriteByte(' ')
	}
	if i == 77 {
		b.WriteString("zyzzyva ")
	}
	fmt.Fprintf(&b, "%d", i)
	return b.String()
}

type searched struct{ what, q string }

// searches returns a search of every kind. The 300th word is in about one post of a
// hundred, the 3000th in one of a thousand.
func (l *language) searches() []searched {
	return []searched{
		{"rare word", "zyzzyva"},
		{"common word", l.words[0]},
		{"word in a few", l.words[3000]},
		{"two words", l.words[300] + " " + l.words[301]},
		{"rare and common", "zyzzyva " + l.words[0]},
		{"prefix of many", "b"},
		{"prefix of one", "zyz"},
		{"no hit", "xylophone"},
	}
}

func (s searched) request(channel string) request {
	return request{route: searchRoute, path: "/v1/c/" + channel + "/search", query: "q=" + url.QueryEscape(s.q)}
}

// pond is a channel in which a post appears every 30 seconds. The stream's reader and the
// schedule that maintain its search index run with it.
type pond struct {
	*world
	*language
	channel string
	posts   int
	at      time.Time // when the newest post appeared
	tally   stream.Function
	sweep   schedule.Function
	swept   time.Time
	index   *units // write units of the search index
}

// pace is the time between two posts.
const pace = 30 * time.Second

// newPond makes a pond without posts. Post number `most` will have the world's present
// time.
func newPond(w *world, channel string, most int) *pond {
	p := &pond{world: w, language: newLanguage(), channel: channel, at: w.app.Now().Add(-time.Duration(most) * pace)}
	a := *w.app
	p.index = new(units)
	a.Table = partition{w.app.Table, tables.SearchPK(channel), p.index}
	p.tally, p.sweep = tally.New(&a), deadlines.New(&a)
	return p
}

// grow adds posts until there are this many.
func (p *pond) grow(ctx context.Context, until int) error {
	defer p.clock.Store(p.clock.Load())
	for ; p.posts < until; p.posts++ {
		p.at = p.at.Add(pace)
		at := p.at
		p.clock.Store(at.UnixMilli())
		by := p.authors[p.posts%len(p.authors)]
		post := &tables.Post{
			ID: id.Post.New(at, p.app.Rand), Channel: p.channel, Body: p.text(p.posts), CreatedAt: at.UnixMilli(),
			Author: tables.Author{ID: by.id, Handle: by.handle, Emoji: "🦊"},
		}
		if err := p.stock([]tables.Write{tables.Put(post.Item()), tables.Put(post.CountersItem())}); err != nil {
			return err
		}
		record := tables.StreamRecord{Event: "INSERT", Key: post.Item().Key(), New: post.Item(), At: at}
		if err := p.tally.Handle(ctx, []tables.StreamRecord{record}); err != nil {
			return err
		}
		if !at.Before(p.swept.Add(p.sweep.Every)) {
			p.swept = at
			if err := p.sweep.Handle(ctx); err != nil {
				return err
			}
		}
		if p.posts%1000 == 0 { // the stream forgets after a day
			if _, err := p.feed.Sweep(ctx); err != nil {
				return err
			}
		}
	}
	return nil
}

// partition adds up the write units of one partition.
type partition struct {
	tables.Backend
	pk    string
	wrote *units
}

type units struct {
	mu sync.Mutex
	n  float64
}

func (p partition) Commit(ctx context.Context, tx tables.Tx) error {
	if tx.Writes[0].Key.PK != p.pk {
		return p.Backend.Commit(ctx, tx)
	}
	ctx, usage := tables.WithUsage(ctx)
	err := p.Backend.Commit(ctx, tx)
	p.wrote.mu.Lock()
	defer p.wrote.mu.Unlock()
	p.wrote.n += usage.WriteUnits()
	return err
}

func searches(w *world) ([]scenario, error) {
	p := newPond(w, searchIn, searchPosts)
	err := p.grow(context.Background(), searchPosts)
	if err != nil {
		return nil, err
	}
	w.sealing = p.share()
	if w.indexed, err = p.indexed(); err != nil {
		return nil, err
	}
	var list []scenario
	for _, s := range p.searches() {
		list = append(list, scenario{
			route: searchRoute, variant: fmt.Sprintf("%s of %d posts", s.what, searchPosts), next: always(w, s.request(searchIn)),
		})
	}
	return list, nil
}

// share returns what indexing a post has cost so far, on average.
func (p *pond) share() StreamShare {
	return StreamShare{Name: sealing, N: p.posts, Cost: Cost{WriteUnits: p.index.n / float64(p.posts)}}
}

// indexed returns the number of bytes that the index takes for each post.
func (p *pond) indexed() (bytes float64, err error) {
	err = p.feed.Scan(context.Background(), func(item tables.Item) error {
		if item.Key().PK == tables.SearchPK(p.channel) {
			bytes += stored(item).table
		}
		return nil
	})
	return bytes / float64(p.posts), err
}

// sealing is the name of the stream share for indexing a post.
const sealing = "search index of a post, of 1000"
