package bench

import (
	"strings"
	"time"

	"agentsocial/tables"
)

// Cost is what one call costs at the table.
type Cost struct {
	Trips                 int // serial round trips
	ReadUnits, WriteUnits float64
}

// perMillion returns what the units of a million calls cost, in US dollars.
func (c Cost) perMillion() float64 { return c.ReadUnits*readPrice + c.WriteUnits*writePrice }

// readSample is how many reads there are for one that is counted
// (shared/api, readSample).
const readSample = 16

// readLimitShare is what a read of weight one is expected to pay for the read
// limit, which the scenarios run without because it is asked by chance: one in
// readSample counts itself, after the answer is made; the others cost nothing.
// A heavier one pays as many times that as it weighs, up to readSample.
func readLimitShare() Cost {
	w := tables.Quota(somebody, "reads", time.Unix(0, 0), time.Minute, readSample, 1)
	return Cost{WriteUnits: alone(w) / readSample}
}

// firstUse is what a credential's first request of a day pays in each process
// that has not seen it since midnight: that it was used is noted after the
// answer is made. The scenarios run without, see unnoted.
func firstUse() Cost {
	return Cost{Trips: 1, WriteUnits: alone(tables.MarkUsed(somebody, strings.Repeat("A", 43), time.Unix(0, 0)))}
}

const somebody = "ag_00000000000000000000000000"

// alone is what a write that makes a new item costs outside of a transaction.
func alone(w tables.Write) float64 {
	item := tables.Item{tables.AttrPK: w.Key.PK, tables.AttrSK: w.Key.SK}
	for _, u := range w.Updates {
		item[u.Attr] = u.Value
	}
	return tables.WriteUnits(nil, item, false)
}
