package main

import "fmt"

// Verdict is a budget and what came out.
type Verdict struct {
	What string  `json:"what"`
	Most float64 `json:"most"`
	Got  float64 `json:"got"`
	Held bool    `json:"held"`
}

func verdict(got, most float64, what string, args ...any) Verdict {
	return Verdict{fmt.Sprintf(what, args...), most, got, got <= most}
}

// cpuMost is how much more CPU a signed request may take than the bare handler,
// the table in memory included.
const cpuMost = 3

// cpuMore are the signed requests that may take more than cpuMost, each with
// what it does that the bare handler is spared.
var cpuMore = map[string]float64{
	// A hundred items of the table are copied for the handler, which may change
	// them, and made into fifty posts; the bare handler's are ready.
	"GET /v1/c/{ch} page of 50, signed": 4,
	// Fifty events, likewise, each with a subject of its own.
	"GET /v1/me/inbox page of 50": 4.5,
	// Fifty tokens and the days of their use, likewise.
	"GET /v1/me/tokens 50": 4,
	// Forty-two items, by two batched trips.
	"GET /v1/c/{ch}/posts/{id} thread of 20 replies, signed": 3.5,
	// Text is counted in graphemes, searched for mentions and hashed, all of
	// which grows with it; SHA-256 and JSON, on the other side, hardly do.
	"POST /v1/c/{ch}/posts 4000 characters": 4,
}

// postMost is what a post may cost whose item has at most 1 KB, its index
// entries and the guard included.
const postMost = 14

// voteMost is what a vote may cost in its request, and once more as its share of
// a tally of ten.
const voteMost = 4

// costVerdicts hold a count against the budgets of the table's design. They
// are the same in every run.
func costVerdicts(r *Report) []Verdict {
	var v []Verdict
	for _, row := range r.Endpoints {
		name := row.Route + " " + row.Variant
		switch row.Route {
		case "GET /v1/channels":
			v = append(v, verdict(float64(row.Trips), 1, "trips of %s", name))
		case "GET /v1/me":
			most := 1.0
			if row.Variant == cold {
				most = 2
			}
			v = append(v, verdict(float64(row.Trips), most, "trips of %s", name))
		case "GET /v1/agents/{ref}/history":
			most := 2.0
			if row.Variant == coldHandle { // handles never change hands, so it is looked up once
				most = 3
			}
			v = append(v, verdict(float64(row.Trips), most, "trips of %s", name))
		case "GET /v1/c/{ch}":
			most := 1.0
			switch row.Variant {
			case withoutReplies, promoted: // what promos there are
				most = 2
			case promotedAgain: // by an agent
				most = 3
			case promotedBilled: // and billed
				most = 4
			}
			v = append(v, verdict(float64(row.Trips), most+credential(row), "trips of %s", name))
		case "GET /v1/me/credits":
			v = append(v, verdict(float64(row.Trips), 2, "trips of %s", name))
		case "POST /payments/webhook":
			v = append(v, verdict(float64(row.Trips), 1, "trips of %s", name))
		case "POST /v1/c/{ch}/posts":
			v = append(v, verdict(float64(row.Trips), 2, "trips of %s", name))
			if row.kilobyte {
				v = append(v, verdict(row.WriteUnits, postMost, "write units of %s", name))
			}
		case "GET /v1/dm/{ref}":
			most := 2.0
			if row.Variant != nothingUnread { // what was read is marked
				most = 3
			}
			v = append(v, verdict(float64(row.Trips), most, "trips of %s", name))
		case "POST /v1/dm/{ref}":
			most := 2.0
			if row.Variant == coldHandle {
				most = 3
			}
			v = append(v, verdict(float64(row.Trips), most, "trips of %s", name))
		case catchupRoute:
			v = append(v, verdict(float64(row.Trips), 1+catchupTrips, "trips of %s", name))
		case ideaRoute:
			v = append(v, verdict(float64(row.Trips), likenTrips, "trips of %s", name))
		case "GET /v1/ideas": // an index, then ideas
			most := 2.0
			if row.Variant == ideasSigned {
				most = 3
			}
			v = append(v, verdict(float64(row.Trips), most, "trips of %s", name))
		case searchRoute:
			v = append(v, verdict(float64(row.Trips), searchTrips, "trips of %s", name))
		case voteRoute:
			v = append(v, verdict(float64(row.Trips), 2, "trips of %s", name), verdict(row.WriteUnits, voteMost, "write units of %s", name))
		case "GET /v1/c/{ch}/posts/{id}", "GET /v1/me/keys":
			v = append(v, verdict(float64(row.Trips), 2+credential(row), "trips of %s", name))
		case "POST /v1/me/origin", "POST /v1/recover", "POST /v1/recover/confirm", "POST /v1/me/credits/checkout":
			// A mail is counted before it is sent, and its code kept after, and a
			// checkout is likewise; who lost all keys is known by a handle, which is
			// looked up first.
			v = append(v, verdict(float64(row.Trips), 3, "trips of %s", name))
		case "POST /oauth/authorize":
			// The page is used up before anything is looked up; a link code names its
			// agent and its minter, a handle its agent, and a mailed code's try is
			// counted before it is judged.
			most := map[string]float64{consentNew: 1, consentRefused: 0, consentLink: 3}[row.Variant]
			if row.Variant == consentMail || row.Variant == consentMailed {
				most = 4
			}
			v = append(v, verdict(float64(row.Trips), most, "trips of %s", name))
		case "POST /oauth/token":
			most := 2.0
			if row.Variant == tokensLink {
				most = 3
			}
			v = append(v, verdict(float64(row.Trips), most, "trips of %s", name))
		default:
			v = append(v, verdict(float64(row.Trips), 2, "trips of %s", name))
		}
	}
	for _, s := range r.Stream {
		switch s.Name {
		case sealing:
			v = append(v, verdict(s.WriteUnits, searchWrites, "write units of the %s", s.Name))
		case votesBatch:
			v = append(v, verdict(s.WriteUnits, voteMost, "write units of a %s, each", s.Name))
		case eventAlone:
			v = append(v, verdict(s.WriteUnits, 6, "write units of an %s", s.Name))
		case eventBatch:
			v = append(v, verdict(s.WriteUnits, 4.3, "write units of an %s, each", s.Name))
		}
	}
	return v
}

// credential is the trip that reads the credential of a signed request before
// a read for which none is needed (table.md: at most two trips after it).
func credential(row Row) float64 {
	if row.signed {
		return 1
	}
	return 0
}

// cpuVerdicts hold the CPU time of signed reads and posts against that of the
// bare handler.
func cpuVerdicts(rows []Row) []Verdict {
	var v []Verdict
	for _, row := range rows {
		if row.signed && row.Times != nil && row.CPURatio != 0 {
			name := row.Route + " " + row.Variant
			v = append(v, verdict(row.CPURatio, max(cpuMost, cpuMore[name]), "CPU of %s", name))
		}
	}
	return v
}
