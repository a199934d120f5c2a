package dynamo

import (
	"testing"
	"time"

	"agentsocial/tables"
)

// CatchupOverlap allows for a commit that begins as late as it may and takes one attempt, and
// for the time that a page is remembered. A further second is for clocks that differ and reads
// that lag.
func TestCatchupOverlap(t *testing.T) {
	if took := tables.CommitWithin + defaultTimeout + time.Second + tables.PublicKeep; took > tables.CatchupOverlap {
		t.Errorf("CatchupOverlap = %s, want at least %s", tables.CatchupOverlap, took)
	}
}
