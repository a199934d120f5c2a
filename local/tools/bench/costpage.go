package bench

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"time"

	"agentsocial/events"
	"agentsocial/functions"
	"agentsocial/shared/api"
	"agentsocial/shared/app"
	"agentsocial/shared/lambda/metrics"
	"agentsocial/shared/lambda/schedule"
)

// costPage is the path of the page of costs from the project's root.
const costPage = "infra/COST.md"

// throttle is the setting throttleRate in cdk.json, in requests a second.
const throttle = 200

// throttleOf returns the throttleRate that a network of this many agents needs.
func throttleOf(agents int) int {
	return max(throttle, int(math.Ceil(peak*float64(agents)*callsADay(habits)/secondsDay)))
}

// standingNow returns the resources whose costs do not depend on the number of agents.
func standingNow() standing {
	ticksOf := func(schedules []func(*app.App) schedule.Function) (ticks float64) {
		for _, s := range schedules {
			ticks += float64(daysAMonth * 24 * time.Hour / s(&app.App{}).Every)
		}
		return ticks
	}
	probes := ticksOf(events.Outside())
	return standing{
		Secrets: 3, AlarmMetrics: 35, Metrics: metricsOf(metrics.Sets(false)), Ticks: ticksOf(events.Schedules()) + probes,
		tick:   Bill{Table: 10 * readPrice / million, Lambda: (invocationPrice + 100*gbSecondPrice*1000) / million},
		Probes: probes,
		// Each request of a probe runs a function of 512 MB for 20 ms. The probe's own tick
		// runs 300 ms longer than other ticks, since it waits for the answers.
		probe: Bill{
			Table: 6 * readPrice / million, Gateway: probeReads * requestPrice / million,
			Lambda: (probeReads*(invocationPrice+20*gbSecondPrice*1000/2) + 300*gbSecondPrice*1000) / million,
		},
	}
}

// probeReads is the number of requests of a usual tick of events/probe.
const probeReads = 3

// metricsOf returns the number of custom metrics if every endpoint is called, refuses and
// fails.
func metricsOf(sets []metrics.Set) (n int) {
	for _, s := range sets {
		times := 1
		switch {
		case s.By == metrics.ByRoute:
			times = routes()
		case s.By == metrics.ByCode:
			times = 0
			for _, c := range api.Codes {
				if (c.Status >= 500) == (s.Metrics[0].Name == metrics.Failed) {
					times++
				}
			}
		case s.By == metrics.ByFunction && s.Line == metrics.Batch:
			times = len(events.All())
		case s.By == metrics.ByFunction:
			times = len(events.Schedules())
		case s.By == metrics.ByReason:
			times = 2 // bounce and complaint
		case s.By == metrics.ByMessage:
			times = warnings
		}
		n += times * len(s.Metrics)
	}
	return n
}

// mailAlarmMetrics is the number of alarm metrics that the setting mailFrom adds.
const mailAlarmMetrics = 12

// warnings is a guess at the number of different messages of warnings and errors in a
// month.
const warnings = 5

