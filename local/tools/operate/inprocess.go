package main

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"log/slog"
	"os"

	lambda "github.com/aws/aws-lambda-go/events"

	"agentsocial/events"
	"agentsocial/local/service"
	"agentsocial/local/service/failed"
	"agentsocial/shared/app"
	"agentsocial/shared/lambda/host"
)

// inProcess returns a reader that calls the functions' own handlers in this process, with
// the LIMITS of `make run`.
func inProcess(j job) (reader, error) {
	a := &app.App{
		Table: j.Backend, Now: j.Now, Rand: rand.Reader, Settings: app.DefaultSettings(),
		Log: slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelWarn})),
	}
	if err := service.SetLimits(&a.Settings, j.getenv("LIMITS")); err != nil {
		return nil, err
	}
	handlers := map[string]host.BatchHandler{}
	for _, declare := range events.All() {
		f := declare(a)
		handlers[f.Name] = host.Batches(a, f)
	}
	return func(ctx context.Context, b *failed.Batch, records []record) (int, error) {
		handle := handlers[b.Reader()]
		if handle == nil {
			return 0, fmt.Errorf("there is no reader %q", b.Reader())
		}
		var e lambda.DynamoDBEvent
		if err := json.Unmarshal(eventOf(records), &e); err != nil {
			return 0, err
		}
		res, err := handle(ctx, e)
		if err != nil { // the whole batch failed; the handler logged why
			return 0, ctx.Err()
		}
		var failures []string
		for _, f := range res.BatchItemFailures {
			failures = append(failures, f.ItemIdentifier)
		}
		return done(records, failures), nil
	}, nil
}
