// Package delivery delivers batches of the stream's records to a reader as Lambda's event
// source mapping does, for the local service and the simulations.
package delivery

import (
	"errors"

	"github.com/aws/aws-lambda-go/events"

	"agentsocial/tables"
)

// ErrAgain is the error of an Invoke whose answer was lost. The batch is delivered again, and no
// try is counted.
var ErrAgain = errors.New("delivery: the answer was lost")

// Mapping delivers batches. Done and Over may be nil.
type Mapping struct {
	Tries  int                                                                       // how often a failing record is delivered before Deliver gives up
	Invoke func(records []tables.StreamRecord) (events.DynamoDBEventResponse, error) // calls the reader
	Pause  func(tries int)                                                           // waits before the next delivery of a record that has failed tries times
	Done   func(records []tables.StreamRecord)                                       // told of records that were processed
	GiveUp func(tries int, records []tables.StreamRecord)                            // gets the records that are given up
	Over   func() bool                                                               // reports whether to stop
}

// Deliver delivers a batch until it is processed. A batch that fails as a whole is halved.
// A batch that fails at a record is delivered again from that record. If the first record
// of a delivery fails Tries times in a row, all records of that delivery are given up.
func (m Mapping) Deliver(records []tables.StreamRecord) {
	for tries := 0; len(records) > 0 && (m.Over == nil || !m.Over()); {
		res, err := m.Invoke(records)
		if errors.Is(err, ErrAgain) {
			continue
		}
		if err == nil && len(res.BatchItemFailures) == 0 {
			m.done(records)
			return
		}
		if half := len(records) / 2; err != nil && half > 0 {
			m.Deliver(records[:half])
			records, tries = records[half:], 0
			continue
		}
		failed := 0
		for i, rec := range records {
			if err == nil && rec.Seq == res.BatchItemFailures[0].ItemIdentifier {
				failed = i
			}
		}
		if failed > 0 {
			m.done(records[:failed])
			records, tries = records[failed:], 0
			continue
		}
		if tries++; tries >= m.Tries {
			m.GiveUp(tries, records)
			return
		}
		m.Pause(tries)
	}
}

func (m Mapping) done(records []tables.StreamRecord) {
	if m.Done != nil {
		m.Done(records)
	}
}
