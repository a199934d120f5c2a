package schedule

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"
)

func TestSweep(t *testing.T) {
	broken := errors.New("broken")
	end := context.DeadlineExceeded
	for name, c := range map[string]struct {
		late bool
		err  error
		want error
	}{
		"done":                       {false, nil, nil},
		"failed":                     {false, broken, broken},
		"a table's own deadline":     {false, end, end},
		"late":                       {true, end, ErrUnfinished},
		"late, without an error":     {true, nil, ErrUnfinished},
		"late in several places":     {true, errors.Join(end, fmt.Errorf("channel: %w", errors.Join(end))), ErrUnfinished},
		"late, named with its table": {true, fmt.Errorf("get: %w", fmt.Errorf("%w, %w", end, end)), ErrUnfinished},
		"failed before it was late":  {true, errors.Join(broken, end), broken},
		"failed, deeply wrapped":     {true, fmt.Errorf("settle: %w", errors.Join(end, fmt.Errorf("channel: %w", errors.Join(end, broken)))), broken},
		"failed, though time was up": {true, fmt.Errorf("channel: %w", broken), broken},
	} {
		most := time.Hour
		if c.late {
			most = time.Nanosecond
		}
		err := Sweep(t.Context(), most, func(ctx context.Context) error {
			if c.late {
				<-ctx.Done()
			}
			return c.err
		})
		if !errors.Is(err, c.want) || c.want != ErrUnfinished && errors.Is(err, ErrUnfinished) {
			t.Errorf("%s: Sweep = %v, want %v, and ErrUnfinished %t", name, err, c.want, c.want == ErrUnfinished)
		}
	}
}

func TestSweep_Canceled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := Sweep(ctx, time.Hour, func(ctx context.Context) error { return ctx.Err() }); !errors.Is(err, context.Canceled) {
		t.Errorf("Sweep = %v, want context.Canceled", err)
	}
}
