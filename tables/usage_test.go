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
		t.Errorf("two trips at once: got %d, want 1", got)
	}
	for _, end := range ends {
		end()
	}
	for want := 2; want <= 3; want++ {
		tables.Trip(ctx)()
		if got := used.Trips(); got != want {
			t.Errorf("one trip after %d: got %d, want %d", want-1, got, want)
		}
	}
	late := tables.Trip(ctx) // at depth 4
	tables.Trip(ctx)()
	tables.Trip(ctx)()
	late()
	tables.Trip(ctx)()
	if got := used.Trips(); got != 6 {
		t.Errorf("one trip after a slow one that two others overlapped: got %d, want 6", got)
	}
}
