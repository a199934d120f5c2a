package dynamo

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"reflect"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"agentsocial/tables"
)

var (
	put   = tables.Put(tables.Item{"pk": "a", "sk": "b", "text": "secret"})
	other = tables.Delete(tables.Key{PK: "a", SK: "c"})
	old   = tables.Item{"pk": "a", "sk": "b", "n": int64(7)}

	single1 = tables.Tx{Writes: []tables.Write{put}}
	double  = tables.Tx{Writes: []tables.Write{put, other}}
	tokened = tables.Tx{Token: "token", Writes: []tables.Write{put, other}}
)

func TestCommitOutcomes(t *testing.T) {
	errCancelled := errors.New("cancelled") // stands for a *Cancelled
	for name, c := range map[string]struct {
		tx      tables.Tx
		answers []answer
		want    error
	}{
		"single: done":                   {single1, []answer{fine}, nil},
		"single: throttled":              {single1, []answer{throttled}, tables.ErrThrottled},
		"single: dropped":                {single1, []answer{dropped}, tables.ErrUnknownOutcome},
		"single: broken":                 {single1, []answer{broken}, tables.ErrUnknownOutcome},
		"single: half an answer":         {single1, []answer{half}, tables.ErrUnknownOutcome},
		"single: condition":              {single1, []answer{failed}, errCancelled},
		"single: conflict":               {single1, []answer{{status: 400, code: "TransactionConflictException"}}, tables.ErrConflict},
		"single: invalid":                {single1, []answer{{status: 400, code: "ValidationException"}}, tables.ErrInvalid},
		"single: too large":              {single1, []answer{{status: 413}}, tables.ErrInvalid},
		"tx: done":                       {double, []answer{fine}, nil},
		"tx: broken":                     {tokened, []answer{broken}, tables.ErrUnknownOutcome},
		"tx: dropped":                    {tokened, []answer{dropped}, tables.ErrUnknownOutcome},
		"tx: in progress":                {tokened, []answer{inProgress}, tables.ErrUnknownOutcome},
		"tx: condition":                  {tokened, []answer{cancelledFor("ConditionalCheckFailed", "None")}, errCancelled},
		"tx: condition and conflict":     {tokened, []answer{cancelledFor("ConditionalCheckFailed", "TransactionConflict")}, errCancelled},
		"tx: condition and throttle":     {tokened, []answer{cancelledFor("ConditionalCheckFailed", "ThrottlingError")}, errCancelled},
		"tx: condition and validation":   {tokened, []answer{cancelledFor("ConditionalCheckFailed", "ValidationError")}, tables.ErrInvalid},
		"tx: conflict":                   {tokened, []answer{cancelledFor("None", "TransactionConflict")}, tables.ErrConflict},
		"tx: conflict and throttle":      {tokened, []answer{cancelledFor("ThrottlingError", "TransactionConflict")}, tables.ErrConflict},
		"tx: throttled write":            {tokened, []answer{cancelledFor("None", "ThrottlingError")}, tables.ErrThrottled},
		"tx: throughput exceeded":        {tokened, []answer{cancelledFor("ProvisionedThroughputExceeded", "None")}, tables.ErrThrottled},
		"tx: validation":                 {tokened, []answer{cancelledFor("None", "ValidationError")}, tables.ErrInvalid},
		"tx: the token had other writes": {tokened, []answer{{status: 400, code: "IdempotentParameterMismatchException"}}, tables.ErrInvalid},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			db, s := play(t, c.answers...)
			err := db.Commit(t.Context(), c.tx)
			var cancelled *tables.Cancelled
			switch {
			case c.want == errCancelled:
				if !errors.As(err, &cancelled) {
					t.Errorf("Commit: got %v, want it cancelled", err)
				} else if want := (tables.Reason{Failed: true, Old: old}); !reflect.DeepEqual(cancelled.Reasons[0], want) {
					t.Errorf("reason: got %+v, want %+v", cancelled.Reasons[0], want)
				}
			case !errors.Is(err, c.want):
				t.Errorf("Commit: got %v, want %v", err, c.want)
			}
			if err != nil && strings.Contains(err.Error(), "secret") {
				t.Errorf("error: got %v, want it without DynamoDB's message", err)
			}
			for _, kind := range []error{tables.ErrThrottled, tables.ErrConflict, tables.ErrInvalid, tables.ErrUnknownOutcome, tables.ErrUnreachable} {
				if kind != c.want && errors.Is(err, kind) {
					t.Errorf("error: got %v, want it not to match %v", err, kind)
				}
			}
			asked := s.requests()
			if len(asked) != 1 { // tables/retry repeats calls, this package does not
				t.Errorf("got %d attempts, want 1", len(asked))
			}
			if token := asked[0].body["ClientRequestToken"]; len(c.tx.Writes) > 1 && (token == nil || token == "") {
				t.Error("token of the transaction: got none, want one")
			}
		})
	}
}

