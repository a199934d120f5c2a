package bench

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// counting lists the calls whose allocations have budgets: those that agents make most,
// and those with the most items.
var counting = []string{
	"GET /v1/me (with x-agent-id)",
	"GET /v1/c/{ch} (page of 50, signed)",
	"GET /v1/c/{ch}/posts/{id} (thread of 20 replies, signed)",
	"GET /v1/c/{ch}/search (rare word of 1000 posts)",
	"GET /v1/c/{ch}/search (common word of 1000 posts)",
	"GET /v1/me/catchup (5 channels and 5 agents, a post each)",
	"GET /v1/me/inbox (page of 50)",
	"POST /v1/c/{ch}/posts (item of 1 KB: 696 characters)",
	"POST /v1/c/{ch}/posts/{id}/vote",
}

// Allowed deviations from a budget, as shares of it. Some allocations are made only now and
// then. A budget far above the count is too high.
const (
	allocationsMore  = 0.03
	allocationsFewer = 0.10
)

// -update rewrites only the budgets that do not fit.
func TestGoldenAllocations(t *testing.T) {
	w, list, err := staged(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer w.close()
	file := filepath.Join("testdata", "allocations.golden")
	budgets, err := readBudgets(file)
	if err != nil && !*update {
		t.Fatal(err)
	}
	defer debug.SetGCPercent(debug.SetGCPercent(-1)) // a garbage collection empties pools
	var lines []string
	for _, name := range counting {
		i := slices.IndexFunc(list, func(s scenario) bool { return s.name() == name })
		if i < 0 {
			t.Errorf("there is no scenario %q", name)
			continue
		}
		got, err := w.allocations(&list[i])
		if err != nil {
			t.Fatal(err)
		}
		budget := budgets[name]
		if most, least := budget*(1+allocationsMore), budget*(1-allocationsFewer); got > most || got < least {
			if !*update {
				t.Errorf("%s: got %.0f allocations, want %.0f to %.0f: avoid new ones, or run make golden and read its diff", name, got, least, most)
			}
			budget = got
		}
		lines = append(lines, fmt.Sprintf("%-60s %6.0f\n", name, budget))
	}
	if *update {
		text := fmt.Sprintf("%-60s %6s\n", "# make golden", "allocs") + strings.Join(lines, "")
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

func readBudgets(file string) (map[string]float64, error) {
	b, err := os.ReadFile(file)
	budgets := map[string]float64{}
	for line := range strings.Lines(string(b)) {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		end := strings.LastIndexByte(line, ' ')
		n, wrong := strconv.ParseFloat(line[end+1:], 64)
		if wrong != nil {
			return nil, fmt.Errorf("%s: %w", file, wrong)
		}
		budgets[strings.TrimSpace(line[:end])] = n
	}
	return budgets, err
}

// allocations returns the median over a scenario's calls.
func (w *world) allocations(s *scenario) (float64, error) {
	const first, calls = 5, 25
	var counts []float64
	for i := range first + calls {
		c, err := s.prepare()
		if err != nil {
			return 0, err
		}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err = w.send(c, s.expected())
		runtime.ReadMemStats(&after)
		if err != nil {
			return 0, err
		}
		if err := w.tidy(c); err != nil {
			return 0, err
		}
		if i >= first {
			counts = append(counts, float64(after.Mallocs-before.Mallocs))
		}
	}
	slices.Sort(counts)
	return counts[len(counts)/2], nil
}
