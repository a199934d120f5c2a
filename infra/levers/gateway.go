package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"agentsocial/functions"
	"agentsocial/infra/awscli"
	"agentsocial/shared/app"
)

// limit is a token bucket of the gateway. A limit of zero lets nothing through: API Gateway
// answers 429.
type limit struct {
	Rate    float64 `json:"ThrottlingRateLimit"`
	Burst   int     `json:"ThrottlingBurstLimit"`
	Metrics *bool   `json:"DetailedMetricsEnabled,omitempty"` // sent back unchanged
}

func (l limit) closed() bool { return l.Rate == 0 && l.Burst == 0 }

// within caps l's rate and burst at those of bound.
func (l limit) within(bound limit) limit {
	l.Rate, l.Burst = min(l.Rate, bound.Rate), min(l.Burst, bound.Burst)
	return l
}

func (l limit) String() string {
	return fmt.Sprintf("%g requests a second, %d at once", l.Rate, l.Burst)
}

// limits holds a stage's limits. A route's own limit replaces the stage's.
type limits struct {
	Whole  limit            `json:"DefaultRouteSettings"`
	Routes map[string]limit `json:"RouteSettings"`
}

// stageName is the name of the API's only stage (infra/gateway.go).
const stageName = "$default"

// gateway is the stack's HTTP API.
type gateway struct {
	job
	api      string
	now      limits
	template limits // in the deployed template
}

func (j job) gateway(ctx context.Context) (*gateway, error) {
	apis, stages := j.stack.All(awscli.TypeAPI), j.stack.All(awscli.TypeStage)
	if len(apis) != 1 || len(stages) != 1 {
		return nil, fmt.Errorf("the stack %s has %d APIs and %d API stages, want one of each", j.stack.Name, len(apis), len(stages))
	}
	g := &gateway{job: j, api: apis[0].PhysicalResourceId}
	if err := j.Do(ctx, &g.now, "apigatewayv2", "get-stage", "--api-id", g.api, "--stage-name", stageName); err != nil {
		return nil, err
	}
	if err := j.Properties(ctx, j.stack, stages[0], &g.template); err != nil {
		return nil, err
	}
	if g.now.Routes == nil {
		g.now.Routes = map[string]limit{}
	}
	return g, nil
}

// writingRoutes returns the gateway's keys of all routes that write. MCP's route is among
// them, because the gateway cannot see which tool is called. Where a declaration has
// {name...}, the gateway has {name+}.
func writingRoutes() (keys []string) {
	for _, g := range functions.Groups(&app.App{}) {
		for _, e := range g.Endpoints {
			if e.Writes() || e.Foreign.Relays {
				keys = append(keys, strings.ReplaceAll(e.Route, "...}", "+}"))
			}
		}
	}
	return keys
}

// set applies the limits. It stores API Gateway's answer in g.now.
func (g *gateway) set(ctx context.Context, want limits) error {
	whole, err := json.Marshal(want.Whole)
	if err != nil {
		return err
	}
	routes, err := json.Marshal(want.Routes)
	if err != nil {
		return err
	}
	var now limits // decoding into g.now would keep the old entries of its map
	err = g.Do(ctx, &now, "apigatewayv2", "update-stage", "--api-id", g.api, "--stage-name", stageName,
		"--default-route-settings", string(whole), "--route-settings", string(routes))
	if err == nil {
		g.now = now
	}
	return err
}

// throttle limits the stage to RATE requests a second, and BURST at once. It also lowers the
// limits of routes that have their own.
func throttle(ctx context.Context, j job) error {
	rate, err := strconv.Atoi(j.getenv("RATE"))
	if err != nil || rate < 0 {
		return fmt.Errorf("RATE is %q; it must be a number of requests a second, such as make throttle RATE=5 (0 lets nothing through)", j.getenv("RATE"))
	}
	burst := rate
	if v := j.getenv("BURST"); v != "" {
		if burst, err = strconv.Atoi(v); err != nil || burst < 0 {
			return fmt.Errorf("BURST is %q; it must be a number of requests at once", v)
		}
	}
	g, err := j.gateway(ctx)
	if err != nil {
		return err
	}
	want := limits{Whole: limit{float64(rate), burst, g.now.Whole.Metrics}, Routes: maps.Clone(g.now.Routes)}
	stopped := g.stopped()
	for key, own := range g.template.Routes {
		if !slices.Contains(stopped, key) {
			want.Routes[key] = own.within(want.Whole)
		}
	}
	if err := g.set(ctx, want); err != nil {
		return err
	}
	j.say("%s lets through %s (as deployed: %s). make unthrottle ends this", j.stack.Name, g.now.Whole, g.template.Whole)
	return nil
}

