package service

import (
	"context"
	"log/slog"
	"slices"
	"testing"
	"testing/synctest"
	"time"
)

// inBackground runs a test in a synctest bubble. work makes work for b. begun returns the
// name and time of each run since its last call.
func inBackground(t *testing.T, test func(t *testing.T, b *background, begun func() []string, work func(name string, takes time.Duration, again ...time.Duration) func(context.Context) time.Time)) {
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		b := newBackground(time.Now, slog.New(slog.DiscardHandler))
		defer b.stop()
		lines := make(chan string, 100)
		begun := func() (all []string) {
			synctest.Wait()
			for {
				select {
				case line := <-lines:
					all = append(all, line)
				default:
					return all
				}
			}
		}
		test(t, b, begun, func(name string, takes time.Duration, again ...time.Duration) func(context.Context) time.Time {
			return func(ctx context.Context) (next time.Time) {
				lines <- name + " " + time.Since(start).String()
				pause(ctx, takes)
				if len(again) > 0 {
					next, again = time.Now().Add(again[0]), again[1:]
				}
				return next
			}
		})
	})
}

// Work returns the time of its next run. Work that is asked for during a run runs once
// more.
func TestBackground(t *testing.T) {
	inBackground(t, func(t *testing.T, b *background, begun func() []string, work func(string, time.Duration, ...time.Duration) func(context.Context) time.Time) {
		b.run("x", work("a", time.Second, 10*time.Second))
		time.Sleep(5 * time.Second)
		b.run("x", work("never", 0))
		time.Sleep(6500 * time.Millisecond) // its second run is under way
		b.run("x", work("b", time.Second))
		b.run("x", work("c", time.Second))
		time.Sleep(time.Minute)
		b.run("x", work("d", 0))
		if got, want := begun(), []string{"a 0s", "a 11s", "c 12s", "d 1m11.5s"}; !slices.Equal(got, want) {
			t.Errorf("got %q, want %q", got, want)
		}
	})
}

// After the clock moved past the time of the next run, the work runs when it is asked for.
func TestBackground_ClockMoved(t *testing.T) {
	inBackground(t, func(t *testing.T, b *background, begun func() []string, work func(string, time.Duration, ...time.Duration) func(context.Context) time.Time) {
		b.run("x", work("a", 0, time.Minute))
		begun()
		b.now = func() time.Time { return time.Now().Add(time.Hour) }
		b.run("x", work("b", 0))
		time.Sleep(time.Hour)
		if got, want := begun(), []string{"b 0s"}; !slices.Equal(got, want) {
			t.Errorf("got %q, want %q", got, want)
		}
	})
}

func TestBackground_Slots(t *testing.T) {
	inBackground(t, func(t *testing.T, b *background, begun func() []string, work func(string, time.Duration, ...time.Duration) func(context.Context) time.Time) {
		for _, name := range []string{"a", "b", "c"} {
			b.run(name, work("", time.Second))
		}
		for _, want := range []bool{false, false, true} {
			synctest.Wait()
			if runs, quiet := b.quiet(); quiet != want || quiet && runs != 6 {
				t.Errorf("got %d begins and ends of runs, quiet %t; want quiet %t, and 6 begins and ends once it is quiet", runs, quiet, want)
			}
			time.Sleep(time.Second)
		}
		if got, want := begun(), []string{" 0s", " 0s", " 1s"}; !slices.Equal(got, want) {
			t.Errorf("got runs at %q, want %q", got, want)
		}
	})
}

// A panic ends only its own run. After stop no run begins.
func TestBackground_Ends(t *testing.T) {
	inBackground(t, func(t *testing.T, b *background, begun func() []string, work func(string, time.Duration, ...time.Duration) func(context.Context) time.Time) {
		b.run("x", func(context.Context) time.Time { panic("broken") })
		begun()
		b.run("x", work("a", time.Hour, time.Second))
		b.run("y", work("b", 0, time.Second))
		synctest.Wait()
		b.stop()
		b.run("z", work("never", 0))
		time.Sleep(time.Minute)
		if got := begun(); len(got) != 2 {
			t.Errorf("got runs %q, want those of a and b", got)
		}
	})
}
