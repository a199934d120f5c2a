package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"sync/atomic"
	"text/tabwriter"
	"time"

	"golang.org/x/sync/errgroup"
)

const (
	atOnce   = 8   // calls at the same time
	people   = 400 // agents
	readers  = 40  // agents that follow others; they have the lowest numbers
	follows  = 50  // channels, and as many agents, that a reader follows
	channels = 60
	threads  = 50 // posts with replies
	replies  = 20
	quiet    = 55  // channels from this number on have no followers
	silent   = 200 // agents from this number on have no followers
)

type comparison struct {
	binary, postgres string
	posts, rounds    int
	only, row        string
}

// world holds the data that a contestant was filled with.
type world struct {
	*contestant
	posts   []string // ids; those at even indexes are in channel 0
	threads []string
	since   time.Time // a time before the posts that a catchup shows
}

func channelName(i int) string { return fmt.Sprintf("channel%02d", i) }

// text returns a unique body of about 280 characters.
func text(r *rand.Rand, n int) string {
	var b strings.Builder
	if n%500 == 0 {
		b.WriteString("quokka ")
	}
	if n%2 == 0 {
		b.WriteString("river ")
	}
	for b.Len() < 270 {
		fmt.Fprintf(&b, "w%d ", int(1500*r.Float64()*r.Float64())) // some words are more frequent
	}
	fmt.Fprintf(&b, "%d", n)
	return b.String()
}

// each calls f n times, atOnce at a time, until a call fails.
func each(n int, f func(i int) error) error {
	work, ctx := errgroup.WithContext(context.Background())
	work.SetLimit(atOnce)
	for i := range n {
		if ctx.Err() != nil {
			break
		}
		work.Go(func() error { return f(i) })
	}
	return work.Wait()
}

func (w *world) fill(ctx context.Context, posts int) error {
	make1 := func(c call) (id string, err error) {
		if c.by == nil {
			return "", nil
		}
		var out struct{ ID string }
		_, err = w.do(ctx, c, &out)
		return out.ID, err
	}
	for i := range channels {
		if _, err := make1(w.channel(w.agents[i], channelName(i))); err != nil {
			return err
		}
	}
	w.posts = make([]string, posts)
	err := each(posts, func(i int) (err error) { // half in channel 0
		to := 0
		if i%2 == 1 {
			to = 1 + i/2%(channels-1)
		}
		w.posts[i], err = make1(w.post(w.agents[readers+i%(people-readers)], channelName(to), "", text(rand.New(rand.NewPCG(1, uint64(i))), i/2)))
		return err
	})
	if err != nil {
		return err
	}
	for i := range threads {
		id := w.posts[2*i]
		w.threads = append(w.threads, id)
		if err := each(replies, func(j int) error {
			_, err := make1(w.post(w.agents[silent+j], channelName(0), id, fmt.Sprintf("reply %d to %d", j, i)))
			return err
		}); err != nil {
			return err
		}
	}
	if err := each(readers, func(i int) error {
		for j := range follows {
			if _, err := make1(w.follow(w.agents[i], "channel", channelName(j))); err != nil {
				return err
			}
			if _, err := make1(w.follow(w.agents[i], "agent", handle(readers+j))); err != nil {
				return err
			}
		}
		return nil
	}); err != nil {
		return err
	}
	if err := w.settle(ctx); err != nil {
		return err
	}
	w.since = time.Now()
	time.Sleep(10 * time.Millisecond)
	for i := range 2 * follows { // two posts in each followed channel; half of all are by followed agents
		by := readers + i/2
		if i%2 == 1 {
			by = silent + i
		}
		if _, err := make1(w.post(w.agents[by], channelName(i%follows), "", text(rand.New(rand.NewPCG(2, uint64(i))), -i-1))); err != nil {
			return err
		}
	}
	if err := w.settle(ctx); err != nil {
		return err
	}
	if w.filled != nil {
		if err := w.filled(ctx); err != nil {
			return err
		}
	}
	return w.rest(ripening)
}

// ripening is a little more than the age at which the product indexes posts for search.
const ripening = 12 * time.Second

// rest measures every restTick, for restMost at most.
const (
	restTick = 250 * time.Millisecond
	restMost = time.Minute
)

// rest waits for a time, and then until the contestant uses less than a tenth of a
// processor. Work that follows the answers counts for the row that caused it.
func (w *world) rest(first time.Duration) error {
	time.Sleep(first)
	before, err := spent(w.pids())
	for waited := time.Duration(0); err == nil && waited < restMost; waited += restTick {
		time.Sleep(restTick)
		now, failed := spent(w.pids())
		if failed != nil || now-before < restTick/10 {
			return failed
		}
		before = now
	}
	return err
}

// measure is a row of the printed table.
type measure struct {
	name  string
	times int           // calls in a round
	after time.Duration // how long work may follow the answers
	call  func(w *world, n int) call
}

