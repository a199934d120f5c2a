package api

import (
	"context"
	"log/slog"
)

// requestLog adds a request's id to the lines that are logged while it is served. It
// formats the id only when a line is logged, which is rare.
type requestLog struct {
	slog.Handler
	id string
}

func (h *requestLog) with() slog.Handler {
	return h.Handler.WithAttrs([]slog.Attr{slog.String("request_id", h.id)})
}

// Handle implements [slog.Handler].
func (h *requestLog) Handle(ctx context.Context, r slog.Record) error { return h.with().Handle(ctx, r) }

// WithAttrs implements [slog.Handler].
func (h *requestLog) WithAttrs(attrs []slog.Attr) slog.Handler { return h.with().WithAttrs(attrs) }

// WithGroup implements [slog.Handler].
func (h *requestLog) WithGroup(name string) slog.Handler { return h.with().WithGroup(name) }