// unthrottle restores the deployed limits. Stopped writes stay stopped.
func unthrottle(ctx context.Context, j job) error {
	g, err := j.gateway(ctx)
	if err != nil {
		return err
	}
	want := limits{Whole: g.template.Whole, Routes: maps.Clone(g.now.Routes)}
	want.Whole.Metrics = g.now.Whole.Metrics
	stopped := g.stopped()
	for key, own := range g.template.Routes {
		if !slices.Contains(stopped, key) {
			want.Routes[key] = own
		}
	}
	if err := g.set(ctx, want); err != nil {
		return err
	}
	j.say("%s lets through %s, as deployed", j.stack.Name, g.now.Whole)
	return nil
}

func stopWrites(ctx context.Context, j job) error {
	g, err := j.gateway(ctx)
	if err != nil {
		return err
	}
	var routes struct{ Items []struct{ RouteKey string } }
	if err := j.Do(ctx, &routes, "apigatewayv2", "get-routes", "--api-id", g.api); err != nil {
		return err
	}
	declared := writingRoutes()
	want, closed := limits{Whole: g.now.Whole, Routes: maps.Clone(g.now.Routes)}, 0
	for _, r := range routes.Items {
		if slices.Contains(declared, r.RouteKey) {
			want.Routes[r.RouteKey] = limit{}
			closed++
		}
	}
	if closed == 0 {
		return errors.New("this version of the program knows none of the API's routes that write; run the command from the commit that is deployed")
	}
	if err := g.set(ctx, want); err != nil {
		return err
	}
	if got := len(g.stopped()); got != closed {
		return fmt.Errorf("API Gateway closed %d routes, want %d; it has the limits %v", got, closed, g.now.Routes)
	}
	j.say("%s answers 429 on %d routes that write, /mcp among them; reads go on. make start-writes ends this", j.stack.Name, closed)
	return nil
}

// stopped returns the sorted keys of the routes that `make stop-writes` closed. `make throttle
// RATE=0` also sets limits to zero: the stage's, and those of routes in the template. While
// it is in force, a zero limit on any other route shows that writes are stopped.
func (g *gateway) stopped() (keys []string) {
	throttled, writing := g.now.Whole.closed(), writingRoutes()
	stopped := !throttled
	for key, now := range g.now.Routes {
		if !now.closed() {
			continue
		}
		if _, own := g.template.Routes[key]; !own {
			stopped = true
		}
		if !throttled || slices.Contains(writing, key) {
			keys = append(keys, key)
		}
	}
	if !stopped {
		return nil
	}
	slices.Sort(keys)
	return keys
}

// startWrites restores the limits of the stopped routes. A throttle stays in force.
func startWrites(ctx context.Context, j job) error {
	g, err := j.gateway(ctx)
	if err != nil {
		return err
	}
	want, stopped := limits{Whole: g.now.Whole, Routes: maps.Clone(g.now.Routes)}, g.stopped()
	for _, key := range stopped {
		if own, has := g.template.Routes[key]; has {
			want.Routes[key] = own.within(g.now.Whole)
			continue
		}
		delete(want.Routes, key)
		if err := j.Do(ctx, nil, "apigatewayv2", "delete-route-settings", "--api-id", g.api, "--stage-name", stageName, "--route-key", key); err != nil {
			return fmt.Errorf("%w; run make start-writes again for the routes that are left", err)
		}
	}
	if err := g.set(ctx, want); err != nil {
		return err
	}
	if left := g.stopped(); len(left) > 0 {
		return fmt.Errorf("API Gateway still lets nothing through on %q", left)
	}
	j.say("%s lets writes through again on %d routes", j.stack.Name, len(stopped))
	return nil
}
