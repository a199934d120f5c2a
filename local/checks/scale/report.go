package scale

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"agentsocial/local/tools/bench"
	"agentsocial/local/transcripts"
)

type results struct {
	requests map[string]*outcomes
	failed   error
}

type outcomes struct {
	Sent      int
	Answers   map[string]int // a function's refusals, by code or status
	OK        int
	Gateway   int // refused by the gateway's throttle
	Lambda    int // refused by Lambda
	Calls     int // calls of the table
	Attempts  int
	InVain    int // attempts for requests that a function refused
	MostTries int // most attempts for one request
	took      []time.Duration
	refusal   []time.Duration // of requests that a function refused
}

func (r *results) fail(err error) {
	if r.failed == nil {
		r.failed = err
	}
}

func (r *results) answered(name string, j *job, a *transcripts.Answer, took time.Duration) {
	if r.requests == nil {
		r.requests = map[string]*outcomes{}
	}
	o := r.requests[name]
	if o == nil {
		o = &outcomes{Answers: map[string]int{}}
		r.requests[name] = o
	}
	o.Sent++
	calls, attempts := int(j.calls.Load()), int(j.attempts.Load())
	switch {
	case a.Status/100 == 2:
		o.OK++
	case j.refused:
		o.Lambda++
		return
	case !j.ran:
		o.Gateway++
		return
	default:
		o.Answers[cmp.Or(a.Code(), fmt.Sprint(a.Status))]++
		o.refusal = append(o.refusal, took)
		o.InVain += attempts
	}
	o.took = append(o.took, took)
	o.Calls += calls
	o.Attempts += attempts
	o.MostTries = max(o.MostTries, attempts)
}

// Result is the outcome of a run.
type Result struct {
	Scenario Scenario
	Requests map[string]*outcomes
	Whole    outcomes
	Hot      []Hot // by family, the busiest first
	Readers  []*reader
	Calls    counts
	Pool     pool
	Splits   map[string]int     // split ranges, by index
	Ranges   map[string]float64 // by index: the most of its limit that a range took in a second
	USD      float64            // cost of the slice
	Failed   error
}

// Hot is a family's busiest partition.
type Hot struct {
	Family  string
	Key     string
	Units   [2]float64 // mean read and write units per second
	Peak    [2]float64 // units in the busiest second
	Sum     [2]float64 // units of the whole run
	All     [2]float64 // units of the whole run for all keys of the family
	Keys    int        // number of keys in the family
	Refused int        // refused calls of all keys of the family
}

// share returns the part of its limit that the key takes, on average and at the peak.
func (h Hot) share(l Limits) (mean, peak float64) {
	return max(h.Units[reads]/l.Reads, h.Units[writes]/l.Writes), max(h.Peak[reads]/l.Reads, h.Peak[writes]/l.Writes)
}

func (w *world) result() *Result {
	r := &Result{
		Scenario: w.s, Requests: w.log.requests, Readers: w.readers, Calls: w.model.calls, Pool: w.pool, Splits: map[string]int{}, Ranges: map[string]float64{},
		Failed: w.log.failed,
	}
	for _, o := range w.log.requests {
		r.Whole.Sent += o.Sent
		r.Whole.OK += o.OK
		r.Whole.Gateway += o.Gateway
		r.Whole.Lambda += o.Lambda
		r.Whole.Calls += o.Calls
		r.Whole.Attempts += o.Attempts
		r.Whole.InVain += o.InVain
		r.Whole.MostTries = max(r.Whole.MostTries, o.MostTries)
		r.Whole.took = append(r.Whole.took, o.took...)
		r.Whole.refusal = append(r.Whole.refusal, o.refusal...)
	}
	limits := w.s.Limits()
	by := map[string]*Hot{}
	for at, l := range w.model.keys {
		f := familyOf(at)
		h := by[f]
		if h == nil {
			h = &Hot{Family: f}
			by[f] = h
		}
		h.Keys++
		for k := range h.All {
			h.All[k] += l.sum[k]
		}
		h.Refused += l.refused
		own := max(l.sum[reads]/limits.Reads, l.sum[writes]/limits.Writes)
		best := max(h.Sum[reads]/limits.Reads, h.Sum[writes]/limits.Writes)
		if own > best || own == best && at.pk < h.Key {
			h.Key, h.Sum, h.Peak = at.pk, l.sum, l.peak
			for k := range h.Units {
				h.Units[k] = l.units[k] / w.s.For.Seconds()
			}
		}
	}
	for _, h := range by {
		r.Hot = append(r.Hot, *h)
	}
	slices.SortFunc(r.Hot, func(a, b Hot) int {
		x, _ := a.share(limits)
		y, _ := b.share(limits)
		return cmp.Or(cmp.Compare(y, x), strings.Compare(a.Family, b.Family))
	})
	for name, s := range w.model.spaces {
		name = cmp.Or(name, "table")
		r.Ranges[name] = s.busiest()
		if s.splits > 0 {
			r.Splits[name] = s.splits
		}
	}
	r.USD = bench.Load{
		ReadUnits: r.Calls.Reads, WriteUnits: r.Calls.Writes, Requests: r.Whole.Sent - r.Whole.Gateway, Invocations: r.Pool.invocations, MS: r.Pool.ms,
	}.USD()
	return r
}

// quantile returns a quantile in ms.
func quantile(all []time.Duration, q float64) float64 {
	if len(all) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(all))
	return float64(sorted[min(len(sorted)-1, int(q*float64(len(sorted))))]) / float64(time.Millisecond)
}

func ratio(a, b int) float64 {
	if b == 0 {
		return 0
	}
	return float64(a) / float64(b)
}

