package service

import (
	"context"
	"net/http"
	"time"

	"agentsocial/events"
	"agentsocial/functions"
	standin "agentsocial/local/fakes/payments"
	"agentsocial/shared/api"
	"agentsocial/shared/app"
	"agentsocial/shared/identity/seal"
	"agentsocial/shared/lambda/host"
	"agentsocial/shared/lambda/schedule"
	"agentsocial/shared/lambda/stream"
	"agentsocial/shared/outside/payments"
	"agentsocial/shared/outside/payments/stripe"
)

// Parts is a service without a network, a pump or a ticker. The caller makes the requests,
// delivers the batches and calls the schedules. The functions and their permissions are those
// of [Service].
type Parts struct {
	App       *app.App
	Gateway   http.Handler
	Readers   []PartReader
	Schedules []PartSchedule
	Returns   []host.MailHandler // told of bounces and complaints
	Payments  *standin.StandIn   // sends notifications only when it is told to
}

// PartReader is a reader of the stream with its handler.
type PartReader struct {
	stream.Function
	Invoke host.BatchHandler
}

// PartSchedule is a scheduled function with its handler.
type PartSchedule struct {
	schedule.Function
	Invoke host.TickHandler
}

// Assemble makes the parts on an App that lacks Box, Pepper and Payments. The secrets come from
// its Rand. ahead returns by how much a function's clock is ahead of a.Now. wrap may change the
// payment processor.
func Assemble(a *app.App, ahead func(function string) time.Duration, wrap func(payments.Processor) payments.Processor) (*Parts, error) {
	secret, err := openSecret("", "secret", a.Rand)
	if err != nil {
		return nil, err
	}
	box, err := seal.New(secret)
	if err != nil {
		return nil, err
	}
	pepper, err := openSecret("", "pepper", a.Rand)
	if err != nil {
		return nil, err
	}
	a.Box = func(context.Context) (*seal.Box, error) { return box, nil }
	a.Pepper = func(context.Context) ([]byte, error) { return pepper, nil }
	p := &Parts{App: a}
	base := a.Settings.BaseURL
	p.Payments, err = standin.Open(standin.Config{
		URL: base + payPrefix, Webhook: base + "/payments/webhook", Now: a.Now, Rand: a.Rand, Log: a.Log, ByHand: true,
	})
	if err != nil {
		return nil, err
	}
	key, hook := p.Payments.Keys()
	a.Payments = wrap(stripe.New(stripe.Config{
		BaseURL: base, Stage: localStage, Way: standin.Inside(p.Payments),
		Keys: func(context.Context) (stripe.Keys, error) {
			return stripe.Keys{SecretKey: key, WebhookSecrets: []string{hook}}, nil
		},
	}))
	within := func(name string) *app.App {
		own := *a
		by := ahead(name)
		own.Now = func() time.Time { return a.Now().Add(by) }
		return &own
	}
	if p.Gateway, err = newGateway(a, functions.All(), byFunction(within), api.Throttle{}); err != nil {
		return nil, err
	}
	for _, declare := range events.All() {
		f := declare(a)
		own := within(f.Name)
		r := PartReader{Function: declare(confined(own, f.Name, f.Reads, f.Writes))}
		if r.Invoke, err = (inProcess{app: own}).Reader(r.Function); err != nil {
			return nil, err
		}
		p.Readers = append(p.Readers, r)
	}
	for _, declare := range events.Schedules() {
		f := declare(a)
		own := within(f.Name)
		s := PartSchedule{Function: declare(confined(own, f.Name, f.Reads, f.Writes).Only(f.Capabilities()))}
		if s.Invoke, err = (inProcess{app: own}).Schedule(s.Function); err != nil {
			return nil, err
		}
		p.Schedules = append(p.Schedules, s)
	}
	for _, declare := range events.Mail() {
		f := declare(a)
		own := within(f.Name)
		tell, err := (inProcess{app: own}).Mail(declare(confined(own, f.Name, f.Reads, f.Writes)))
		if err != nil {
			return nil, err
		}
		p.Returns = append(p.Returns, tell)
	}
	return p, nil
}

// byFunction makes each group's function on an App of its own.
type byFunction func(name string) *app.App

func (b byFunction) Group(declare func(*app.App) api.Group) (host.GatewayHandler, error) {
	return inProcess{app: b(declare(&app.App{}).Name)}.Group(declare)
}

// Groups makes the functions of groups of endpoints.
type Groups interface {
	Group(declare func(*app.App) api.Group) (host.GatewayHandler, error)
}

// NewGateway returns a gateway for all endpoints. It gets their functions from the argument from.
func NewGateway(a *app.App, from Groups, t api.Throttle) (http.Handler, error) {
	return newGateway(a, functions.All(), from, t)
}
