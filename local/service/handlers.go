package service

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"runtime"
	"strings"
	"sync"
	"time"

	"github.com/aws/aws-lambda-go/events"

	"agentsocial/functions"
	"agentsocial/local/engines/dynamodb"
	"agentsocial/local/engines/lambdas"
	"agentsocial/shared/api"
	"agentsocial/shared/app"
	"agentsocial/shared/lambda/host"
	"agentsocial/shared/lambda/mailevent"
	"agentsocial/shared/lambda/schedule"
	"agentsocial/shared/lambda/stream"
	"agentsocial/shared/outside/payments/stripe"
)

// handlers returns the functions for the gateway, the stream, the clock and mail events: in
// this process, or built for Lambda ([lambdas.Lambdas]).
type handlers interface {
	Groups
	Reader(stream.Function) (host.BatchHandler, error)
	Schedule(schedule.Function) (host.TickHandler, error)
	Mail(mailevent.Function) (host.MailHandler, error)
}

// inProcess runs the functions in this process, on app.
type inProcess struct {
	app *app.App

	// immortal is set if nothing calls [Kill] or [Die]; only tests' tables do. Each request
	// then runs in its connection's goroutine, whose stack already has the needed size.
	immortal bool
}

// Group returns a group's function with its own server, as deployed. It has only the
// permissions and dependencies that the group declares.
func (p inProcess) Group(declare func(*app.App) api.Group) (host.GatewayHandler, error) {
	group := declare(p.app)
	reads, writes := group.Rights()
	own := confined(p.app, group.Name, reads, writes).Only(group.Capabilities())
	start := func() host.GatewayHandler {
		process := own.Remembering()
		return host.Gateway(api.NewServer(process, declare(process)))
	}
	var mu sync.Mutex
	runs := start()
	return func(ctx context.Context, e events.APIGatewayV2HTTPRequest) (events.APIGatewayV2HTTPResponse, error) {
		mu.Lock()
		h := runs
		mu.Unlock()
		if p.immortal {
			return h(ctx, e)
		}
		res, err := survive(ctx, func(ctx context.Context) (events.APIGatewayV2HTTPResponse, error) { return h(ctx, e) })
		if errors.Is(err, errDied) { // a new process replaces it
			mu.Lock()
			runs = start()
			mu.Unlock()
		}
		return res, err
	}, nil
}

func (p inProcess) Reader(r stream.Function) (host.BatchHandler, error) {
	h := host.Batches(p.app, r)
	return func(ctx context.Context, e events.DynamoDBEvent) (events.DynamoDBEventResponse, error) {
		return survive(ctx, func(ctx context.Context) (events.DynamoDBEventResponse, error) { return h(ctx, e) })
	}, nil
}

func (p inProcess) Schedule(s schedule.Function) (host.TickHandler, error) {
	h := host.Ticks(p.app, s)
	return func(ctx context.Context) error {
		_, err := survive(ctx, func(ctx context.Context) (struct{}, error) { return struct{}{}, h(ctx) })
		return err
	}, nil
}

func (p inProcess) Mail(f mailevent.Function) (host.MailHandler, error) {
	h := host.MailEvents(p.app, f)
	return func(ctx context.Context, e events.EventBridgeEvent) error {
		_, err := survive(ctx, func(ctx context.Context) (struct{}, error) { return struct{}{}, h(ctx, e) })
		return err
	}, nil
}

// watched reports whether c wraps or replaces the functions' table. The table may then end
// a function, or block many at once.
func (c Config) watched() bool { return c.Wrap != nil || c.Open != nil }

func (s *Service) handlers(c Config) (_ handlers, err error) {
	if c.Lambdas == "" {
		return inProcess{app: s.App, immortal: !c.watched()}, nil
	}
	if s.cloud, err = s.Cloud("127.0.0.1:0", s.URL); err != nil {
		return nil, err
	}
	s.lambda = lambdas.Open(lambdas.Config{Folder: c.Lambdas, Env: s.cloud.Env, Logs: c.Logs})
	return s.lambda, nil
}

