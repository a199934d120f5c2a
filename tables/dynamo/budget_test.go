package dynamo

import (
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"agentsocial/tables"
	"agentsocial/tables/retry"
)

// refusing answers each request with the error code, or with success if code is "".
type refusing struct {
	requests int
	code     string
	body     string
}

func (f *refusing) Do(r *http.Request) (*http.Response, error) {
	f.requests++
	status, body := 200, "{}"
	if f.code != "" {
		status, body = 400, fmt.Sprintf(`{"__type":"com.amazonaws.dynamodb.v20120810#%s","message":"slow down"%s}`, f.code, f.body)
	}
	return &http.Response{
		StatusCode: status, Header: http.Header{"Content-Type": {"application/x-amz-json-1.0"}},
		Body: io.NopCloser(strings.NewReader(body)), ContentLength: int64(len(body)), Request: r,
	}, nil
}

func TestRequestsWhileThrottled(t *testing.T) {
	for name, c := range map[string]struct{ code, body string }{
		"table":       {"ProvisionedThroughputExceededException", ""},
		"account":     {"RequestLimitExceeded", ""},
		"transaction": {"TransactionCanceledException", `,"CancellationReasons":[{"Code":"ThrottlingError"},{"Code":"None"}]`},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				far := &refusing{code: c.code, body: c.body}
				table := retry.Over(Open(Config{Table: "t", Region: "local", Endpoint: "http://dynamodb.example", Credentials: Credentials("id", "secret", ""), HTTP: far}), rand.Int64N)
				n := 0
				call := func() error {
					n++
					key := func(sk string) tables.Key { return tables.Key{PK: fmt.Sprint("P", n), SK: sk} }
					if n%3 > 0 || name == "transaction" {
						return table.Commit(t.Context(), tables.Tx{Token: fmt.Sprint(n), Writes: []tables.Write{tables.Delete(key("a")), tables.Delete(key("b"))}})
					}
					_, err := table.Get(t.Context(), tables.Strong, key("a"), key("b"))
					return err
				}
				for began := time.Now(); time.Since(began) < time.Minute; time.Sleep(50 * time.Millisecond) {
					at := time.Now()
					if err := call(); !errors.Is(err, tables.ErrThrottled) {
						t.Fatalf("throttled call: got %v, want %v", err, tables.ErrThrottled)
					}
					if took := time.Since(at); took > 300*time.Millisecond {
						t.Errorf("time of a throttled call: got %s, want at most 300 ms", took)
					}
				}
				if ratio := float64(far.requests) / float64(n); ratio >= 1.1 {
					t.Errorf("requests for %d throttled calls: got %d, %.3f for each; want less than 1.1 for each", n, far.requests, ratio)
				}
				far.code, far.requests = "", 0
				for range 50 {
					if err := call(); err != nil {
						t.Errorf("after the throttling: got %v, want no error", err)
					}
				}
				if far.requests != 50 {
					t.Errorf("after the throttling: got %d requests for 50 calls, want 50", far.requests)
				}
			})
		})
	}
}
