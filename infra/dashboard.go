package main

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"time"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awscloudwatch"
	"github.com/aws/jsii-runtime-go"

	"agentsocial/shared/lambda/metrics"
)

// graph is one widget of the dashboard.
type graph struct {
	Title   string
	Unit    string // of the left axis
	Every   time.Duration
	Lines   []line
	Stacked bool
	Wide    bool   // half of the page instead of a third
	Region  string // where its metrics are; "" for the stack's
}

// line is a line of a graph: a metric or an expression, or several from a search.
type line struct {
	Label  string
	Metric metric
	Math   string // expression of m1, m2, …, the metrics of the lines before
	Search search
	Hidden bool // only used in Math
}

// search stands for the metrics with a name and a dimension. CloudWatch finds them when the
// page is viewed.
type search struct {
	Namespace, Name, By string
	Statistic           string
	Most                string // SUM or MAX: only the ten metrics with the highest value are shown
}

func (s search) expression() string {
	return fmt.Sprintf(`SORT(SEARCH('{"%s","%s"} MetricName="%s"', '%s', %v), %s, DESC, 10)`,
		s.Namespace, s.By, s.Name, s.Statistic, fiveMinutes.Seconds(), s.Most)
}

// section is a heading with graphs below it.
type section struct {
	Title  string
	Graphs []graph
}

// actors holds what the dashboard shows of functions that no caller waits for.
type actors struct {
	readers, schedules []named
	dropped            []metric // of events about mail
	dead               *string  // the queue of dead letters
}

type named struct {
	Name     string
	Function *string
}

const (
	fiveMinutes = 5 * time.Minute
	daily       = 24 * time.Hour
)

// Prices in US dollars in us-east-1: of a million read and write units of the table,
// and of a million requests at the gateway and at Lambda (10 ms with half a gigabyte).
const usdOfTable, usdOfRequest = "m1 * 0.125 + m2 * 0.625", "m3 * (1.00 + 0.20 + 0.07)"

