package host

import (
	"context"
	"errors"
	"time"

	"github.com/aws/aws-lambda-go/lambda"
	"github.com/aws/aws-lambda-go/lambdacontext"

	"agentsocial/shared/app"
	"agentsocial/shared/lambda/metrics"
	"agentsocial/shared/lambda/schedule"
	"agentsocial/tables"
	"agentsocial/tables/retry"
)

// Schedule runs a scheduled function as a Lambda function.
func Schedule(function func(*app.App) schedule.Function, parts ...Part) {
	a := newApp(parts)
	f := function(a)
	mustGive(a, parts, f.Name, f.Capabilities())
	lambda.Start(Ticks(a, f))
}

// TickHandler runs what is due.
type TickHandler func(context.Context) error

// A tick that takes quietTick or longer is logged even if nothing was due.
const quietTick = time.Second

// Ticks makes a function answer the clock.
func Ticks(a *app.App, f schedule.Function) TickHandler {
	return func(ctx context.Context) error {
		ctx, cancel := sooner(ctx)
		defer cancel()
		ctx, usage := tables.WithUsage(retry.Patiently(ctx))
		ctx, lag := schedule.WithLag(ctx)
		start := a.Now()
		err := f.Handle(ctx)
		late := errors.Is(err, schedule.ErrUnfinished)
		if late { // the next tick continues, so Lambda need not retry
			err = nil
		}
		took := a.Now().Sub(start)
		if err == nil && !late && lag.Most() == 0 && usage.WriteUnits() == 0 && took < quietTick {
			return nil
		}
		var request, problem string
		unfinished := 0 // a metric
		if late {
			unfinished = 1
		}
		if lc, ok := lambdacontext.FromContext(ctx); ok {
			request = lc.AwsRequestID
		}
		if err != nil {
			problem = err.Error()
		}
		a.Log.Info(metrics.Tick, metrics.ByFunction, f.Name, "request_id", request, "error", problem, metrics.Unfinished, unfinished,
			metrics.Latency, took.Milliseconds(), metrics.Lag, lag.Most().Milliseconds(),
			metrics.ReadUnits, usage.ReadUnits(), metrics.WriteUnits, usage.WriteUnits())
		return err
	}
}
