package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	"agentsocial/shared/api"
	"agentsocial/shared/lambda/metrics"
	"agentsocial/tables"
)

// published maps metrics of AWS to the sets of dimensions that AWS documents.
var published = map[string][]string{
	"AWS/ApiGateway 4xx": {"ApiId"}, "AWS/ApiGateway 5xx": {"ApiId"}, "AWS/ApiGateway Count": {"ApiId"},
	"AWS/ApiGateway Latency": {"ApiId"}, "AWS/ApiGateway IntegrationLatency": {"ApiId"},
	"AWS/DynamoDB ConsumedReadCapacityUnits":             {"TableName", "TableName GlobalSecondaryIndexName"},
	"AWS/DynamoDB ConsumedWriteCapacityUnits":            {"TableName", "TableName GlobalSecondaryIndexName"},
	"AWS/DynamoDB ReadThrottleEvents":                    {"TableName", "TableName GlobalSecondaryIndexName"},
	"AWS/DynamoDB WriteThrottleEvents":                   {"TableName", "TableName GlobalSecondaryIndexName"},
	"AWS/DynamoDB ThrottledRequests":                     {"TableName Operation"},
	"AWS/DynamoDB SystemErrors":                          {"TableName Operation"},
	"AWS/DynamoDB UserErrors":                            {""},
	"AWS/Events FailedInvocations":                       {"RuleName"}, // of a rule on the default bus
	"AWS/Lambda AsyncEventsDropped":                      {"FunctionName"},
	"AWS/Lambda Errors":                                  {"FunctionName"},
	"AWS/Lambda Invocations":                             {"FunctionName"},
	"AWS/Lambda IteratorAge":                             {"FunctionName"},
	"AWS/Lambda Throttles":                               {"", "FunctionName"},
	"AWS/Lambda ConcurrentExecutions":                    {"", "FunctionName"},
	"AWS/Lambda DestinationDeliveryFailures":             {"FunctionName"},
	"AWS/Lambda DroppedEventCount":                       {"EventSourceMappingUUID"},
	"AWS/Lambda PolledEventCount":                        {"EventSourceMappingUUID"}, // AWS publishes zeros, too
	"AWS/Lambda OnFailureDestinationDeliveredEventCount": {"EventSourceMappingUUID"},
	"AWS/S3 NumberOfObjects":                             {"BucketName StorageType"},
	"AWS/SQS NumberOfMessagesSent":                       {"QueueName"},
	"AWS/SES Send":                                       {""}, "AWS/SES Bounce": {mailDimension}, "AWS/SES Complaint": {mailDimension}, "AWS/SES Reject": {mailDimension},
	"AWS/SES Reputation.BounceRate": {mailDimension}, "AWS/SES Reputation.ComplaintRate": {mailDimension},
}

// emitted returns the metrics of the stage's namespace, each with the values of its
// dimension; nil for a metric without a dimension.
func (s *service) emitted(t *testing.T) map[string][]string {
	t.Helper()
	values := map[string][]string{metrics.ByMessage: messages(t), metrics.ByReason: {tables.BackBounce, tables.BackComplaint}}
	for _, c := range api.Codes {
		values[metrics.ByCode] = append(values[metrics.ByCode], string(c.Code))
	}
	values[metrics.ByRoute] = []string{"none"}
	for _, g := range s.groups {
		for _, e := range g.Endpoints {
			values[metrics.ByRoute] = append(values[metrics.ByRoute], e.Route)
		}
	}
	functions := map[string][]string{}
	for _, r := range s.readers {
		functions[metrics.Batch] = append(functions[metrics.Batch], r.Name)
	}
	for _, x := range s.schedules {
		functions[metrics.Tick] = append(functions[metrics.Tick], x.Name)
	}
	all := map[string][]string{throttledMetric + " ": nil}
	for _, set := range metrics.Sets(true) {
		for _, m := range set.Metrics {
			of := values[set.By]
			if set.By == metrics.ByFunction {
				of = functions[set.Line]
			}
			all[m.Name+" "+set.By] = append(all[m.Name+" "+set.By], of...)
		}
	}
	return all
}

// wantMetric fails the test unless the stage or AWS has the metric, and the template has
// the resources that its dimensions name.
func (s *service) wantMetric(t *testing.T, emitted map[string][]string, where, namespace, name string, by [][2]string) {
	t.Helper()
	var names []string
	for _, d := range by {
		names = append(names, d[0])
		for _, m := range reference.FindAllStringSubmatch(d[1], -1) {
			if id, _, _ := strings.Cut(m[1], "."); !strings.HasPrefix(id, "AWS::") && s.Resources[id].Type == "" {
				t.Errorf("%s: the template has no %s", where, m[0])
			}
		}
	}
	dimensions := strings.Join(names, " ")
	if namespace != metrics.Namespace("prod") {
		if !slices.Contains(published[namespace+" "+name], dimensions) {
			t.Errorf("%s: AWS publishes no %s %s by %q", where, namespace, name, dimensions)
		}
		return
	}
	values, known := emitted[name+" "+dimensions]
	if !known || len(by) == 1 && !slices.Contains(values, by[0][1]) {
		t.Errorf("%s: nothing emits %s by %v; the emitted values of the dimension are %q", where, name, by, values)
	}
}

