package delivery

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-lambda-go/events"

	"agentsocial/tables"
)

func TestDeliver(t *testing.T) {
	for _, c := range []struct {
		name     string
		whole    string // records with which a batch fails as a whole
		from     string // records at which a batch fails
		lost     int    // number of answers that are lost
		batches  string
		given    string
		finished string
	}{
		{"all succeed", "", "", 0, "abcd", "", "abcd"},
		{"an answer is lost", "", "", 2, "abcd abcd abcd", "", "abcd"},
		{"fails at a record", "", "c", 0, "abcd cd cd cd", "cd", "ab"},
		{"fails as a whole", "c", "", 0, "abcd ab cd c c c d", "c", "abd"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var batches []string
			var given, finished string
			lost := c.lost
			Mapping{
				Tries: 3,
				Invoke: func(records []tables.StreamRecord) (res events.DynamoDBEventResponse, err error) {
					batch := names(records)
					batches = append(batches, batch)
					if lost > 0 {
						lost--
						return res, fmt.Errorf("lost: %w", ErrAgain)
					}
					if c.whole != "" && strings.Contains(batch, c.whole) {
						return res, errors.New("failed")
					}
					if c.from != "" && strings.Contains(batch, c.from) {
						res.BatchItemFailures = []events.DynamoDBBatchItemFailure{{ItemIdentifier: c.from}}
					}
					return res, nil
				},
				Pause:  func(int) {},
				Done:   func(records []tables.StreamRecord) { finished += names(records) },
				GiveUp: func(_ int, records []tables.StreamRecord) { given += names(records) },
			}.Deliver([]tables.StreamRecord{{Seq: "a"}, {Seq: "b"}, {Seq: "c"}, {Seq: "d"}})
			if got := strings.Join(batches, " "); got != c.batches || given != c.given || finished != c.finished {
				t.Errorf("got batches %s, given up %q, finished %q; want %s, %q, %q", got, given, finished, c.batches, c.given, c.finished)
			}
		})
	}
	// Once Over reports true, nothing is delivered.
	Mapping{Over: func() bool { return true }}.Deliver(slices.Repeat([]tables.StreamRecord{{Seq: "a"}}, 3))
}

func names(records []tables.StreamRecord) (all string) {
	for _, r := range records {
		all += r.Seq
	}
	return all
}
