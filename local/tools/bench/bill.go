package bench

import (
	"context"
	"log/slog"
	"slices"
	"time"

	"agentsocial/functions"
	"agentsocial/shared/app"
	"agentsocial/shared/lambda/host"
)

// Assumptions about what a call takes besides the table. They are not measured, so the page
// of costs is the same on every machine. `make bench` compares the CPU times with measured
// ones.
const (
	// tripMS is the time of a round trip to a table in the same region.
	tripMS = 5.0

	// ownMS is the time that the runtime takes for an invocation.
	ownMS = 1.0

	// A function of 512 MB has 29 % of a processor: 1769 MB have a whole one
	// (https://docs.aws.amazon.com/lambda/latest/dg/configuration-memory.html).
	processorMB = 1769.0

	// accessLog is the size of the gateway's log line, in bytes. It includes perLine, which
	// CloudWatch adds to each line. Lambda writes no line about an invocation that succeeds.
	accessLog = 160 + perLine
	batchLog  = (320.0 + perLine) / logReads // a reader's log line, spread over logReads batches
	perLine   = 26

	// logReads is the setting of that name in cdk.json. One in logReads quick reads, and
	// one in logReads quick batches of a reader, has a log line.
	logReads = 16

	// packSpeed is the number of bytes that a whole processor compresses in a
	// millisecond.
	packSpeed = 130_000

	// gathered is the number of changes that a reader of the stream gets in one invocation.
	// A shard has only about one change a second, because the number of shards grows with
	// the data.
	gathered = 1

	// readerTrips is the number of trips that a reader's invocation takes.
	readerTrips = 3

	// headerBytes is the size of an answer's headers, including what TLS adds.
	headerBytes = 500
)

// cpuMS returns the time of a whole processor that a call takes, the table's client
// included.
func cpuMS(route, variant string) float64 {
	for _, c := range cpuClasses {
		if slices.Contains(c.of, route) || slices.Contains(c.of, route+" "+variant) {
			return c.ms
		}
	}
	return cpuUsual
}

// cpuUsual is the time that most calls take, for a signature and some items. `make bench`
// reports a call that takes more than twice the time of its class.
const cpuUsual = 0.5

// bareMS is the processor time of the bare handler on Lambda. Most of it is one signature.
const bareMS = 0.12

var cpuClasses = []struct {
	ms float64
	of []string
}{
	{0.2, []string{"GET /v1/challenge", "GET /llms.txt", "GET /skill.md", "GET /paid", "GET /health", "GET /robots.txt", "GET /favicon.ico"}}, // a ready answer, or no signature
	{2, []string{ // many items, an index of words, or a page of HTML
		"GET /v1/c/{ch}", "GET /v1/c/{ch}/best", "GET /v1/c/{ch}/feed.json", "GET /v1/c/{ch}/search", "GET /v1/me/inbox page of 50", "GET /v1/me/tokens", "GET /v1/me/catchup", "GET /docs/{topic}", "GET /docs", "GET /about", "GET /privacy", "GET /llms-full.txt", "POST /mcp",
	}},
	{10, []string{"POST /v1/ideas", "GET /v1/me/memory 256 KiB that do not compress", "PUT /v1/me/memory 256 KiB that do not compress", "PUT /v1/me/memory 256 KiB that do not compress, unchanged"}},
}

// waitMS lists the times that calls wait for anything but the table. A search for an agent
// by its mail is answered after two seconds.
var waitMS = map[string]float64{
	"POST /v1/recover": 2000, "POST /v1/recover/confirm": 2000, "POST /oauth/authorize " + consentMail: 2000, "POST /oauth/authorize " + consentMailed: 2000,
	"POST /v1/me/credits/checkout": 600, "POST /v1/me/origin": 100,
	"GET /oauth/authorize a client whose id is a URL": 500, // its metadata is fetched from its server
}

// Bill holds the costs of a call, or of many calls, in US dollars.
type Bill struct {
	Table    float64 // the call's own units
	After    float64 // units of the stream's readers for the call's changes
	Lambda   float64 // the call's invocation, and its share of the readers' invocations
	Gateway  float64
	Transfer float64 // of the answer, out to the internet
	Log      float64
	Mail     float64

	Units Cost  // of the table, including the readers' units
	Keeps space // what is stored after a year of one call a day
}

func (b Bill) total() float64 {
	return b.Table + b.After + b.Lambda + b.Gateway + b.Transfer + b.Log + b.Mail
}