func TestCommitForms(t *testing.T) {
	check := tables.Check(tables.Key{PK: "a", SK: "b"}, tables.NoItem())
	change := tables.Change(tables.Key{PK: "a", SK: "b"}, tables.Add("n", 1))
	for _, c := range []struct {
		tx  tables.Tx
		api string
	}{
		{tables.Tx{Writes: []tables.Write{put}}, "PutItem"},
		{tables.Tx{Writes: []tables.Write{change}}, "UpdateItem"},
		{tables.Tx{Writes: []tables.Write{other}}, "DeleteItem"},
		{tables.Tx{Writes: []tables.Write{check}}, "TransactWriteItems"},
		{tables.Tx{Token: "t", Writes: []tables.Write{put}}, "TransactWriteItems"},
		{double, "TransactWriteItems"},
	} {
		db, s := play(t, fine)
		if err := db.Commit(t.Context(), c.tx); err != nil {
			t.Fatal(err)
		}
		if got := s.requests()[0].api; got != c.api {
			t.Errorf("API call for %+v: got %s, want %s", c.tx, got, c.api)
		}
	}
}

func TestCommitUnsent(t *testing.T) {
	// Port 1 is never given to a program that asks for any free port.
	db := Open(Config{Table: "t", Region: "local", Endpoint: "http://127.0.0.1:1", Credentials: Credentials("id", "secret", "")})
	if err := db.Commit(t.Context(), tokened); !errors.Is(err, tables.ErrUnreachable) || errors.Is(err, tables.ErrUnknownOutcome) {
		t.Errorf("commit to a closed port: got %v, want %v, and not %v", err, tables.ErrUnreachable, tables.ErrUnknownOutcome)
	}
}

// silent returns a client of a DynamoDB that never answers. Each request that arrives sends
// a value to the channel arrived.
func silent(arrived chan<- struct{}) *http.Client {
	return &http.Client{Transport: &http.Transport{DialContext: func(context.Context, string, string) (net.Conn, error) {
		here, there := net.Pipe()
		go func() {
			if n, _ := there.Read(make([]byte, 1<<16)); n > 0 {
				arrived <- struct{}{}
			}
			_, _ = io.Copy(io.Discard, there) // until the caller hangs up
		}()
		return here, nil
	}}}
}

func TestCommitAbandoned(t *testing.T) { synctest.Test(t, testCommitAbandoned) }

func testCommitAbandoned(t *testing.T) {
	arrived := make(chan struct{}, 9)
	config := Config{Table: "t", Region: "local", Endpoint: "http://dynamodb.example", Credentials: Credentials("id", "secret", ""), HTTP: silent(arrived)}
	ctx, cancel := context.WithCancel(t.Context())
	go func() { <-arrived; cancel() }()
	if err := Open(config).Commit(ctx, double); !errors.Is(err, tables.ErrUnknownOutcome) || !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled commit: got %v, want %v and %v", err, tables.ErrUnknownOutcome, context.Canceled)
	}
	config.Timeout = 20 * time.Millisecond
	if err := Open(config).Commit(t.Context(), single1); !errors.Is(err, tables.ErrUnknownOutcome) {
		t.Errorf("commit without an answer: got %v, want %v", err, tables.ErrUnknownOutcome)
	}
	if _, err := Open(config).Get(t.Context(), tables.Strong, put.Key); !errors.Is(err, context.DeadlineExceeded) || !errors.Is(err, tables.ErrUnreachable) || errors.Is(err, tables.ErrUnknownOutcome) {
		t.Errorf("read without an answer: got %v, want %v and %v, and not %v", err, tables.ErrUnreachable, context.DeadlineExceeded, tables.ErrUnknownOutcome)
	}
}

func TestThrottledKeys(t *testing.T) {
	db, _ := play(t, cancelledFor("None", "ThrottlingError"))
	var refused *tables.Throttled
	if err := db.Commit(t.Context(), tokened); !errors.As(err, &refused) || !reflect.DeepEqual(refused.Keys, []tables.Key{other.Key}) {
		t.Errorf("throttled transaction: got %v, want the key %v", err, other.Key)
	}
}
