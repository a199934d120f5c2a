package dynamo

import (
	"testing"
	"time"

	"agentsocial/tables"
)

// A catchup leaves time for a commit that begins as late as allowed and takes one
// attempt, for a page that is remembered, and a second for clocks and stale reads.
func TestCatchupOverlap(t *testing.T) {
	if took := tables.CommitWithin + defaultTimeout + time.Second + tables.PublicKeep; took > tables.CatchupOverlap {
		t.Errorf("CatchupOverlap = %s, want at least %s", tables.CatchupOverlap, took)
	}
}
