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

// cpuMost is how much more CPU the service's own work for a signed request may
// take than the bare handler. What passes inside the embedded table is printed
// and not held: a durable B+tree's commit of ten items costs almost three bare
// handlers by itself, and production's table is not in this process.
const cpuMost = 3

// postMost is what a post may cost whose item has at most 1 KB, its index
// entries and the guard included.
const postMost = 14

// costVerdicts hold a count against the budgets of the table's design. They
// are the same in every run.
func costVerdicts(r *Report) []Verdict {
	var v []Verdict
	for _, row := range r.Endpoints {
		name := row.Route + " " + row.Variant
		switch row.Route {
		case "GET /v1/me":
			most := 1.0
			if row.Variant == cold {
				most = 2
			}
			v = append(v, verdict(float64(row.Trips), most, "trips of %s", name))
		case "GET /v1/c/{ch}":
			v = append(v, verdict(float64(row.Trips), 1+credential(row), "trips of %s", name))
		case "POST /v1/c/{ch}/posts":
			v = append(v, verdict(float64(row.Trips), 2, "trips of %s", name))
			if row.kilobyte {
				v = append(v, verdict(row.WriteUnits, postMost, "write units of %s", name))
			}
		case "GET /v1/c/{ch}/posts/{id}":
			v = append(v, verdict(float64(row.Trips), 2+credential(row), "trips of %s", name))
		default:
			v = append(v, verdict(float64(row.Trips), 2, "trips of %s", name))
		}
	}
	for _, s := range r.Stream {
		switch s.Name {
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

// cpuVerdicts hold the service's own CPU time for signed reads and posts against
// that of the bare handler.
func cpuVerdicts(rows []Row) []Verdict {
	var v []Verdict
	for _, row := range rows {
		if row.signed && row.Times != nil && row.CPURatio != 0 {
			v = append(v, verdict(row.OwnRatio, cpuMost, "own CPU of %s %s", row.Route, row.Variant))
		}
	}
	return v
}
