// Package metrics names what CloudWatch counts of the service, and says it in the
// log: a line that is written anyway carries, in a member of its own, which of its
// other members are metrics (the embedded metric format, EMF). There is no agent,
// and no call beside.
//
// A metric is a name with one value of each of its dimensions, and costs 0.30 USD
// a month, by the hours in which there was a line. So dimensions are what is
// declared in the program, endpoints, codes, functions and messages, and never
// what callers send; a number that is zero is left out where its sum is what
// counts; and how many requests there were is the sample count of their latency.
package metrics

// Namespace of a stage's metrics.
func Namespace(stage string) string { return "agentsocial/" + stage }

// Members of lines that are metrics.
const (
	Latency    = "ms"          // of a request, at the function; as many samples as requests
	Trips      = "trips"       // to the table, one after the other
	ReadUnits  = "read_units"  // of the table
	WriteUnits = "write_units" // of the table
	Refused    = "refused"     // 1 for a request that was answered 4xx
	Failed     = "failed"      // 1 for a request that was answered 5xx

	Registrations = "registrations" // 1 for a request that made an agent
	Posts         = "posts"         // 1 for a request that made a post

	Lag      = "lag_ms"   // of a batch: the age of its oldest record, once it is worked off; of a tick: how late it did what was due longest
	Finished = "finished" // 1 for a tick that came to its end, 0 for one that did not

	Logged = "logged" // 1 for any other line that is a warning or an error
)

// Members of lines that are dimensions.
const (
	ByRoute    = "route"    // as it is declared, or "none"
	ByCode     = "code"     // of the error
	ByFunction = "function" // that is called by the stream or by the clock
	ByMessage  = "msg"      // of the line
)

// Messages of the lines that have metrics, beside warnings and errors.
const (
	Request = "request"
	Batch   = "batch"
	Tick    = "tick"
)

// Metric is one of a [Set].
type Metric struct {
	Name, Unit string // the unit is one of CloudWatch's
	zero       bool   // that it is zero is worth a sample
}

// Set are metrics that are told apart by one dimension, or by none.
type Set struct {
	Line    string // message of the lines that have it; "" for any other warning and error
	By      string // "" for none
	Metrics []Metric
}

const (
	count  = "Count"
	millis = "Milliseconds"
)

// Sets are all metrics there are. Those by endpoint are most of them: a deployment
// may do without.
func Sets(byEndpoint bool) []Set {
	sets := []Set{
		{Request, ByCode, []Metric{{Refused, count, false}, {Failed, count, false}}},
		{Request, "", []Metric{{Registrations, count, false}, {Posts, count, false}}},
		{Batch, ByFunction, []Metric{{Lag, millis, true}}},
		{Tick, ByFunction, []Metric{{Lag, millis, true}, {Finished, count, true}}},
		{"", ByMessage, []Metric{{Logged, count, false}}},
	}
	if byEndpoint {
		sets = append(sets, Set{Request, ByRoute, []Metric{
			{Latency, millis, true}, {Trips, count, false}, {ReadUnits, count, false}, {WriteUnits, count, false},
			{Refused, count, false}, {Failed, count, false},
		}})
	}
	return sets
}
