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

// readSample is shared/api's constant of that name: one in readSample reads is counted.
const readSample = 16

// readLimitShare returns the mean cost of counting a read of weight one against the read
// limit. A heavier read costs this times its weight, up to readSample times. The scenarios
// run without the read limit, because it counts by chance.
func readLimitShare() Cost {
	w := tables.Quota(somebody, "reads", time.Unix(0, 0), time.Minute, readSample, 1)
	return Cost{WriteUnits: alone(w) / readSample}
}

// firstUse returns the cost of recording a credential's first use of a day in a process.
// The scenarios run without that: see unnoted.
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
