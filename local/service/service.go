// Package service runs the whole system in one process: the gateway, the functions, the stream
// and the clock. It runs the same handlers as Lambda.
package service

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"log/slog"
	mathrand "math/rand/v2"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"agentsocial/events"
	"agentsocial/local/engines/lambdas"
	standin "agentsocial/local/fakes/payments"
	"agentsocial/local/service/durable"
	"agentsocial/shared/api"
	"agentsocial/shared/app"
	"agentsocial/shared/identity/seal"
	"agentsocial/shared/lambda/host"
	"agentsocial/shared/lambda/host/fetch"
	"agentsocial/shared/outside/payments"
	"agentsocial/tables"
	"agentsocial/tables/retry"
)

// Config configures a run of the service.
type Config struct {
	Port         int    // 0 picks a free port
	Data         string // folder of the data; ":memory:" keeps nothing
	Table        string // "embedded", "dynamodb-local" or "aws:NAME"
	Endpoint     string // of a running DynamoDB Local, for a temporary table; "": starts one
	Log          *slog.Logger
	Settings     app.Settings // BaseURL is filled in
	Throttle     api.Throttle // of this process's gateway; zero: no throttle, not even for single routes
	Rand         io.Reader    // crypto/rand if nil
	Noon         bool         // a new clock starts at the next noon, UTC, so that no day or hour ends during a test
	Mailed       io.Writer    // receives each mail as text, unless nil
	Profiles     bool         // whether programs on this machine can take profiles of this process
	Probe        bool         // whether to run the functions that check the service from outside
	Edge         string       // the secret that every request must have, as if an edge had sent it; "": none
	StreamFaults StreamFaults
	KeepFeed     bool                                                  // the embedded table keeps its feed for 24 hours, for tests that read it
	Payments     payments.Processor                                    // nil: the stand-in; none for a deployed table
	Fetch        func(ctx context.Context, url string) ([]byte, error) // fetches foreign documents; nil: from the internet
	Wrap         func(tables.Backend) tables.Backend                   // for tests and measurements
	Open         func() (tables.Backend, tables.Feed)                  // returns a test's own table, used instead of Table

	// Lambdas is the folder of the functions built for Lambda on this machine; "": all
	// functions run in this process. Built functions run in processes of their own,
	// write to Logs, and do not use Rand. The Table must be "dynamodb-local".
	Lambdas string
	Logs    io.Writer

	// Gateway, if set, answers requests with its own functions. Readers and schedules
	// stay in this process. The Table must be "dynamodb-local".
	Gateway Gateway
}

// Gateway is an API gateway outside this process, with its own functions.
type Gateway interface {
	http.Handler
	// Address returns the IP address of this machine at which the functions reach it.
	Address() string
	// Start runs the functions with the environment of a deployment. A second call
	// replaces them.
	Start(ctx context.Context, e host.Env) error
	Close()
}

// Service is a running service.
type Service struct {
	App  *app.App
	URL  string
	Data string // where the data is, for people

	folder      string // of the data; "" if nothing is kept
	clock       *clock
	mail        *mailbox
	payer       *standin.StandIn // nil without the stand-in
	pump        *pump            // nil if the deployed functions read the stream
	background  *background
	ticker      *ticker
	checkpoints *checkpoints
	dead        deadLetters
	table       *openTable
	cloud       *Cloud // nil if functions run in this process
	lambda      *lambdas.Lambdas
	http        *http.Server

	outside Gateway // nil if this process is the gateway

	moving  sync.Mutex      // one move of the clock at a time
	running context.Context // until Stop
	stop    context.CancelFunc

	secret, pepper []byte
	edge           string

	unused unused
	failed chan error
}

// headerWithin bounds how long a request's headers may take.
const headerWithin = 10 * time.Second

// Memory is the Data of a run that keeps no data.
const Memory = ":memory:"

