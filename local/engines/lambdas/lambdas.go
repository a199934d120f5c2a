// Package lambdas runs the binaries built for Lambda: `make lambdas`. The binaries run behind
// the Lambda Runtime API (package runtime), with the environment that infra sets. The
// table is DynamoDB Local; [Cloud] stands in for the other services.
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
	"agentsocial/shared/lambda/mailevent"
	"agentsocial/shared/lambda/schedule"
	"agentsocial/shared/lambda/stream"
)

// Config configures the functions.
type Config struct {
	Folder string    // has <name>/bootstrap for each function, built for this machine
	Env    host.Env  // the deployment's, with Local set; each function gets the part that it needs
	Logs   io.Writer // receives the functions' output, from any goroutine; nil: discarded
}

// Lambdas holds the functions. It is safe for concurrent use.
type Lambdas struct {
	mu        sync.Mutex
	c         Config
	functions []*runtime.Function
}

// Open returns the functions. Each starts at its first call.
func Open(c Config) *Lambdas { return &Lambdas{c: c} }

// Group returns the handler of a group of endpoints.
func (l *Lambdas) Group(declare func(*app.App) api.Group) (host.GatewayHandler, error) {
	g := declare(&app.App{})
	f, err := l.function(g.Name, g.Capabilities(), host.GroupSize)
	return func(ctx context.Context, e events.APIGatewayV2HTTPRequest) (res events.APIGatewayV2HTTPResponse, err error) {
		return res, invoke(ctx, f, e, &res)
	}, err
}

// Reader returns the handler of a stream reader.
func (l *Lambdas) Reader(r stream.Function) (host.BatchHandler, error) {
	f, err := l.function(r.Name, app.Table, host.ReaderSize)
	return func(ctx context.Context, e events.DynamoDBEvent) (res events.DynamoDBEventResponse, err error) {
		return res, invoke(ctx, f, e, &res)
	}, err
}

// Schedule returns the handler of a scheduled function.
func (l *Lambdas) Schedule(s schedule.Function) (host.TickHandler, error) {
	f, err := l.function(s.Name, app.Table|s.Needs, host.ScheduleSize(s))
	return func(ctx context.Context) error {
		var none any
		return invoke(ctx, f, events.EventBridgeEvent{
			Version: "0", Source: "aws.scheduler", DetailType: "Scheduled Event", Time: time.Now().UTC(), Detail: json.RawMessage(`"{}"`),
		}, &none)
	}, err
}

// Mail returns the handler of a function for events about mail.
func (l *Lambdas) Mail(m mailevent.Function) (host.MailHandler, error) {
	f, err := l.function(m.Name, mailevent.Needs, host.MailSize)
	return func(ctx context.Context, e events.EventBridgeEvent) error {
		var none any
		return invoke(ctx, f, e, &none)
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

// Variables returns a function's part of the deployment's environment, with the region and the
// credentials.
func Variables(e host.Env, has app.Capabilities) map[string]string {
	vars := e.Variables(has)
	maps.Copy(vars, map[string]string{
		"AWS_REGION": e.Region, "AWS_ACCESS_KEY_ID": e.AccessKey, "AWS_SECRET_ACCESS_KEY": e.SecretKey,
	})
	return vars
}

// invoke calls a function with an event and decodes its answer.
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

// Ahead sets the functions' clock to d ahead of this machine's. Later calls run
// in new processes.
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

// Close ends the functions after their running calls.
func (l *Lambdas) Close() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, f := range l.functions {
		f.Close()
	}
}