func (d deployment) sections(g *gateway, a actors) []section {
	api := func(name, statistic string) metric {
		return metric{"AWS/ApiGateway", name, []by{{"ApiId", g.api.Ref()}}, statistic}
	}
	table := func(name string) metric {
		return metric{"AWS/DynamoDB", name, []by{{"TableName", d.store.table.TableName()}}, ""}
	}
	most := func(name, dimension, statistic, of string) []line {
		return []line{{Search: search{metrics.Namespace(d.Stage), name, dimension, statistic, of}}}
	}
	callers := []graph{
		{Title: "Requests", Lines: []line{
			{Label: "requests", Metric: api("Count", "")}, {Label: "4xx", Metric: api("4xx", "")}, {Label: "5xx", Metric: api("5xx", "")},
			{Label: "throttled", Metric: d.own(throttledMetric, "", "")},
		}},
		{Title: "Latency", Unit: "ms", Lines: []line{
			{Label: "p50", Metric: api("Latency", "p50")}, {Label: "p99", Metric: api("Latency", "p99")},
			{Label: "p99 of the functions", Metric: api("IntegrationLatency", "p99")},
		}},
		{Title: "5xx, percent of requests", Unit: "%", Lines: []line{
			{Metric: api("5xx", ""), Hidden: true}, {Metric: api("Count", ""), Hidden: true}, {Label: "%", Math: "100 * m1 / m2"},
		}},
		{Title: "Refused, by code", Lines: most(metrics.Refused, metrics.ByCode, "Sum", "SUM"), Stacked: true, Wide: true},
		{Title: "Failed, by code", Lines: most(metrics.Failed, metrics.ByCode, "Sum", "SUM"), Stacked: true, Wide: true},
	}
	ofFunctions := func(all []named, name, statistic string) (lines []line) {
		for _, f := range all {
			lines = append(lines, line{Label: f.Name, Metric: metric{"AWS/Lambda", name, []by{{"FunctionName", f.Function}}, statistic}})
		}
		return lines
	}
	own := func(all []named, name, statistic string) (lines []line) {
		for _, f := range all {
			m := d.own(name, metrics.ByFunction, f.Name)
			m.Statistic = statistic
			lines = append(lines, line{Label: f.Name + " " + statistic, Metric: m})
		}
		return lines
	}
	sections := []section{
		{"What callers see", callers},
		{"Endpoints", []graph{
			{Title: "Requests, by endpoint", Lines: most(metrics.Latency, metrics.ByRoute, "SampleCount", "SUM"), Wide: true},
			{Title: "p99, by endpoint", Unit: "ms", Lines: most(metrics.Latency, metrics.ByRoute, "p99", "MAX"), Wide: true},
			{Title: "p50, by endpoint", Unit: "ms", Lines: most(metrics.Latency, metrics.ByRoute, "p50", "MAX"), Wide: true},
			{Title: "Failed, by endpoint", Lines: most(metrics.Failed, metrics.ByRoute, "Sum", "SUM"), Wide: true},
			{Title: "Refused, by endpoint", Lines: most(metrics.Refused, metrics.ByRoute, "Sum", "SUM"), Wide: true},
			{Title: "Trips to the table, by endpoint", Lines: most(metrics.Trips, metrics.ByRoute, "Average", "MAX"), Wide: true},
			{Title: "Read units, by endpoint", Lines: most(metrics.ReadUnits, metrics.ByRoute, "Sum", "SUM"), Wide: true},
			{Title: "Write units, by endpoint", Lines: most(metrics.WriteUnits, metrics.ByRoute, "Sum", "SUM"), Wide: true},
		}},
		{"The table", []graph{
			{Title: "Units", Lines: []line{{Label: "read", Metric: table("ConsumedReadCapacityUnits")}, {Label: "written", Metric: table("ConsumedWriteCapacityUnits")}}},
			{Title: "Throttled", Lines: ofMetrics(d.throttleEvents())},
			{Title: "Errors", Lines: append(ofMetrics(d.tableErrors()), line{Label: "invalid requests of the whole account", Metric: metric{"AWS/DynamoDB", "UserErrors", nil, ""}})},
		}},
		{"Stream readers and schedules", []graph{
			{Title: "Age of unread records", Unit: "ms", Lines: ofFunctions(a.readers, "IteratorAge", "Maximum")},
			{Title: "Lag: until inboxes and counts are written", Unit: "ms", Lines: append(own(a.readers, metrics.Lag, "p50"), own(a.readers, metrics.Lag, "p99")...)},
			{Title: "Lag: how late due work is done", Unit: "ms", Lines: own(a.schedules, metrics.Lag, "Maximum")},
			{Title: "Batches that failed", Lines: ofFunctions(a.readers, "Errors", "")},
			{Title: "Ticks", Lines: append(ofFunctions(a.schedules, "Invocations", ""), line{Label: "out of time", Metric: d.own(metrics.Unfinished, "", "")})},
			{Title: "Dead letters", Lines: []line{{Label: "sent", Metric: metric{"AWS/SQS", "NumberOfMessagesSent", []by{{"QueueName", a.dead}}, ""}}}},
			{Title: "Lambda, the whole account", Wide: true, Lines: []line{
				{Label: "concurrent", Metric: metric{"AWS/Lambda", "ConcurrentExecutions", nil, "Maximum"}}, {Label: "throttled", Metric: metric{"AWS/Lambda", "Throttles", nil, ""}},
			}},
			{Title: "Warnings and errors, by message", Lines: most(metrics.Logged, metrics.ByMessage, "Sum", "SUM"), Stacked: true, Wide: true},
		}},
		{"Results", []graph{
			{Title: "New agents, a day", Every: daily, Lines: []line{{Label: "registrations", Metric: d.own(metrics.Registrations, "", "")}}},
			{Title: "New posts, a day", Every: daily, Lines: []line{{Label: "posts", Metric: d.own(metrics.Posts, "", "")}}},
			{Title: "Payments, a day", Every: daily, Lines: []line{
				{Label: "checkouts", Metric: d.requests("POST /v1/me/credits/checkout")}, {Label: "notifications", Metric: d.requests("POST /payments/webhook")},
			}},
			{Title: "Estimated cost of a day: the table, the API and Lambda, without storage", Unit: "USD", Every: daily, Wide: true, Lines: []line{
				{Metric: table("ConsumedReadCapacityUnits"), Hidden: true}, {Metric: table("ConsumedWriteCapacityUnits"), Hidden: true}, {Metric: api("Count", ""), Hidden: true},
				{Label: "table", Math: "(" + usdOfTable + ") / 1000000"}, {Label: "requests", Math: usdOfRequest + " / 1000000"},
			}, Stacked: true},
		}},
	}
	if d.edge != nil {
		edge := func(name, statistic string) metric {
			return metric{"AWS/CloudFront", name, []by{{"Region", jsii.String("Global")}, {"DistributionId", d.edge.distribution.AttrId()}}, statistic}
		}
		sections = append(sections, section{"The edge", []graph{
			{Title: "Requests at the edge, stored answers included", Region: edgeRegion, Lines: []line{{Label: "requests", Metric: edge("Requests", "")}}},
			{Title: "Errors at the edge, percent of requests", Unit: "%", Region: edgeRegion, Lines: []line{
				{Label: "4xx", Metric: edge("4xxErrorRate", "Average")}, {Label: "5xx", Metric: edge("5xxErrorRate", "Average")},
			}},
			{Title: "Bytes to callers", Region: edgeRegion, Lines: []line{{Label: "bytes", Metric: edge("BytesDownloaded", "")}}},
		}})
	}
	if d.mail != nil {
		set := func(name, statistic string) metric {
			return metric{"AWS/SES", name, []by{{mailDimension, d.mail.set.ConfigurationSetName()}}, statistic}
		}
		sections = append(sections, section{"Mail", []graph{
			{Title: "Mails an hour, of the whole account", Every: time.Hour, Lines: []line{{Label: "sent", Metric: metric{"AWS/SES", "Send", nil, ""}}}},
			{Title: "Results of mails", Every: time.Hour, Lines: []line{
				{Label: "bounced", Metric: set("Bounce", "")}, {Label: "complaints", Metric: set("Complaint", "")}, {Label: "refused", Metric: set("Reject", "")},
			}},
			{Title: "Mail that came back, by reason", Every: time.Hour, Lines: most(metrics.Returned, metrics.ByReason, "Sum", "SUM")},
			{Title: "Reputation", Every: time.Hour, Lines: []line{
				{Label: "bounces", Metric: set("Reputation.BounceRate", "Average")}, {Label: "complaints", Metric: set("Reputation.ComplaintRate", "Average")},
			}},
			{Title: "Dropped events about mail that came back", Every: time.Hour, Lines: ofMetrics(a.dropped)},
		}})
	}
	return sections
}

