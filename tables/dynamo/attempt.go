package dynamo

import (
	"context"
	"math/rand/v2"
	"net/http/httptrace"
	"sync/atomic"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"agentsocial/tables"
)

// The number of attempts of a call, and the longest pause before the second one.
// The pause doubles each time, and is random ("full jitter"), so that callers
// throttled together do not retry together.
const (
	maxAttempts = 3
	firstPause  = 50 * time.Millisecond
)

// repeat says after which failures a call may be repeated.
type repeat int

const (
	// afterRefusal is for writes without a token: repeat only if the previous
	// attempt certainly did nothing. After a lost answer, a second attempt
	// could meet the effect of the first, and report a failed condition or add
	// twice.
	afterRefusal repeat = iota
	// afterLoss is for reads and for writes with a token, which may always be
	// repeated.
	afterLoss
)

// apiCall is a method expression of the SDK's client.
type apiCall[In, Out any] func(*dynamodb.Client, context.Context, *In, ...func(*dynamodb.Options)) (*Out, error)

// call makes an API call, with a bounded number of attempts. Its error is a
// *failure.
//
// Once an answer was lost, only a success, or an answer that covers all
// attempts, settles the outcome. A later throttled attempt says nothing about
// the first, so the failure stays fateLost.
func call[In, Out any](ctx context.Context, db *DB, name string, r repeat, api apiCall[In, Out], in *In) (*Out, *failure) {
	lost := false
	for attempt := 1; ; attempt++ {
		out, f := once(ctx, db, name, api, in)
		if f == nil {
			return out, nil
		}
		lost = lost || f.fate == fateLost
		again := f.fate == fateThrottled || f.fate == fateUnsent || f.fate == fateLost && r == afterLoss
		if !again || attempt == maxAttempts || !pause(ctx, attempt) {
			if lost && f.fate != fateRefused {
				f.fate = fateLost
			}
			return nil, f
		}
	}
}

// once makes one attempt: one round trip.
func once[In, Out any](ctx context.Context, db *DB, name string, api apiCall[In, Out], in *In) (*Out, *failure) {
	ctx, cancel := context.WithTimeout(ctx, db.timeout)
	defer cancel()

	// A request that got no connection had no effect.
	var sent atomic.Bool
	ctx = httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
		GotConn: func(httptrace.GotConnInfo) { sent.Store(true) },
	})

	defer tables.Trip(ctx)()
	out, err := api(db.client, ctx, in, func(o *dynamodb.Options) { o.Retryer = aws.NopRetryer{} })
	if err != nil {
		return nil, newFailure(name, err, sent.Load())
	}
	return out, nil
}

// pause waits before the next attempt. It returns false if ctx ended first.
func pause(ctx context.Context, attempt int) bool {
	t := time.NewTimer(rand.N(firstPause << (attempt - 1)))
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
		return false
	}
}
