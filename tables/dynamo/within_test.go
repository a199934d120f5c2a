package dynamo

import (
	"testing"
	"time"

	"agentsocial/tables"
)

// Catchups go past a post later than one attempt of its commit, begun as late as
// it may be, is waited for; by a second for clocks and stale reads.
func TestCatchupsLeaveTimeToCommit(t *testing.T) {
	if took := tables.CommitWithin + defaultTimeout + time.Second; took > tables.CatchupOverlap {
		t.Errorf("a post is there after %s, and catchups go past it after %s", took, tables.CatchupOverlap)
	}
}