// hottest bounds the rows of a table.
const hottest = 12

// Print prints a run's tables.
func (r *Result) Print(out io.Writer) {
	s := r.Scenario
	fmt.Fprintf(out, "\n== %s: %s\n", s.Name, s.Doc)
	slice := "the whole load"
	if s.Slice > 1 {
		slice = fmt.Sprintf("one in %d of its agents and of the table's ranges; keys shared by all count %[1]d times", s.Slice)
	}
	fmt.Fprintf(out, "simulated: %v of %s, played by %d agents in circles of %d; %d ranges (and shards of the stream) to begin with\n",
		s.For, slice, s.Agents, s.Circle, s.Ranges)
	if r.Failed != nil {
		fmt.Fprintf(out, "FAILED: %v\n", r.Failed)
	}

	t := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t, "requests\ta second\tok\trefused\tby gateway\tby Lambda\tcalls each\tattempts each\tmost\tif refused\tp50 ms\tp99 ms\trefusal p99\t")
	line := func(name string, o *outcomes) {
		ran := o.Sent - o.Gateway - o.Lambda
		fmt.Fprintf(t, "%s\t%.1f\t%d\t%d\t%d\t%d\t%.2f\t%.2f\t%d\t%.2f\t%.0f\t%.0f\t%.0f\t\n", name, float64(o.Sent)/s.For.Seconds(), o.OK, ran-o.OK, o.Gateway, o.Lambda,
			ratio(o.Calls, ran), ratio(o.Attempts, ran), o.MostTries, ratio(o.InVain, ran-o.OK), quantile(o.took, .5), quantile(o.took, .99), quantile(o.refusal, .99))
	}
	line("all", &r.Whole)
	names := sortedKeys(r.Requests)
	slices.SortStableFunc(names, func(a, b string) int { return cmp.Compare(r.Requests[b].Sent, r.Requests[a].Sent) })
	for _, name := range names[:min(len(names), hottest)] {
		line(name, r.Requests[name])
	}
	t.Flush()
	codes := map[string]int{}
	for _, o := range r.Requests {
		for code, n := range o.Answers {
			codes[code] += n
		}
	}
	for _, code := range sortedKeys(codes) {
		fmt.Fprintf(out, "  %d requests were answered %s\n", codes[code], code)
	}
	fmt.Fprintf(out, "table: %d attempts, %d throttled, %d in conflict; ranges split: %v\n", r.Calls.Sent, r.Calls.Throttled, r.Calls.Conflicts, r.Splits)
	fmt.Fprint(out, "share of its limit that the busiest range took in its busiest second:")
	for _, name := range sortedKeys(r.Ranges) {
		fmt.Fprintf(out, " %s %.0f %%", name, 100*r.Ranges[name])
	}
	fmt.Fprintln(out)
	fmt.Fprintf(out, "functions: %d executions, at most %d at once (of %d), %d cold starts, %d refused\n", r.Pool.invocations, r.Pool.peak, s.Limits().Executions, r.Pool.cold, r.Pool.refused)

	t = tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t, "busiest key of a family\twrites/s\tat most\treads/s\tat most\tof the limit\tat most\tkeys\trefused\t")
	for _, h := range r.Hot[:min(len(r.Hot), hottest)] {
		mean, most := h.share(s.Limits())
		fmt.Fprintf(t, "%s\t%.1f\t%.0f\t%.1f\t%.0f\t%.1f %%\t%.0f %%\t%d\t%d\t\n", h.Family, h.Units[writes], h.Peak[writes], h.Units[reads], h.Peak[reads], 100*mean, 100*most, h.Keys, h.Refused)
	}
	t.Flush()

	t = tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t, "reader\trecords\tbatches\tfailed\twaits for Lambda\tlag p50 s\tlag p99 s\tmost s\tgiven up\tleft\tdone after s\t")
	for _, d := range r.Readers {
		fmt.Fprintf(t, "%s\t%d\t%d\t%d\t%d\t%.1f\t%.1f\t%.1f\t%d\t%d\t%.0f\t\n", d.Name, d.came, d.batches, d.failed, d.waits,
			quantile(d.lags, .5)/1000, quantile(d.lags, .99)/1000, quantile(d.lags, 1)/1000, d.given, d.left(), d.caughtUp.Seconds())
	}
	t.Flush()
	for _, d := range r.Readers {
		if d.Name == s.Reader {
			fmt.Fprintf(out, "%s had caught up %.1f s after it was back\n", d.Name, d.recovered.Seconds())
		}
	}
	const month = 30 * secondsDay
	perMonth := r.USD / s.For.Seconds() * month * float64(max(1, s.Slice))
	fmt.Fprintf(out, "cost: %.0f read and %.0f write units, %.4f USD in the slice; %.0f USD in a month of this load, without storage, egress and logs\n",
		r.Calls.Reads, r.Calls.Writes, r.USD, math.Ceil(perMonth))
}

func sortedKeys[V any](m map[string]V) []string {
	var keys []string
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

// PrintGrowing prints the families in Growing, each with the size of the network at which
// its keys are full.
func PrintGrowing(out io.Writer) {
	fmt.Fprintf(out, "\n== keys that all agents share, and the size of the network at which each is full, at %d times the mean load\n", bench.Peak)
	t := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "family\tunits per agent and day: read\twrite\tfull at, agents\t")
	for _, g := range Growing {
		fmt.Fprintf(t, "%s\t%.2f\t%.2f\t%.0f million\t%s\n", g.Family, g.Units[reads], g.Units[writes], g.Full(AWS, bench.Peak)/1e6, g.Why)
	}
	t.Flush()
}
