package payments

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"time"
)

type event struct {
	ID        string `json:"id"`
	Type      string `json:"type"`
	Body      []byte `json:"body"`
	Attempts  int    `json:"attempts"`
	Status    int    `json:"status"` // of the last attempt; 0: no answer
	Delivered bool   `json:"delivered"`
	GaveUp    bool   `json:"gave_up"`
	next      time.Time
}

// Stripe retries for three days, at growing intervals
// (https://docs.stripe.com/webhooks#retries). These intervals are shorter.
const (
	apiVersion    = "2026-03-25.dahlia"
	deliverWithin = 15 * time.Second
	firstRetry    = 200 * time.Millisecond
	lastRetry     = 20 * time.Second
	attemptsMost  = 20
	eventsMost    = 1000 // older pending events are kept, too
)

// tell queues a notification. The caller holds s.mu.
func (s *StandIn) tell(kind string, object any) *event {
	id := "evt_" + s.random()
	body, err := json.MarshalIndent(map[string]any{
		"id": id, "object": "event", "api_version": apiVersion, "created": s.now(), "livemode": false,
		"pending_webhooks": 1, "request": map[string]any{"id": nil, "idempotency_key": nil}, "type": kind,
		"data": map[string]any{"object": object},
	}, "", "  ")
	if err != nil {
		panic(err)
	}
	e := &event{ID: id, Type: kind, Body: body}
	s.kept.Events = append(s.kept.Events, e)
	if n := len(s.kept.Events) - eventsMost; n > 0 {
		waiting := slices.DeleteFunc(slices.Clone(s.kept.Events[:n]), func(e *event) bool { return e.Delivered || e.GaveUp })
		s.kept.Events = append(waiting, s.kept.Events[n:]...)
	}
	s.stir()
	return e
}

func (s *StandIn) stir() {
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

// look is the period of checking for due notifications.
const look = 100 * time.Millisecond

func (s *StandIn) send() {
	tick := time.NewTicker(look)
	defer tick.Stop()
	for {
		select {
		case <-s.stop:
			return
		case <-tick.C:
		case <-s.wake:
		}
		s.expire()
		for _, e := range s.due(time.Now()) {
			select {
			case <-s.stop:
				return
			default:
				_, _ = s.deliver(e) // e has the status; an error of saving e is ignored
			}
		}
	}
}

// pending returns the notifications that are neither accepted nor given up, oldest first. The
// caller holds s.mu.
func (s *StandIn) pending() (list []*event) {
	for _, e := range s.kept.Events {
		if !e.Delivered && !e.GaveUp {
			list = append(list, e)
		}
	}
	return list
}

func (s *StandIn) due(now time.Time) []*event {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.held {
		return nil
	}
	return slices.DeleteFunc(s.pending(), func(e *event) bool { return e.next.After(now) })
}

// deliver makes one attempt and stores its outcome.
func (s *StandIn) deliver(e *event) (status int, err error) {
	status, err = s.post(e.Body)
	s.mu.Lock()
	defer s.mu.Unlock()
	e.Attempts++
	e.Status = status
	if status >= 200 && status < 300 {
		e.Delivered = true
	} else {
		e.next = time.Now().Add(min(firstRetry<<min(e.Attempts-1, 10), lastRetry))
		e.GaveUp = e.Attempts >= attemptsMost
		s.c.Log.Warn("a payment's notification was not accepted", "type", e.Type, "attempt", e.Attempts, "status", status)
	}
	return status, errors.Join(err, s.save())
}

// post signs and sends the bytes (https://docs.stripe.com/webhooks#verify-manually). The
// signature has this machine's time, not the service's.
func (s *StandIn) post(body []byte) (int, error) {
	r, err := http.NewRequest(http.MethodPost, s.c.Webhook, bytes.NewReader(body))
	if err != nil {
		return 0, err
	}
	r.Header.Set("Content-Type", "application/json; charset=utf-8")
	r.Header.Set("User-Agent", "Stripe/1.0 (+https://stripe.com/docs/webhooks)")
	r.Header.Set("Stripe-Signature", Sign(body, time.Now(), s.kept.Secret))
	res, err := s.c.Client.Do(r)
	if err != nil {
		return 0, err
	}
	defer res.Body.Close()
	_, err = io.Copy(io.Discard, res.Body)
	return res.StatusCode, err
}

// Sign returns the header Stripe-Signature for a body. The header has a signature per secret.
func Sign(body []byte, at time.Time, secrets ...string) string {
	t := strconv.FormatInt(at.Unix(), 10)
	header := "t=" + t
	for _, secret := range secrets {
		mac := hmac.New(sha256.New, []byte(secret))
		mac.Write([]byte(t + "."))
		mac.Write(body)
		header += fmt.Sprintf(",v1=%x", mac.Sum(nil))
	}
	return header
}

func (s *StandIn) expire() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, id := range slices.Sorted(maps.Keys(s.kept.Checkouts)) {
		if c := s.kept.Checkouts[id]; c.Session.Status == "open" && c.Session.ExpiresAt <= s.now() {
			s.close(c)
		}
	}
}

// Delivery is a notification as it is sent.
type Delivery struct {
	ID, Type  string
	Body      []byte
	Signature string // the header Stripe-Signature
}

// Take closes expired checkouts, and returns each pending notification once, oldest first,
// signed with the current time. It is for a stand-in with ByHand.
func (s *StandIn) Take() (all []Delivery) {
	s.expire()
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, e := range s.pending() {
		e.Delivered = true
		all = append(all, Delivery{e.ID, e.Type, e.Body, Sign(e.Body, s.c.Now(), s.kept.Secret)})
	}
	return all
}

// Signed returns d, signed again with the current time.
func (s *StandIn) Signed(d Delivery) Delivery {
	d.Signature = Sign(d.Body, s.c.Now(), s.kept.Secret)
	return d
}

// close ends a checkout unpaid. The caller holds s.mu.
func (s *StandIn) close(c *checkout) {
	c.Session.Status, c.Session.URL = "expired", nil
	c.Intent.Status = "canceled"
	s.tell("checkout.session.expired", c.Session)
}

// Drain waits until no notification is pending. While notifications are held, it returns at
// once.
func (s *StandIn) Drain(ctx context.Context) error {
	s.expire()
	for {
		s.mu.Lock()
		idle := s.held || len(s.pending()) == 0
		s.mu.Unlock()
		if idle {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("payments: notifications are pending: %w", ctx.Err())
		case <-time.After(5 * time.Millisecond):
		}
	}
}
