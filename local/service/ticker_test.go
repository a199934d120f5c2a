package service

import (
	"context"
	"testing"
	"time"
)

// What was done by hand is not done once more by the schedule it was due by.
func TestTicksByHandCount(t *testing.T) {
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
	step("before it is time", k.due, 0)
	now = now.Add(2 * time.Hour)
	step("by hand, when it was due", k.now, 1)
	step("by the schedule", k.due, 1)
	now = now.Add(time.Hour)
	step("when it is time again", k.due, 2)
	step("by hand, once more", k.now, 3)
}
