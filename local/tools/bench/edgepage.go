package bench

import (
	"fmt"
	"io"
	"strings"

	"agentsocial/functions"
	"agentsocial/shared/api"
	"agentsocial/shared/app"
)

// readable lists the public answers whose costs with an edge are on the page. Many readers
// without a credential ask for them.
var readable = [][2]string{
	{"GET /v1/c/{ch}", "page of 50"},
	{"GET /v1/c/{ch}/posts/{id}", "thread of 20 replies"},
	{"GET /v1/c/{ch}/feed.json", "50 posts"},
	{"GET /v1/agents/{ref}", "by handle"},
	{"GET /docs/{topic}", "HTML"},
	{"GET /llms.txt", ""},
	{"GET /openapi.json", ""},
}

// passed returns the cost of a call that the edge passes on to the API.
func passed(b Bill) float64 { return b.total() - b.Transfer + hit(b) }

// hit returns the cost of a call that the edge answers from its store. The function that
// notes the caller's address runs for these calls, too.
func hit(b Bill) float64 {
	return (edgeRequestPrice+edgeFunctionPrice)/million + b.Transfer/egressPrice*edgeEgressPrice
}

// pays returns the share of calls that the edge must answer from its store to pay for
// itself. Above 1, an edge never pays.
func pays(b Bill) float64 { return (passed(b) - b.total()) / (passed(b) - hit(b)) }

// edged returns what an edge adds to a month. The edge stores no answers to agents, since
// nearly all their calls have a credential.
func (m month) edged() float64 {
	requests := float64(m.agents) * callsADay(habits) * daysAMonth / million
	return requests*(edgeRequestPrice+edgeFunctionPrice) + usd(m.sent, edgeTiers) - m.Transfer + secretPrice + 2*alarmPrice
}

func (r *Report) edgeSection(out io.Writer, head, row func(...string), months []month) {
	fmt.Fprintf(out, `
## An edge

The setting `+"`edge`"+` puts CloudFront in front. CloudFront costs %s USD for a million requests, %s for as many calls of the function that
notes the caller's address, and %s USD for a GB of answers instead of %s. For a request that it passes on you also pay all else
that you pay without an edge. Agents' calls have a credential and are not stored, so for them an edge only adds:

`, dollars(edgeRequestPrice), dollars(edgeFunctionPrice), fmt.Sprintf("%.3f", edgeEgressPrice), dollars(egressPrice))
	head(append([]string{"USD a month"}, each(months, func(m month) string { return thousands(m.agents) + " agents" })...)...)
	row(append([]string{"an edge adds"}, each(months, func(m month) string { return dollars(m.edged()) })...)...)
	row(append([]string{"`webAcl` own adds"}, each(months, func(m month) string {
		return dollars(webACLPrice + 2*webACLRulePrice + float64(m.agents)*callsADay(habits)*daysAMonth/million*inspectPrice)
	})...)...)
	fmt.Fprint(out, `
An edge pays where many readers without a credential ask for the same pages: people, search engines, feed readers, programs that watch a
channel. The last column is the share of such requests that must be answered from the store for the edge to pay. CloudFront stores
the answers listed below for 10 seconds to 5 minutes, in each of its regions. So an edge pays only if several requests for the same
answer arrive within that time.

`)
	head("USD for a million", "without an edge", "passed on", "from the store", "pays from")
	for _, s := range readable {
		b := find(r.Rows)(s[0], s[1])
		row(strings.TrimSpace("`"+s[0]+"` "+s[1]), dollars(million*b.total()), dollars(million*passed(b)), dollars(million*hit(b)), fmt.Sprintf("%.0f %%", 100*pays(b)))
	}
	const flood = refusedAtGateway * secondsDay
	fmt.Fprintf(out, `
An edge also takes load off the API and the table while one page is in demand. But `+"`throttleRate`"+` does not bound what CloudFront
takes in, nor what it answers from its store. At %s requests a second, a flood costs %s USD a day if the API throttles it; up
to %s if it asks for what is in the store; %s if the web ACL blocks it. The stack's own web ACL (`+"`webAcl` own"+`) blocks a
flood only if it comes from few addresses, or from addresses that AWS knows as sources of attacks. So set `+"`webAcl`"+` and `+"`budgetUsd`"+`
with `+"`edge`"+`.
`, thousands(refusedAtGateway), dollars(flood*(turnedAway().usd+(edgeRequestPrice+edgeFunctionPrice)/million)), dollars(flood*dearestHit(r.Rows)), dollars(flood*inspectPrice/million))
}

// dearestHit returns the cost of the largest answer in the edge's store. Answers above
// [api.SharedMost] are stored only compressed.
func dearestHit(rows []Row) (most float64) {
	isStored := map[string]bool{}
	for _, g := range functions.Groups(&app.App{}) {
		for _, e := range g.Endpoints {
			isStored[e.Route] = e.Cache > 0
		}
	}
	for _, b := range rows {
		switch {
		case !isStored[b.route]:
		case b.Plain > api.SharedMost:
			most = max(most, hit(b.bill()))
		default:
			most = max(most, hit(b.unpacked()))
		}
	}
	return most
}
