package service

import (
	"context"
	"encoding/json"
	"net"
	"net/http"
	"net/url"
	"time"

	"agentsocial/functions/agents"
)

// localPrefix begins the paths of pages that exist only locally, for tests, demos and curious
// people.
const localPrefix = "/_local/"

var root = &url.URL{Path: "/"}

const onlyPrograms = "only for programs on this machine"

const notificationsShown = 50

const drainWait = time.Minute

// pages registers the pages under localPrefix, with the profiles if profiled is set.
func (s *Service) pages(mux *http.ServeMux, profiled bool) {
	page := func(route string, h func(*http.Request) (any, int)) {
		mux.HandleFunc(route, func(w http.ResponseWriter, r *http.Request) {
			var v any = problem(onlyPrograms)
			status := http.StatusForbidden
			if local(r) {
				v, status = h(r)
			}
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(status)
			enc := json.NewEncoder(w)
			enc.SetIndent("", "  ")
			_ = enc.Encode(v) // the caller may be gone
		})
	}
	page("POST /_local/clock", s.moveClock)
	page("POST /_local/tick", s.tick)
	page("POST /_local/drain", s.drainPage)
	page("POST /_local/solve", s.solve)
	page("GET /_local/mail", s.mail.read)
	page("POST /_local/mail", s.mail.set)
	if s.payer != nil {
		page("GET /_local/payments", func(*http.Request) (any, int) { return s.payer.Events(notificationsShown), http.StatusOK })
		page("POST /_local/payments", s.payer.Hook)
		mux.Handle(payPrefix+"/", http.StripPrefix(payPrefix, http.HandlerFunc(s.pay)))
	}
	page("GET /_local/dead", s.dead.page)
	page("GET /_local/measures", s.measures)
	if profiled {
		mux.Handle("GET "+profilesPrefix, profiles())
	}
	page("/_local/", func(*http.Request) (any, int) {
		return problem("there are POST /_local/clock, POST /_local/tick, POST /_local/drain, POST /_local/solve, GET and POST /_local/mail, GET and POST /_local/payments, GET /_local/dead and GET /_local/measures"), http.StatusNotFound
	})
}

func problem(s string) map[string]string { return map[string]string{"problem": s} }

// local reports whether a request comes from a program on this machine, and not from a web page.
// A web page may use a host name that resolves to this machine. Browsers send a header Origin or
// Sec-Fetch-Site, and programs do not.
func local(r *http.Request) bool {
	return loopback(r.Host) && r.Header.Get("Origin") == "" && r.Header.Get("Sec-Fetch-Site") == ""
}

func loopback(host string) bool {
	name := host
	if h, _, err := net.SplitHostPort(host); err == nil {
		name = h
	}
	ip := net.ParseIP(name)
	return name == "localhost" || ip != nil && ip.IsLoopback()
}

const pageMost = 1 << 16

func readPage(r *http.Request, v any) error {
	return json.NewDecoder(http.MaxBytesReader(nil, r.Body, pageMost)).Decode(v)
}

// advanceMost bounds one move of the clock. clockMost bounds the sum of all moves.
const advanceMost = 10 * 365 * 24 * time.Hour

// moveClock moves the service's clock forward.
func (s *Service) moveClock(r *http.Request) (any, int) {
	var in struct {
		AdvanceMS int64 `json:"advance_ms"`
	}
	if err := readPage(r, &in); err != nil || in.AdvanceMS < 0 || in.AdvanceMS > advanceMost.Milliseconds() {
		return problem(`send {"advance_ms": n}, n from 0 to ten years`), http.StatusUnprocessableEntity
	}
	if s.table.deployed {
		return problem("the clock cannot be moved while the service uses a deployed table"), http.StatusConflict
	}
	if err := s.advance(time.Duration(in.AdvanceMS) * time.Millisecond); err != nil {
		return problem(err.Error()), http.StatusInternalServerError
	}
	return map[string]int64{"now": s.clock.Now().UnixMilli()}, http.StatusOK
}

// tick runs a schedule, or the sweep that removes expired items, at once.
func (s *Service) tick(r *http.Request) (any, int) {
	var in struct {
		Name string `json:"name"`
	}
	t := (*tick)(nil)
	if err := readPage(r, &in); err == nil {
		t = s.ticker.named(in.Name)
	}
	if t == nil {
		return problem("send " + s.ticker.names()), http.StatusUnprocessableEntity
	}
	if err := t.now(r.Context()); err != nil {
		return problem(err.Error()), http.StatusInternalServerError
	}
	return map[string]bool{"done": true}, http.StatusOK
}

func (s *Service) drainPage(r *http.Request) (any, int) {
	ctx, cancel := context.WithTimeout(r.Context(), drainWait)
	defer cancel()
	if err := s.Drain(ctx); err != nil {
		return problem(err.Error()), http.StatusServiceUnavailable
	}
	return map[string]bool{"drained": true}, http.StatusOK
}

// solve answers the puzzle of a challenge or signup, for scripts without a language model.
func (s *Service) solve(r *http.Request) (any, int) {
	var in struct {
		Token string `json:"token"`
	}
	if err := readPage(r, &in); err != nil || in.Token == "" {
		return problem(`send {"token": "…"} of a challenge or of a signup`), http.StatusUnprocessableEntity
	}
	answer, err := agents.Solve(r.Context(), s.App, in.Token)
	if err != nil {
		return problem("the token is not one of this service's challenges or signups"), http.StatusUnprocessableEntity
	}
	return map[string]any{"answer": answer}, http.StatusOK
}
