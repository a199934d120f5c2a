package client

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
)

// All attempts send the same signed bytes, and the service refuses a timestamp that is
// over 60 s old.
const (
	attempts  = 5                      // the default of WithAttempts
	ResendFor = 45 * time.Second       // no attempt begins later than this after the first began
	firstWait = 100 * time.Millisecond // doubled each time, with jitter
	waitMost  = 5 * time.Second
)

const (
	pathAgents  = "/v1/agents"
	pathConfirm = "/v1/recover/confirm"
	pathToken   = "/oauth/token"
	pathRevoke  = "/oauth/revoke"
)

// repeatable lists the writes without a credential that may be retried even if their
// outcome is unknown: the service recognises a repeat, or a repeat does no harm. A repeat
// of any other write would be a second write.
var repeatable = []string{"/v1/challenge", pathAgents, pathConfirm, pathToken, pathRevoke}

// answerMost bounds the bytes of an answer's body, far above the service's longest
// answer.
const answerMost = 16 << 20

type answer struct {
	status int
	header http.Header
	body   []byte
}

func (a *answer) retryAfter() time.Duration {
	s, err := strconv.Atoi(a.header.Get("Retry-After"))
	if err != nil || s < 0 {
		return 0
	}
	return time.Duration(s) * time.Second
}

// signer adds a credential to a request.
type signer func(r *http.Request, body []byte)

// Do calls an endpoint without a credential. path may have a query. in is sent as JSON,
// and the answer is decoded into out, unless they are nil. A status of 300 or more gives
// an [*Error]. If the outcome of a write stays unknown, the error wraps
// [ErrUnknownOutcome].
func (c *Client) Do(ctx context.Context, method, path string, in, out any) error {
	return c.do(ctx, method, path, in, out, nil)
}

func (c *Client) do(ctx context.Context, method, path string, in, out any, sign signer) error {
	var body []byte
	if in != nil {
		var err error
		if body, err = json.Marshal(in); err != nil {
			return fmt.Errorf("client: %s %s: %w", method, path, err)
		}
	}
	a, err := c.exchange(ctx, method, path, body, sign)
	if err != nil {
		return fmt.Errorf("client: %s %s: %w", method, path, err)
	}
	if out == nil || len(a.body) == 0 {
		return nil
	}
	if err := json.Unmarshal(a.body, out); err != nil {
		return fmt.Errorf("client: %s %s: unexpected answer: %w", method, path, err)
	}
	return nil
}

// exchange calls [Client.retry]. If the clock was wrong, exchange corrects it and, if
// that is safe, signs and sends the request again.
func (c *Client) exchange(ctx context.Context, method, path string, body []byte, sign signer) (*answer, error) {
	a, lost, err := c.retry(ctx, method, path, body, sign)
	var e *Error
	if sign == nil || !errors.As(err, &e) || e.Code != "bad_timestamp" || e.ServerTime.IsZero() {
		return a, err
	}
	c.setClock(e.ServerTime)
	if lost { // an earlier attempt may have been accepted; a newly signed request would be a second write
		return nil, fmt.Errorf("%w: %w", ErrUnknownOutcome, err)
	}
	a, _, err = c.retry(ctx, method, path, body, sign)
	return a, err
}

// retry signs a request once, and sends it until an answer is final or another attempt is
// not allowed. lost reports that an attempt of a write may have been carried out.
func (c *Client) retry(ctx context.Context, method, path string, body []byte, sign signer) (_ *answer, lost bool, err error) {
	if !strings.HasPrefix(path, "/") {
		return nil, false, errors.New("the path does not begin with /")
	}
	r, err := http.NewRequestWithContext(ctx, method, c.base+path, nil)
	if err != nil {
		return nil, false, err
	}
	r.Header.Set("User-Agent", "agentsocial-go/0.1.0")
	r.Header.Set("Accept", "application/json")
	if len(body) > 0 {
		r.Header.Set("Content-Type", "application/json")
	}
	if sign != nil {
		sign(r, body)
	}
	write := method != http.MethodGet && method != http.MethodHead
	again := sign != nil || slices.Contains(repeatable, path)
	begun, wait := c.Now(), firstWait
	for n := 1; ; n++ {
		a, err := c.send(r, body)
		pause := wait/2 + time.Duration(c.jitter(int64(wait)))
		wait = min(2*wait, waitMost)
		if err != nil {
			lost = lost || write && sent(err)
		} else if err = c.refusal(a); err == nil || !transient(err) {
			return a, lost, err
		} else {
			lost = lost || write && a.status >= http.StatusInternalServerError
			pause = max(pause, a.retryAfter())
		}
		if n < c.attempts && (again || !lost) && c.Now().Sub(begun)+pause <= ResendFor && sleep(ctx, pause) {
			continue
		}
		if ctx.Err() != nil && !errors.Is(err, ctx.Err()) {
			err = fmt.Errorf("%w: %w", ctx.Err(), err)
		}
		if lost {
			err = fmt.Errorf("%w: %w", ErrUnknownOutcome, err)
		}
		return nil, lost, err
	}
}

// send makes one attempt. A truncated answer is an error.
func (c *Client) send(r *http.Request, body []byte) (*answer, error) {
	r = r.Clone(r.Context())
	if len(body) > 0 {
		r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
		r.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(body)), nil }
	}
	res, err := c.HTTP.Do(r)
	if err != nil {
		return nil, err
	}
	defer res.Body.Close()
	b, err := io.ReadAll(io.LimitReader(res.Body, answerMost+1))
	if err != nil {
		return nil, err
	}
	if len(b) > answerMost {
		return nil, fmt.Errorf("the answer has more than %d bytes", answerMost)
	}
	return &answer{res.StatusCode, res.Header, b}, nil
}

func (c *Client) refusal(a *answer) error {
	if a.status < 300 {
		return nil
	}
	return readError(a, c.ServerTime())
}

// transient reports whether a retry may soon succeed. A rate limit is not transient: its
// window is long.
func transient(err error) bool {
	var e *Error
	return errors.As(err, &e) && (e.Status >= 500 || e.Code == "busy")
}

// sent reports whether a failed request may have reached the service.
func sent(err error) bool {
	var op *net.OpError
	return !(errors.As(err, &op) && op.Op == "dial")
}

// sleep waits for d, and reports whether d passed before ctx ended.
func sleep(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
		return false
	}
}