// plus returns b plus n times c, except that Keeps stays b's.
func (b Bill) plus(c Bill, n float64) Bill {
	units := Cost{ReadUnits: b.Units.ReadUnits + n*c.Units.ReadUnits, WriteUnits: b.Units.WriteUnits + n*c.Units.WriteUnits}
	return Bill{
		b.Table + n*c.Table, b.After + n*c.After, b.Lambda + n*c.Lambda, b.Gateway + n*c.Gateway,
		b.Transfer + n*c.Transfer, b.Log + n*c.Log, b.Mail + n*c.Mail, units, b.Keeps,
	}
}

// Taken holds what a call uses of the things that AWS bills.
type Taken struct {
	Cost
	After   Cost    // what the readers use because of the call
	Changes int     // changes for which readers are called
	CPU     float64 // ms of a whole processor
	Wait    float64 // ms in which the function waits for anything but the table
	Bytes   int     // of the answer, compressed if it is
	Plain   int     // of the answer to a caller that does not accept gzip
	Log     float64 // bytes of the function's own lines
	Mails   int
	Keeps   space // what is stored after a year of one call a day
}

func (t Taken) bill() Bill {
	invocations := 1 + float64(t.Changes)/gathered
	gbMS := float64(host.GroupSize.Memory) / 1024
	ownCPU := t.CPU
	if t.Plain > t.Bytes {
		ownCPU += float64(t.Plain) / packSpeed
	}
	cpu := ownCPU * processorMB / float64(host.GroupSize.Memory)
	ms := ownMS + tripMS*float64(t.Trips) + t.Wait + cpu
	after := (ownMS + tripMS*readerTrips) / gathered * float64(t.Changes)
	units := func(c Cost) float64 { return (c.ReadUnits*readPrice + c.WriteUnits*writePrice) / million }
	return Bill{
		Table: units(t.Cost), After: units(t.After),
		Lambda:   invocations*invocationPrice/million + gbMS*(ms+after)/1000*gbSecondPrice,
		Gateway:  requestPrice / million,
		Transfer: float64(t.Bytes+headerBytes) / gb * egressPrice,
		Log:      (t.Log + accessLog + float64(t.Changes)/gathered*batchLog) / gb * logPrice,
		Mail:     float64(t.Mails) * mailPrice / 1000,
		Units:    Cost{ReadUnits: t.ReadUnits + t.After.ReadUnits, WriteUnits: t.WriteUnits + t.After.WriteUnits},
		Keeps:    t.Keeps,
	}
}

// unpacked returns the bill of the same call for a caller that does not accept gzip.
func (t Taken) unpacked() Bill {
	t.Bytes = max(t.Bytes, t.Plain)
	return t.bill()
}

// lines counts the bytes of log lines as CloudWatch does.
type lines struct{ bytes, share float64 }

func (l *lines) Write(p []byte) (int, error) {
	l.bytes += l.share * float64(len(p)-len("\n")+perLine)
	return len(p), nil
}

// sampled counts a line with the attribute one_in as 1/logReads of a line.
type sampled struct {
	slog.Handler
	lines *lines
}

func (s sampled) Handle(ctx context.Context, r slog.Record) error {
	s.lines.share = 1
	r.Attrs(func(a slog.Attr) bool {
		if a.Key == "one_in" {
			s.lines.share = 1.0 / logReads
		}
		return true
	})
	return s.Handler.Handle(ctx, r)
}

func (s sampled) WithAttrs(attrs []slog.Attr) slog.Handler {
	return sampled{s.Handler.WithAttrs(attrs), s.lines}
}

// timeless gives all lines the same time, so that they have the same length in every run.
type timeless struct{ slog.Handler }

func (t timeless) Handle(ctx context.Context, r slog.Record) error {
	r.Time = time.Date(2026, 1, 5, 9, 0, 0, 123456789, time.UTC)
	return t.Handler.Handle(ctx, r)
}

func (t timeless) WithAttrs(attrs []slog.Attr) slog.Handler {
	return timeless{t.Handler.WithAttrs(attrs)}
}

// rates returns the requests a second that the gateway admits, for each route with a limit
// of its own.
func rates() map[string]int {
	r := map[string]int{}
	for _, g := range functions.Groups(&app.App{}) {
		for _, e := range g.Endpoints {
			if e.Rate > 0 {
				r[e.Route] = e.Rate
			}
		}
	}
	return r
}