var (
	reference = regexp.MustCompile(`\$\{([^}]+)\}`)
	searched  = regexp.MustCompile(`^SORT\(SEARCH\('\{"([^"]+)","([^"]+)"\} MetricName="([^"]+)"', '(\w+)', 300\), (SUM|MAX), DESC, 10\)$`)
	operand   = regexp.MustCompile(`\bm\d+\b`)
)

type page struct {
	Start   string
	Widgets []struct {
		Type                string
		X, Y, Width, Height int
		Properties          struct {
			Title, Region, Markdown, SortBy string
			Alarms                          []string
			Metrics                         [][]any
		}
	}
}

func (s *service) page(t *testing.T) (p page) {
	t.Helper()
	_, d := s.only(t, "AWS::CloudWatch::Dashboard")
	if err := json.Unmarshal([]byte(plain(d.Properties["DashboardBody"])), &p); err != nil {
		t.Fatalf("the dashboard's body is %v: %v; want JSON", d.Properties["DashboardBody"], err)
	}
	return p
}

func TestDashboard(t *testing.T) {
	production(t, func(t *testing.T, s *service) {
		taken := map[[2]int]string{}
		emitted := s.emitted(t)
		var rings []string
		for _, w := range s.page(t).Widgets {
			what := w.Properties.Title + w.Properties.Markdown
			if w.X < 0 || w.Width < 1 || w.Height < 1 || w.X+w.Width > 24 {
				t.Errorf("%s: got x %d, width %d and height %d, want a size above 0 and columns 0 to 23", what, w.X, w.Width, w.Height)
			}
			for x := w.X; x < w.X+w.Width; x++ {
				for y := w.Y; y < w.Y+w.Height; y++ {
					if other, is := taken[[2]int{x, y}]; is {
						t.Fatalf("%s overlaps %s", what, other)
					}
					taken[[2]int{x, y}] = what
				}
			}
			rings = append(rings, w.Properties.Alarms...)
			if w.Type == "alarm" && w.Properties.SortBy != ringingFirst {
				t.Errorf("the alarms are sorted by %q, want %q, as the runbook says", w.Properties.SortBy, ringingFirst)
			}
			if w.Type == "metric" {
				if w.Properties.Region != "${AWS::Region}" || len(w.Properties.Metrics) == 0 || what == "" {
					t.Errorf("%s: got %+v, want the stack's region, metrics and a title", what, w.Properties)
				}
				s.checkGraph(t, emitted, what, w.Properties.Metrics)
			}
		}
		var alarms []string
		for id := range s.all("AWS::CloudWatch::Alarm") {
			alarms = append(alarms, "${"+id+".Arn}")
		}
		slices.Sort(rings)
		if slices.Sort(alarms); !slices.Equal(rings, alarms) || len(rings) > 100 {
			t.Errorf("the dashboard's alarms: got %q, want %q, at most 100", rings, alarms)
		}
		url := plain(s.Outputs["Dashboard"].Value)
		id, _ := s.only(t, "AWS::CloudWatch::Dashboard")
		if want := "https://${AWS::Region}.console.aws.amazon.com/cloudwatch/home?region=${AWS::Region}#dashboards/dashboard/${" + id + "}"; url != want {
			t.Errorf("output Dashboard is %s, want %s", url, want)
		}
	})
}

func (s *service) checkGraph(t *testing.T, emitted map[string][]string, what string, rows [][]any) {
	t.Helper()
	before := map[string]bool{}
	visible := 0
	for _, row := range rows {
		options := row[len(row)-1].(map[string]any)
		id := options["id"].(string)
		if before[id] {
			t.Errorf("%s has id %s twice", what, id)
		}
		if options["visible"] != false {
			visible++
		}
		if len(row) == 1 {
			expression := options["expression"].(string)
			if m := searched.FindStringSubmatch(expression); m != nil {
				if _, known := emitted[m[3]+" "+m[2]]; m[1] != metrics.Namespace("prod") || !known {
					t.Errorf("%s searches for a metric that nothing emits: %s", what, expression)
				}
			} else if of := operand.FindAllString(expression, -1); len(of) == 0 || slices.ContainsFunc(of, func(m string) bool { return !before[m] }) {
				t.Errorf("%s: got the expression %s, want it to use only metrics before it", what, expression)
			}
			continue
		}
		before[id] = true
		var by [][2]string
		for i := 2; i < len(row)-1; i += 2 {
			by = append(by, [2]string{row[i].(string), row[i+1].(string)})
		}
		if what == "Payments, a day" && len(s.groups) == len(fakeGroups) {
			continue // fakeGroups has no such endpoints
		}
		s.wantMetric(t, emitted, what, row[0].(string), row[1].(string), by)
	}
	if visible == 0 {
		t.Errorf("%s has no visible line", what)
	}
}

