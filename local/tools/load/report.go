package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"text/tabwriter"
	"time"

	"agentsocial/local/service"
	"agentsocial/shared/client"
)

// tally counts the requests of an endpoint.
type tally struct {
	took   []time.Duration // from the time when the request was due
	errors map[string]int  // by code
}

func (t *tally) add(took time.Duration, err error) {
	t.took = append(t.took, took)
	if err != nil {
		t.fail(codeOf(err), 1)
	}
}

func (t *tally) fail(code string, n int) {
	if t.errors == nil {
		t.errors = map[string]int{}
	}
	t.errors[code] += n
}

func (t *tally) failed() (n int) {
	for _, m := range t.errors {
		n += m
	}
	return n
}

// percentile returns the p-th percentile of the times, by nearest rank.
func (t *tally) percentile(p int) time.Duration {
	if len(t.took) == 0 {
		return 0
	}
	slices.Sort(t.took)
	return t.took[(len(t.took)*p+99)/100-1]
}

// The codes of failures without an answer of the service.
const (
	codeLeft    = "not sent"
	codeTimeout = "timeout"
	codeBroken  = "no answer"
)

func codeOf(err error) string {
	var e *client.Error
	switch {
	case errors.As(err, &e) && e.Code != "":
		return e.Code
	case errors.As(err, &e):
		return strconv.Itoa(e.Status) // from a gateway
	case errors.Is(err, context.DeadlineExceeded) || os.IsTimeout(err):
		return codeTimeout
	}
	return codeBroken
}

type report struct {
	mu     sync.Mutex
	tally  map[string]*tally // by route
	left   int               // requests not sent
	took   time.Duration
	first  *service.Measures // nil if the service does not measure
	last   *service.Measures
	lag    time.Duration // the stream's longest
	behind time.Duration // from the last request until the readers caught up; < 0: they did not
}

func newReport() *report { return &report{tally: map[string]*tally{}} }

func (r *report) add(route string, took time.Duration, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.tally[route] == nil {
		r.tally[route] = &tally{}
	}
	r.tally[route].add(took, err)
}

// all returns the sum of all tallies, with the requests not sent.
func (r *report) all() *tally {
	all := &tally{}
	for _, t := range r.tally {
		all.took = append(all.took, t.took...)
		for code, n := range t.errors {
			all.fail(code, n)
		}
	}
	if r.left > 0 {
		all.fail(codeLeft, r.left)
	}
	return all
}

// errorsMost is the share of requests that may fail.
const errorsMost = 0.01

func (r *report) check() error {
	all := r.all()
	n, failed := len(all.took)+r.left, all.failed()
	if n == 0 {
		return errors.New("no request was sent")
	}
	if share := float64(failed) / float64(n); share > errorsMost {
		hint := ""
		if all.errors["rate_limited"]+all.errors["429"] > 0 {
			hint = "; LIMITS=off lifts the limits of a service on this machine"
		}
		return fmt.Errorf("%d of %d requests failed (%.1f %%), and at most %g %% may%s", failed, n, 100*share, 100*errorsMost, hint)
	}
	return nil
}

func (r *report) print(out io.Writer) {
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "endpoint\trequests\tp50 ms\tp90 ms\tp99 ms\terrors")
	row := func(name string, t *tally) {
		var failures []string
		for _, code := range slices.Sorted(maps.Keys(t.errors)) {
			failures = append(failures, fmt.Sprintf("%d %s", t.errors[code], code))
		}
		ms := func(p int) string { return fmt.Sprintf("%.1f", float64(t.percentile(p))/float64(time.Millisecond)) }
		fmt.Fprintf(table, "%s\t%d\t%s\t%s\t%s\t%s\n", name, len(t.took), ms(50), ms(90), ms(99), strings.Join(failures, ", "))
	}
	for _, h := range habits {
		if t := r.tally[h.route]; t != nil {
			row(h.route, t)
		}
	}
	all := r.all()
	row("all", all)
	table.Flush() // nothing else could show the error
	fmt.Fprintf(out, "\n%.1f requests a second in %.1f s\n", float64(len(all.took))/r.took.Seconds(), r.took.Seconds())
	if r.first == nil || r.last == nil {
		fmt.Fprintln(out, "the service does not tell its processor time, memory, data and lag")
		return
	}
	fmt.Fprintf(out, "processor time  %.0f µs a request, what the stream's readers took included\n", float64(r.last.CPUMicros-r.first.CPUMicros)/float64(max(1, len(all.took))))
	mb := func(n int64) float64 { return float64(n) / 1e6 }
	fmt.Fprintf(out, "memory          %.1f MB at the beginning, %.1f at the end\n", mb(r.first.MemoryBytes), mb(r.last.MemoryBytes))
	fmt.Fprintf(out, "data            %.1f MB at the beginning, %.1f at the end\n", mb(r.first.DataBytes), mb(r.last.DataBytes))
	behind := "had not caught up when this was measured"
	if r.behind >= 0 {
		behind = fmt.Sprintf("caught up %d ms after it", r.behind.Milliseconds())
	}
	fmt.Fprintf(out, "stream's lag    at most %d ms until the last request; the readers %s\n", r.lag.Milliseconds(), behind)
}