// gateway returns the handler of requests: this process's gateway or c.Gateway.
func (s *Service) gateway(ctx context.Context, c Config, h handlers) (http.Handler, error) {
	if c.Gateway == nil {
		g, err := newGateway(s.App, functions.All(), h, c.Throttle)
		if err == nil && c.Lambdas == "" && !c.watched() {
			g.turns = make(chan struct{}, turnsEach*runtime.GOMAXPROCS(0))
		}
		return g, err
	}
	var err error
	if s.cloud, err = s.Cloud(net.JoinHostPort(c.Gateway.Address(), "0"), s.URL); err != nil {
		return nil, err
	}
	if err := c.Gateway.Start(ctx, s.cloud.Env); err != nil {
		return nil, err
	}
	s.outside = c.Gateway
	return s.outside, nil
}

// closeFunctions ends the functions outside this process.
func (s *Service) closeFunctions() {
	if s.lambda != nil {
		s.lambda.Close()
	}
	if s.outside != nil {
		s.outside.Close()
	}
	if s.cloud != nil {
		s.cloud.Close()
	}
}

// Cloud holds the environment of functions outside this process, and the stand-ins
// that it names.
type Cloud struct {
	Env    host.Env
	server *http.Server
}

// ahead returns the environment of functions whose clock is ahead by d.
func (c *Cloud) ahead(d time.Duration) host.Env {
	e, local := c.Env, *c.Env.Local
	local.Ahead = d
	e.Local = &local
	return e
}

// Close ends the stand-ins.
func (c *Cloud) Close() { c.server.Close() }

// Cloud starts the stand-ins for Stripe and for the AWS services other than the table,
// at an address of this machine, such as "127.0.0.1:0".
func (s *Service) Cloud(address, baseURL string) (*Cloud, error) {
	// The stand-ins give secrets to callers without credentials: never listen on all interfaces.
	if at, err := netip.ParseAddrPort(address); err != nil || at.Addr().IsUnspecified() {
		return nil, fmt.Errorf("the stand-ins need the IP of one interface, not %q", address)
	}
	if s.payer == nil || s.table.dynamo.Endpoint == "" {
		return nil, errors.New("functions in their own processes need TABLE=dynamodb-local and the payments stand-in")
	}
	key, hook := s.payer.Keys()
	keys, err := json.Marshal(stripe.Keys{SecretKey: key, WebhookSecrets: []string{hook}})
	if err != nil {
		return nil, err
	}
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return nil, err
	}
	arn := func(name string) string {
		return "arn:aws:secretsmanager:" + dynamodb.Region + ":000000000000:secret:" + name
	}
	seal, pepper, payments := arn("seal"), arn("pepper"), arn("payments")
	c := lambdas.Cloud{
		Secrets: map[string]string{seal: string(s.secret), pepper: string(s.pepper), payments: string(keys)},
		Mail:    s.mail, Stripe: s.payer,
	}
	edge := ""
	if s.edge != "" {
		edge = arn("edge")
		c.Secrets[edge] = s.edge
	}
	server := &http.Server{Handler: c.Handler(), ReadHeaderTimeout: headerWithin}
	go func() { _ = server.Serve(listener) }() // until it is closed

	url, set := "http://"+listener.Addr().String(), s.App.Settings
	return &Cloud{server: server, Env: host.Env{
		Table: s.table.dynamo.Table, BaseURL: baseURL, Stage: localStage, Region: dynamodb.Region,
		AccessKey: dynamodb.AccessKey, SecretKey: dynamodb.SecretKey,
		SecretARN: seal, PepperARN: pepper, PaymentsARN: payments, EdgeSecretARN: edge, MailFrom: "no-reply@agentsocial.example", MailSet: "local",
		PowBits: set.PowBits, PageBits: set.PageBits, MicroUSDPerChar: set.MicroUSDPerChar,
		WebOrigins: strings.Join(set.WebOrigins, ","), Contact: set.Contact, Index: set.Index, Limits: set.Limits,
		DynamoDBURL: s.table.dynamo.Endpoint, SecretsManagerURL: url, SESURL: url,
		Local: &host.Local{
			Ahead: s.clock.lead(), StripeURL: url,
			ByAddr: set.ByAddr, MaxReads: set.MaxReads, ViewSample: set.ViewSample, PromoWait: set.PromoWait, Remember: set.Remember,
		},
	}}, nil
}
