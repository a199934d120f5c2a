package docs

import (
	"context"

	"agentsocial/shared/wire"
)

// health answers probes. It reads no table, because anybody may call it. Alarms watch the
// table.
func (g docs) health(context.Context, *nothing) (*wire.Health, error) {
	return &wire.Health{Status: "ok", Version: g.Settings.Version}, nil
}