// page writes what the service costs, for the person who pays for it.
func (r *Report) page(out io.Writer) {
	s := app.DefaultSettings()
	fmt.Fprintf(out, `# What it costs

Made by `+"`make golden`"+` from the meter of `+"`local/tools/bench`"+`; a test checks that it is current. US dollars at the prices of us-east-1
on %s (`+"`local/tools/bench/prices.go`"+` links AWS's page for each), without free tiers and taxes. AWS's published
prices by volume are used for requests and answers; what AWS grants by contract is not.

**Measured for each call**: the units that the table consumes for it and for the stream's readers, the bytes that it leaves in the
table and its indexes and for how long, the bytes of its answer (after compression, if the service compresses it), and the bytes of
its log lines. The benchmark's texts repeat one sentence, which compresses unrealistically well, so text from the documentation
replaces them before compression. A stream reader is assumed to get one change in each invocation, because a shard has few changes
at a time. A busy shard has batches of ten. A change then costs a third to two thirds of the readers' units counted here, and a
tenth of an invocation.

**The rest is assumed** (`+"`local/tools/bench/bill.go`"+`): a trip to the table takes %.0f ms; a function has %s of a processor; a
call takes %.1f ms of processor time, and 2 ms if it answers with a list or a document; the gateway logs
another %d bytes; the log has a line for one in %d quick reads, and for one in %[6]d of the stream readers' quick batches; a
processor compresses %d MB a second.

## A network, in a month

An agent makes %.1f calls a day: see [What an agent does in a day](#what-an-agent-does-in-a-day). Storage is what a month costs
after a year's growth. Point-in-time recovery is billed for the table, but not for its indexes. %s costs do not depend on the number of
agents: custom metrics, alarms, secrets, schedules.

`, pricesOf, tripMS, "29 %", cpuUsual, accessLog, logReads, packSpeed/1000, callsADay(habits), "Standing")

	row := func(cells ...string) { fmt.Fprintln(out, "| "+strings.Join(cells, " | ")+" |") }
	head := func(cells ...string) {
		row(cells...)
		line := slices.Repeat([]string{"---:"}, len(cells))
		line[0] = "---"
		row(line...)
	}
	var months []month
	for _, n := range networks {
		months = append(months, monthOf(n, habits, find(r.Rows), standingNow()))
	}
	head(append([]string{"USD a month"}, each(months, func(m month) string { return thousands(m.agents) + " agents" })...)...)
	for _, part := range []struct {
		name string
		of   func(month) float64
	}{
		{"table: the calls' own units", func(m month) float64 { return m.Table }},
		{"table: units of the stream's readers", func(m month) float64 { return m.After }},
		{"table and indexes: storage", func(m month) float64 { return m.storage }},
		{"table: point-in-time recovery", func(m month) float64 { return m.backups }},
		{"Lambda", func(m month) float64 { return m.Lambda }},
		{"HTTP API", func(m month) float64 { return m.Gateway }},
		{"answers, out to the internet", func(m month) float64 { return m.Transfer }},
		{"logs, taken in", func(m month) float64 { return m.Log }},
		{"logs, kept for 30 days", func(m month) float64 { return m.logs }},
		{"standing", func(m month) float64 { return m.standing }},
		{"**total**", month.total},
		{"per agent", func(m month) float64 { return m.total() / float64(m.agents) }},
	} {
		row(append([]string{part.name}, each(months, func(m month) string { return dollars(part.of(m)) })...)...)
	}
	row(append([]string{"requests a second, on average"}, each(months, func(m month) string {
		return thousands(int(math.Ceil(float64(m.agents) * callsADay(habits) / secondsDay)))
	})...)...)
	row(append([]string{fmt.Sprintf("`throttleRate` that allows %d times the average", peak)}, each(months, func(m month) string {
		return thousands(throttleOf(m.agents))
	})...)...)
	st, idle := standingNow(), standingNow()
	idle.Metrics = 0
	fmt.Fprintf(out, `
**A network that nobody uses** costs %s USD a month: %d secrets, %d metrics of alarms (AWS bills an alarm for each
metric that it watches), and %s ticks of the clock. Of that, %s USD are for the probe: its alarm, its ticks and
its requests. It has no dashboard and no custom metrics. In use, the standing costs include
at most %d custom metrics, each billed for the hours in which it has data; most of them count failures and warnings. The setting
`+"`mailFrom`"+` adds %s USD, `+"`dashboard`"+` %s USD, and `+"`endpointMetrics`"+` up to %s USD and a line in the log for each read. Lambda's metrics about the
readers (`+"`EventCount`"+` of their event source mappings) are assumed to be free, as
[Lambda's guide](https://docs.aws.amazon.com/lambda/latest/dg/monitoring-metrics.html) says of its metrics.
`, dollars(idle.usd()), st.Secrets, st.AlarmMetrics, thousands(int(st.Ticks)), dollars(alarmPrice+st.Probes*(st.probe.total()+st.tick.total()+tickPrice/million)), st.Metrics, dollars(mailAlarmMetrics*alarmPrice), dollars(dashboardPrice),
		dollars(float64(metricsOf(metrics.Sets(true))-st.Metrics)*metricPrice))

	fmt.Fprintf(out, `
## Capacity: on demand or provisioned

The setting `+"`capacity`"+` chooses whether the table is paid by the request or by the hour. Of provisioned capacity, %.0f %% is assumed to be
used on average: `+"`capacityTarget`"+` is %.0f %%, and capacity shrinks later than the load. The least capacity is %d read and %[3]d write
units for the table, and %d read and %[4]d write units for its three indexes together. AWS adds %d alarms for autoscaling.

Capacity can also be reserved, in DynamoDB's console, for one year or three, in blocks of %d units. A part is paid in advance; the
rows spread it over the term. Reserved capacity is paid whether it is used or not. The rows reserve what the quietest hour needs,
which is assumed to have half of the average load. A higher `+"`capacityTarget`"+` costs less, and leaves less room for bursts.

`, 100*target*shrinks, 100*target, leastOfTable, leastOfIndexes, scalingPolicies*alarmsOfPolicy, reservedBlock)
	head(append([]string{"USD a month"}, each(months, func(m month) string { return thousands(m.agents) + " agents" })...)...)
	row(append([]string{"the table's units on demand"}, each(months, func(m month) string { return dollars(m.Table + m.After) })...)...)
	row(append([]string{"the table's units provisioned"}, each(months, func(m month) string { return dollars(m.provisioned(hourly)) })...)...)
	for _, total := range []struct {
		name string
		plan plan
	}{
		{"provisioned", hourly},
		{fmt.Sprintf("reserved for a year, %.0f %% off", 100*reservedOneYear), oneYear},
		{fmt.Sprintf("reserved for a year, and `capacityTarget` %.0f", 100*oneYearAt.target), oneYearAt},
		{fmt.Sprintf("reserved for three years, %.0f %% off", 100*reservedThreeYears), threeYears},
		{"provisioned, `tableClass` infrequent-access", rarely},
	} {
		row(append([]string{"**total**, " + total.name}, each(months, func(m month) string { return dollars(m.provisionedTotal(total.plan)) })...)...)
	}
	largest := months[len(months)-1]
	fmt.Fprintf(out, `
The class Standard-IA (setting `+"`tableClass`"+`) stores a GB for %.2[1]f USD instead of %.2[2]f. Its units cost a quarter more, and cannot be
reserved. At %[3]s agents it pays after %.1[4]f years of growth with provisioned capacity, and after %.1[5]f on demand.
`, rareStoragePrice, storagePrice, thousands(largest.agents), largest.rarePays(largest.provisioned(rarely)-largest.provisioned(hourly)), largest.rarePays((rareUnits-1)*(largest.Table+largest.After)))

	r.copySection(out, head, row, months)
	r.edgeSection(out, head, row, months)

	fmt.Fprintf(out, `
## Servers and PostgreSQL instead

What the same network would cost on EC2 and RDS, at on-demand prices of the same region. These are estimates, not a design.
One core of a server is assumed to answer %d requests a second, TLS and JSON included. For each request the database
is assumed to need twice the processor time that the server needs. The machines can take three times the average load. Answers and
logs are as large as this service's. Database rows take the bytes of the table's items and half as much again. Backups are kept for 35 days.
Alarms and the work of running the servers are not counted. For a small team that work is the largest part: updates,
failover, vacuum, partitions, capacity.

`, perCore)
	head("network", "machines", "USD a month", "this service, on demand", "provisioned", "reserved for a year")
	for _, m := range months {
		for _, s := range serversOf(m.agents) {
			row(thousands(m.agents)+" agents", s.what, dollars(s.usd(m)), dollars(m.total()), dollars(m.provisionedTotal(hourly)), dollars(m.provisionedTotal(oneYear)))
		}
	}
	fmt.Fprint(out, `
A small network costs least on this service, and has no servers to look after. From about ten thousand agents on, servers in one
zone cost less, if an outage of an hour is acceptable. At 100 000 agents, servers in two zones, which survive the loss of one as this
service does, cost about as much as this service with provisioned capacity. At ten million agents servers cost less,
but a team has to run them: this service's higher price includes that work. AWS sells servers and databases for one or three
years at a discount, too. Servers are right for a team that already runs PostgreSQL, as long as one database can take all writes. At ten
million agents that database needs one of the largest machines there are; this service has no such limit.
`)

	fmt.Fprintf(out, "\n## What an agent does in a day\n\nThe last column is what these calls cost in a month of %d days.\n\n", daysAMonth)
	head("call", "a day", "USD for a thousand agents")
	for _, h := range habits {
		row(strings.TrimSpace("`"+h.route+"` "+h.variant), fmt.Sprintf("%g", h.times), dollars(find(r.Rows)(h.route, h.variant).total()*h.times*daysAMonth*1000))
	}

	needed := []int{throttle, throttleOf(networks[len(networks)-1])} // the first is enough for both smaller networks
	small, large := attacks(r.Rows, signed(), rates(), needed[0], s), map[string]attack{}
	for _, a := range attacks(r.Rows, signed(), rates(), needed[1], s) {
		large[a.what] = a
	}
	fmt.Fprintf(out, `
## What an attacker can make you pay for

Each call is made as often as the throttle (`+"`throttleRate`"+`) and the limits allow, for a whole day, by callers that do not accept
compressed answers. The tables show two throttles: %s a second, which is enough for %[7]d times the average load of up to
100%[5]s000 agents, and %[6]s a second, which is enough for %[7]d times that of 10%[5]s000%[5]s000. Addresses and mailboxes are
assumed to be free; an agent costs its proof of work (`+"`powBits`"+` %[2]d: 2^%[2]d hashes, at %.0[3]f million a second on a core
that costs %.2[4]f USD an hour). Three kinds of calls are left out: calls that cost credits, since they pay for themselves;
votes on a case, since only the jurors drawn for it can vote; and the first read of a new inbox event. That read also writes, because it
gives the event its number, but an attacker cannot repeat it at will: each event takes another call that causes it. The three
most expensive attacks:

`, thousands(needed[0]), s.PowBits, hashesASecond/million, corePrice, "\u00a0", thousands(needed[1]), peak)
	columns := func() {
		head("what", "USD a day at "+thousands(needed[0]), "agents it takes", "USD for them", "USD a day at "+thousands(needed[1]), "agents it takes", "USD for them", "bounded by")
	}
	columns()
	for i, a := range small[:10] {
		if i == 3 {
			fmt.Fprintf(out, "\nand the next seven:\n\n")
			columns()
		}
		b := large[a.what]
		row(a.what, dollars(a.day()), thousands(int(a.agents)), cents(a.effort(s.PowBits)), dollars(b.day()), thousands(int(b.agents)), cents(b.effort(s.PowBits)), a.bounded)
	}
	away := turnedAway()
	fmt.Fprintf(out, `
A throttled request costs only a line in the gateway's log: at %s a second, %s USD a day. No setting bounds that:
ask AWS's support to stop such a flood. A proxy of your own in front of `+"`domain`"+` is no remedy, because the rate limits would see
all agents as one address; the setting `+"`edge`"+` makes such a flood cost more.
`, thousands(int(away.rate)), dollars(away.day()))
	fmt.Fprint(out, `
Each of these attacks shows within minutes in AWS's counts of requests and units. An alarm rings once more than a hundred
requests are throttled within five minutes. With `+"`budgetUsd`"+` AWS warns that the month's bill will be too high, but only
some hours later. To limit what an attack can cost you, lower `+"`throttleRate`"+`
(half the rate halves the cost), or set `+"`tableWrites`"+` and `+"`tableReads`"+`: beyond them the table refuses every caller.

## A million calls

`)
	head("USD for a million", "total", "table", "readers", "Lambda", "gateway", "answer", "log", "mail")
	last := ""
	for _, b := range r.Rows {
		route := "`" + b.route + "`"
		if b.route == last {
			route = "…"
		}
		last = b.route
		x := b.bill()
		cells := []string{strings.TrimSpace(route + " " + b.variant), dollars(million * x.total())}
		for _, v := range []float64{x.Table, x.After, x.Lambda, x.Gateway, x.Transfer, x.Log, x.Mail} {
			cells = append(cells, dollars(million*v))
		}
		row(cells...)
	}
	fmt.Fprintf(out, "\nThe table leaves out three costs that only some calls have. On average they add, in US dollars for a million calls:\n\n- for a read, %s times its weight: the read limit counts a sample of reads, and counting takes a write. The weight is the\n  endpoint's `Cost`, or one for each 20 read units if that is more, and at most 16;\n- for a view of a channel's newest page, %s;\n- for the first use of a credential by a process on a day, %s.\n",
		dollars(readLimitShare().perMillion()), dollars(viewShare().perMillion()), dollars(firstUse().perMillion()))
}

