package host

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-lambda-go/lambda"
	"github.com/aws/aws-lambda-go/lambdacontext"
	"github.com/awslabs/aws-lambda-go-api-proxy/httpadapter"

	"agentsocial/shared/api"
	"agentsocial/shared/app"
	"agentsocial/shared/lambda/metrics"
	"agentsocial/shared/lambda/stream"
	"agentsocial/tables"
	"agentsocial/tables/retry"
)

// API runs a group of endpoints as a Lambda function behind an HTTP API.
func API(group func(*app.App) api.Group, parts ...Part) {
	a := newApp(parts).Remembering()
	g := group(a)
	mustGive(a, parts, g.Name, g.Capabilities())
	lambda.Start(Gateway(api.NewServer(a, g)))
}

// Stream runs a reader of the table's stream as a Lambda function.
func Stream(reader func(*app.App) stream.Function, parts ...Part) {
	a := newApp(parts)
	r := reader(a)
	mustGive(a, parts, r.Name, app.Table)
	lambda.Start(Batches(a, r))
}

// mustGive ends the process unless parts give exactly the capabilities that the function
// needs.
func mustGive(a *app.App, parts []Part, name string, needs app.Capabilities) {
	if has := capabilities(parts); has != needs {
		a.Log.Error("cannot start", "error", fmt.Sprintf("function %s was built with the capabilities %s, but needs %s", name, has, needs))
		os.Exit(1)
	}
}

// GatewayHandler answers a request from an HTTP API (payload format 2.0).
type GatewayHandler func(context.Context, events.APIGatewayV2HTTPRequest) (events.APIGatewayV2HTTPResponse, error)

// Gateway makes a server answer the gateway's events. It takes the path and the query from
// the event, because signatures cover them as sent and net/http changes them.
func Gateway(s *api.Server) GatewayHandler {
	adapter := httpadapter.NewV2(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		// The adapter splits the values of headers at commas; the event has them whole.
		headers, _ := r.Context().Value(headersKey{}).(map[string]string)
		r.Header = headerOf(headers)
		s.ServeHTTP(w, r)
	}))
	return func(ctx context.Context, e events.APIGatewayV2HTTPRequest) (events.APIGatewayV2HTTPResponse, error) {
		ctx, cancel := sooner(ctx)
		defer cancel()
		ctx = api.WithRaw(ctx, api.Raw{
			Path: e.RawPath, Query: e.RawQueryString,
			RequestID: e.RequestContext.RequestID, Address: e.RequestContext.HTTP.SourceIP,
		})
		ctx = context.WithValue(ctx, headersKey{}, e.Headers)
		e.RequestContext.DomainName, e.Headers = "service", nil
		e.QueryStringParameters = nil // the raw string has everything, in order
		if !api.PlainPath(e.RawPath) || !api.PlainQuery(e.RawQueryString) {
			// The adapter would fail on such a path or query. The server refuses both.
			e.RawPath, e.RawQueryString = "/", ""
		}
		return adapter.ProxyWithContext(ctx, e)
	}
}

type headersKey struct{}

func headerOf(headers map[string]string) http.Header {
	h, values := make(http.Header, len(headers)), make([]string, len(headers))
	i := 0
	for name, value := range headers {
		values[i] = value
		h[canonical(name)] = values[i : i+1 : i+1]
		i++
	}
	return h
}

// lastWords is the time left to answer and to log after work is cut off.
const lastWords = 500 * time.Millisecond

// sooner ends a context a little before Lambda ends the process.
func sooner(ctx context.Context) (context.Context, context.CancelFunc) {
	end, ok := ctx.Deadline()
	if !ok {
		return ctx, func() {}
	}
	return context.WithDeadline(ctx, end.Add(-lastWords))
}

// Batches logs a batch if a record failed, or if the batch took at least slow or lagged by
// at least late. Of the others it logs one in [app.Settings.LogReads], or all if that is 0.
const (
	slow = time.Second
	late = 10 * time.Second
)

// BatchHandler processes a batch of a stream's shard.
type BatchHandler func(context.Context, events.DynamoDBEvent) (events.DynamoDBEventResponse, error)

// Batches makes a reader process Lambda's batches. It reports the sequence number of the
// first failed record. Lambda then repeats that record and all later ones.
//
// If the first of several records fails, Batches returns an error, so that Lambda halves
// the batch. Otherwise Lambda would repeat the same batch, and finally give up all of it.
func Batches(a *app.App, f stream.Function) BatchHandler {
	return func(ctx context.Context, e events.DynamoDBEvent) (events.DynamoDBEventResponse, error) {
		ctx, cancel := sooner(ctx)
		defer cancel()
		ctx, usage := tables.WithUsage(retry.Patiently(ctx))
		start := a.Now()
		records, err := stream.FromLambda(e)
		if err != nil {
			return events.DynamoDBEventResponse{}, err
		}
		n := f.Run(ctx, a.Log, records)
		took, lag := a.Now().Sub(start), time.Duration(0)
		if len(records) > 0 {
			lag = start.Add(took).Sub(records[0].At)
		}
		var request string
		if lc, ok := lambdacontext.FromContext(ctx); ok {
			request = lc.AwsRequestID
		}
		line := []any{metrics.ByFunction, f.Name, "request_id", request, "records", len(records), "done", n,
			metrics.Latency, took.Milliseconds(), metrics.Lag, lag.Milliseconds(),
			metrics.ReadUnits, usage.ReadUnits(), metrics.WriteUnits, usage.WriteUnits()}
		share := a.Settings.LogReads
		switch { // most batches have one change, and the request that made it has a log line
		case share == 0 || n < len(records) || took >= slow || lag >= late:
			a.Log.Info(metrics.Batch, line...)
		case a.Intn(share) == 0:
			a.Log.Info(metrics.Batch, append(line, "one_in", share)...)
		}
		switch {
		case n == len(records):
			return events.DynamoDBEventResponse{BatchItemFailures: []events.DynamoDBBatchItemFailure{}}, nil
		case n == 0 && len(records) > 1:
			return events.DynamoDBEventResponse{}, fmt.Errorf("host: the first of %d records failed", len(records))
		}
		return events.DynamoDBEventResponse{BatchItemFailures: []events.DynamoDBBatchItemFailure{
			{ItemIdentifier: records[n].Seq},
		}}, nil
	}
}