// Start starts the service on the loopback interface.
func Start(ctx context.Context, c Config) (_ *Service, err error) {
	dir := c.Data
	if dir == Memory {
		dir = ""
	} else if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	if c.Rand == nil {
		c.Rand = rand.Reader
	}
	var undo []func()
	defer func() {
		for i := len(undo) - 1; err != nil && i >= 0; i-- {
			undo[i]()
		}
	}()

	// Only the loopback interface, because of the pages under /_local/.
	listener, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(c.Port)))
	if err != nil {
		return nil, fmt.Errorf("%w (PORT=%d; choose another with PORT=…)", err, c.Port)
	}
	undo = append(undo, func() { listener.Close() })
	s := &Service{URL: "http://" + listener.Addr().String(), folder: dir, failed: make(chan error, 1)}
	s.running, s.stop = context.WithCancel(context.WithoutCancel(ctx))
	undo = append(undo, s.stop)
	if s.clock, err = openClock(dir); err != nil {
		return nil, err
	}
	if c.Noon && s.clock.lead() == 0 {
		if err := s.clock.advance(untilNoon(time.Now())); err != nil {
			return nil, err
		}
	}
	if lostTable(c.Table, dir) {
		c.Log.Warn("table.db is missing beside the data of its service: the network is new and empty", "folder", dir)
	}
	if c.Open != nil {
		s.table = given(c.Open())
	} else if s.table, err = open(ctx, c.Table, dir, c.Endpoint, s.clock.Now); err != nil {
		return nil, err
	}
	undo = append(undo, s.table.close)
	if s.secret, err = openSecret(dir, secretFile, c.Rand); err != nil {
		return nil, err
	}
	box, err := seal.New(s.secret)
	if err != nil {
		return nil, err
	}
	// The addresses in a deployed table are hashed with the deployment's pepper, so they are unknown
	// here, and addresses verified here are unknown there.
	if s.pepper, err = openSecret(dir, "pepper", c.Rand); err != nil {
		return nil, err
	}
	s.mail = &mailbox{now: s.clock.Now, out: c.Mailed}
	s.App = &app.App{
		Table: s.table.Backend, Now: s.clock.Now, Rand: c.Rand, Log: c.Log, Settings: c.Settings,
		Box:    func(context.Context) (*seal.Box, error) { return box, nil },
		Pepper: func(context.Context) ([]byte, error) { return s.pepper, nil },
		Mail:   s.mail,
	}
	if s.table.exactTimes {
		s.App.Behind = func() bool { return s.pump != nil && refuses(s.pump.lagging(), mathrand.Float64()) }
	}
	if s.edge = c.Edge; s.edge != "" {
		s.App.Edge = func(_ context.Context, sent string) (bool, error) { return sent == s.edge, nil }
	}
	if s.App.Fetch = c.Fetch; s.App.Fetch == nil {
		s.App.Fetch = fetch.New(s.clock.Now).Get
	}
	if s.App.Payments, err = s.openPayments(c, dir); err != nil {
		return nil, err
	}
	if s.payer != nil {
		undo = append(undo, s.payer.Close)
	}
	if c.Wrap != nil {
		s.App.Table = c.Wrap(s.App.Table)
	}
	s.App.Table = retry.Over(s.App.Table, s.App.Intn)
	s.App.Settings.BaseURL = s.URL
	s.Data = s.table.where

	if dir != "" && s.table.durable {
		s.dead.folder = failedFolder(dir, c.Table)
		for _, file := range formerCheckpoints(dir, c.Table) {
			if err := adopt(ctx, s.table, file, c.Log); err != nil {
				return nil, err
			}
		}
	}
	s.background = newBackground(s.clock.Now, c.Log)
	undo = append(undo, s.background.stop)
	h, err := s.handlers(c)
	if err != nil {
		return nil, err
	}
	undo = append(undo, s.closeFunctions)
	api, err := s.gateway(ctx, c, h)
	if err != nil {
		return nil, err
	}
	var readers []reader
	for _, declare := range events.All() {
		f := declare(s.App)
		own := confined(s.App, f.Name, f.Reads, f.Writes)
		own.Background = s.background.run
		r := reader{Function: declare(own)}
		if r.handle, err = h.Reader(r.Function); err != nil {
			return nil, err
		}
		readers = append(readers, r)
	}
	for _, declare := range events.Mail() {
		f := declare(s.App)
		tell, err := h.Mail(declare(confined(s.App, f.Name, f.Reads, f.Writes)))
		if err != nil {
			return nil, err
		}
		s.mail.returns = append(s.mail.returns, tell)
	}
	ticks, err := s.ticks(h, c.Probe)
	if err != nil {
		return nil, err
	}
	if !c.KeepFeed && s.table.setReaders != nil {
		ids, err := readerIDs(ctx, s.table.feed, readers)
		if err == nil {
			err = s.table.setReaders(ctx, ids)
		}
		if err != nil {
			return nil, err
		}
		s.table.setWanted(matcher(readers))
	}
	if s.checkpoints, err = openCheckpoints(ctx, s.table.checkpoints, c.Log); err != nil {
		return nil, err
	}
	if s.table.feed != nil {
		s.pump = startPump(s.App, s.table.feed, s.table.lag, s.table.exactTimes, readers, s.checkpoints, newStreamFaults(c.StreamFaults), &s.dead, s.background)
	}
	s.ticker = startTicker(ticks, c.Log)

	mux := http.NewServeMux()
	mux.Handle("/", s.table.waking(api))
	s.pages(mux, c.Profiles)
	s.http = &http.Server{
		Handler: raw{mux}, ConnState: s.unused.track, ReadHeaderTimeout: headerWithin, ErrorLog: slog.NewLogLogger(c.Log.Handler(), slog.LevelWarn),
	}
	go func() {
		if err := s.http.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
			s.fail(err)
		}
	}()
	return s, nil
}

