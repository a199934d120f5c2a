package main

import (
	"encoding/json"
	"maps"
	"os"
	"strings"
	"testing"
)

func TestEveryEndpointHasItsRoute(t *testing.T) {
	production(t, func(t *testing.T, s *service) {
		want := map[string]string{"$default": "docs"} // function by key
		for _, g := range s.groups {
			for _, e := range g.Endpoints {
				route := strings.ReplaceAll(e.Route, "...}", "+}")
				want[route] = g.Name
				if get, ok := strings.CutPrefix(route, "GET "); ok && !e.Auth.Needed() {
					want["HEAD "+get] = g.Name
				}
			}
		}
		got := map[string]string{}
		for id, r := range s.all("AWS::ApiGatewayV2::Route") {
			r.expect(t, id, map[string]string{"ApiId": "${Api}", "AuthorizationType": ""})
			key := plain(r.Properties["RouteKey"])
			integration := strings.TrimSuffix(strings.TrimPrefix(plain(r.Properties["Target"]), "integrations/${"), "}")
			if _, twice := got[key]; twice {
				t.Errorf("got two routes %s, want one", key)
			}
			got[key] = s.functionBehind(integration)
		}
		for key, f := range want {
			if got[key] != f {
				t.Errorf("%s goes to %q, want %q", key, got[key], f)
			}
		}
		for key := range got {
			if _, ok := want[key]; !ok {
				t.Errorf("got the route %s, want only declared routes", key)
			}
		}
	})
}

// functionBehind returns the name of the function that an integration calls.
func (s *service) functionBehind(integration string) string {
	r := s.Resources[integration]
	uri := plain(r.Properties["IntegrationUri"])
	for _, g := range s.groups {
		if strings.HasPrefix(uri, "${"+g.Name+"Function") && strings.HasSuffix(uri, ".Arn}") {
			return g.Name
		}
	}
	return ""
}

func TestOneIntegrationAndOnePermissionPerGroup(t *testing.T) {
	production(t, func(t *testing.T, s *service) {
		integrations, permissions := s.all("AWS::ApiGatewayV2::Integration"), s.all("AWS::Lambda::Permission")
		if len(integrations) != len(s.groups) || len(permissions) != len(s.groups)+len(s.mail) { // TestMailEvents checks those for mail
			t.Errorf("got %d groups, %d integrations and %d permissions; want one of each for each group, and %d more permissions for mail", len(s.groups), len(integrations), len(permissions), len(s.mail))
		}
		for id, r := range integrations {
			r.expect(t, id, map[string]string{
				"ApiId": "${Api}", "IntegrationType": "AWS_PROXY", "PayloadFormatVersion": "2.0",
			})
		}
		callable := map[string]bool{}
		for id, r := range permissions {
			if plain(r.Properties["Principal"]) == "events.amazonaws.com" {
				continue
			}
			r.expect(t, id, map[string]string{
				"Action": "lambda:InvokeFunction", "Principal": "apigateway.amazonaws.com",
				"SourceArn": "arn:${AWS::Partition}:execute-api:${AWS::Region}:${AWS::AccountId}:${Api}/*",
			})
			callable[plain(r.Properties["FunctionName"])] = true
		}
		for _, g := range s.groups {
			if id, _ := s.function(t, g.Name); !callable["${"+id+".Arn}"] {
				t.Errorf("the gateway may not call %s", g.Name)
			}
		}
	})
}

// Concurrent changes of an API would fail: see inTurn.
func TestPartsOfTheAPIInTurn(t *testing.T) {
	deployments(t, func(t *testing.T, s *service) {
		parts := s.all("AWS::ApiGatewayV2::Integration")
		maps.Copy(parts, s.all("AWS::ApiGatewayV2::Route"))
		next := map[string]string{}
		first := ""
		for id, r := range parts {
			before := ""
			if r.DependsOn != nil {
				for _, other := range list(r.DependsOn) {
					if _, ok := parts[other]; ok {
						before += other
					}
				}
			}
			if before == "" {
				first += id
				continue
			}
			if twin := next[before]; twin != "" {
				t.Errorf("%s and %s both wait for %s, want one after the other", id, twin, before)
			}
			next[before] = id
		}
		made := 0
		for id := first; id != ""; id = next[id] {
			made++
		}
		if made != len(parts) || made < 90 {
			t.Errorf("got %d integrations and routes in one chain, want all %d, at least 90", made, len(parts))
		}
	})
}

