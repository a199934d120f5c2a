package transcripts

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"agentsocial/local/checks/invariants"
	"agentsocial/shared/api"
	"agentsocial/tables"
	"agentsocial/tables/retry"
)

// around keeps the service's table for the check at the end. Unless broken is nil, it
// returns the table that breaks a commit.
func (s *script) around(b tables.Backend) tables.Backend {
	s.scanner, _ = b.(tables.Scanner)
	if s.broken == nil {
		return b
	}
	return s.broken.Around(b)
}

// named adds an Idempotency-Key to an unsigned write if a commit may break, so that the
// request can be repeated.
func (s *script) named(r *Request) *Request {
	const name = "Idempotency-Key"
	if _, given := r.Header[name]; s.broken != nil && r.Method != http.MethodGet && !given {
		r.Header.Set(name, rand.Text())
	}
	return r
}

// takenFor is longer than the time for which a schedule reserves work. After it, the work
// of a failed tick is due again.
const takenFor = 11 * time.Minute

// breaksSchedules reports whether schedules may make the broken commit.
func (s *script) breaksSchedules() bool {
	return s.broken != nil && (s.broken.In("events/") || s.broken.In("shared/search/index/"))
}

// persist sends a request, and repeats it if the service failed because of the broken commit.
func (s *script) persist(r *Request) (*Answer, error) {
	before := s.broken != nil && s.broken.Met()
	a, err := r.Send(s.svc.URL)
	if err != nil || s.broken == nil || !s.broken.Met() {
		return a, err
	}
	if r.Target == "/_local/tick" && !s.ticked && s.breaksSchedules() { // once, since the fault strikes once
		s.ticked = true
		if err := s.post("/_local/clock", fmt.Sprintf(`{"advance_ms":%d}`, takenFor.Milliseconds())); err != nil {
			return nil, err
		}
		return r.Send(s.svc.URL)
	}
	code := a.Text("result.structuredContent.error.code")
	switch {
	case a.Status == http.StatusServiceUnavailable || code == string(api.Unavailable):
		time.Sleep(retry.HotFor) // the process refuses calls to a throttled partition for this long
	case before || a.Status < http.StatusInternalServerError && code != string(api.Internal):
		return a, nil
	}
	return r.Send(s.svc.URL)
}

// end runs when a script has ended or failed.
func (s *script) end(t testscript.T) {
	if s.seen != nil && s.ts != nil {
		s.seen.end(s.name())
	}
	if s.svc == nil {
		return
	}
	var err error
	if !s.failed || s.broken != nil {
		err = s.rest()
	}
	if s.sam != nil && err == nil && !s.failed && len(s.sam.Containers()) == 0 {
		err = errors.New("SAM ran no function in a container")
	}
	_ = s.halt(nil)
	if p, ok := t.(*played); ok {
		p.rest = err
	} else if err != nil {
		t.Fatal(err)
	}
}

// rest brings the service to rest, and checks its table and that the stream has no failed
// batches.
func (s *script) rest() error {
	steps := []string{"drain", "tick deadlines", "tick settle", "drain"}
	if s.broken != nil {
		steps = append([]string{"drain", "clock"}, steps...)
	}
	body := func(schedule string) string {
		return fmt.Sprintf(`{"name":%q,"advance_ms":%d}`, schedule, takenFor.Milliseconds())
	}
	for _, step := range steps {
		page, schedule, _ := strings.Cut(step, " ")
		err := s.post("/_local/"+page, body(schedule))
		if err != nil && page == "tick" && s.breaksSchedules() { // the schedule met the fault, so the clock calls it again
			if err = s.post("/_local/clock", body("")); err == nil {
				err = s.post("/_local/"+page, body(schedule))
			}
		}
		if err != nil {
			return err
		}
	}
	dead, err := (&Request{Method: http.MethodGet, Target: "/_local/dead"}).Send(s.svc.URL)
	if err != nil {
		return err
	}
	if dead.Text("len") != "0" {
		return fmt.Errorf("the stream has failed batches: %s", dead.Body)
	}
	problems, err := invariants.Check(context.Background(), s.scanner, s.svc.App.Now(), s.given)
	for _, p := range problems {
		err = errors.Join(err, errors.New(p.String()))
	}
	return err
}