// raw passes requests on without the redirects of net/http's mux, which API Gateway does not make.
type raw struct{ mux *http.ServeMux }

func (h raw) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if !strings.HasPrefix(r.URL.Path, localPrefix) {
		handler, _ := h.mux.Handler(&http.Request{Method: http.MethodGet, URL: root})
		handler.ServeHTTP(w, r)
		return
	}
	h.mux.ServeHTTP(w, r)
}

// unused holds connections that have had no request. Shutdown would wait up to five
// seconds for them.
type unused struct {
	mu    sync.Mutex
	conns map[net.Conn]bool
}

func (u *unused) track(c net.Conn, state http.ConnState) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.conns == nil {
		u.conns = map[net.Conn]bool{}
	}
	if state == http.StateNew {
		u.conns[c] = true
	} else {
		delete(u.conns, c)
	}
}

func (u *unused) close() {
	u.mu.Lock()
	defer u.mu.Unlock()
	for c := range u.conns {
		c.Close()
	}
}

// Failed delivers the error that ended the service, if one did.
func (s *Service) Failed() <-chan error { return s.failed }

// fail reports the first error that ends the service.
func (s *Service) fail(err error) {
	select {
	case s.failed <- err:
	default:
	}
}

// Drain waits until the payment processor's notifications and the stream are processed.
func (s *Service) Drain(ctx context.Context) error {
	if s.pump == nil {
		return errors.New("the deployed functions read this table's stream")
	}
	if s.payer != nil {
		if err := s.payer.Drain(ctx); err != nil {
			return err
		}
	}
	if s.table.wake != nil {
		s.table.wake()
	}
	return s.pump.drained(ctx)
}

// Stop ends the service. Running requests are answered until ctx ends. The next start continues
// the stream where it stopped.
func (s *Service) Stop(ctx context.Context) error {
	s.stop()
	s.unused.close()
	if s.payer != nil { // it calls the service
		s.payer.Close()
	}
	err := s.http.Shutdown(ctx)
	if err != nil {
		s.http.Close()
		err = fmt.Errorf("running requests were cut off: %w", err)
	}
	if s.pump != nil {
		s.pump.stop()
	}
	s.background.stop()
	s.ticker.stop()
	s.closeFunctions()
	s.checkpoints.close()
	s.table.close()
	return err
}

// secretFile is the file of the secret that seals tokens.
const secretFile = "secret"

// openSecret reads a secret from its file, or creates it: 64 hexadecimal digits.
func openSecret(dir, name string, random io.Reader) ([]byte, error) {
	fresh := make([]byte, 32)
	if _, err := io.ReadFull(random, fresh); err != nil {
		return nil, err
	}
	secret := []byte(hex.EncodeToString(fresh))
	if dir == "" {
		return secret, nil
	}
	file := filepath.Join(dir, name)
	b, err := os.ReadFile(file)
	switch {
	case os.IsNotExist(err):
		return secret, durable.Write(file, append(slices.Clone(secret), '\n'))
	case err != nil:
		return nil, err
	}
	if b = bytes.TrimSpace(b); len(b) < len(fresh) {
		return nil, fmt.Errorf("%s is damaged: got %d characters, want a secret of at least %d; "+
			"replace it with an earlier copy, or remove it to get a new secret, with which the service refuses everything that was made with the old one", file, len(b), len(fresh))
	}
	return b, nil
}