func routes() (n int) {
	for _, g := range functions.Groups(&app.App{}) {
		n += len(g.Endpoints)
	}
	return n
}

// signed returns a function that reports whether a route needs a credential.
func signed() func(route string) bool {
	needed := map[string]bool{}
	for _, g := range functions.Groups(&app.App{}) {
		for _, e := range g.Endpoints {
			needed[e.Route] = e.Auth.Needed()
		}
	}
	return func(route string) bool { return needed[route] }
}

func each[T any](list []T, f func(T) string) (out []string) {
	for _, x := range list {
		out = append(out, f(x))
	}
	return out
}

// dollars formats an amount, without digits that mean nothing.
func dollars(usd float64) string {
	switch {
	case usd == 0:
		return "0"
	case usd < 0.01:
		return fmt.Sprintf("%.2g", usd)
	case usd < 1000:
		return fmt.Sprintf("%.2f", usd)
	}
	return thousands(int(math.Round(usd)))
}

// cents formats an amount that may be very small.
func cents(usd float64) string {
	if usd > 0 && usd < 0.01 {
		return "< 0.01"
	}
	return dollars(usd)
}

// thousands formats a number with non-breaking spaces between groups of three digits.
func thousands(n int) string {
	s := fmt.Sprint(n)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "\u00a0" + s[i:]
	}
	return s
}
