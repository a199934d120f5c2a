// Package payments stands in for Stripe on a laptop. It answers the service's calls as
// strictly as Stripe's reference says, shows a page to pay on, and sends signed notifications
// with retries. No money moves. Tests can also order refunds and disputes ([Orders]).
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

	"agentsocial/local/service/durable"
)

// Config configures a stand-in.
type Config struct {
	URL     string           // the address of its handler
	Webhook string           // the address of the notifications' receiver
	File    string           // stores its data; "": only in memory
	Now     func() time.Time // the service's clock
	Rand    io.Reader
	Log     *slog.Logger
	Client  *http.Client // sends notifications; nil: a client that waits 15 s for an answer
	ByHand  bool         // sends nothing unless ordered to; use [StandIn.Take]
}

// StandIn is a running stand-in. It is safe for concurrent use.
type StandIn struct {
	c   Config
	mux *http.ServeMux

	mu   sync.Mutex
	kept kept
	held bool // sends only when ordered to
	wake chan struct{}
	stop chan struct{}
	done sync.WaitGroup
}

type kept struct {
	Key       string               `json:"key"`
	Secret    string               `json:"secret"` // signs notifications
	Checkouts map[string]*checkout `json:"checkouts"`
	Answers   map[string]answer    `json:"answers"` // by idempotency key
	Events    []*event             `json:"events"`  // oldest first
}

// answer is the answer to a call with an idempotency key.
type answer struct {
	Call   string `json:"call"` // path and parameters
	Status int    `json:"status"`
	Body   []byte `json:"body"`
}

// Open opens a stand-in with its stored data.
func Open(c Config) (*StandIn, error) {
	s := &StandIn{c: c, wake: make(chan struct{}, 1), stop: make(chan struct{})}
	if s.c.Client == nil {
		s.c.Client = &http.Client{Timeout: deliverWithin}
	}
	s.kept = kept{Checkouts: map[string]*checkout{}, Answers: map[string]answer{}}
	if c.File != "" {
		b, err := os.ReadFile(c.File)
		if err == nil {
			if err = json.Unmarshal(b, &s.kept); err != nil {
				err = fmt.Errorf("%s is damaged: %w; replace it with an earlier copy, or remove it to forget all checkouts", c.File, err)
			}
		}
		if err != nil && !os.IsNotExist(err) {
			return nil, fmt.Errorf("payments: %w", err)
		}
	}
	if s.kept.Key == "" {
		s.kept.Key, s.kept.Secret = "sk_test_"+s.random(), "whsec_"+s.random()
	}
	s.mux = http.NewServeMux()
	s.api()
	s.pages()
	if !c.ByHand {
		s.done.Go(s.send)
	}
	return s, nil
}

// Keys returns the API key, and the secret that signs notifications.
func (s *StandIn) Keys() (key, secret string) { return s.kept.Key, s.kept.Secret }

// ServeHTTP serves the stand-in. The caller first strips the path of Config.URL.
func (s *StandIn) ServeHTTP(w http.ResponseWriter, r *http.Request) { s.mux.ServeHTTP(w, r) }

// Close stops the stand-in. With Config.File, the next run sends pending notifications.
func (s *StandIn) Close() {
	close(s.stop)
	s.done.Wait()
}

// save stores the data in Config.File. The caller holds s.mu.
func (s *StandIn) save() error {
	if s.c.File == "" {
		return nil
	}
	b, err := json.Marshal(&s.kept)
	if err != nil {
		return err
	}
	return durable.Write(s.c.File, b)
}

func (s *StandIn) random() string {
	b := make([]byte, 16)
	if _, err := io.ReadFull(s.c.Rand, b); err != nil {
		panic("payments: no randomness: " + err.Error())
	}
	return hex.EncodeToString(b)
}

func (s *StandIn) now() int64 { return s.c.Now().Unix() }
