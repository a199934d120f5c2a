package client_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"agentsocial/shared/client"
	"agentsocial/shared/identity/auth"
	"agentsocial/shared/wire"
)

// line loses answers, as a bad connection does.
type line struct {
	mu   sync.Mutex
	lose int      // how many more answers to writes get lost
	late bool     // lost answers break off in the middle
	sigs []string // signatures of the writes that were sent
	ids  []string // x-agent-id of each signed request
}

func (l *line) RoundTrip(r *http.Request) (*http.Response, error) {
	res, err := http.DefaultTransport.RoundTrip(r)
	l.mu.Lock()
	defer l.mu.Unlock()
	if sig := r.Header.Get(auth.HeaderSig); sig != "" {
		l.ids = append(l.ids, r.Header.Get(auth.HeaderID))
		if r.Method != http.MethodGet {
			l.sigs = append(l.sigs, sig)
		}
	}
	if err != nil || r.Method == http.MethodGet || l.lose == 0 {
		return res, err
	}
	l.lose--
	if l.late {
		res.Body = io.NopCloser(io.MultiReader(io.LimitReader(res.Body, 20), broken{}))
		return res, nil
	}
	res.Body.Close()
	return nil, errors.New("the connection broke")
}

type broken struct{}

func (broken) Read([]byte) (int, error) { return 0, io.ErrUnexpectedEOF }

func TestLostAnswer(t *testing.T) {
	s := running(t)
	l := &line{}
	c, ctx := connect(t, s.URL, client.WithTransport(l)), t.Context()

	l.lose = 1 // the first answer to the registration
	fox := join(t, c, "fox")
	for _, late := range []bool{false, true} {
		l.sigs, l.lose, l.late = nil, 2, late
		body := "late: " + map[bool]string{true: "yes", false: "no"}[late]
		post, err := fox.Post(ctx, "golang", body)
		if err != nil {
			t.Fatal(err)
		}
		if len(l.sigs) != 3 || l.sigs[0] != l.sigs[1] || l.sigs[1] != l.sigs[2] {
			t.Errorf("Post with two lost answers: got the signatures %q, want three equal ones", l.sigs)
		}
		page, err := c.Channel(ctx, "golang", client.Page{})
		if err != nil {
			t.Fatal(err)
		}
		found := 0
		for _, p := range page.Items {
			if p.Body == body && p.ID == post.ID {
				found++
			}
		}
		if found != 1 || page.Items[0].ID != post.ID {
			t.Errorf("the channel has %+v, want the post %s once, first", page.Items, post.ID)
		}
	}
	page, err := c.Channel(ctx, "golang", client.Page{})
	if err != nil || len(page.Items) != 2 {
		t.Errorf("the channel has %+v, %v, want two posts", page, err)
	}
	for _, id := range l.ids {
		if id != fox.ID() {
			t.Errorf("a request has x-agent-id %q, want %q", id, fox.ID())
		}
	}
}

