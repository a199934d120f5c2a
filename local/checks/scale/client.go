package scale

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"
	"time"

	"agentsocial/tables"
	"agentsocial/tables/dynamo"
)

// client is tables/dynamo with the SDK's client. [model] answers its requests instead of
// DynamoDB. The context of each HTTP request holds its [call], so the model need not decode
// requests, nor encode items in its answers.
type client struct {
	w  *world
	db *dynamo.DB
}

func newClient(w *world) *client {
	c := &client{w: w}
	c.db = dynamo.Open(dynamo.Config{
		Table: "scale", Region: "us-east-1", Endpoint: "http://dynamodb.example", Credentials: dynamo.Credentials("id", "secret", ""), HTTP: c,
	})
	return c
}

type call struct {
	trip time.Duration
	// do makes an attempt. It returns the body of DynamoDB's answer, and errThrottled or
	// errConflict if the model refused the attempt.
	do func(now time.Time, trip time.Duration) (answer string, err error)

	failed error // the embedded table's own error
}

type callKey struct{}

// Do implements [aws.HTTPClient].
func (c *client) Do(r *http.Request) (*http.Response, error) {
	ctx := r.Context()
	at, _ := ctx.Value(callKey{}).(*call)
	j := jobOf(ctx)
	if j == nil { // the world is being furnished, outside of virtual time
		answer, err := at.do(time.Now(), 0)
		return c.answer(answer, err), nil
	}
	trip := stretched(at.trip, j.chance())
	time.Sleep(trip / 2)
	c.w.turns.Wait(j.Job, "sent")
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	answer, err := at.do(time.Now(), trip)
	c.w.model.calls.Sent++
	j.attempts.Add(1)
	back := trip - trip/2
	switch err {
	case errThrottled:
		c.w.model.calls.Throttled++
		back = stretched(refusedTrip, j.chance()) / 2
	case errConflict:
		c.w.model.calls.Conflicts++
		back = stretched(refusedTrip, j.chance()) / 2
	}
	time.Sleep(back)
	c.w.turns.Wait(j.Job, "answered")
	return c.answer(answer, err), nil
}

func (c *client) answer(text string, err error) *http.Response {
	status := http.StatusOK
	if err == errThrottled || err == errConflict {
		status = http.StatusBadRequest
	}
	return &http.Response{
		StatusCode: status, Header: http.Header{"Content-Type": {"application/x-amz-json-1.0"}, "X-Amzn-Requestid": {"scale"}},
		Body: io.NopCloser(strings.NewReader(text)), ContentLength: int64(len(text)),
	}
}

const (
	throttledAnswer = `{"__type":"com.amazonaws.dynamodb.v20120810#ThrottlingException","message":"throttled"}`
	conflictAnswer  = `{"__type":"com.amazonaws.dynamodb.v20120810#TransactionConflictException","message":"conflict"}`
)

// cancelled returns DynamoDB's refusal of a transaction, with a code for the first write.
func cancelled(code string, writes int) string {
	reasons := make([]map[string]string, writes)
	for i := range reasons {
		reasons[i] = map[string]string{"Code": "None"}
	}
	reasons[0]["Code"] = code
	b, _ := json.Marshal(map[string]any{"__type": "com.amazonaws.dynamodb.v20120810#TransactionCanceledException", "CancellationReasons": reasons})
	return string(b)
}

func (c *client) with(ctx context.Context, at *call) context.Context {
	if j := jobOf(ctx); j != nil {
		j.calls.Add(1)
	}
	return context.WithValue(ctx, callKey{}, at)
}

// Get implements [tables.Backend].
func (c *client) Get(ctx context.Context, of tables.Consistency, keys ...tables.Key) ([]tables.Item, error) {
	found := map[tables.Key]tables.Item{}
	var left []tables.Key
	seen := map[tables.Key]bool{}
	for _, k := range keys {
		if !seen[k] {
			seen[k], left = true, append(left, k)
		}
	}
	at := &call{trip: getTrip}
	if len(left) > 1 {
		at.trip = batchTrip
	}
	at.do = func(now time.Time, _ time.Duration) (string, error) {
		var full []tables.Key
		for _, k := range left {
			item, err := c.w.model.get(ctx, of, k, now)
			switch {
			case err == errThrottled:
				full = append(full, k)
			case err != nil:
				at.failed = err
			default:
				found[k] = item
			}
		}
		if len(full) == len(left) {
			return throttledAnswer, errThrottled
		}
		if left = full; len(left) == 0 {
			return "{}", nil
		}
		c.w.model.calls.Throttled++
		var rest []any
		for _, k := range left {
			rest = append(rest, map[string]any{tables.AttrPK: map[string]string{"S": k.PK}, tables.AttrSK: map[string]string{"S": k.SK}})
		}
		b, err := json.Marshal(map[string]any{"UnprocessedKeys": map[string]any{"scale": map[string]any{"Keys": rest}}})
		return string(b), err
	}
	_, err := c.db.Get(c.with(ctx, at), of, keys...)
	if err != nil && !errors.As(err, new(*tables.Throttled)) {
		return nil, err
	}
	items := make([]tables.Item, len(keys))
	for i, k := range keys {
		items[i] = found[k]
	}
	return items, cmp.Or(at.failed, err)
}

// Query implements [tables.Backend].
func (c *client) Query(ctx context.Context, q tables.Query) (page tables.Page, err error) {
	at := &call{trip: queryTrip}
	at.do = func(now time.Time, _ time.Duration) (string, error) {
		page, at.failed = c.w.model.query(ctx, q, now)
		if at.failed == errThrottled {
			at.failed = nil
			return throttledAnswer, errThrottled
		}
		return "{}", nil
	}
	if _, err := c.db.Query(c.with(ctx, at), q); err != nil {
		return tables.Page{}, err
	}
	return page, at.failed
}

// Commit implements [tables.Backend].
func (c *client) Commit(ctx context.Context, tx tables.Tx) error {
	single := len(tx.Writes) == 1 && tx.Token == "" && tx.Writes[0].Op != tables.OpCheck
	at := &call{trip: transactTrip}
	if single {
		at.trip = writeTrip
	}
	at.do = func(now time.Time, trip time.Duration) (string, error) {
		err := c.w.model.commit(ctx, tx, now, now.Add(trip/2))
		switch {
		case err == errThrottled && single:
			return throttledAnswer, err
		case err == errThrottled:
			return cancelled("ThrottlingError", len(tx.Writes)), err
		case err == errConflict && single:
			return conflictAnswer, err
		case err == errConflict:
			return cancelled("TransactionConflict", len(tx.Writes)), err
		}
		at.failed = err
		return "{}", nil
	}
	if err := c.db.Commit(c.with(ctx, at), tx); err != nil {
		return err
	}
	return at.failed
}