// requests returns the metric that counts an endpoint's requests.
func (d deployment) requests(route string) metric {
	m := d.own(metrics.Latency, metrics.ByRoute, route)
	m.Statistic = "SampleCount"
	return m
}

// ofMetrics returns a line for each metric. Its label is the metric's name and, if the
// metric has several dimensions, the value of the last.
func ofMetrics(all []metric) (lines []line) {
	for _, m := range all {
		label := m.Name
		if len(m.By) > 1 {
			label += " " + *m.By[len(m.By)-1].Value
		}
		lines = append(lines, line{Label: label, Metric: m})
	}
	return lines
}

// widget returns the graph in CloudWatch's form.
func (g graph) widget() map[string]any {
	every := cmp.Or(g.Every, fiveMinutes)
	properties := map[string]any{
		"title": g.Title, "region": cmp.Or(g.Region, *awscdk.Aws_REGION()), "period": int(every.Seconds()), "view": "timeSeries", "stacked": g.Stacked,
		"yAxis": map[string]any{"left": map[string]any{"min": 0, "label": g.Unit, "showUnits": false}},
	}
	var rows []any
	for i, l := range g.Lines {
		options := map[string]any{}
		if l.Label != "" {
			options["label"] = l.Label
		}
		if l.Search.Name != "" {
			l.Math = l.Search.expression()
		}
		if l.Math != "" {
			options["expression"], options["id"] = l.Math, fmt.Sprintf("e%d", i+1)
			rows = append(rows, []any{options})
			continue
		}
		options["id"], options["visible"], options["stat"] = fmt.Sprintf("m%d", i+1), !l.Hidden, cmp.Or(l.Metric.Statistic, "Sum")
		row := []any{l.Metric.Namespace, l.Metric.Name}
		for _, b := range l.Metric.By {
			row = append(row, b.Name, *b.Value)
		}
		rows = append(rows, append(row, options))
	}
	properties["metrics"] = rows
	return map[string]any{"type": "metric", "properties": properties}
}

