package bench

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"agentsocial/functions"
	"agentsocial/shared/app"
	"agentsocial/shared/text/pack"
	"agentsocial/tables"
)

var update = flag.Bool("update", false, "rewrite the goldens")

var (
	countOnce sync.Once
	countGot  *Report
	countErr  error
)

// counted counts the costs of all scenarios once for all tests.
func counted(t *testing.T) (*Report, error) {
	countOnce.Do(func() { afar(t, func(ctx context.Context) { countGot, countErr = count(ctx) }) })
	return countGot, countErr
}

// afar calls do in a synctest bubble, where waiting for a distant table takes no time.
// Package pack makes channels on first use that outlive the bubble, so afar uses pack
// first.
func afar(t *testing.T, do func(context.Context)) {
	t.Helper()
	packed, err := pack.Pack([]byte("."))
	if err == nil {
		_, err = pack.Unpack(packed)
	}
	if err != nil {
		t.Fatal(err)
	}
	synctest.Test(t, func(t *testing.T) { do(t.Context()) })
}

func TestGoldenCosts(t *testing.T) {
	t.Parallel()
	r, err := counted(t)
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	fmt.Fprintf(&b, "%-59s %5s %7s %7s\n", "# make golden", "trips", "reads", "writes")
	line := func(name string, c Cost) {
		fmt.Fprintf(&b, "%-59s %5d %7.2f %7.2f\n", name, c.Trips, c.ReadUnits, c.WriteUnits)
	}
	for _, row := range r.Rows {
		line(strings.TrimSpace(row.route+"  "+row.variant), row.Cost)
	}
	for _, s := range r.Stream {
		line(s.Name, s.Cost)
	}
	current(t, "local/tools/bench/testdata/costs.golden", b.String())
	for _, v := range costVerdicts(r) {
		if v.Got > v.Most {
			t.Errorf("%s: got %v, want at most %v", v.What, v.Got, v.Most)
		}
	}
}

// current compares a golden with got, or rewrites it. golden is a path from the project's
// root.
func current(t *testing.T, golden, got string) {
	t.Helper()
	file := filepath.Join("..", "..", "..", golden)
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s is out of date: run make golden and read its diff\n%s", golden, difference(string(want), got))
	}
}

// A renamed scenario must not lose its budget unnoticed.
func TestEachBudgetIsUsed(t *testing.T) {
	r, err := counted(t)
	if err != nil {
		t.Fatal(err)
	}
	for _, part := range []string{
		"trips of GET /v1/me with x-agent-id", "trips of GET /v1/me " + cold, "trips of GET /v1/c/{ch} page of 50",
		"trips of POST /v1/c/{ch}/posts item of 1 KB", "write units of POST /v1/c/{ch}/posts item of 1 KB",
		"write units of POST /v1/c/{ch}/posts reply", "trips of GET /v1/c/{ch}/posts/{id} thread of 20",
		"trips of GET /v1/channels first page of 5000", "trips of GET /v1/c/{ch} page of 50 without replies",
		"trips of GET /v1/c/{ch}/best 20 of 30 days", "trips of GET /v1/c/{ch}/feed.json 50 posts",
		"trips of " + searchRoute + " rare word", "trips of " + searchRoute + " no hit", "write units of the " + sealing,
		"trips of " + catchupRoute + " 5 channels and 5", "trips of " + catchupRoute + " 200 channels and 1000",
		"trips of " + catchupRoute + " 5 channels and 5 agents, 3000 events behind",
		"trips of POST /v1/recover matches", "trips of POST /v1/recover/confirm",
		"trips of POST /oauth/authorize " + consentNew, "trips of POST /oauth/authorize " + consentLink, "trips of POST /oauth/authorize " + consentMailed,
		"trips of " + ideaRoute + " like one of 1000", "trips of " + ideaRoute + " like one of 10000", "trips of GET /v1/ideas " + ideasSigned,
		"write units of " + voteRoute, "write units of a " + votesBatch,
		"write units of an " + eventAlone, "write units of an " + eventBatch,
	} {
		found := false
		for _, v := range costVerdicts(r) {
			found = found || strings.HasPrefix(v.What, part)
		}
		if !found {
			t.Errorf("no budget for %s", part)
		}
	}
}

// TestGoldenCosts compares the units of a post of w.kilo characters with postMost.
func TestLargestPostOfOneKilobyte(t *testing.T) {
	t.Parallel()
	w, err := newWorld(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer w.close()
	var units []float64
	for i, more := range []int{0, 1} {
		post, err := w.post(w.at(i), w.authors[1], writeTo, body(i, w.kilo+more), "")
		if err != nil {
			t.Fatal(err)
		}
		units = append(units, w.meter.cost().WriteUnits)
		items, err := w.feed.Get(t.Context(), tables.Strong, tables.PostKey(writeTo, post))
		if err != nil {
			t.Fatal(err)
		}
		if size := items[0].Size(); size != 1024+more {
			t.Errorf("the item of %d characters has %d bytes, want %d", w.kilo+more, size, 1024+more)
		}
	}
	if units[1] != units[0]+2 {
		t.Errorf("one byte more costs %v write units, want 2", units[1]-units[0])
	}
}

func TestEveryEndpointHasAScenario(t *testing.T) {
	w, list, err := staged(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer w.close()
	measured := map[string]bool{}
	for _, s := range list {
		measured[s.route] = true
	}
	for _, g := range functions.Groups(&app.App{}) {
		for _, e := range g.Endpoints {
			if !measured[e.Route] {
				t.Errorf("%s has no scenario: add one to its group's file in local/tools/bench, and run make golden", e.Route)
			}
			delete(measured, e.Route)
		}
	}
	for route := range measured {
		t.Errorf("scenario of %s: no such endpoint is declared", route)
	}
}

// difference lists the lines that only one of two texts has.
func difference(want, got string) string {
	var b strings.Builder
	only := func(sign, text, other string) {
		for l := range strings.Lines(text) {
			if !strings.Contains("\n"+other, "\n"+l) {
				b.WriteString(sign + l)
			}
		}
	}
	only("+ ", got, want)
	only("- ", want, got)
	return b.String()
}
