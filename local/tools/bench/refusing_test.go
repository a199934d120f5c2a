package bench

import (
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	"agentsocial/local/service/self"
)

// A refused request may take as much CPU time as an accepted one of the same size, and more
// allocations, which are small.
const (
	refusedCPU    = 1.0
	refusedAllocs = 3.5
)

func TestRefusedTakesNoMoreThanAccepted(t *testing.T) {
	w, list, err := staged(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer w.close()
	largest, err := accepted(w)
	if err != nil {
		t.Fatal(err)
	}
	list = append(list, largest...)
	of := map[string]*scenario{}
	for i := range list {
		of[list[i].route+" "+list[i].variant] = &list[i]
	}
	for _, pair := range []struct {
		route, variant, accepted string
		times                    float64 // how many accepted requests the refused one may cost
	}{
		{"POST /v1/challenge", refusedUnsigned, postRoute + " " + escaped, 1},
		{postRoute, refusedUnsigned, postRoute + " " + escaped, 1},
		{postRoute, refusedUnknown, postRoute + " " + escaped, 1},
		{postRoute, refusedKnown, postRoute + " " + escaped, 1},
		{postRoute, refusedUnbounded, postRoute + " " + escaped, 1},
		{mcpRoute, refusedTool, mcpRoute + " " + escapedTool, 1},
		{mcpRoute, refusedBatch, mcpRoute + " " + escapedTool, batchOf},
	} {
		bad, good := of[pair.route+" "+pair.variant], of[pair.accepted]
		if bad == nil || good == nil {
			t.Fatalf("there is no scenario %s %s, or %s", pair.route, pair.variant, pair.accepted)
		}
		badCPU, badAllocs := spent(t, w, bad)
		goodCPU, goodAllocs := spent(t, w, good)
		// The least of three to ten, since other programs run, too.
		for try := 1; try < 3 || try < 10 && badCPU > refusedCPU*goodCPU*pair.times; try++ {
			cpu, _ := spent(t, w, bad)
			badCPU = min(badCPU, cpu)
			cpu, _ = spent(t, w, good)
			goodCPU = min(goodCPU, cpu)
		}
		cpu, allocs := badCPU/goodCPU/pair.times, badAllocs/goodAllocs/pair.times
		t.Logf("%s %s: %.2f of the CPU and %.2f of the allocations of an accepted one (%.0f of %.0f)", pair.route, pair.variant, cpu, allocs, badAllocs, goodAllocs)
		if allocs > refusedAllocs || cpu > refusedCPU {
			t.Errorf("%s %s takes %.2f of the CPU and %.2f of the allocations of an accepted one, want at most %g and %g", pair.route, pair.variant, cpu, allocs, refusedCPU, refusedAllocs)
		}
	}
}

// Accepted requests that are nearly as large as the worst refused ones.
const (
	escaped     = "4000 characters, escaped"
	escapedTool = "tools/call post, 4000 characters, escaped"
)

// accepted returns scenarios that make the largest possible posts, over HTTP and MCP.
func accepted(w *world) ([]scenario, error) {
	people, err := w.recruits(2)
	if err != nil {
		return nil, err
	}
	token, err := w.tokenOf(people[1])
	text := func(i int) string { return strings.Repeat(`\ud83e\udd8a`, 3990) + fmt.Sprint(i) }
	return []scenario{
		{route: postRoute, variant: escaped, status: 201, next: func(i int) (call, error) {
			return w.call(w.at(i), postOf(people[0], `{"body":"`+text(i)+`"}`)), nil
		}},
		{route: mcpRoute, variant: escapedTool, next: func(i int) (call, error) {
			return w.call(w.at(i), toolsOf(token, toolMessage(i, `{"ch":"`+writeTo+`","body":"`+text(i)+`"}`))), nil
		}},
	}, err
}

// spent returns the CPU time in ms and the allocations of a scenario's call.
func spent(t *testing.T, w *world, s *scenario) (cpu, allocs float64) {
	const n = 25
	calls := make([]call, n)
	for i := range calls {
		var err error
		if calls[i], err = s.prepare(); err != nil {
			t.Fatal(err)
		}
	}
	runtime.GC()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	began := self.CPU()
	for _, c := range calls {
		if _, err := w.send(c, s.expected()); err != nil {
			t.Fatal(err)
		}
	}
	cpu = float64(max(self.CPU()-began, time.Microsecond)) / float64(time.Millisecond) / n
	runtime.ReadMemStats(&after)
	for _, c := range calls {
		if err := w.tidy(c); err != nil {
			t.Fatal(err)
		}
	}
	return cpu, float64(after.Mallocs-before.Mallocs) / n
}
