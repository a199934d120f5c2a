// Package lambdas runs the functions as they are built for Lambda, each binary as
// processes of its own behind the Lambda Runtime API (package runtime), told what
// infra would tell it, and with stand-ins for what it asks beside the table:
// `make lambdas`.
package lambdas

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/aws/aws-lambda-go/events"

	"agentsocial/local/engines/lambdas/runtime"
	"agentsocial/shared/api"
	"agentsocial/shared/app"
	"agentsocial/shared/lambda/host"
	"agentsocial/shared/lambda/schedule"
	"agentsocial/shared/lambda/stream"
)

// Config is what the functions are run with.
type Config struct {
	Folder string    // where <name>/bootstrap are, built for this machine
	Env    host.Env  // the deployment's, of which each function gets what it needs; with a Local
	Logs   io.Writer // takes what the functions write, from any goroutine; nil: nobody does
}

// Lambdas are the functions. Their methods may be used by any goroutine.
type Lambdas struct {
	mu        sync.Mutex
	c         Config
	functions []*runtime.Function
}

// Open makes functions, of which none runs before it is called.
func Open(c Config) *Lambdas { return &Lambdas{c: c} }

// Group is a group of endpoints.
func (l *Lambdas) Group(declare func(*app.App) api.Group) (host.GatewayHandler, error) {
	g := declare(&app.App{})
	f, err := l.function(g.Name, g.Needs, host.GroupSize)
	return func(ctx context.Context, e events.APIGatewayV2HTTPRequest) (res events.APIGatewayV2HTTPResponse, err error) {
		return res, invoke(ctx, f, e, &res)
	}, err
}

// Reader is a reader of the stream.
func (l *Lambdas) Reader(r stream.Function) (host.BatchHandler, error) {
	f, err := l.function(r.Name, app.Table, host.ReaderSize)
	return func(ctx context.Context, e events.DynamoDBEvent) (res events.DynamoDBEventResponse, err error) {
		return res, invoke(ctx, f, e, &res)
	}, err
}

// Schedule is what the clock calls.
func (l *Lambdas) Schedule(s schedule.Function) (host.TickHandler, error) {
	f, err := l.function(s.Name, app.Table, host.ScheduleSize(s))
	return func(ctx context.Context) error {
		var none any
		return invoke(ctx, f, events.EventBridgeEvent{
			Version: "0", Source: "aws.scheduler", DetailType: "Scheduled Event", Time: time.Now().UTC(), Detail: json.RawMessage(`"{}"`),
		}, &none)
	}, err
}

func (l *Lambdas) function(name string, has app.Capabilities, size host.Size) (*runtime.Function, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	bootstrap := filepath.Join(l.c.Folder, name, "bootstrap")
	if _, err := os.Stat(bootstrap); err != nil {
		return nil, fmt.Errorf("function %s is not built: %w (`make lambdas` builds it)", name, err)
	}
	f := runtime.New(runtime.Config{
		Name: name, Bootstrap: bootstrap, Env: Variables(l.c.Env, has), Memory: size.Memory, Timeout: size.Timeout, Logs: l.c.Logs,
	})
	l.functions = append(l.functions, f)
	return f, nil
}

// Variables are a function's: what a deployment sets, and what Lambda does.
func Variables(e host.Env, has app.Capabilities) map[string]string {
	vars := e.Variables(has)
	maps.Copy(vars, map[string]string{
		"AWS_REGION": e.Region, "AWS_ACCESS_KEY_ID": e.AccessKey, "AWS_SECRET_ACCESS_KEY": e.SecretKey,
	})
	return vars
}

// invoke has a function answer an event, both in JSON as Lambda has them.
func invoke(ctx context.Context, f *runtime.Function, event, answer any) error {
	payload, err := json.Marshal(event)
	if err != nil {
		return err
	}
	body, err := f.Invoke(ctx, payload)
	if err != nil {
		return err
	}
	return json.Unmarshal(body, answer)
}

// Ahead moves the functions' clock: those that run do not hear of it, and so
// others take their place.
func (l *Lambdas) Ahead(d time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	local := *l.c.Env.Local
	local.Ahead = d
	l.c.Env.Local = &local
	for _, f := range l.functions {
		f.Renew(map[string]string{"LOCAL": l.c.Env.Variables(0)["LOCAL"]})
	}
}

// Close ends the functions, once they have done what they are doing.
func (l *Lambdas) Close() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, f := range l.functions {
		f.Close()
	}
}
