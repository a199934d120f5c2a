package scale

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"agentsocial/local/checks/turns"
	"agentsocial/local/service"
	"agentsocial/local/tools/bench"
	"agentsocial/shared/api"
	"agentsocial/shared/app"
	"agentsocial/shared/outside/mail"
	"agentsocial/shared/outside/payments"
	"agentsocial/tables"
	"agentsocial/tables/embedded"
	"agentsocial/tables/retry"
)

type world struct {
	s     Scenario
	dice  turns.Dice
	turns *turns.Turns
	model *model
	app   *app.App
	parts *service.Parts
	gate  http.Handler
	pool  pool

	mu  sync.Mutex
	rng *rand.Rand // for draws whose order the turns decide

	readers   []*reader
	schedules []*timetable
	seen      string // position in the stream
	live      atomic.Int64
	over      atomic.Bool // the readers must stop

	people    []*agent
	channels  []*channel
	hub       *channel // the channel that all agents read, or nil
	star      *agent   // the agent that all others follow and mention, or nil
	hot       *posted  // the post that all agents vote on
	numbers   int      // texts made so far
	strangers int

	began time.Time
	log   results
}

// job is a [turns.Job] that counts its calls of the table.
type job struct {
	*turns.Job
	calls, attempts atomic.Int64 // of the table
	ran, refused    bool         // ran: a function got the request; refused: by Lambda

	mu  sync.Mutex
	rng *rand.Rand
}

type jobKey struct{}

func jobOf(ctx context.Context) *job { j, _ := ctx.Value(jobKey{}).(*job); return j }

func (w *world) start(name string, do func(context.Context, *job)) {
	w.live.Add(1)
	j := &job{rng: w.dice.Source(name)}
	j.Job = w.turns.Start(name, func(ctx context.Context, _ *turns.Job) {
		defer w.live.Add(-1)
		do(context.WithValue(ctx, jobKey{}, j), j)
	})
}

func (w *world) pause(j *job, d time.Duration) {
	time.Sleep(d)
	w.turns.Wait(j.Job, "paused")
}

// chance draws a number from 0 to 1. Each job has a source of its own, because two jobs
// that wake at the same moment may draw in any order.
func (j *job) chance() float64 {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.rng.Float64()
}

const base = "https://social.example"

func run(t *testing.T, s Scenario, seed uint64) *Result {
	w := &world{s: s, dice: turns.Dice(seed)}
	w.rng = w.dice.Source(s.Name)
	w.turns = turns.New(w.dice, nil)
	below, err := embedded.Open(embedded.Config{Path: embedded.Memory, Now: time.Now})
	if err != nil {
		t.Fatal(err)
	}
	defer below.Close()
	limits := s.Limits()
	w.model = newModel(below, s.Ranges, &limits)
	w.pool.most = limits.Executions
	w.model.free = true
	if err := w.open(); err != nil {
		t.Fatal(err)
	}
	if err := w.furnish(); err != nil {
		t.Fatal(err)
	}
	w.play()
	if s.after != nil {
		s.after(w)
	}
	return w.result()
}

// process returns the app of a new process with its own budget of retries.
func (w *world) process() *app.App {
	own := *w.app
	own.Table = retry.Over(w.app.Table, own.Intn)
	return &own
}

func (w *world) open() error {
	set := app.DefaultSettings()
	set.BaseURL, set.PowBits, set.PageBits = base, 0, 0 // proofs of work would cost only the callers' time
	w.app = &app.App{Table: newClient(w), Now: time.Now, Rand: w.dice.Random(), Log: slog.New(slog.NewTextHandler(io.Discard, nil)), Settings: set, Mail: letters{}}
	var err error
	same := func(string) time.Duration { return 0 }
	if w.parts, err = service.Assemble(w.app, same, func(p payments.Processor) payments.Processor { return p }); err != nil {
		return err
	}
	if w.gate, err = service.NewGateway(w.app, functions{w}, api.Throttle{Rate: gatewayRate, Burst: gatewayBurst}); err != nil {
		return err
	}
	w.openReaders()
	for i := range w.parts.Schedules {
		p := &w.parts.Schedules[i]
		w.schedules = append(w.schedules, &timetable{PartSchedule: p})
	}
	return nil
}

// letters drops mails.
type letters struct{}

// Send implements [mail.Sender].
func (letters) Send(context.Context, mail.Message) error { return nil }

// The HTTP API's quotas.
const (
	gatewayRate  = 10_000
	gatewayBurst = 5_000
)

