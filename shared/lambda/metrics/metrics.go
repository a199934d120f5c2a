// Package metrics names the service's CloudWatch metrics and writes them to the log in the
// embedded metric format (EMF). In this format, one member of a log line says which other
// members are metrics.
//
// CloudWatch counts a name with each value of its dimension as a separate metric. Each
// costs 0.30 USD a month, prorated by the hours in which it is logged. So the values of
// dimensions are names from the program, never what callers send. A zero is no sample if
// only the sum matters.
package metrics

// Namespace returns the namespace of a stage's metrics.
func Namespace(stage string) string { return "agentsocial/" + stage }

// Log members that are metrics.
const (
	Latency    = "ms"          // of a request, in the function; one sample per request
	Trips      = "trips"       // consecutive round trips to the table
	ReadUnits  = "read_units"  // of the table
	WriteUnits = "write_units" // of the table
	Refused    = "refused"     // 1 for a request that was answered 4xx
	Failed     = "failed"      // 1 for a request that was answered 5xx

	Registrations = "registrations" // 1 for a request that made an agent
	Posts         = "posts"         // 1 for a request that made a post

	Lag        = "lag_ms"     // of a batch: the age of its oldest record when done; of a tick: the delay of the most overdue work
	Unfinished = "unfinished" // 1 for a tick that ran out of time

	Returned = "returned" // mails that came back

	Logged = "logged" // 1 for any other line that is a warning or an error
)

// Log members that are dimensions.
const (
	ByRoute    = "route"    // as declared, or "none"
	ByCode     = "code"     // of the error
	ByFunction = "function" // a stream reader or a scheduled function
	ByMessage  = "msg"      // of the line
	ByReason   = "reason"   // why mail came back: bounce or complaint
)

// Messages of lines with metrics, besides warnings and errors.
const (
	Request = "request"
	Batch   = "batch"
	Tick    = "tick"

	MailBack = "mail back"
)

// Metric is a metric of a [Set].
type Metric struct {
	Name, Unit string // Unit is one of CloudWatch's
	zero       bool   // whether a zero is a sample
}

// Set holds metrics that share a dimension, or have none.
type Set struct {
	Line    string // message of their lines; "" for all other warnings and errors
	By      string // the dimension; "" for none
	Metrics []Metric
}

const (
	count  = "Count"
	millis = "Milliseconds"
)

// Sets returns the metrics of a deployment. The detailed ones are the metrics by endpoint,
// the refusals by code, and the lag of functions.
func Sets(detailed bool) []Set {
	sets := []Set{
		{Request, ByCode, []Metric{{Failed, count, false}}},
		{Request, "", []Metric{{Registrations, count, false}, {Posts, count, false}}},
		{Tick, "", []Metric{{Unfinished, count, false}}},
		{MailBack, ByReason, []Metric{{Returned, count, false}}},
		{"", ByMessage, []Metric{{Logged, count, false}}},
	}
	if detailed {
		sets = append(sets,
			Set{Request, ByRoute, []Metric{
				{Latency, millis, true}, {Trips, count, false}, {ReadUnits, count, false}, {WriteUnits, count, false},
				{Refused, count, false}, {Failed, count, false},
			}},
			Set{Request, ByCode, []Metric{{Refused, count, false}}},
			Set{Batch, ByFunction, []Metric{{Lag, millis, true}}},
			Set{Tick, ByFunction, []Metric{{Lag, millis, false}}},
		)
	}
	return sets
}