var measures = []measure{
	{"GET /v1/me", 4000, 0, func(w *world, n int) call { return w.me(w.agents[n%people]) }},
	{"post", 2000, ripening, func(w *world, n int) call {
		return w.post(w.agents[silent+n%(people-silent)], channelName(quiet+n%(channels-quiet)), "", text(rand.New(rand.NewPCG(3, uint64(n))), 1_000_001+2*n))
	}},
	{"page of 100", 800, 0, func(w *world, n int) call { return w.page(w.agents[n%people], channelName(1+n%(quiet-1))) }},
	{"thread of 20", 2000, 0, func(w *world, n int) call {
		return w.thread(w.agents[n%people], channelName(0), w.threads[n%threads])
	}},
	{"vote", 2000, 0, func(w *world, n int) call { // no reader votes twice on a post, and none has posts in channel 0
		half := len(w.posts) / 2
		return w.vote(w.agents[(n+n/half)%readers], channelName(0), w.posts[2*(n%half)])
	}},
	{"catchup, 50 channels and 50 agents", 200, 0, func(w *world, n int) call { return w.catchup(w.agents[n%readers], w.since) }},
	{"search, rare word", 800, 0, func(w *world, n int) call { return w.search(w.agents[n%people], channelName(0), "quokka") }},
	{"search, common word", 800, 0, func(w *world, n int) call { return w.search(w.agents[n%people], channelName(0), "river") }},
}

// taken holds a contestant's costs of a row in one round.
type taken struct {
	micros  float64 // of processor time, per call
	refused int     // calls that did not succeed
	median  time.Duration
}

func (w *world) take(ctx context.Context, m measure, round int) (t taken, err error) {
	before, err := spent(w.pids())
	if err != nil {
		return t, err
	}
	var refused atomic.Int64
	took := make([]time.Duration, m.times)
	if err := each(m.times, func(i int) error {
		begun := time.Now()
		status, err := w.do(ctx, m.call(w, round*m.times+i), nil)
		took[i] = time.Since(begun)
		if status/100 != 2 {
			refused.Add(1)
		}
		return err
	}); err != nil {
		return t, err
	}
	if err := errors.Join(w.settle(ctx), w.rest(m.after)); err != nil {
		return t, err
	}
	after, err := spent(w.pids())
	slices.Sort(took)
	return taken{float64((after - before).Microseconds()) / float64(m.times), int(refused.Load()), took[len(took)/2]}, err
}

func (c comparison) run(ctx context.Context, out io.Writer) (err error) {
	if c.postgres == "" {
		if c.postgres, err = findPostgres(); err != nil {
			return err
		}
	}
	folder, err := os.MkdirTemp("", "versus")
	if err != nil {
		return err
	}
	defer os.RemoveAll(folder)
	if err := os.Chmod(folder, 0o755); err != nil { // for the user postgres
		return err
	}
	var worlds []*world
	defer func() {
		for _, w := range worlds {
			w.stop()
		}
	}()
	for _, begin := range []struct {
		name string
		f    func() (*contestant, error)
	}{
		{"product", func() (*contestant, error) { return product(ctx, c.binary, folder, people) }},
		{"control", func() (*contestant, error) { return onPostgres(ctx, c.postgres, folder, people) }},
		{"pocketbase", func() (*contestant, error) { return onPocketBase(ctx, folder, people) }},
	} {
		if c.only != "" && c.only != begin.name {
			continue
		}
		started, err := begin.f()
		if started != nil {
			worlds = append(worlds, &world{contestant: started})
		}
		if err != nil {
			return err
		}
	}
	for _, w := range worlds {
		begun := time.Now()
		empty, err := sizeOf(w.folder)
		if err != nil {
			return err
		}
		if err := w.fill(ctx, c.posts); err != nil {
			return err
		}
		bytes, err := sizeOf(w.folder)
		if err != nil {
			return err
		}
		mb, err := resident(w.pids())
		if err != nil {
			return err
		}
		fmt.Fprintf(out, "%s: %d posts in %.0f s; %.1f KB of file a post; %.0f MB of memory\n", w.name, c.posts, time.Since(begun).Seconds(), float64(bytes-empty)/1024/float64(c.posts), mb)
	}
	rows := make([][][]taken, len(measures)) // by measure, round, contestant
	for round := range c.rounds {
		for i, m := range measures {
			if !strings.Contains(m.name, c.row) {
				continue
			}
			rows[i] = append(rows[i], make([]taken, len(worlds)))
			for k := range worlds {
				k = (k + round) % len(worlds)
				if rows[i][round][k], err = worlds[k].take(ctx, m, round); err != nil {
					return err
				}
			}
		}
	}
	print(out, worlds, rows)
	return nil
}

// print prints each row's median of the rounds, and the ratio of the product to the others.
func print(out io.Writer, worlds []*world, rows [][][]taken) {
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprint(table, "\nCPU µs a request\t")
	for _, w := range worlds {
		fmt.Fprint(table, w.name, "\t")
	}
	for _, w := range worlds[1:] {
		fmt.Fprint(table, "÷ ", w.name, "\t")
	}
	fmt.Fprintln(table)
	for i, m := range measures {
		if len(rows[i]) == 0 {
			continue
		}
		fmt.Fprint(table, m.name, "\t")
		var all []taken
		for k := range worlds {
			var rounds []taken
			for _, r := range rows[i] {
				rounds = append(rounds, r[k])
			}
			slices.SortFunc(rounds, func(a, b taken) int { return int(a.micros - b.micros) })
			t := rounds[len(rounds)/2]
			all = append(all, t)
			refused := ""
			if t.refused > 0 {
				refused = fmt.Sprintf(" (%d of %d refused)", t.refused, m.times)
			}
			fmt.Fprintf(table, "%.0f%s\t", t.micros, refused)
		}
		for _, t := range all[1:] {
			fmt.Fprintf(table, "%.2f\t", all[0].micros/t.micros)
		}
		fmt.Fprintln(table)
	}
	table.Flush() // the caller learns of errors from out
	fmt.Fprintln(out)
}