func (w *world) play() {
	w.model.free = false
	w.began = time.Now()
	w.model.closed = func(now time.Time) bool {
		at := now.Sub(w.began)
		return w.s.Closed.From <= at && at < w.s.Closed.To
	}
	w.model.weight = w.weight
	w.seen = w.newest()
	for _, s := range w.schedules {
		s.next = w.began.Add(s.Every)
	}
	end := w.began.Add(w.s.For)
	next := w.byChance()
	if w.s.Days > 0 {
		next = w.byDay()
	}
	at, do := next()
	tick := w.began
	for n := 0; time.Now().Before(end); {
		if now := time.Now(); !now.Before(tick) {
			w.poll()
			w.tick()
			tick = tick.Add(pollEach)
		}
		if begins := w.began.Add(at); do != nil && !begins.After(tick) && !begins.After(end) {
			w.turns.Pass(begins)
			n++
			w.start(fmt.Sprintf("request %07d", n), do)
			at, do = next()
			continue
		}
		w.turns.Pass(tick)
	}
	w.model.ended = true
	w.drain()
}

// arrivals returns the next request's time and a function that makes the request; nil after
// the last.
type arrivals func() (at time.Duration, do func(context.Context, *job))

func (w *world) byChance() arrivals {
	total, at := 0.0, time.Duration(0)
	for _, f := range w.s.Flows {
		total += f.Rate
	}
	return func() (time.Duration, func(context.Context, *job)) {
		w.mu.Lock()
		at += time.Duration(w.rng.ExpFloat64() / total * float64(time.Second))
		x := w.rng.Float64() * total
		w.mu.Unlock()
		f := w.s.Flows[len(w.s.Flows)-1]
		for _, other := range w.s.Flows {
			if x -= other.Rate; x < 0 {
				f = other
				break
			}
		}
		return at, func(ctx context.Context, j *job) { w.ask(ctx, j, f.Name, f.Make(w, w.source())) }
	}
}

// byDay makes each agent do in the scenario's time what it usually does in w.s.Days days.
// All circles do the same, each a few milliseconds after the circle before.
func (w *world) byDay() arrivals {
	type step struct {
		at time.Duration
		do func(context.Context, *job)
	}
	var steps []step
	for _, h := range slices.Concat(bench.Habits(), rare) {
		times := max(h.Times*w.s.Days, 1/float64(w.s.Circle))
		for _, a := range w.people {
			i := (a.n - 1) % w.s.Circle
			for k := int(float64(i) * times); k < int(float64(i+1)*times); k++ {
				what := h.Route + h.Variant
				at := time.Duration(w.dice.Chance(what, uint64(k)) * float64(w.s.For-time.Second))
				steps = append(steps, step{at + time.Duration(a.circle)*7*time.Millisecond, func(ctx context.Context, j *job) {
					w.ask(ctx, j, h.Route, w.does(h.Route, h.Variant, a, w.dice.Source(what, uint64(k))))
				}})
			}
		}
	}
	slices.SortStableFunc(steps, func(a, b step) int { return cmp.Compare(a.at, b.at) })
	return func() (time.Duration, func(context.Context, *job)) {
		if len(steps) == 0 {
			return 0, nil
		}
		next := steps[0]
		steps = steps[1:]
		return next.at, next.do
	}
}

func (w *world) source() *rand.Rand {
	w.mu.Lock()
	defer w.mu.Unlock()
	return rand.New(rand.NewPCG(w.rng.Uint64(), w.rng.Uint64()))
}

func (w *world) ask(ctx context.Context, j *job, name string, r *request) {
	for r != nil {
		began := time.Now()
		j.calls.Store(0)
		j.attempts.Store(0)
		j.ran, j.refused = false, false
		a, err := r.AskFrom(ctx, w.gate, r.from())
		if err != nil {
			w.log.fail(err)
			return
		}
		w.log.answered(name, j, a, time.Since(began))
		if a.Status/100 != 2 || r.done == nil {
			return
		}
		r = r.done(a)
	}
}

func (w *world) tick() {
	for _, s := range w.schedules {
		if now := time.Now(); !now.Before(s.next) {
			s.next, s.runs = s.next.Add(s.Every), s.runs+1
			w.start(fmt.Sprintf("%s %d", s.Name, s.runs), func(ctx context.Context, _ *job) {
				ctx, cancel := context.WithTimeout(ctx, scheduleWithin)
				defer cancel()
				_ = s.Invoke(ctx) // the next call does what is left
			})
		}
	}
}

const scheduleWithin = 2 * time.Minute

type timetable struct {
	*service.PartSchedule
	next time.Time
	runs int
}

// put makes writes without limits.
func (w *world) put(all ...tables.Write) error {
	return w.model.below.Commit(context.Background(), tables.Tx{Writes: all})
}
