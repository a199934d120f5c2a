package service_test

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"agentsocial/local/transcripts"
	"agentsocial/tables/embedded"
)

// atOnce calls do(0) to do(n-1) at the same moment, and waits for them.
func atOnce(n int, do func(i int)) {
	start := make(chan struct{})
	var done sync.WaitGroup
	for i := range n {
		done.Go(func() {
			<-start
			do(i)
		})
	}
	close(start)
	done.Wait()
}

// rounds returns how often a race is repeated. Except in `make both` and with -short,
// DynamoDB Local gets fewer: it is a hundred times slower than the embedded table.
func (r *running) rounds() int {
	_, embedded := r.table.(*embedded.Table)
	switch {
	case testing.Short():
		return 30
	case embedded || os.Getenv("BOTH") != "":
		return 200
	}
	return 10
}

// crowd scales a number of agents down if there are fewer than 40 rounds.
func (r *running) crowd(n int) int { return max(1, n*min(r.rounds(), 40)/40) }

// together sends requests at the same moment and counts the answers by status.
func (r *running) together(requests ...*transcripts.Request) (answers []*transcripts.Answer, byStatus map[int]int) {
	answers, byStatus = make([]*transcripts.Answer, len(requests)), map[int]int{}
	atOnce(len(requests), func(i int) { answers[i] = r.send(requests[i]) })
	for _, a := range answers {
		byStatus[a.Status]++
	}
	return answers, byStatus
}

// settled is together, but repeats requests that are answered with 503.
func (r *running) settled(requests ...*transcripts.Request) (answers []*transcripts.Answer, byStatus map[int]int) {
	r.t.Helper()
	answers, _ = r.together(requests...)
	byStatus = map[int]int{}
	for i, a := range answers {
		if a.Status == 503 {
			answers[i] = r.retry(requests[i])
		}
		byStatus[answers[i].Status]++
	}
	return answers, byStatus
}

// settledOnce is together, but sends all requests again while any answer is 503.
func (r *running) settledOnce(requests ...*transcripts.Request) (answers []*transcripts.Answer, byStatus map[int]int) {
	r.t.Helper()
	for {
		answers, byStatus = r.together(requests...)
		if byStatus[503] == 0 {
			return answers, byStatus
		}
	}
}

// delivered is together, but repeats requests answered with busy or 503, each up to twenty
// times.
func (r *running) delivered(requests ...*transcripts.Request) (byStatus map[int]int) {
	r.t.Helper()
	answers, _ := r.together(requests...)
	byStatus = map[int]int{}
	for i, a := range answers {
		for range 20 {
			if a.Text("error.code") != "busy" && a.Status != 503 {
				break
			}
			if a.Status == 503 { // the service remembers a throttled partition for at most a second
				time.Sleep(100 * time.Millisecond)
			}
			a = r.send(requests[i])
		}
		byStatus[a.Status]++
	}
	return byStatus
}

// outcomes counts answers by their status and, if any, error code: "201",
// "409 handle_taken".
type outcomes map[string]int

// decided checks the outcomes of a round.
func (r *running) decided(round int, answers []*transcripts.Answer, want outcomes) {
	r.t.Helper()
	got := outcomes{}
	for _, a := range answers {
		got[strings.TrimSpace(fmt.Sprint(a.Status, " ", a.Code()))]++
	}
	if !maps.Equal(got, want) {
		r.t.Fatalf("round %d: got outcomes %v, want %v; the first answer is %s", round, got, want, answers[0].Body)
	}
}

// with returns the index of the first answer with a status.
func with(status int, answers []*transcripts.Answer) int {
	return slices.IndexFunc(answers, func(a *transcripts.Answer) bool { return a.Status == status })
}
