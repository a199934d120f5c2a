package dynamo

import (
	"testing"
	"time"

	"agentsocial/tables"
)

func TestCatchupOverlap(t *testing.T) {
	if took := tables.CommitWithin + defaultTimeout + time.Second + tables.PublicKeep; took > tables.CatchupOverlap {
		t.Errorf("CatchupOverlap = %s, want at least %s", tables.CatchupOverlap, took)
	}
}