func TestAlarmMetricsExist(t *testing.T) {
	production(t, func(t *testing.T, s *service) {
		emitted := s.emitted(t)
		of := func(id string, m map[string]any) {
			var by [][2]string
			dimensions, _ := m["Dimensions"].([]any)
			for _, d := range dimensions {
				d := d.(map[string]any)
				by = append(by, [2]string{d["Name"].(string), plain(d["Value"])})
			}
			s.wantMetric(t, emitted, id, m["Namespace"].(string), m["MetricName"].(string), by)
		}
		for id, a := range s.all("AWS::CloudWatch::Alarm") {
			several, _ := a.Properties["Metrics"].([]any)
			if several == nil {
				of(id, a.Properties)
			}
			for _, q := range several {
				if st, is := q.(map[string]any)["MetricStat"].(map[string]any); is {
					of(id, st["Metric"].(map[string]any))
				}
			}
		}
	})
}

func TestNoDashboard(t *testing.T) {
	s := of(t, defaults)
	if n := len(s.all("AWS::CloudWatch::Dashboard")); n != 0 || s.Outputs["Dashboard"].Value != nil {
		t.Errorf("got %d dashboards and the output %v, want none", n, s.Outputs["Dashboard"].Value)
	}
}

func TestNoEndpointMetrics(t *testing.T) {
	s := of(t, fake)
	few, all := map[string]bool{}, map[string]bool{}
	for _, set := range metrics.Sets(true) {
		for _, m := range set.Metrics {
			all[m.Name] = true
		}
	}
	for _, set := range metrics.Sets(false) {
		for _, m := range set.Metrics {
			few[m.Name+" "+set.By] = true
		}
	}
	for _, w := range s.page(t).Widgets {
		for _, row := range w.Properties.Metrics {
			if len(row) == 1 {
				m := searched.FindStringSubmatch(fmt.Sprint(row[0].(map[string]any)["expression"]))
				if m != nil && !few[m[3]+" "+m[2]] {
					t.Errorf("%s searches for %s by %s, which is not emitted", w.Properties.Title, m[3], m[2])
				}
			} else if row[0] == metrics.Namespace("prod") && all[row[1].(string)] {
				by := ""
				if len(row) > 3 {
					by = row[2].(string)
				}
				if !few[row[1].(string)+" "+by] {
					t.Errorf("%s shows %v, which is not emitted", w.Properties.Title, row)
				}
			}
		}
		if w.Properties.Markdown == "## Endpoints" {
			t.Error("the section Endpoints is shown, want it left out")
		}
	}
	for which, want := range map[string]any{"fake": "false", "ours": nil} {
		service := s
		if which == "ours" {
			service = of(t, ours)
		}
		for _, name := range service.names() {
			_, f := service.function(t, name)
			if got := f.Properties["Environment"].(map[string]any)["Variables"].(map[string]any)["ENDPOINT_METRICS"]; got != want {
				t.Errorf("%s: ENDPOINT_METRICS of %s is %v, want %v", which, name, got, want)
			}
		}
	}
}

// CloudWatch charges 0.30 USD a month for a custom metric, and 0.10 for each metric of an
// alarm. Look at COST.md before raising these bounds.
const (
	metricsMost, metricsOfEndpoints, alarmedMost = 680, 560, 48
)

func TestMetricsAreFew(t *testing.T) {
	s := of(t, ours)
	all, ofEndpoints := 0, 0
	emitted := s.emitted(t)
	for _, name := range slices.Sorted(maps.Keys(emitted)) {
		n := max(1, len(emitted[name]))
		switch {
		case strings.HasSuffix(name, " "+metrics.ByRoute):
			ofEndpoints += n
		case name == metrics.Failed+" "+metrics.ByCode: // counted with the refused: a code is either failed or refused
			n = 0
		}
		all += n
	}
	alarmed := s.alarmed()
	t.Logf("%d metrics, %d of them by endpoint; %d metrics of alarms", all, ofEndpoints, alarmed)
	if all > metricsMost || ofEndpoints > metricsOfEndpoints || alarmed > alarmedMost {
		t.Errorf("got %d metrics, %d of them by endpoint, and %d metrics of alarms; want at most %d, %d and %d", all, ofEndpoints, alarmed, metricsMost, metricsOfEndpoints, alarmedMost)
	}
}