func TestStage(t *testing.T) {
	production(t, func(t *testing.T, s *service) {
		_, api := s.only(t, "AWS::ApiGatewayV2::Api")
		api.expect(t, "API", map[string]string{
			"ProtocolType": "HTTP", "Name": "agentsocial-prod",
			"CorsConfiguration": "", // the service answers preflights itself
		})
		_, stage := s.only(t, "AWS::ApiGatewayV2::Stage")
		stage.expect(t, "stage", map[string]string{
			"StageName": "$default", "AutoDeploy": "true",
			"DefaultRouteSettings": `{"ThrottlingBurstLimit":400,"ThrottlingRateLimit":200}`,
		})
		routes := s.all("AWS::ApiGatewayV2::Route")
		if n := len(list(stage.DependsOn)); n != len(routes) {
			t.Errorf("the stage depends on %d of %d routes, want all", n, len(routes))
		}
	})
}

// Slow routes have their own throttle. The runbook ("Upgrade") must name each: API Gateway
// keeps the throttle of a removed route, and then refuses the deployment.
func TestSlowRoutes(t *testing.T) {
	book, err := os.ReadFile("RUNBOOK.md")
	if err != nil {
		t.Fatal(err)
	}
	_, stage := of(t, ours).only(t, "AWS::ApiGatewayV2::Stage")
	stage.expect(t, "stage", map[string]string{
		"RouteSettings": `{"GET /oauth/authorize":{"ThrottlingBurstLimit":100,"ThrottlingRateLimit":50},` +
			`"HEAD /oauth/authorize":{"ThrottlingBurstLimit":100,"ThrottlingRateLimit":50},` +
			`"POST /v1/recover":{"ThrottlingBurstLimit":200,"ThrottlingRateLimit":100},` +
			`"POST /v1/recover/confirm":{"ThrottlingBurstLimit":200,"ThrottlingRateLimit":100}}`,
	})
	for key := range stage.Properties["RouteSettings"].(map[string]any) {
		if !strings.Contains(string(book), "`"+key+"`") {
			t.Errorf("the runbook does not name %s", key)
		}
	}
}

// Before a restore, the runbook sets the stage's throttle to 1.
func TestSlowRoutesUnderTheThrottle(t *testing.T) {
	_, stage := of(t, func() (*service, error) {
		return synthesise("throttled", all(), map[string]any{"throttleRate": "1", "throttleBurst": "1"})
	}).only(t, "AWS::ApiGatewayV2::Stage")
	routes, _ := stage.Properties["RouteSettings"].(map[string]any)
	if len(routes) == 0 {
		t.Fatal("no route has its own throttle")
	}
	for key, r := range routes {
		if got := plain(r); got != `{"ThrottlingBurstLimit":1,"ThrottlingRateLimit":1}` {
			t.Errorf("%s: throttle is %s, want 1 and 1", key, got)
		}
	}
}

func TestAccessLog(t *testing.T) {
	s := of(t, fake)
	_, stage := s.only(t, "AWS::ApiGatewayV2::Stage")
	settings := stage.Properties["AccessLogSettings"].(map[string]any)
	log := s.Resources[strings.TrimSuffix(strings.TrimPrefix(plain(settings["DestinationArn"]), "${"), ".Arn}")]
	if log.Type != "AWS::Logs::LogGroup" {
		t.Errorf("access logs go to %v, want the log group", settings["DestinationArn"])
	}
	format := settings["Format"].(string)
	var fields map[string]string
	if err := json.Unmarshal([]byte(format), &fields); err != nil || strings.Contains(format, "\n") {
		t.Fatalf("the format of the access log is %s, %v; want JSON on one line", format, err)
	}
	for _, name := range []string{"requestId", "routeKey", "status", "responseLatency", "integrationError"} {
		if fields[name] == "" {
			t.Errorf("the format of the access log lacks %s: %s", name, format)
		}
	}
	for _, secret := range []string{"identity", "path", "header", "query", "authorizer", "userAgent"} {
		if strings.Contains(strings.ToLower(format), strings.ToLower(secret)) {
			t.Errorf("the format of the access log has %s: %s", secret, format)
		}
	}
}
