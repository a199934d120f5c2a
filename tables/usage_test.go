package tables_test

import (
	"testing"

	"agentsocial/tables"
)

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
			t.Errorf("serial trips after trip %[2]d: got %[1]d, want %[2]d", got, want)
		}
	}
	late := tables.Trip(ctx)
	tables.Trip(ctx)()
	tables.Trip(ctx)()
	late()
	tables.Trip(ctx)()
	if got := used.Trips(); got != 6 {
		t.Errorf("serial trips after a slow trip, two that it overlaps, and one more: got %d, want 6", got)
	}
}
