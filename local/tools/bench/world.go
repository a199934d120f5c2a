package bench

import (
	"context"
	"crypto/sha256"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"agentsocial/events"
	"agentsocial/functions"
	"agentsocial/shared/api"
	"agentsocial/shared/app"
	"agentsocial/shared/identity/seal"
	"agentsocial/shared/lambda/host"
	"agentsocial/shared/lambda/stream"
	"agentsocial/tables"
	"agentsocial/tables/embedded"
)

// world is a deployment in this process, with a table in memory. Its clock and randomness
// are the same in every run.
type world struct {
	app      *app.App
	feed     *embedded.Table
	clock    atomic.Int64 // unix ms
	handlers map[string]host.GatewayHandler
	readers  map[string]stream.Function
	meter    *meter
	mail     *postbox
	random   *source
	away     atomic.Int64 // time.Duration by which each call of the table is delayed
	place    string       // position up to which the stream was read
	agents   int          // registered so far
	sealing  StreamShare  // cost of indexing a post of the channel that scenarios search
	indexed  float64      // bytes of its search index, for each post
	prose    []byte       // words of the documentation

	base time.Time // when the scenarios begin
	furniture
}

// tick is the time between two requests of an agent. It is so long that each request is in a
// minute of its own, and that an agent's posts stay within the hourly limit.
const tick = 61 * time.Second

func newWorld(ctx context.Context) (*world, error) {
	w := &world{handlers: map[string]host.GatewayHandler{}, readers: map[string]stream.Function{}}
	// The time is not a full second, because a number that ends in zeros is a byte
	// shorter.
	w.clock.Store(time.Date(2026, 1, 5, 9, 0, 0, 123e6, time.UTC).UnixMilli())
	now := func() time.Time { return time.UnixMilli(w.clock.Load()).UTC() }
	table, err := embedded.Open(embedded.Config{Now: now})
	if err != nil {
		return nil, err
	}
	w.feed = table
	box, err := seal.New([]byte(strings.Repeat("5e", 32)))
	if err != nil {
		return nil, err
	}
	w.meter = &meter{Handler: slog.NewJSONHandler(io.Discard, nil)} // making a line takes as much time as in Lambda
	w.random = new(source)
	w.random.begin("furniture")
	w.mail = &postbox{codes: map[string]string{}}
	w.app = &app.App{
		Table: unnoted{network{table, &w.away}}, Now: now, Rand: w.random, Log: slog.New(w.meter),
		Settings: app.DefaultSettings(),
		Box:      func(context.Context) (*seal.Box, error) { return box, nil },
		Pepper:   func(context.Context) ([]byte, error) { return []byte(strings.Repeat("5f", 16)), nil },
		Mail:     w.mail,
	}
	w.app.Settings.BaseURL = "https://bench.example"
	w.app.Payments = new(till).processor(w.app.Settings.BaseURL)
	w.app.Fetch = documentOf
	w.app.Settings.PowBits = 0    // the caller's work, not the service's
	w.app.Settings.PageBits = 0   // the browser's work
	w.app.Settings.MaxReads = 0   // it counts by chance: see readLimitShare
	w.app.Settings.ViewSample = 0 // it counts by chance: see viewShare
	w.app.Settings.PromoWait = 0
	w.app.Settings.LogReads = 1 // every read is logged, with one_in as in a sample
	for _, declare := range functions.All() {
		a := *w.app
		if !declare(&app.App{}).Needs.Has(app.Table) { // as in a deployed function
			a.Table = nil
		}
		group := declare(&a)
		handler := host.Gateway(api.NewServer(&a, group))
		for _, e := range group.Endpoints {
			w.handlers[e.Route] = handler
		}
	}
	for _, reader := range events.All() {
		f := reader(w.app)
		w.readers[f.Name] = f
	}
	if err := w.furnish(ctx); err != nil {
		w.close()
		return nil, fmt.Errorf("furnishing: %w", err)
	}
	if w.prose, err = w.newProse(now()); err != nil {
		w.close()
		return nil, err
	}
	// Two days later, so that no agent is new.
	w.base = now().Add(48 * time.Hour)
	return w, nil
}

// counted calls the function do, while each call of the table takes the time [far].
func (w *world) counted(do func() error) error {
	w.away.Store(int64(far))
	defer w.away.Store(0)
	return do()
}

func (w *world) close() { _ = w.feed.Close() } // in memory: nothing to lose

// at returns the time of a scenario's i'th request.
func (w *world) at(i int) time.Time { return w.base.Add(time.Duration(i+1) * tick) }

// changes reads what is new in the table's stream.
func (w *world) changes(ctx context.Context) ([]tables.StreamRecord, error) {
	shards, err := w.feed.Shards(ctx)
	if err != nil {
		return nil, err
	}
	var all []tables.StreamRecord
	for {
		records, _, err := w.feed.Changes(ctx, shards[0].ID, w.place, 1000, 0)
		if err != nil || len(records) == 0 {
			return all, err
		}
		all, w.place = append(all, records...), records[len(records)-1].Seq
	}
}

// drain lets every reader process what is new in the stream.
func (w *world) drain(ctx context.Context) error {
	for {
		records, err := w.changes(ctx)
		if err != nil || len(records) == 0 {
			return err
		}
		if err := w.handle(ctx, records); err != nil {
			return err
		}
	}
}

func (w *world) handle(ctx context.Context, records []tables.StreamRecord) error {
	for _, name := range slices.Sorted(maps.Keys(w.readers)) {
		f := w.readers[name]
		if err := f.Handle(ctx, matching(f, records)); err != nil {
			return err
		}
	}
	return nil
}

func matching(f stream.Function, records []tables.StreamRecord) []tables.StreamRecord {
	var out []tables.StreamRecord
	for _, r := range records {
		if f.Match(r) {
			out = append(out, r)
		}
	}
	return out
}

// source is randomness that is the same in every run, for several goroutines.
type source struct {
	mu    sync.Mutex
	from  *rand.ChaCha8
	quiet bool // no id made from it starts the maintenance of a search index (search.IsTurn)
}

// begin starts a new sequence for the named part of the run. The part's cost then does not
// depend on the randomness that earlier parts took.
func (s *source) begin(name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.from = rand.NewChaCha8(sha256.Sum256([]byte(name)))
}

func (s *source) Read(b []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	n, err := s.from.Read(b)
	if s.quiet {
		b[len(b)-1] |= 1
	}
	return n, err
}