// A page is 24 units wide.
const (
	pageWidth, third, half = 24, 8, 12
	graphHeight            = 6
)

// ringingFirst sorts alarms by their state: ALARM, INSUFFICIENT_DATA, OK.
const ringingFirst = "stateUpdatedTimestamp"

func dashboardBody(alarms []*string, sections []section) map[string]any {
	arns := make([]string, len(alarms))
	for i, arn := range alarms {
		arns[i] = *arn
	}
	y := 0
	place := func(w map[string]any, x, width, height int) map[string]any {
		w["x"], w["y"], w["width"], w["height"] = x, y, width, height
		return w
	}
	high := 1 + (len(arns)+5)/6
	widgets := []any{place(map[string]any{"type": "alarm", "properties": map[string]any{"title": "Alarms", "alarms": arns, "sortBy": ringingFirst}}, 0, pageWidth, high)}
	y += high
	for _, s := range sections {
		widgets = append(widgets, place(map[string]any{"type": "text", "properties": map[string]any{"markdown": "## " + s.Title}}, 0, pageWidth, 1))
		y++
		x := 0
		for _, g := range s.Graphs {
			width := third
			if g.Wide {
				width = half
			}
			if x+width > pageWidth {
				x, y = 0, y+graphHeight
			}
			widgets = append(widgets, place(g.widget(), x, width, graphHeight))
			x += width
		}
		y += graphHeight
	}
	return map[string]any{"start": "-P1D", "widgets": widgets}
}

func (d deployment) newDashboard(stack awscdk.Stack, g *gateway, a actors) {
	sections := d.sections(g, a)
	if !d.EndpointMetrics {
		sections = withoutEndpoints(sections)
	}
	var body bytes.Buffer
	e := json.NewEncoder(&body)
	e.SetEscapeHTML(false)
	if err := e.Encode(dashboardBody(*d.rings, sections)); err != nil {
		panic(err) // cannot fail: texts and numbers
	}
	dashboard := awscloudwatch.NewCfnDashboard(stack, jsii.String("Overview"), &awscloudwatch.CfnDashboardProps{DashboardBody: jsii.String(body.String())})
	output(stack, "Dashboard", jsii.String("https://"+*stack.Region()+".console.aws.amazon.com/cloudwatch/home?region="+*stack.Region()+"#dashboards/dashboard/"+*dashboard.Ref()),
		"Traffic, errors and lag")
}

// withoutEndpoints drops the graphs of metrics that functions do not emit if the setting
// endpointMetrics is false.
func withoutEndpoints(sections []section) (left []section) {
	for _, s := range sections {
		var graphs []graph
		for _, g := range s.Graphs {
			if !g.needsEndpoints() {
				graphs = append(graphs, g)
			}
		}
		if graphs != nil {
			left = append(left, section{s.Title, graphs})
		}
	}
	return left
}

func (g graph) needsEndpoints() bool {
	detailed := func(name, by string) bool {
		return by == metrics.ByRoute || by == metrics.ByFunction && name == metrics.Lag || by == metrics.ByCode && name == metrics.Refused
	}
	for _, l := range g.Lines {
		for _, b := range l.Metric.By {
			if detailed(l.Metric.Name, b.Name) {
				return true
			}
		}
		if detailed(l.Search.Name, l.Search.By) {
			return true
		}
	}
	return false
}
