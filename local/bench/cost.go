package main

import (
	"fmt"
	"strings"
	"time"

	"agentsocial/tables"
)

// Cost is what one call costs at the table.
type Cost struct {
	Trips         int     `json:"trips"` // serial round trips
	ReadUnits     float64 `json:"read_units"`
	WriteUnits    float64 `json:"write_units"`
	USDPerMillion float64 `json:"usd_per_million"`
}

func (c Cost) priced() Cost {
	c.USDPerMillion = c.ReadUnits*readPrice + c.WriteUnits*writePrice
	return c
}

// costTries is how often a scenario is counted. Its units are the same each
// time; its trips may look like more than they are if calls that go side by
// side were held up, so that the least is the truth.
const costTries = 3

func costOf(w *world, s *scenario) (Cost, error) {
	var cost Cost
	tries := costTries
	if s.slow {
		tries = 1
	}
	for i := range tries {
		prepared, err := s.prepare()
		if err == nil {
			err = w.counted(func() error { _, err := w.send(prepared, s.expected()); return err })
		}
		c := w.meter.cost()
		if err == nil {
			err = w.tidy(prepared)
		}
		if err != nil {
			return cost, fmt.Errorf("%s: %w", s.name(), err)
		}
		if i > 0 {
			if c.ReadUnits != cost.ReadUnits || c.WriteUnits != cost.WriteUnits {
				return cost, fmt.Errorf("%s: its units are not the same each time: %v, then %v", s.name(), cost, c)
			}
			c.Trips = min(c.Trips, cost.Trips)
		}
		cost = c
	}
	return cost, nil
}

// readSample is how many reads there are for one that is counted
// (shared/api, readSample).
const readSample = 16

// readLimitShare is what a read of weight one is expected to pay for the read
// limit, which the scenarios run without because it is asked by chance: one in
// readSample counts itself, after the answer is made; the others cost nothing.
// A heavier one pays as many times that as it weighs, up to readSample.
func readLimitShare() Cost {
	w := tables.Quota(somebody, "reads", time.Unix(0, 0), time.Minute, readSample, 1)
	return Cost{WriteUnits: alone(w) / readSample}.priced()
}

// firstUse is what a credential's first request of a day pays in each process
// that has not seen it since midnight: that it was used is noted after the
// answer is made. The scenarios run without, see unnoted.
func firstUse() Cost {
	return Cost{Trips: 1, WriteUnits: alone(tables.MarkUsed(somebody, strings.Repeat("A", 43), time.Unix(0, 0)))}.priced()
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
