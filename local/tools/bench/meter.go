package bench

import (
	"context"
	"log/slog"
	"sync"
)

// meter is a log handler that remembers the cost in the last request's line, and passes
// every line on.
type meter struct {
	slog.Handler
	mu   sync.Mutex
	last Cost
	tool bool // the last line was of a tool: further lines of its MCP message follow, and last is their sum
}

// Handle implements slog.Handler.
func (m *meter) Handle(ctx context.Context, r slog.Record) error {
	if r.Message == "request" {
		var c Cost
		tool := false
		r.Attrs(func(a slog.Attr) bool {
			switch a.Key {
			case "tool":
				tool = true
			case "trips":
				c.Trips = int(a.Value.Int64())
			case "read_units":
				c.ReadUnits = a.Value.Float64()
			case "write_units":
				c.WriteUnits = a.Value.Float64()
			}
			return true
		})
		m.mu.Lock()
		if m.tool {
			c.Trips, c.ReadUnits, c.WriteUnits = c.Trips+m.last.Trips, c.ReadUnits+m.last.ReadUnits, c.WriteUnits+m.last.WriteUnits
		}
		m.last, m.tool = c, tool
		m.mu.Unlock()
	}
	return m.Handler.Handle(ctx, r)
}

func (m *meter) cost() Cost {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.last
}
