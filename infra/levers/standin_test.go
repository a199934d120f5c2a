package main

import (
	"encoding/json"
	"encoding/xml"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
)

// standIn stands in for AWS. As in API Gateway, UpdateStage keeps the limits of routes that
// it does not name.
type standIn struct {
	mu       sync.Mutex
	routes   map[string]limit
	whole    limit
	mapping  string         // state of the event source mapping of the reader tally
	reserved map[string]int // executions reserved, by function
	mail     bool           // whether mail is sent
	writes   int            // calls, except GETs and those of CloudFormation
}

// fixtureTemplate has two routes with limits of their own. GET /oauth/authorize only reads,
// so stop-writes does not stop it.
const fixtureTemplate = `{"Resources": {
	"Stage": {"Type": "AWS::ApiGatewayV2::Stage", "Properties": {
		"DefaultRouteSettings": {"ThrottlingRateLimit": 200, "ThrottlingBurstLimit": 400},
		"RouteSettings": {
			"POST /v1/recover": {"ThrottlingRateLimit": 100, "ThrottlingBurstLimit": 200},
			"GET /oauth/authorize": {"ThrottlingRateLimit": 100, "ThrottlingBurstLimit": 200}}}},
	"feedFunction0A1B2C3D": {"Type": "AWS::Lambda::Function", "Properties": {"ReservedConcurrentExecutions": 40}},
	"docsFunction0A1B2C3D": {"Type": "AWS::Lambda::Function", "Properties": {"MemorySize": 512}}}}`

// fixtureRoutes are the API's routes. No endpoint declares "POST /v1/other".
var fixtureRoutes = []string{"$default", "GET /llms.txt", "POST /v1/challenge", "POST /v1/other", "POST /v1/recover", "GET /oauth/authorize", "POST /mcp", "POST /oauth/token", "POST /v1/c/{ch}/posts"}

var fixtureResources = []struct{ ID, Physical, Type string }{
	{"Api", "api1", "AWS::ApiGatewayV2::Api"},
	{"Stage", "$default", "AWS::ApiGatewayV2::Stage"},
	{"feedFunction0A1B2C3D", "agentsocial-beta-feedFunction0A1B2C3D-x", "AWS::Lambda::Function"},
	{"docsFunction0A1B2C3D", "agentsocial-beta-docsFunction0A1B2C3D-x", "AWS::Lambda::Function"},
	{"tallyFunction0A1B2C3D", "agentsocial-beta-tallyFunction0A1B2C3D-x", "AWS::Lambda::Function"},
	{"tallyFunctionMapping0A1B2C3D", "11111111-2222-4333-8444-555555555555", "AWS::Lambda::EventSourceMapping"},
}

func newStandIn(t *testing.T) (*standIn, string) {
	s := &standIn{
		whole: limit{Rate: 200, Burst: 400}, routes: map[string]limit{"POST /v1/recover": {Rate: 100, Burst: 200}, "GET /oauth/authorize": {Rate: 100, Burst: 200}},
		mapping: "Enabled", reserved: map[string]int{"agentsocial-beta-feedFunction0A1B2C3D-x": 40}, mail: true,
	}
	server := httptest.NewServer(s)
	t.Cleanup(server.Close)
	return s, server.URL
}

// wired is a limit in API Gateway's JSON.
type wired struct {
	Rate    float64 `json:"throttlingRateLimit"`
	Burst   int     `json:"throttlingBurstLimit"`
	Metrics bool    `json:"detailedMetricsEnabled"`
}

