package tables_test

import (
	"testing"

	"agentsocial/tables"
)

// Round trips at the same time count once.
func TestTrip(t *testing.T) {
	ctx, used := tables.WithUsage(t.Context())
	ends := []func(){tables.Trip(ctx), tables.Trip(ctx)}
	if got := used.Trips(); got != 1 {
		t.Errorf("serial trips while two run concurrently: got %d, want 1", got)
	}
	for _, end := range ends {
		end()
	}
	for want := 2; want <= 3; want++ {
		tables.Trip(ctx)()
		if got := used.Trips(); got != want {
			t.Errorf("serial trips after one more than %d: got %d, want %d", want-1, got, want)
		}
	}
	late := tables.Trip(ctx) // at depth 4
	tables.Trip(ctx)()
	tables.Trip(ctx)()
	late()
	tables.Trip(ctx)()
	if got := used.Trips(); got != 6 {
		t.Errorf("serial trips after a slow one that two others overlapped, and one more: got %d, want 6", got)
	}
}
