package bench

import "fmt"

// Verdict compares a budget with the measured value.
type Verdict struct {
	What      string
	Got, Most float64
}

func verdict(got, most float64, what string, args ...any) Verdict {
	return Verdict{fmt.Sprintf(what, args...), got, most}
}

// cpuMost bounds the CPU time of a signed request, the table in memory included, as a
// multiple of the bare handler's.
const cpuMost = 3

// cpuMore lists the signed requests that may take more than cpuMost. The comments name
// the work that the bare handler does not do.
var cpuMore = map[string]float64{
	// The table copies a hundred items, and the handler makes fifty posts of them.
	"GET /v1/c/{ch} page of 50, signed": 4,
	// The handler reads fifty events, each with a subject of its own.
	"GET /v1/me/inbox page of 50": 4.5,
	// The handler reads fifty tokens and the days of their use.
	"GET /v1/me/tokens 50": 4,
	// The handler reads forty-two items, in two batched trips.
	"GET /v1/c/{ch}/posts/{id} thread of 20 replies, signed": 3.5,
	// The handler counts graphemes, looks for mentions and hashes the text, in time
	// proportional to its length.
	"POST /v1/c/{ch}/posts 4000 characters": 4,
}

// postMost bounds the write units of a post whose item has at most 1 KB, including its
// index entries and the guard.
const postMost = 14

// voteMost bounds the write units of a vote's request, including its entry in the voter's
// list. talliedMost bounds the units of each vote in a tally of ten.
const (
	voteMost    = 5
	talliedMost = 4
)

// budget bounds the serial trips of a route.
type budget struct {
	most     float64
	variants map[string]float64 // bounds of variants that differ from most
	signed   float64            // further trips of a signed request, to read its credential
}

// ordinary is the budget of the routes that budgets does not list: one trip to read, and
// one to write.
var ordinary = budget{most: 2}

// budgets lists the routes with a budget of their own.
var budgets = map[string]budget{
	"GET /v1/me": {most: 1, variants: map[string]float64{cold: 2}},
	// A handle never changes its owner, so each process looks it up only once.
	"GET /v1/agents/{ref}/history": {most: 2, variants: map[string]float64{coldHandle: 3}},
	"POST /v1/dm/{ref}":            {most: 2, variants: map[string]float64{coldHandle: 3}},
	// The last trip marks the messages as read.
	"GET /v1/dm/{ref}": {most: 3, variants: map[string]float64{nothingUnread: 2}},
	"GET /v1/c/{ch}": {most: 1, signed: 1, variants: map[string]float64{
		withoutReplies: 2, promoted: 2, // the second trip reads the posts that an index lists, or the promos
		promotedAgain: 3, promotedBilled: 4, // a signed read; a signed read that is billed
	}},
	"GET /v1/c/{ch}/posts/{id}": {most: 2, signed: 1},
	"GET /v1/posts/{id}":        {most: 2, signed: 1},
	"GET /v1/me/keys":           {most: 2, signed: 1},
	// One trip reads the handle's claim. Each place with items of the agent takes one more,
	// and an index takes two.
	"GET /v1/me/export": {most: 15},
	"GET /v1/ideas":     {most: 2, variants: map[string]float64{ideasSigned: 3}}, // an index, then ideas
	// A purchase checks whether its agent was erased.
	"POST /payments/webhook": {most: 2},
	// A report that opens a case looks up the author's owner, who must not be on its
	// jury.
	"POST /v1/c/{ch}/posts/{id}/report": {most: 3},
	"POST /v1/dm/{ref}/{msg}/report":    {most: 3},
	// Waiting events are read and get their numbers.
	catchupRoute:       {most: 1 + catchupTrips, variants: map[string]float64{caughtNew: 1 + catchupTrips + 2}},
	"GET /v1/me/inbox": {most: 2, variants: map[string]float64{oneNew: 3, pageNew: 5}},
	// One trip reads the credential of a batch. Each refused call then takes one trip to
	// read and one to be counted.
	mcpRoute:    {most: 2, variants: map[string]float64{refusedBatch: 1 + 2*batchOf}},
	ideaRoute:   {most: likenTrips},
	searchRoute: {most: searchTrips},
	// A mail is counted before it is sent, and its code is stored afterwards.
	"POST /v1/me/origin": {most: 3},
	// Recovery also looks up the handle, and counts the request against its network
	// address.
	"POST /v1/recover":         {most: 4},
	"POST /v1/recover/confirm": {most: 4},
	// A payment page is counted before the processor makes it, and stored afterwards.
	"POST /v1/me/credits/checkout": {most: 3},
	// The page is marked as used before anything is looked up. A try of a mailed code is
	// counted before the code is compared.
	"POST /oauth/authorize": {variants: map[string]float64{
		consentNew: 1, consentRefused: 0, consentLink: 3, consentMail: 4, consentMailed: 4,
	}},
	"POST /oauth/token": {most: 2, variants: map[string]float64{tokensLink: 3}},
}

func tripsMost(row Row) float64 {
	b, own := budgets[row.route]
	if !own {
		b = ordinary
	}
	most, other := b.variants[row.variant]
	if !other {
		most = b.most
	}
	if row.signed {
		most += b.signed
	}
	if row.expected() >= 400 { // a refused request is counted, in a trip of its own
		most++
	}
	return most
}

// costVerdicts compares the counted costs with the budgets.
func costVerdicts(r *Report) []Verdict {
	var v []Verdict
	for _, row := range r.Rows {
		name := row.route + " " + row.variant
		v = append(v, verdict(float64(row.Trips), tripsMost(row), "trips of %s", name))
		switch {
		case row.kilobyte:
			v = append(v, verdict(row.WriteUnits, postMost, "write units of %s", name))
		case row.route == voteRoute:
			v = append(v, verdict(row.WriteUnits, voteMost, "write units of %s", name))
		}
	}
	for _, s := range r.Stream {
		switch s.Name {
		case sealing:
			v = append(v, verdict(s.WriteUnits, searchWrites, "write units of the %s", s.Name))
		case votesBatch:
			v = append(v, verdict(s.WriteUnits, talliedMost, "write units of a %s, each", s.Name))
		case eventAlone:
			v = append(v, verdict(s.WriteUnits, 1, "write units of an %s", s.Name))
		case eventBatch:
			v = append(v, verdict(s.WriteUnits, 1, "write units of an %s, each", s.Name))
		}
	}
	return v
}
