package service

import (
	"context"
	"testing"
	"time"
)

func TestTick_ManualRunReplacesTheScheduled(t *testing.T) {
	now, done := time.Unix(1_790_000_000, 0), 0
	k := &tick{
		clock: func() time.Time { return now }, every: time.Hour, next: now.Add(time.Hour),
		do: func(context.Context) error { done++; return nil },
	}
	step := func(what string, do func(context.Context) error, want int) {
		t.Helper()
		if err := do(t.Context()); err != nil || done != want {
			t.Errorf("%s: done %d times, want %d; %v", what, done, want, err)
		}
	}
	step("before it is due", k.due, 0)
	now = now.Add(2 * time.Hour)
	step("a manual run when it is due", k.now, 1)
	step("the schedule afterwards", k.due, 1)
	now = now.Add(time.Hour)
	step("when it is due again", k.due, 2)
	step("another manual run", k.now, 3)
}
