package dynamo

import (
	"testing"
	"time"

	"agentsocial/tables"
)

// A catchup leaves time for a commit that begins as late as allowed and takes one
// attempt, plus a second for clocks and stale reads.
func TestCatchupOverlap(t *testing.T) {
	if took := tables.CommitWithin + defaultTimeout + time.Second; took > tables.CatchupOverlap {
		t.Errorf("CatchupOverlap = %s, want at least %s", tables.CatchupOverlap, took)
	}
}
