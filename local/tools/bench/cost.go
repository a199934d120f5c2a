package bench

import (
	"strings"
	"time"

	"agentsocial/tables"
)

// Cost is the cost of one call at the table.
type Cost struct {
	Trips                 int // serial round trips
	ReadUnits, WriteUnits float64
}

// perMillion returns the price of the units of a million calls, in US dollars.
func (c Cost) perMillion() float64 { return c.ReadUnits*readPrice + c.WriteUnits*writePrice }

// readSample is the number of reads of which one is counted (shared/api, readSample).
const readSample = 16

// readLimitShare returns the mean cost of counting a read of weight one against the
// read limit. One read in readSample is counted, after its answer is made; the others
// cost nothing. A heavier read costs this times its weight, up to readSample times. The
// scenarios run without the read limit, because it counts by chance.
func readLimitShare() Cost {
	w := tables.Quota(somebody, "reads", time.Unix(0, 0), time.Minute, readSample, 1)
	return Cost{WriteUnits: alone(w) / readSample}
}

// firstUse returns the cost of recording that a credential was used, after the answer
// is made, on its first request of a day in each process. The scenarios run without
// that: see unnoted.
func firstUse() Cost {
	return Cost{Trips: 1, WriteUnits: alone(tables.MarkUsed(somebody, strings.Repeat("A", 43), time.Unix(0, 0)))}
}

const somebody = "ag_00000000000000000000000000"

// alone returns the cost of a write that makes a new item outside of a transaction.
func alone(w tables.Write) float64 {
	item := tables.Item{tables.AttrPK: w.Key.PK, tables.AttrSK: w.Key.SK}
	for _, u := range w.Updates {
		item[u.Attr] = u.Value
	}
	return tables.WriteUnits(nil, item, false)
}
