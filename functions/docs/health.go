package docs

import (
	"context"

	"agentsocial/shared/wire"
)

// health answers probes. It shows that the gateway and a function work. It reads no table:
// anybody may call it as often as the limits allow, and alarms watch the table.
func (g docs) health(context.Context, *nothing) (*wire.Health, error) {
	return &wire.Health{Status: "ok", Version: g.Settings.Version}, nil
}
