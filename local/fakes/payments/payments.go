// Package payments stands in for Stripe on a laptop: it answers the calls that
// the service makes of Stripe's API, as its reference says and no more
// leniently, has a page to pay on, and sends signed notifications until they are
// taken. No money moves. What tests and curious people may do besides (refunds,
// disputes, notifications out of order) is in hooks.go.
package payments

import (
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"os"
	"sync"
	"time"
)

// Config of a stand-in.
type Config struct {
	URL     string           // where its handler is reached
	Webhook string           // where notifications go
	File    string           // what it keeps; "" for nothing
	Now     func() time.Time // the service's clock: when things are made, and when pages expire
	Rand    io.Reader
	Log     *slog.Logger
	Client  *http.Client // what notifications are sent with; the default one if nil
}

// StandIn is one. Its methods may be used by any goroutine.
type StandIn struct {
	c   Config
	mux *http.ServeMux

	mu   sync.Mutex
	kept kept
	held bool           // notifications wait to be sent by hand
	wake chan struct{}  // something may be due
	stop chan struct{}  // closed at the end
	done sync.WaitGroup // the sender
}

// kept is what outlives a run.
type kept struct {
	Key       string               `json:"key"`    // of the API
	Secret    string               `json:"secret"` // of notifications
	Checkouts map[string]*checkout `json:"checkouts"`
	Answers   map[string]answer    `json:"answers"` // by idempotency key
	Events    []*event             `json:"events"`  // oldest first
}

// answer is what was answered to a call with an idempotency key.
type answer struct {
	Call   string `json:"call"` // its path and parameters
	Status int    `json:"status"`
	Body   []byte `json:"body"`
}

// Open opens a stand-in, with what it kept.
func Open(c Config) (*StandIn, error) {
	s := &StandIn{c: c, wake: make(chan struct{}, 1), stop: make(chan struct{})}
	if s.c.Client == nil {
		s.c.Client = &http.Client{Timeout: deliverWithin}
	}
	s.kept = kept{Checkouts: map[string]*checkout{}, Answers: map[string]answer{}}
	if c.File != "" {
		b, err := os.ReadFile(c.File)
		if err == nil {
			err = json.Unmarshal(b, &s.kept)
		}
		if err != nil && !os.IsNotExist(err) {
			return nil, fmt.Errorf("payments: %s: %w", c.File, err)
		}
	}
	if s.kept.Key == "" {
		s.kept.Key, s.kept.Secret = "sk_test_"+s.random(), "whsec_"+s.random()
	}
	s.mux = http.NewServeMux()
	s.api()
	s.pages()
	s.done.Go(s.send)
	return s, nil
}

// Keys are what the service needs: the API's key, and the secret that
// notifications are signed with.
func (s *StandIn) Keys() (key, secret string) { return s.kept.Key, s.kept.Secret }

// ServeHTTP answers what stands below the stand-in's URL, which the caller has
// taken off.
func (s *StandIn) ServeHTTP(w http.ResponseWriter, r *http.Request) { s.mux.ServeHTTP(w, r) }

// Close ends it. What was not taken is sent in the next run.
func (s *StandIn) Close() {
	close(s.stop)
	s.done.Wait()
}

// save stores changes before they are announced. The lock is held.
func (s *StandIn) save() error {
	if s.c.File == "" {
		return nil
	}
	b, err := json.Marshal(&s.kept)
	if err != nil {
		return err
	}
	if err := os.WriteFile(s.c.File+".new", b, 0o600); err != nil {
		return err
	}
	return os.Rename(s.c.File+".new", s.c.File)
}

func (s *StandIn) random() string {
	b := make([]byte, 16)
	if _, err := io.ReadFull(s.c.Rand, b); err != nil {
		panic("payments: no randomness: " + err.Error())
	}
	return hex.EncodeToString(b)
}

func (s *StandIn) now() int64 { return s.c.Now().Unix() }
