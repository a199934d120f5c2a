package host

import (
	"context"
	"errors"

	"github.com/aws/aws-lambda-go/lambda"
	"github.com/aws/aws-lambda-go/lambdacontext"

	"agentsocial/shared/app"
	"agentsocial/shared/schedule"
	"agentsocial/tables"
)

// Schedule runs what the clock calls as a Lambda function.
func Schedule(function func(*app.App) schedule.Function, parts ...Part) {
	a := newApp(parts)
	lambda.Start(Ticks(a, function(a)))
}

// TickHandler does what is due.
type TickHandler func(context.Context) error

// Ticks makes a function answer the clock, whatever it says: what is due, the
// table tells.
func Ticks(a *app.App, f schedule.Function) TickHandler {
	return func(ctx context.Context) error {
		ctx, cancel := sooner(ctx)
		defer cancel()
		ctx, usage := tables.WithUsage(ctx)
		start := a.Now()
		err := f.Handle(ctx)
		late := errors.Is(err, schedule.ErrUnfinished)
		if late { // the next tick goes on: nothing is to be called again
			err = nil
		}
		var request, problem string
		if lc, ok := lambdacontext.FromContext(ctx); ok {
			request = lc.AwsRequestID
		}
		if err != nil {
			problem = err.Error()
		}
		a.Log.Info("tick", "function", f.Name, "request_id", request, "error", problem, "finished", err == nil && !late,
			"ms", a.Now().Sub(start).Milliseconds(),
			"read_units", usage.ReadUnits(), "write_units", usage.WriteUnits())
		return err
	}
}