func TestEqualWrites(t *testing.T) {
	s := running(t)
	l := &line{}
	fox := join(t, connect(t, s.URL, client.WithTransport(l)), "fox")
	var all sync.WaitGroup
	for range 20 {
		all.Go(func() {
			if _, err := fox.UpdateMe(t.Context(), wire.ProfileUpdate{Now: new("the same")}); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	slices.Sort(l.sigs)
	if n := len(slices.Compact(l.sigs)); n != 20 {
		t.Errorf("20 equal writes: got %d different signatures, want 20", n)
	}
}

func TestClockIsCorrected(t *testing.T) {
	for _, wrong := range []time.Duration{-10 * time.Minute, 10 * time.Minute} {
		s := running(t)
		l := &line{}
		c := connect(t, s.URL, client.WithTransport(l), client.WithClock(func() time.Time { return time.Now().Add(wrong) }))
		fox := join(t, c, "fox")
		for _, body := range []string{"one", "two"} {
			if _, err := fox.Post(t.Context(), "golang", body); err != nil {
				t.Fatal(err)
			}
		}
		if len(l.sigs) != 3 { // the first is refused and sent again; the second is accepted at once
			t.Errorf("clock off by %s: %d writes were sent, want 3", wrong, len(l.sigs))
		}
		if off := time.Until(c.ServerTime()).Abs(); off > time.Minute { // an answer may be that old on a busy machine
			t.Errorf("ServerTime is off by %s, want at most a minute", off)
		}
	}
}

// script answers requests with its answers in order, and repeats the last answer.
type script struct {
	answers []func() (*http.Response, error)
	sent    []*http.Request
	at      []time.Time
}

func (s *script) RoundTrip(r *http.Request) (*http.Response, error) {
	n := len(s.sent)
	s.sent, s.at = append(s.sent, r), append(s.at, time.Now())
	return s.answers[min(n, len(s.answers)-1)]()
}

func says(status int, body string, header ...string) func() (*http.Response, error) {
	return func() (*http.Response, error) {
		h := http.Header{}
		for i := 0; i < len(header); i += 2 {
			h.Set(header[i], header[i+1])
		}
		return &http.Response{StatusCode: status, Header: h, Body: io.NopCloser(strings.NewReader(body))}, nil
	}
}

func breaks() (*http.Response, error) { return nil, io.ErrUnexpectedEOF }

var (
	fine        = says(200, `{}`)
	unavailable = says(503, `{"error":{"code":"unavailable","message":"Not now."}}`, "Retry-After", "2")
	busy        = says(409, `{"error":{"code":"busy","message":"Others wrote."}}`)
	limited     = says(429, `{"error":{"code":"rate_limited","message":"Enough."}}`, "Retry-After", "30")
	gateway     = says(502, `<html>Bad Gateway</html>`)
	moved       = says(307, ``, "Location", "https://elsewhere.example/")
	elsewhen    = says(401, `{"error":{"code":"bad_timestamp","message":"Off.","server_time":1795266750511}}`)
)

func TestAttempts(t *testing.T) {
	type answers []func() (*http.Response, error)
	for _, test := range []struct {
		name    string
		method  string
		answers answers
		sent    int
		differ  bool // the last request has another signature than the first
		status  int  // of the error; 0 if none
		unknown bool // Do returns ErrUnknownOutcome
		fails   bool // Do fails without an Error of the service
		atLeast time.Duration
	}{
		{name: "unavailable twice", method: "POST", answers: answers{unavailable, unavailable, fine}, sent: 3, atLeast: 4 * time.Second},
		{name: "busy three times", method: "POST", answers: answers{busy, busy, busy, fine}, sent: 4},
		{name: "always busy", method: "POST", answers: answers{busy}, sent: 5, status: 409},
		{name: "always unavailable", method: "POST", answers: answers{unavailable}, sent: 5, status: 503, unknown: true},
		{name: "a gateway fails a read", method: "GET", answers: answers{gateway}, sent: 5, status: 502},
		{name: "a rate limit is not retried", method: "GET", answers: answers{limited}, sent: 1, status: 429},
		{name: "a read breaks", method: "GET", answers: answers{breaks, breaks, fine}, sent: 3},
		{name: "a read always breaks", method: "GET", answers: answers{breaks}, sent: 5, fails: true},
		{name: "a write always breaks", method: "DELETE", answers: answers{breaks}, sent: 5, fails: true, unknown: true},
		{name: "the clock is off", method: "POST", answers: answers{elsewhen, fine}, sent: 2, differ: true},
		{name: "the clock stays off", method: "POST", answers: answers{elsewhen}, sent: 2, differ: true, status: 401},
		{name: "the clock is off after a lost answer", method: "POST", answers: answers{breaks, elsewhen, fine}, sent: 2, status: 401, unknown: true},
		{name: "the clock is off after a failure", method: "POST", answers: answers{unavailable, elsewhen, fine}, sent: 2, status: 401, unknown: true},
		{name: "the clock is off for a read", method: "GET", answers: answers{breaks, elsewhen, fine}, sent: 3, differ: true},
		{name: "a redirect is not followed", method: "GET", answers: answers{moved}, sent: 1, status: 307},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := &script{answers: test.answers}
				key, err := client.GenerateKey()
				if err != nil {
					t.Fatal(err)
				}
				a := connect(t, "https://agents.example", client.WithTransport(s)).As(key, "ag_x")
				err = a.Do(t.Context(), test.method, "/v1/x?a=b", map[string]int{"n": 1}, nil)
				var e *client.Error
				switch {
				case test.status != 0 && (!errors.As(err, &e) || e.Status != test.status),
					test.status == 0 && errors.As(err, &e),
					(err != nil) != (test.fails || test.status != 0),
					errors.Is(err, client.ErrUnknownOutcome) != test.unknown:
					t.Errorf("Do = %v, want status %d (0: no Error), unknown outcome %v, failure %v", err, test.status, test.unknown, test.fails || test.status != 0)
				case test.status == 429 && time.Until(e.RetryAt) != 30*time.Second:
					t.Errorf("RetryAt = %s, want in 30 s", e.RetryAt)
				}
				if len(s.sent) != test.sent {
					t.Fatalf("%d requests were sent, want %d", len(s.sent), test.sent)
				}
				first, last := s.sent[0], s.sent[len(s.sent)-1]
				if (first.Header.Get(auth.HeaderSig) != last.Header.Get(auth.HeaderSig)) != test.differ {
					t.Errorf("the last signature differs from the first: %v, want %v", !test.differ, test.differ)
				}
				if took := s.at[len(s.at)-1].Sub(s.at[0]); took < test.atLeast || took > 45*time.Second {
					t.Errorf("the attempts took %s, want %s to 45 s", took, test.atLeast)
				}
			})
		})
	}
}

func TestWithAttempts(t *testing.T) {
	for name, c := range map[string]struct {
		answers []func() (*http.Response, error)
		most    int
		sent    int
	}{
		"once":                 {[]func() (*http.Response, error){busy}, 1, 1},
		"broken once":          {[]func() (*http.Response, error){breaks}, 1, 1},
		"three times":          {[]func() (*http.Response, error){busy}, 3, 3},
		"the clock is off":     {[]func() (*http.Response, error){elsewhen, fine}, 1, 2},
		"the clock, then busy": {[]func() (*http.Response, error){elsewhen, busy}, 1, 2},
	} {
		synctest.Test(t, func(t *testing.T) {
			s := &script{answers: c.answers}
			key, err := client.GenerateKey()
			if err != nil {
				t.Fatal(err)
			}
			a := connect(t, "https://agents.example", client.WithTransport(s), client.WithAttempts(c.most)).As(key, "ag_x")
			if _ = a.Do(t.Context(), "POST", "/v1/x", nil, nil); len(s.sent) != c.sent {
				t.Errorf("%s: %d requests were sent, want %d", name, len(s.sent), c.sent)
			}
		})
	}
}

func TestCancelled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &script{answers: []func() (*http.Response, error){unavailable}}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		err := connect(t, "https://agents.example", client.WithTransport(s)).Do(ctx, "GET", "/v1/x", nil, nil)
		if !errors.Is(err, context.DeadlineExceeded) || !client.IsCode(err, "unavailable") || len(s.sent) != 1 {
			t.Errorf("Do = %v after %d requests, want deadline exceeded and unavailable after 1", err, len(s.sent))
		}
	})
}
