package metrics

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"sync"
)

// Handler returns a handler that writes lines as JSON. To lines with metrics it adds the
// member _aws, as CloudWatch's embedded metric format specifies.
//
// Lambda ignores the level of a line without the member timestamp in RFC 3339
// (https://docs.aws.amazon.com/lambda/latest/dg/monitoring-cloudwatchlogs-log-level.html).
//
// The handler appends _aws to slog's output. slog would encode it by reflection, which
// takes twice as long as the line itself.
func Handler(out io.Writer, stage string, detailed bool) slog.Handler {
	to := &ending{out: out}
	h := &handler{slog.NewJSONHandler(to, &slog.HandlerOptions{ReplaceAttr: stamped}), to, map[string]*line{}}
	for _, s := range Sets(detailed) {
		l := h.lines[s.Line]
		if l == nil {
			l = &line{namespace: Namespace(stage)}
			h.lines[s.Line] = l
		}
		l.sets = append(l.sets, s)
	}
	return h
}

// stamped gives a line's time the name that Lambda reads.
func stamped(groups []string, a slog.Attr) slog.Attr {
	if a.Key == slog.TimeKey && len(groups) == 0 {
		a.Key = "timestamp"
	}
	return a
}

type handler struct {
	slog.Handler
	to    *ending
	lines map[string]*line // by message
}

// Handle implements [slog.Handler].
func (h *handler) Handle(ctx context.Context, r slog.Record) error {
	l, has, more := h.lines[r.Message], uint64(0), ""
	if l != nil {
		has = l.of(r)
	} else if l = h.lines[""]; l != nil && r.Level >= slog.LevelWarn {
		has, more = 1, `,"`+Logged+`":1`
	}
	h.to.mu.Lock()
	defer h.to.mu.Unlock()
	h.to.end = h.to.end[:0]
	if has != 0 {
		h.to.end = fmt.Appendf(h.to.end, "%s,\"_aws\":{\"Timestamp\":%d,\"CloudWatchMetrics\":%s}}\n", more, r.Time.UnixMilli(), l.directives(has))
	}
	return h.Handler.Handle(ctx, r)
}

// WithAttrs implements [slog.Handler].
func (h *handler) WithAttrs(attrs []slog.Attr) slog.Handler {
	return &handler{h.Handler.WithAttrs(attrs), h.to, h.lines}
}

// WithGroup implements [slog.Handler]. CloudWatch finds metrics only at the top level, so
// attributes in a group are not metrics.
func (h *handler) WithGroup(name string) slog.Handler {
	return &handler{h.Handler.WithGroup(name), h.to, nil}
}

// ending replaces the end of the line being written.
type ending struct {
	out io.Writer

	mu   sync.Mutex // held while a line is written
	end  []byte     // replaces the line's brace and newline; empty leaves them
	line []byte
}

// Write implements [io.Writer]: slog writes each line in one call.
func (e *ending) Write(p []byte) (int, error) {
	if len(e.end) == 0 {
		return e.out.Write(p)
	}
	e.line = append(append(e.line[:0], p[:len(p)-len("}\n")]...), e.end...)
	if _, err := e.out.Write(e.line); err != nil {
		return 0, err
	}
	return len(p), nil
}

// line holds the metrics for the lines of one message.
type line struct {
	namespace string
	sets      []Set
	made      sync.Map // directives as JSON, by a bit set of the metrics that a line has
}

func (l *line) directives(has uint64) []byte {
	if d, ok := l.made.Load(has); ok {
		return d.([]byte)
	}
	d, err := json.Marshal(l.make(has))
	if err != nil {
		panic(err) // cannot fail
	}
	l.made.Store(has, d)
	return d
}

// of returns which metrics a line has, as bits in the order of the sets.
func (l *line) of(r slog.Record) (has uint64) {
	r.Attrs(func(a slog.Attr) bool {
		bit := 0
		for _, s := range l.sets {
			for _, m := range s.Metrics {
				if m.Name == a.Key && (m.zero || !isZero(a.Value)) {
					has |= 1 << bit
				}
				bit++
			}
		}
		return true
	})
	return has
}

func isZero(v slog.Value) bool {
	switch v.Kind() {
	case slog.KindInt64:
		return v.Int64() == 0
	case slog.KindFloat64:
		return v.Float64() == 0
	}
	return true // a member that is not a number is not a metric
}

// directive is a MetricDirective of the specification.
type directive struct {
	Namespace  string
	Dimensions [][]string
	Metrics    []definition
}

type definition struct{ Name, Unit string }

func (l *line) make(has uint64) (directives []directive) {
	bit := 0
	for _, s := range l.sets {
		d := directive{Namespace: l.namespace, Dimensions: [][]string{{}}}
		if s.By != "" {
			d.Dimensions[0] = append(d.Dimensions[0], s.By)
		}
		for _, m := range s.Metrics {
			if has&(1<<bit) != 0 {
				d.Metrics = append(d.Metrics, definition{m.Name, m.Unit})
			}
			bit++
		}
		if d.Metrics != nil {
			directives = append(directives, d)
		}
	}
	return directives
}
