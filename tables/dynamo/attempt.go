package dynamo

import (
	"context"
	"net/http/httptrace"
	"sync/atomic"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"agentsocial/tables"
)

// apiCall is a method expression of the SDK's client.
type apiCall[In, Out any] func(*dynamodb.Client, context.Context, *In, ...func(*dynamodb.Options)) (*Out, error)

// call makes an API call: one attempt, one round trip. Its error is a *failure.
func call[In, Out any](ctx context.Context, db *DB, name string, api apiCall[In, Out], in *In) (*Out, *failure) {
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