func (s *standIn) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if r.Method != http.MethodGet && r.URL.Path != "/" {
		s.writes++
	}
	path, err := url.PathUnescape(r.URL.EscapedPath())
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	const stage = "/v2/apis/api1/stages/$default"
	function, isFunction := strings.CutSuffix(path, "/concurrency")
	function = function[strings.LastIndex(function, "/")+1:]
	routeKey, isRoute := strings.CutPrefix(path, stage+"/routesettings/")
	switch {
	case path == "/":
		s.cloudFormation(w, r)
	case path == stage && r.Method == http.MethodPatch:
		var in struct {
			DefaultRouteSettings *wired
			RouteSettings        map[string]wired
		}
		if err := json.NewDecoder(r.Body).Decode(&in); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		if in.DefaultRouteSettings != nil {
			s.whole = limit{Rate: in.DefaultRouteSettings.Rate, Burst: in.DefaultRouteSettings.Burst}
		}
		for key, l := range in.RouteSettings {
			s.routes[key] = limit{Rate: l.Rate, Burst: l.Burst}
		}
		s.stage(w)
	case path == stage:
		s.stage(w)
	case isRoute && r.Method == http.MethodDelete:
		delete(s.routes, routeKey)
		w.WriteHeader(http.StatusNoContent)
	case path == "/v2/apis/api1/routes":
		var items []map[string]string
		for _, key := range fixtureRoutes {
			items = append(items, map[string]string{"routeKey": key})
		}
		write(w, map[string]any{"items": items})
	case strings.HasSuffix(path, "/event-source-mappings/11111111-2222-4333-8444-555555555555"):
		if r.Method == http.MethodPut {
			var in struct{ Enabled *bool }
			if err := json.NewDecoder(r.Body).Decode(&in); err != nil || in.Enabled == nil {
				http.Error(w, fmt.Sprint("Enabled is missing: ", err), http.StatusBadRequest)
				return
			}
			s.mapping = map[bool]string{true: "Enabled", false: "Disabled"}[*in.Enabled]
		}
		write(w, map[string]any{"UUID": "11111111-2222-4333-8444-555555555555", "State": s.mapping, "StateTransitionReason": "USER_INITIATED"})
	case isFunction:
		switch r.Method {
		case http.MethodPut:
			var in struct{ ReservedConcurrentExecutions int }
			if err := json.NewDecoder(r.Body).Decode(&in); err != nil {
				http.Error(w, err.Error(), http.StatusBadRequest)
				return
			}
			s.reserved[function] = in.ReservedConcurrentExecutions
		case http.MethodDelete:
			delete(s.reserved, function)
			w.WriteHeader(http.StatusNoContent)
			return
		}
		answer := map[string]any{}
		if n, ok := s.reserved[function]; ok {
			answer["ReservedConcurrentExecutions"] = n
		}
		write(w, answer)
	case path == "/v2/email/configuration-sets/set1":
		write(w, map[string]any{"ConfigurationSetName": "set1", "SendingOptions": map[string]any{"SendingEnabled": s.mail}})
	default:
		http.Error(w, fmt.Sprintf(`{"message": "the stand-in has no %s %s"}`, r.Method, path), http.StatusNotFound)
	}
}

func (s *standIn) stage(w http.ResponseWriter) {
	out := map[string]any{"stageName": "$default", "defaultRouteSettings": wired{Rate: s.whole.Rate, Burst: s.whole.Burst}}
	routes := map[string]wired{}
	for key, l := range s.routes {
		routes[key] = wired{Rate: l.Rate, Burst: l.Burst}
	}
	out["routeSettings"] = routes
	write(w, out)
}

func write(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(v)
}

func (s *standIn) cloudFormation(w http.ResponseWriter, r *http.Request) {
	action, name := r.FormValue("Action"), r.FormValue("StackName")
	text := func(v string) string {
		var b strings.Builder
		_ = xml.EscapeText(&b, []byte(v))
		return b.String()
	}
	var result string
	switch {
	case name != "agentsocial-beta":
		w.WriteHeader(http.StatusBadRequest)
		fmt.Fprintf(w, `<ErrorResponse><Error><Type>Sender</Type><Code>ValidationError</Code><Message>Stack with id %s does not exist</Message></Error></ErrorResponse>`, text(name))
		return
	case action == "DescribeStacks":
		result = `<Stacks><member><StackName>agentsocial-beta</StackName><CreationTime>2026-11-01T00:00:00Z</CreationTime><StackStatus>UPDATE_COMPLETE</StackStatus>
			<Outputs><member><OutputKey>MailConfiguration</OutputKey><OutputValue>set1</OutputValue></member></Outputs></member></Stacks>`
	case action == "ListStackResources":
		result = "<StackResourceSummaries>"
		for _, x := range fixtureResources {
			result += fmt.Sprintf(`<member><LogicalResourceId>%s</LogicalResourceId><PhysicalResourceId>%s</PhysicalResourceId><ResourceType>%s</ResourceType>
				<LastUpdatedTimestamp>2026-11-01T00:00:00Z</LastUpdatedTimestamp><ResourceStatus>CREATE_COMPLETE</ResourceStatus></member>`, x.ID, x.Physical, x.Type)
		}
		result += "</StackResourceSummaries>"
	case action == "GetTemplate":
		result = "<TemplateBody>" + text(fixtureTemplate) + "</TemplateBody>"
	default:
		w.WriteHeader(http.StatusBadRequest)
		fmt.Fprintf(w, `<ErrorResponse><Error><Code>InvalidAction</Code><Message>the stand-in has no %s</Message></Error></ErrorResponse>`, text(action))
		return
	}
	fmt.Fprintf(w, `<%[1]sResponse><%[1]sResult>%[2]s</%[1]sResult><ResponseMetadata><RequestId>1</RequestId></ResponseMetadata></%[1]sResponse>`, action, result)
}
